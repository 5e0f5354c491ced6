"""Figures of a first look in words, no more digits than noise leaves; columns as sentences; codes that stand out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from dpcore.arrays import Flags, Ints
from dpcore.domain.columns import RESERVED
from dpcore.domain.conditions import amount
from dpcore.domain.conditions import amount as with_unit
from dpcore.domain.counted import counted
from dpcore.domain.schemas.labels import cells_called
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.association import poolings
from dpcore.models.summaries.released.finer import Level
from dpcore.models.summaries.released.intervals import CONFIDENCE, Amount, Cells, around, intervals
from dpcore.models.summaries.released.reading import ColumnReading
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_parameters import Axis
from dpcore.numerals import hundredths, minus, percent, whole

#: Digits of a figure without noise.
_EXACT = 4


def count_words(amount: Amount) -> str:
    """People: ``1,234 (1,201 to 1,267)``."""
    return f"{whole(amount.value)} ({range_of_counts(amount)})"


def range_of_counts(amount: Amount) -> str:
    """The interval alone: ``1,201 to 1,267``."""
    return f"{whole(amount.low)} to {whole(amount.high)}"


def share_words(amount: Amount) -> str:
    """A share: ``58% (57% to 60%)``, or ``58.2% (57.9% to 58.4%)``."""
    return f"{share_alone(amount)} ({range_of_shares(amount)})"


def share_alone(amount: Amount) -> str:
    """The share without its interval, with as many digits as that leaves."""
    return _percent(amount.value, amount)


def range_of_shares(amount: Amount) -> str:
    """The interval alone: ``57% to 60%``."""
    return f"{_percent(amount.low, amount)} to {_percent(amount.high, amount)}"


def _percent(share: float, amount: Amount) -> str:
    """Whole percent, or one digit more where the interval is narrow or the share small; never none or all of some."""
    width, told = 100 * (amount.high - amount.low), f"{100 * share:.1f}%"
    narrow = width > 0 and math.log10(width / 4) < 0
    return told if narrow and (told not in ("0.0%", "100.0%") or share in (0, 1)) else percent(share)


def figure_words(amount: Amount, unit: str = "") -> str:
    """A mean, a quantile or a difference: ``32.4 years (31.9 to 32.9)``."""
    value, low, high = rounded(amount)
    return f"{_united(value, unit)} ({low} to {high})"


def rounded(amount: Amount) -> tuple[str, str, str]:
    """A figure and its ends, with no more digits than a quarter of what lies between these."""
    width = amount.high - amount.low
    largest = max(map(abs, (amount.value, amount.low, amount.high)))
    if width > 0:
        digits = -math.floor(math.log10(width / 4))
    else:
        digits = _EXACT - 1 - (math.floor(math.log10(largest)) if largest > 0 else 0)
    digits = min(digits, 6)
    ends = (amount.value, amount.low, amount.high)
    alike = len({round(own, digits) for own in ends}) == 1 and round(amount.value, digits).is_integer()
    if alike or all(own.is_integer() for own in ends):
        digits = min(digits, 0)  # 3 (2 to 4), and no zeros behind it.
    value, low, high = (_written(own, digits) for own in ends)
    return value, low, high


def _written(value: float, digits: int) -> str:
    return minus(f"{round(value, digits) + 0.0:,.{max(digits, 0)}f}")


def _united(value: str, unit: str) -> str:
    """A number that is written already, with its unit where that stands."""
    return with_unit(0, unit).replace("0", value, 1) if unit else value


def strength_words(amount: Amount) -> str:
    """Cramér's V or a standardised difference: ``0.32 (0.30 to 0.34)``."""
    return f"{hundredths(amount.value)} ({hundredths(amount.low)} to {hundredths(amount.high)})"


#: What Cramér's V does with rare values.
POOLED: Final = (
    "Values whose count is small relative to the noise are pooled into one value; they are left out where the pool is "
    "small too."
)


def pooled_words(model: SummaryModel, schema: Schema) -> list[tuple[str, str, str]]:
    """Column, pooled values and values left out, for each column with any; codes without a value only if pooled."""
    told = []
    for place, pool in poolings(model).items():
        axis = model.axes[place]
        cells, words = axis.cells(schema), cell_words(axis, schema)
        left_out = [words[cell] for cell in pool.left_out if cells[cell] not in RESERVED]
        if pool.pooled or left_out:
            told.append((axis.label(schema), ", ".join(words[cell] for cell in pool.pooled), ", ".join(left_out)))
    return told


def unit_of(axis: Axis, schema: Schema) -> str:
    """Unit of a number; empty if there is none."""
    return "" if axis.rows else str(getattr(schema.column(axis.column), "unit", ""))


def cell_words(axis: Axis, schema: Schema) -> tuple[str, ...]:
    """Cells as people say them: ``20 to 29``, ``over 2.5 to 5``, ``missing``."""
    return axis.cells(schema) if axis.rows else cells_called(schema.column(axis.column))


#: A whole number stands for all that is nearer to it than to others.
_HALF: Final = 0.5


def drawn_ends(reading: ColumnReading, schema: Schema) -> tuple[float, ...] | None:
    """Ends of the cells of a number in a picture, ascending without a tie; ``None`` of all else.

    A cell of whole numbers reaches half of one beyond them. One that holds a single real number is
    as wide as half the usual cell.
    """
    if reading.ends is None or reading.axis.rows:
        return None
    ends = np.asarray(reading.ends, dtype=float)
    if schema.column(reading.axis.column).type == "integer":
        return (ends[0] - _HALF, *(ends[1:] + _HALF).tolist())
    widths = np.diff(ends)
    usual = float(np.median(widths[widths > 0])) if (widths > 0).any() else 1.0
    first = ends[0] - _HALF * usual if widths[0] <= 0 else ends[0]
    last = ends[-1] + _HALF * usual if len(widths) > 1 and widths[-1] <= 0 else ends[-1]
    return (float(first), *ends[1:-1].tolist(), float(last))


#: Categories that are told one by one.
_TOLD = 5
_QUANTILES = {
    0.1: "a tenth below",
    0.25: "lower quartile",
    0.5: "median",
    0.75: "upper quartile",
    0.9: "nine tenths below",
}


def figures(reading: ColumnReading, schema: Schema) -> dict[str, str]:
    """Mean and quantiles by name, with their intervals; empty of categories."""
    unit = unit_of(reading.axis, schema)
    told = {} if reading.mean is None else {"mean": figure_words(reading.mean, unit)}
    return told | {
        name: figure_words(reading.quantiles[q], unit) for q, name in _QUANTILES.items() if reading.quantiles
    }


def column_sentences(reading: ColumnReading, schema: Schema) -> list[str]:
    """What a column tells, its interval for noise behind each number."""
    if reading.untold:
        lines = [_untold(reading, schema)]
    elif reading.quantiles:
        named = figures(reading, schema)
        middle = " and ".join(figure_words(reading.quantiles[q], unit_of(reading.axis, schema)) for q in (0.25, 0.75))
        lines = [f"Mean {named['mean']}, median {named['median']}.", f"Half of all values lie between {middle}."]
    else:
        lines = [_largest(reading, schema)]
    return lines + _without_value(reading, schema)


def _untold(reading: ColumnReading, schema: Schema) -> str:
    assert reading.ends is not None
    unit = unit_of(reading.axis, schema)
    bounds = f"{amount(reading.ends[0], unit, once=True)} to {amount(reading.ends[-1], unit)}"
    many = counted(schema).several
    return f"Too few {many} stand out from the noise to tell a mean or quantiles: these may be anything from {bounds}."


def _largest(reading: ColumnReading, schema: Schema) -> str:
    names = cell_words(reading.axis, schema)
    known = [cell for cell, name in enumerate(reading.cells) if name not in RESERVED]
    order = sorted(known, key=lambda cell: -reading.shares.values[cell])
    told = "; ".join(f"{names[cell]}, {share_words(reading.shares.amount(cell))}" for cell in order[:_TOLD])
    rest = len(order) - _TOLD
    more = f"; and {rest} more" if rest > 0 else ""
    return f"{'Most often' if len(order) > 2 else 'Shares'}: {told}{more}."


def _without_value(reading: ColumnReading, schema: Schema) -> list[str]:
    """Who has no value, and who has one that the schema does not list."""
    lines, people = [], counted(schema).several
    if reading.missing is not None:
        lines.append(_gone(reading.missing, f"of {people} have no value", "Missing values"))
    if reading.other is not None and reading.other.low > 0:
        lines.append(f"{share_words(reading.other)} of {people} have a value that the schema does not list.")
    return lines


def _gone(share: Amount, what: str, title: str) -> str:
    if share.low > 0:
        return f"{share_words(share)} {what}."
    return f"{title} do not stand out from the noise: at most {share_words(share).rpartition(' ')[2].strip(')')}."


@dataclass(frozen=True)
class Branch:
    """A group of codes, or a code, that stands out of the noise."""

    name: str
    """For people."""
    level: str
    """What its level is called; empty of the cells of the column themselves."""
    depth: int
    """Levels above it that are shown."""
    count: Amount
    share: float
    """Of all records."""
    folded: int
    """How many of the groups or codes right below it the noise hides."""


def branches(model: SummaryModel, schema: Schema, place: int) -> list[Branch]:
    """Branches of one of the model's trees, each followed by those below it.

    A branch is shown if its count is above 0 beyond what noise would make of any of the empty cells of its level,
    in 19 of 20 cases; those below it only if it is itself.
    """
    tree, levels = model.trees[place], model.levels[place]
    names = [_words(level.cells) for level in tree.levels] + [cell_words(model.axes[tree.axis], schema)]
    titles = [level.name for level in tree.levels] + [""]
    return _View.of(names, titles, levels, gaussian=model.gaussian).branches()


def _words(cells: Sequence[str]) -> tuple[str, ...]:
    return tuple(cell.strip("()") if cell in RESERVED else cell for cell in cells)


def _cells(level: Level, *, gaussian: bool) -> Cells:
    scale = np.maximum(level.deviations, 1e-12)
    low, high = intervals(level.counts / scale, 1.0, gaussian=gaussian)
    return around(level.values, low * scale, high * scale)


def _clear(level: Level, cells: Cells, *, gaussian: bool) -> Flags:
    """Cells of a level that stand out of the noise, all of them together (Bonferroni)."""
    chance = (1 - CONFIDENCE) / len(level.counts)
    # Of geometric noise the tail is that of Laplace noise; sums of it have lighter ones.
    needed = NormalDist().inv_cdf(1 - chance) if gaussian else math.log(1 / (2 * chance)) / math.sqrt(2)
    return np.asarray((cells.low > 0) & (level.counts > needed * level.deviations))


@dataclass(frozen=True)
class _View:
    names: list[tuple[str, ...]]
    titles: list[str]
    levels: Sequence[Level]
    cells: list[Cells]
    clear: list[Flags]

    @classmethod
    def of(cls, names: list[tuple[str, ...]], titles: list[str], levels: Sequence[Level], *, gaussian: bool) -> _View:
        """View of all levels."""
        cells = [_cells(level, gaussian=gaussian) for level in levels]
        clear = [_clear(level, own, gaussian=gaussian) for level, own in zip(levels, cells, strict=True)]
        return cls(names, titles, levels, cells, clear)

    def branches(self) -> list[Branch]:
        """All that stand out."""
        return [branch for cell in range(len(self.names[0])) for branch in self.under(0, cell, 0)]

    def under(self, place: int, cell: int, depth: int) -> list[Branch]:
        """The branch of a cell and all below it; nothing, if the noise hides it."""
        if not self._stands_out(place, cell):
            return []
        name, below = self.names[place][cell], self._below(place, cell)
        title = self.titles[place]
        while len(below) == 1:  # A group with a single part is as large as that: both are one branch.
            place, cell = place + 1, int(below[0])
            only, below = self.names[place][cell], self._below(place, cell)
            name = name if only in name else f"{name.removesuffix(')').split(' (')[0]} ({only})"
        hidden = sum(not self._stands_out(place + 1, int(own)) for own in below)
        total = max(float(self.cells[0].values.sum()), 1.0)
        count = self.cells[place].amount(cell)
        own = Branch(name, title, depth, count, count.value / total, hidden)
        return [own, *(branch for child in below for branch in self.under(place + 1, int(child), depth + 1))]

    def _below(self, place: int, cell: int) -> Ints:
        if place + 1 == len(self.levels):
            return np.empty(0, dtype=np.int64)
        return np.flatnonzero(self.levels[place + 1].parents == cell)

    def _stands_out(self, place: int, cell: int) -> bool:
        return bool(self.clear[place][cell])
