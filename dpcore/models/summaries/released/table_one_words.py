"""Table 1 as it is printed: n (%), mean and median for each group, with intervals for noise."""

from __future__ import annotations

from dataclasses import dataclass
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

MEAN: Final = "mean"
#: What a mean is, for a column of which ranges were counted.
MIDDLES: Final = "takes each number as the middle of its range, of those that were counted"


@dataclass(frozen=True)
class PrintedCell:
    """What stands in one place.

    Attributes
    ----------
    figure, interval : str
        ``1,234 (45%)`` and ``1,201 to 1,267; 44% to 46%``.
    """

    figure: str
    interval: str = ""


@dataclass(frozen=True)
class PrintedLine:
    """One line.

    Attributes
    ----------
    label : str
    inner : bool
        Whether it belongs to the column of a line above, and is set in.
    cells : tuple of PrintedCell
        One for each group; none on a line that only names a column.
    difference : PrintedCell or None
    """

    label: str
    inner: bool
    cells: tuple[PrintedCell, ...]
    difference: PrintedCell | None


@dataclass(frozen=True)
class PrintedTable:
    """All of it.

    Attributes
    ----------
    caption : str
    groups : tuple of str
        Headings of the columns.
    lines : tuple of PrintedLine
    """

    caption: str
    groups: tuple[str, ...]
    lines: tuple[PrintedLine, ...]

    @property
    def means(self) -> bool:
        """Whether a mean stands in it."""
        return any(line.inner and line.label == MEAN for line in self.lines)


def printed(model: SummaryModel, schema: Schema, table: TableOne) -> PrintedTable:
    """A table 1 in words."""
    assert model.by is not None
    by = model.axes[model.by]
    told = dict(zip(by.cells(schema), cell_words(by, schema), strict=True))
    shown = [by.cells(schema).index(group) for group in table.groups]
    writer = _Writer(model, schema, table, shown)
    return PrintedTable(
        f"Columns by {table.by}{_left_out(table)}",
        tuple(told[group] for group in table.groups),
        tuple(line for own in table.lines for line in writer.lines(own)),
    )


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

    def lines(self, line: Line) -> list[PrintedLine]:
        gap = None if line.difference is None else PrintedCell(*_apart(strength_words(line.difference)))
        if line.kind == "count":
            cells = tuple(PrintedCell(whole(own.value), range_of_counts(own)) for own in line.groups)
            return [PrintedLine(_upper(counted(self.schema).several), False, cells, None)]
        if line.kind == "":
            return [PrintedLine(line.label, False, (), gap)]
        place = self.model.place(line.column) if not self._of_rows(line) else self._rows_place(line)
        if line.kind == "share":
            return [PrintedLine(self._cell(place, line), True, self._shares(place, line), gap)]
        figures = tuple(_figure(own) for own in line.groups)
        if line.kind == "mean":
            unit = unit_of(self.model.axes[place], self.schema)
            heading = f"{line.label} ({unit})" if unit and not line.label.endswith(f"({unit})") else line.label
            return [PrintedLine(heading, False, (), gap), PrintedLine(MEAN, True, figures, None)]
        return [PrintedLine(line.kind, True, figures, None)]

    def _of_rows(self, line: Line) -> bool:
        return line.column not in self.model.columns()

    def _rows_place(self, line: Line) -> int:
        return next(n for n, axis in enumerate(self.model.axes) if axis.rows and axis.name == line.column)

    def _cell(self, place: int, line: Line) -> str:
        axis = self.model.axes[place]
        return cell_words(axis, self.schema)[axis.cells(self.schema).index(line.label)]

    def _shares(self, place: int, line: Line) -> tuple[PrintedCell, ...]:
        if place not in self._tables:
            self._tables[place] = crosstab(self.model, self.schema, self.by, place)
        table = self._tables[place]
        cell = self.model.axes[place].cells(self.schema).index(line.label)
        return tuple(
            _share(own, size * own.value, table.count(group, cell))
            for own, size, group in zip(line.groups, self.sizes, self.shown, strict=True)
        )


def _share(share: Amount, people: float, counted: Amount) -> PrintedCell:
    """Count and share, with both intervals; the count is what the share makes of its group."""
    own = Amount(people, min(counted.low, people), max(counted.high, people))
    return PrintedCell(f"{whole(people)} ({share_alone(share)})", f"{range_of_counts(own)}; {range_of_shares(share)}")


def _figure(amount: Amount) -> PrintedCell:
    value, low, high = rounded(amount)
    return PrintedCell(value, f"{low} to {high}")


def _apart(words: str) -> tuple[str, str]:
    value, _, rest = words.partition(" ")
    return value, rest.strip("()")


def _upper(words: str) -> str:
    return words[:1].upper() + words[1:]
