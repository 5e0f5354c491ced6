"""Table 1 as it is printed: n (%), mean and median for each group, with intervals for noise."""

from __future__ import annotations

from typing import Final

from dpcore.domain.counted import counted
from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.crosstab import Crosstab, crosstab
from dpcore.models.summaries.released.intervals import Amount
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_words import (
    cell_words,
    range_of_counts,
    range_of_shares,
    rounded,
    share_alone,
    strength_words,
    unit_of,
)
from dpcore.models.summaries.released.table_one import Line, TableOne
from dpcore.numerals import whole
from dpcore.released.blocks import Cell, Inner, Noisy, Table

DIFFERENCE: Final = "Standardised difference"
MEAN: Final = "mean"
#: What a mean is, for a column of which ranges were counted.
MIDDLES: Final = "takes each number as the middle of its range, of those that were counted"


def table_one_table(model: SummaryModel, schema: Schema, table: TableOne) -> Table:
    """A table 1 in words: columns as rows, groups as columns."""
    assert model.by is not None
    by = model.axes[model.by]
    told = dict(zip(by.cells(schema), cell_words(by, schema), strict=True))
    shown = [by.cells(schema).index(group) for group in table.groups]
    writer = _Writer(model, schema, table, shown)
    rows = [row for own in table.lines for row in writer.rows(own)]
    means = means_words(any(line.kind == "mean" for line in table.lines))
    caption = f"Table 1: Columns by {table.by}{_left_out(table)}; intervals are for the noise, 95%{means}"
    return Table.of(caption, ["", *(told[group] for group in table.groups), DIFFERENCE], rows)


def means_words(told: bool) -> str:
    """What a caption says of means, if there are any."""
    return f"; a mean {MIDDLES}, its interval allows for numbers anywhere in their ranges" if told else ""


def _left_out(table: TableOne) -> str:
    """Why columns have no standardised difference that might have one."""
    if not table.uncompared:
        return ""
    return f". Too many groups and categories for a standardised difference: {', '.join(table.uncompared)}"


class _Writer:
    """What is needed to write the lines of one table."""

    def __init__(self, model: SummaryModel, schema: Schema, table: TableOne, shown: list[int]) -> None:
        assert model.by is not None
        self.model, self.schema, self.by, self.shown = model, schema, model.by, shown
        self.sizes = [amount.value for amount in table.lines[0].groups]
        self._tables: dict[int, Crosstab] = {}

    def rows(self, line: Line) -> list[list[Cell]]:
        """The rows of one line: a column may need one for its name."""
        gap: Cell = "" if line.difference is None else Noisy(*_apart(strength_words(line.difference)))
        if line.kind == "count":
            counts = [Noisy(whole(own.value), range_of_counts(own)) for own in line.groups]
            return [[_upper(counted(self.schema).several), *counts, ""]]
        none = [""] * len(self.shown)
        if line.kind == "":
            return [[line.label, *none, gap]]
        place = self.model.place(line.column) if not self._of_rows(line) else self._rows_place(line)
        if line.kind == "share":
            return [[Inner(self._cell(place, line)), *self._shares(place, line), gap]]
        figures = map(_figure, line.groups)
        if line.kind == "mean":
            unit = unit_of(self.model.axes[place], self.schema)
            heading = f"{line.label} ({unit})" if unit and not line.label.endswith(f"({unit})") else line.label
            return [[heading, *none, gap], [Inner(MEAN), *figures, ""]]
        return [[Inner(line.kind), *figures, ""]]

    def _of_rows(self, line: Line) -> bool:
        return line.column not in self.model.columns()

    def _rows_place(self, line: Line) -> int:
        return next(n for n, axis in enumerate(self.model.axes) if axis.rows and axis.name == line.column)

    def _cell(self, place: int, line: Line) -> str:
        axis = self.model.axes[place]
        return cell_words(axis, self.schema)[axis.cells(self.schema).index(line.label)]

    def _shares(self, place: int, line: Line) -> tuple[Noisy, ...]:
        if place not in self._tables:
            self._tables[place] = crosstab(self.model, self.schema, self.by, place)
        table = self._tables[place]
        cell = self.model.axes[place].cells(self.schema).index(line.label)
        return tuple(
            _share(own, size * own.value, table.count(group, cell))
            for own, size, group in zip(line.groups, self.sizes, self.shown, strict=True)
        )


def _share(share: Amount, people: float, counted: Amount) -> Noisy:
    """Count and share, with both intervals; the count is what the share makes of its group."""
    own = Amount(people, min(counted.low, people), max(counted.high, people))
    return Noisy(f"{whole(people)} ({share_alone(share)})", f"{range_of_counts(own)}; {range_of_shares(share)}")


def _figure(amount: Amount) -> Noisy:
    value, low, high = rounded(amount)
    return Noisy(value, f"{low} to {high}")


def _apart(words: str) -> tuple[str, str]:
    value, _, rest = words.partition(" ")
    return value, rest.strip("()")


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]
