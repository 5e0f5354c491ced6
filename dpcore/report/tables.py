"""Tables of released numbers for reading and printing: each number noisy, with its interval."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dpcore.models.ebm.released.ebm_model import Term
from dpcore.models.ebm.released.ebm_words import EBMWords
from dpcore.models.redescriptions.released.duplicates import SHORT
from dpcore.models.redescriptions.released.reading import interval_words, p_words
from dpcore.models.redescriptions.released.redescription_set import Redescription
from dpcore.models.trees.released.column_use import ColumnUse
from dpcore.numerals import hundredths, measured, percent, whole, within
from dpcore.released.evaluation import Z95, Figure
from dpcore.released.noisy_counts import told_share
from dpcore.released.regression_evaluation import RegressionEvaluation, error_told, noise_told

#: Rows of one table that are printed, and of one that few read; the downloads of a release
#: hold all.
MOST_ROWS, FEW_ROWS = 100, 12
#: With more classes, every class of a group has a row of its own.
_FEW_CLASSES = 2


@dataclass(frozen=True)
class Table:
    """A table of texts.

    Attributes
    ----------
    rows : tuple of tuple of str
        Those that are printed.
    all_rows : int
        How many there are.
    remainder : int
        How many rows at the end are of everybody who is in no other: they are printed whatever is left out.
    """

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    all_rows: int
    remainder: int = 0

    @classmethod
    def of(
        cls,
        caption: str,
        head: Sequence[str],
        rows: Iterable[Sequence[str]],
        most: int = MOST_ROWS,
        *,
        remainder: int = 0,
    ) -> Table:
        """A table with as many of ``rows`` as can be printed."""
        every = [tuple(row) for row in rows]
        return cls(caption, tuple(head), tuple(every), len(every), remainder).cut(most)

    def cut(self, most: int) -> Table:
        """The same with at most so many rows, that of everybody else among them."""
        if len(self.rows) <= most:
            return self
        last = len(self.rows) - self.remainder
        return dataclasses.replace(self, rows=(*self.rows[: max(0, most - self.remainder)], *self.rows[last:]))


@dataclass(frozen=True)
class Group:
    """Some people of a model: who they are, and their noisy numbers per class."""

    who: str
    estimates: Sequence[float]
    intervals: Sequence[tuple[float, float]]
    noisy_counts: Sequence[int]
    margin: int

    @classmethod
    def of(cls, who: str, numbers: Any, margin: int) -> Group:
        """A rule, a node or a clause under the name ``who``."""
        return cls(who, numbers.estimates, numbers.intervals, numbers.noisy_counts, margin)

    def chance(self, code: int) -> str:
        """Noisy chance of a class, with its interval."""
        return told_share(self, code, self.margin)

    def count(self, code: int) -> str:
        """Noisy count of a class, with the margin of its noise."""
        return f"{whole(self.noisy_counts[code])} ±{whole(self.margin)}"


def groups_table(
    caption: str,
    who: str,
    groups: Sequence[Group],
    target: str,
    classes: Sequence[str],
    most: int = MOST_ROWS,
    *,
    remainder: bool = False,
) -> Table:
    """One row for each group; with many classes, one for each group and class.

    Parameters
    ----------
    remainder : bool
        Whether the last group is of everybody who is in no other.
    """
    if len(classes) > _FEW_CLASSES:
        head = [who, target, "Noisy chance (noise alone)", "Noisy count"]
        rows = [
            (group.who, label, group.chance(code), group.count(code))
            for group in groups
            for code, label in enumerate(classes)
        ]
        return Table.of(caption, head, rows, most, remainder=remainder * len(classes))
    shown = len(classes) - 1
    head = [who, f"Noisy chance of {target} = {classes[shown]} (noise alone)"]
    head += [f"Noisy count: {label}" for label in classes]
    short = [(group.who, group.chance(shown), *(group.count(code) for code in range(len(classes)))) for group in groups]
    return Table.of(caption, head, short, most, remainder=int(remainder))


def importances_table(words: EBMWords) -> Table:
    """What each column adds or takes on average, beside what it takes to stand out."""
    rows = [
        (
            term.name,
            words.amount(term.importance).lstrip("+"),
            words.mark(term),
            "stands out" if term.clear else "within the noise",
        )
        for term in words.model.ranked()
    ]
    head = ("Column or pair", "Noisy average", words.model.mark_words.capitalize(), "Compared with the noise")
    return Table.of("What each column adds or takes on average", head, rows)


def scores_table(words: EBMWords, terms: Sequence[Term]) -> Table:
    """What every group of some columns adds."""
    several = len(words.model.outputs) > 1
    rows = []
    for term in terms:
        for place, name in enumerate(words.bins(term)):
            margin = math.ceil(Z95 * term.count_errors[place])
            count = f"{whole(round(term.noisy_counts[place]))} ±{whole(margin)}"
            for output in range(len(words.model.outputs)):
                score, error = term.scores[place][output], term.errors[place][output]
                added = f"{words.amount(score)} ({words.range(score, error)})"
                to = (words.outcome(output),) if several else ()
                rows.append((term.name, name, *to, added, count))
    head = ["Column or pair", "Group", *(["Added to"] if several else [])]
    head += ["Noisy score (noise alone)", "Noisy count"]
    to_what = "each class" if several else words.effect(0)
    return Table.of(f"What the columns drawn above add to {to_what}", head, rows)


def redescriptions_table(items: Sequence[Redescription], most: int = MOST_ROWS) -> Table:
    """Redescriptions that are kept, best first."""
    marked = any(item.missing for item in items)
    rows = [
        (
            item.left,
            item.right,
            f"{hundredths(item.jaccard)} ({interval_words(item)})",
            f"{whole(item.support)} ±{whole(item.support_margin)}",
            f"{hundredths(item.chance)}; {p_words(item.p_value)}",
            *([SHORT[item.missing]] if marked else []),
        )
        for item in items[:most]
    ]
    head = ["Left", "Right", "Noisy Jaccard index (noise alone)", "Noisy support", "By chance alone"]
    head += ["Missing values"] if marked else []
    return Table("Redescriptions that are kept, best first", tuple(head), tuple(rows), len(items))


def use_table(used: Sequence[ColumnUse]) -> Table:
    """How much the questions of a forest about each column tell."""
    rows = [(use.column, percent(use.told), percent(use.by_chance)) for use in used]
    return Table.of("What the columns tell", ("Column", "Share of the differences", "By chance up to"), rows)


def quality_table(evaluation: Any) -> Table:
    """Quality on people who were set aside."""
    if isinstance(evaluation, RegressionEvaluation):
        rows = [
            ("Noisy typical error (RMSE)", *_number(evaluation.rmse)),
            ("The same for one number for everyone", *_number(evaluation.constant_rmse)),
        ]
    else:
        rows = [("Noisy accuracy", *_share(evaluation.accuracy))]
        if evaluation.has_auc:
            rows.append(("Noisy AUC", *_auc(evaluation.auc)))
    head = ("Measure", "Value", "Noise alone, 95%", "Sampling, 95%")
    return Table.of("Checked on people who were set aside", head, rows)


def _share(figure: Figure | None) -> tuple[str, str, str]:
    if figure is None:
        return ("not known: noise drowns the counts", "", "")
    noise, sampling = (within(m) for m in (figure.noise_margin, figure.sampling_margin))
    return percent(figure.value), noise, sampling


def _auc(figure: Figure | None) -> tuple[str, str, str]:
    if figure is None:
        return ("not known: noise drowns the counts", "", "")
    noise, sampling = (f"±{hundredths(m)}" for m in (figure.noise_margin, figure.sampling_margin))
    return hundredths(figure.value), noise, sampling


def _number(figure: Figure | None) -> tuple[str, str, str]:
    if figure is None:
        return ("not known: noise drowns the counts", "", "")
    return error_told(figure), noise_told(figure), f"±{measured(figure.sampling_margin)}"
