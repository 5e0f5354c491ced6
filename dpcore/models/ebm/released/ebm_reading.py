"""What shape functions say: sentences, what each column adds, and the shapes of the most important ones."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from dpcore.models.ebm.released.ebm_model import EBMModel, Term
from dpcore.models.ebm.released.ebm_words import EBMWords
from dpcore.numerals import whole
from dpcore.released.blocks import MOST_ROWS, Block, Bullets, Cell, Doubt, Figure, Noisy, Table, count_cell
from dpcore.released.evaluation import Z95
from dpcore.released.release import Release

#: Terms that a figure of importances has, in full and on one page.
MOST_TERMS: Final = 15
_FEW_TERMS: Final = 10
#: Terms whose shapes are drawn, and classes in one of these.
_MOST_SHAPES, _MOST_LINES = 4, 3


def read_machine(release: Release, model: EBMModel, short: bool) -> Iterator[Block]:
    """Every term as a sentence, how much each matters, and the shapes of those that stand out."""
    words = EBMWords(model, release.domain, release.target)
    yield Bullets.of(*words.reading())
    yield Figure("importance", "What counts most", (words, _FEW_TERMS if short else MOST_TERMS))
    ranked, outputs = model.ranked(), range(min(len(model.outputs), _MOST_LINES))
    drawn = ([term for term in ranked if term.clear] or ranked)[: 1 if short else _MOST_SHAPES]
    for term in drawn:
        yield Figure("shape", f"Shape of {term.name}", (words, term, outputs))
    yield importances_table(words)
    if not short and drawn:
        yield scores_table(words, drawn)


def importances_table(words: EBMWords) -> Table:
    """What each column adds or takes on average, beside what it takes to stand out."""
    rows = [
        (
            term.name,
            words.amount(term.importance).lstrip("+"),
            words.mark(term),
            f"{len(term.scores)}",
            "stands out" if term.clear else Doubt("within the noise"),
        )
        for term in words.model.ranked()
    ]
    marks = words.model.mark_words.capitalize()
    head = ("Column or pair", "Noisy average", marks, "Groups", "Compared with the noise")
    return Table.of("What each column adds or takes on average, most important first", head, rows)


def scores_table(
    words: EBMWords,
    terms: Sequence[Term],
    outputs: Sequence[int] | None = None,
    truth: Sequence[int] | None = None,
    most: int = MOST_ROWS,
) -> Table:
    """What every group of some columns adds.

    Parameters
    ----------
    outputs : sequence of int or None
        Classes; ``None``: all.
    truth : sequence of int or None
        True counts of the groups of the only term; for public records.
    """
    codes = range(len(words.model.outputs)) if outputs is None else outputs
    rows = [row for term in terms for row in _scores(words, term, codes, truth, named=outputs is None)]
    head = [*(["Column or pair"] if outputs is None else []), "Group", *(["Added to"] if len(codes) > 1 else [])]
    head += ["Noisy score", "Noisy count", *(["True count"] if truth is not None else [])]
    to_what = "each class" if len(codes) > 1 else words.effect(codes[0])
    which = "the columns drawn above add" if outputs is None else f"{terms[0].name} adds"
    return Table.of(f"What {which} to {to_what}", head, rows, most)


def _scores(
    words: EBMWords, term: Term, outputs: Sequence[int], truth: Sequence[int] | None, *, named: bool
) -> Iterator[list[Cell]]:
    for place, name in enumerate(words.bins(term)):
        count = count_cell(round(term.noisy_counts[place]), math.ceil(Z95 * term.count_errors[place]))
        for output in outputs:
            score, error = term.scores[place][output], term.errors[place][output]
            yield [
                *([term.name] if named else []),
                name,
                *([words.outcome(output)] if len(outputs) > 1 else []),
                Noisy(words.amount(score), words.beside(score, error)),
                count,
                *([whole(truth[place])] if truth is not None else []),
            ]
