"""Redescriptions as sentences, how well both sides agree, and what a reader may look for."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Ints
from dpcore.domain.counted import Noun
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.consistent import consistent_counts
from dpcore.models.redescriptions.released.duplicates import SHORT, in_full
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.redescriptions.released.redescription_set import Redescription, RedescriptionSet
from dpcore.models.redescriptions.released.redescription_words import plain
from dpcore.models.redescriptions.released.significance import binomial_tail
from dpcore.models.redescriptions.released.simplify import simplified
from dpcore.models.redescriptions.released.tree_pair import Domain, Tree, TreePair
from dpcore.numerals import hundredths, whole
from dpcore.released.blocks import Block, Bullets, Cell, Figure, Noisy, Paragraph, Table, count_cell
from dpcore.released.release import Release


@dataclass(frozen=True)
class Exact:
    """A redescription on the records themselves."""

    support: int
    left_only: int
    right_only: int
    """``support``, ``left_only``, ``right_only``: people for whom both sides hold, only the left one, only the right
    one."""
    jaccard: float
    """Support over the people for whom a side holds; 0 if there are none."""
    p_value: float
    """Chance of such a support if the two sides were independent (binomial, as in Mihelčić and Miettinen 2023)."""


def exact_agreement(tables: Sequence[Ints], found: Sequence[Redescription]) -> tuple[Exact, ...]:
    """Exact numbers of redescriptions. For public records only.

    Parameters
    ----------
    tables : sequence of int arrays of shape (n_left_leaves, n_right_leaves)
        Exact counts of each pair of trees, see
        :meth:`~dpcore.models.redescriptions.released.redescription_model.RedescriptionModel.exact_tables`.
    """
    sizes = np.array([_sizes(tables[item.pair], item) for item in found], dtype=np.int64)
    people, both, left, right = sizes.reshape(-1, 4).T
    n = np.maximum(people, 1)
    chance = binomial_tail(both, n, (left / n) * (right / n))
    either = np.maximum(left + right - both, 1)
    return tuple(
        Exact(
            support=int(both[place]),
            left_only=int(left[place] - both[place]),
            right_only=int(right[place] - both[place]),
            jaccard=float(both[place] / either[place]),
            p_value=float(chance[place]),
        )
        for place in range(len(found))
    )


def _sizes(table: Ints, item: Redescription) -> tuple[int, int, int, int]:
    """People, and those for whom both sides, the left side and the right side hold."""
    left, right = list(item.left_leaves), list(item.right_leaves)
    both = table[np.ix_(left, right)].sum()
    return int(table.sum()), int(both), int(table[left].sum()), int(table[:, right].sum())


def agreement_margins(item: Redescription, pair: TreePair, schema: Schema) -> tuple[int, int, int]:
    """Noise on left only, both and right only stays within plus or minus this: 95 %, each.

    They agree with
    :attr:`~dpcore.models.redescriptions.released.redescription_set.Redescription.support_margin`.
    """
    counts = consistent_counts(pair, Domain(schema))
    left = np.isin(counts.left, item.left_leaves)
    right = np.isin(counts.right, item.right_leaves)
    parts = (left, ~right), (left, right), (~left, right)
    left_only, both, right_only = (math.ceil(counts.margin(*part)) for part in parts)
    return left_only, both, right_only


#: Redescriptions that are told, in full and on one page, and those that a figure has.
_BEST, _FEW, _MOST_DRAWN = 20, 3, 1000
#: Below this a p-value is only called small.
_SMALL = 0.001


def p_words(p_value: float) -> str:
    """A p-value as it is written: ``p < 0.001`` or ``p = 0.012``."""
    return f"p < {_SMALL}" if p_value < _SMALL else f"p = {p_value:.2g}"


def read_redescriptions(release: Release, model: RedescriptionModel, short: bool) -> Iterator[Block]:
    """The best redescriptions under the usual constraints; others are free to try."""
    found = model.extract(release.domain)
    return read_found(found, found.suggested_support, short=short)


def read_found(found: RedescriptionSet, support: float, *, short: bool = False) -> Iterator[Block]:
    """The best of those that are kept as sentences, all of them as points, and a table.

    Parameters
    ----------
    support : float
        Noisy support from which they are kept.
    """
    if not found.found:
        yield Bullets.of("No two conditions fulfil these constraints. Trying others is free.")
        return
    kept = found.pruned(support)
    yield Paragraph(how_many(found, len(kept)))
    most = _FEW if short else _BEST
    yield sentences(found, kept, most) if kept else Bullets.of(all_aside(found, support))
    title = "Noisy support and noisy Jaccard index"
    if len(found.found) > _MOST_DRAWN:
        title += f", first {whole(_MOST_DRAWN)} of {whole(len(found.found))}"
    drawn = dataclasses.replace(found, found=found.found[:_MOST_DRAWN])
    yield Figure("redescriptions", title, (drawn, support, len(found.found)))
    if kept:
        yield redescriptions_table(kept, _BEST)
    if not short:
        yield Paragraph(_advice(found), kind="small")


def how_many(found: RedescriptionSet, kept: int) -> str:
    """How many there are, and how many of them are kept."""
    total, several = len(found.found), found.counted.several
    if not total:
        return "Nothing found under these constraints."
    noun = "redescription" if total == 1 else "redescriptions"
    aside = f", {whole(total - kept)} set aside for holding for few {several}" if kept < total else ""
    return f"{whole(total)} {noun} of about {found.counted.number(found.people)}: {whole(kept)} kept{aside}."


def sentences(found: RedescriptionSet, kept: Sequence[Redescription], most: int) -> Bullets:
    """The first of those that are kept, each as a sentence."""
    said = [_with_doubt(item, found) for item in kept[:most]]
    if len(kept) > most:
        said.append(f"These are the first {most} of {whole(len(kept))} that are kept.")
    return Bullets.of(*said)


def _with_doubt(item: Redescription, found: RedescriptionSet) -> str:
    """A redescription as a sentence, and whether its support is small."""
    if item.whole_support >= found.suggested_support:
        return sentence(item, found.counted)
    few = f"Below the suggested support: for so few {found.counted.several}, much of it may be noise."
    return f"{sentence(item, found.counted)} {few}"


def _advice(found: RedescriptionSet) -> str:
    _, several, whom = found.counted
    return (
        f"The Jaccard index is the share of {several} for {whom} both sides hold among those for {whom} "
        f"at least one does. Below the suggested support of about {found.counted.number(found.suggested_support)} the "
        "noise blurs it."
    )


def redescriptions_table(items: Sequence[Redescription], most: int) -> Table:
    """Redescriptions that are kept, best first."""
    marked = any(item.missing for item in items)
    rows: list[list[Cell]] = [
        [
            item.left,
            item.right,
            Noisy(hundredths(item.jaccard), interval_words(item)),
            count_cell(item.support, item.support_margin),
            f"{hundredths(item.chance)}; {p_words(item.p_value)}",
            *([SHORT[item.missing]] if marked else []),
        ]
        for item in items
    ]
    head = ["Left", "Right", "Noisy Jaccard index (noise alone)", "Noisy support", "By chance alone"]
    return Table.of(
        "Redescriptions that are kept, best first", [*head, *(["Missing values"] if marked else [])], rows, most
    )


def interval_words(item: Redescription) -> str:
    """The 95 % interval of the Jaccard index for the noise alone."""
    low, high = item.interval
    return f"{hundredths(low)} to {hundredths(high)}"


def alike_people(jaccard: float, counted: Noun) -> str:
    """How far two groups are the same people: at least so far, if asked of the lower end of an interval."""
    degree = next((word for least, word in ((0.8, "nearly"), (0.5, "mostly")) if jaccard >= least), "partly")
    return f"{degree} the same {counted.several}"


def alike_words(jaccard: float, counted: Noun) -> str:
    """The same, as it stands between the two sides."""
    return f"{alike_people(jaccard, counted)} as"


def sentence(item: Redescription, counted: Noun) -> str:
    """What a redescription says, with its noisy numbers."""
    either = item.support + item.left_only + item.right_only
    p_value = p_words(item.p_value).replace(" ", "\u00a0")
    missing = f" {in_full(item.missing, counted)}" if item.missing else ""
    return (
        f"{_capital(item.left)}: {alike_words(item.interval[0], counted)} those with {item.right}. Of about "
        f"{counted.number(either)} for {counted.whom} at least one of the two holds, both hold for about "
        f"{whole(item.support)} (±{whole(item.support_margin)}). Noisy Jaccard index: "
        f"{hundredths(item.jaccard)} ({interval_words(item)} for the noise); chance alone would give "
        f"{hundredths(item.chance)} ({p_value}).{missing}"
    )


def all_aside(found: RedescriptionSet, threshold: float) -> str:
    """That nothing is kept of what was found, and why."""
    count, least = len(found.found), whole(threshold)
    if count == 1:
        return f"The only one that was found is set aside: it does not have a noisy support of {least} or more."
    return f"All {whole(count)} that were found are set aside: none has a noisy support of {least} or more."


def alternatives(item: Redescription, pair: TreePair, schema: Schema) -> list[tuple[str, ...]]:
    """Both sides as lists: whoever satisfies one entry satisfies the side."""
    trees = ((pair.left, item.left_leaves), (pair.right, item.right_leaves))
    return [_alternatives(tree, leaves, schema) for tree, leaves in trees]


def _alternatives(tree: Tree, leaves: tuple[int, ...], schema: Schema) -> tuple[str, ...]:
    domain = Domain(schema)
    boxes = tree.leaf_boxes(domain)
    joined = simplified([box for leaf in leaves if (box := boxes[leaf]) is not None], domain)
    if all(len(box) == 1 for box in joined):
        return (plain(joined, domain),)  # Short, and years are put together.
    return tuple(plain([box], domain) for box in joined)


def matching(found: Sequence[Redescription], words: str) -> tuple[Redescription, ...]:
    """Those in which all of some words occur: in the conditions or in a column's name."""
    wanted = words.casefold().split()
    return tuple(item for item in found if all(word in _searched(item) for word in wanted))


def _searched(item: Redescription) -> str:
    texts = (item.left, item.right, item.left_query, item.right_query, *sorted(item.columns))
    return "\n".join(texts).casefold()


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
