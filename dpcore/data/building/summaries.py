"""One row of a person out of several: what columns with a summary make of the rows' values.

Rows are brought together piece by piece, in whatever order they come, so what is made of some
rows can be brought together with others, and the same comes out: least and greatest values, sums
of integers, and the values that come first by order and, within the same moment, by chance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from dpcore.arrays import Array, Floats, Ints
from dpcore.domain.columns import Column, NumberColumn, NumericColumn
from dpcore.domain.encoding import bin_numbers

#: Decimal digits of a column's range to which numbers count in a mean.
_DIGITS: Final = 9
#: Summaries for which the order of a person's rows counts.
BY_ORDER: Final = ("first", "last")
_BY_SUM: Final = ("mean", "count")


class Summaries:
    """The columns of a table with a summary, and the fields that rows need for them.

    Attributes
    ----------
    fields : list
        Of the type of a row, beside ``codes``, ``numbers``, ``word`` and ``order``.
    """

    def __init__(self, columns: Sequence[Column]) -> None:
        numeric = [column for column in columns if isinstance(column, NumericColumn)]
        self._columns, self._numeric = columns, {column.name: place for place, column in enumerate(numeric)}
        summed = [column for column in columns if column.summary is not None]
        self._listed = [c for c in summed if c.name not in self._numeric and c.summary not in BY_ORDER]
        self._extreme = [column for column in numeric if column.summary in {"minimum", "maximum"}]
        self._added = [column for column in numeric if column.summary in _BY_SUM]
        self._placed = [column for column in summed if column.summary in BY_ORDER]
        self.fields: list[object] = []
        if self._added:
            self.fields += [("sum", np.int64, (len(self._added),)), ("met", np.int64, (len(self._added),))]
        if self._placed:
            self.fields += [("when", np.float64, (len(self._placed),)), ("lot", np.uint64, (len(self._placed),))]

    def __bool__(self) -> bool:
        return any(column.summary is not None for column in self._columns)

    def start(self, rows: Array) -> None:
        """Fill in the fields of encoded rows as they come."""
        for place, column in enumerate(self._added):
            numbers = rows["numbers"][:, self._numeric[column.name]]
            met = ~np.isnan(numbers)
            lower, scale = _grid(column)
            rows["met"][:, place] = met
            rows["sum"][met, place] = np.rint((numbers[met] - lower) * scale)
        for place in range(len(self._placed)):
            rows["when"][:, place], rows["lot"][:, place] = rows["order"], rows["word"]

    def together(self, rows: Array, owners: Ints) -> Array:
        """One row a person: the first of each, with summaries of all.

        Parameters
        ----------
        owners : array of shape (n_rows,)
            Person of each row, ascending.
        """
        starts = np.flatnonzero(np.diff(owners, prepend=-1))
        kept = rows[starts]
        for column in self._listed:
            place, rank = self._columns.index(column), _ranks(column)
            kept["codes"][:, place] = np.argsort(rank)[np.minimum.reduceat(rank[rows["codes"][:, place]], starts)]
        for column in self._extreme:
            place = self._numeric[column.name]
            extreme = np.fmin if column.summary == "minimum" else np.fmax
            kept["numbers"][:, place] = extreme.reduceat(rows["numbers"][:, place], starts)
        for field in ("sum", "met") if self._added else ():
            kept[field] = np.add.reduceat(rows[field], starts)
        for number, column in enumerate(self._placed):
            self._take_placed(rows, owners, starts, kept, number, column)
        return kept

    def _take_placed(self, rows: Array, owners: Ints, starts: Ints, kept: Array, number: int, column: Column) -> None:
        place = self._columns.index(column)
        absent = rows["codes"][:, place] == len(column.cells) - 1
        when = in_order(rows["when"][:, number], column.summary)
        first = np.lexsort((rows["lot"][:, number], when, absent, owners))[starts]
        kept["codes"][:, place] = rows["codes"][first, place]
        for field in ("when", "lot"):
            kept[field][:, number] = rows[field][first, number]
        if column.name in self._numeric:
            own = self._numeric[column.name]
            kept["numbers"][:, own] = rows["numbers"][first, own]

    def finish(self, rows: Array) -> None:
        """Put sums and the bins of numbers in their places, when no row is left to come."""
        for number, column in enumerate(self._added):
            total, met = rows["sum"][:, number], rows["met"][:, number]
            rows["numbers"][:, self._numeric[column.name]] = _of_sum(column, total, met)
        for column in (*self._added, *self._extreme):
            numbers = rows["numbers"][:, self._numeric[column.name]]
            rows["codes"][:, self._columns.index(column)] = bin_numbers(column, numbers)


def in_order(order: Floats, keep: str | None) -> Floats:
    """Numbers of which the smallest is that of the row that counts; rows without order come last."""
    return -order if keep == "last" else order


def _ranks(column: Column) -> Ints:
    """The rank of each cell: of several, that of the lowest rank counts."""
    cells = np.arange(len(column.cells))
    if column.summary in {"any", "maximum"}:  # The categories the other way round.
        cells[: len(column.classes)] = cells[: len(column.classes)][::-1]
    return cells


def _grid(column: NumberColumn) -> tuple[float, float]:
    """Where a column's numbers begin to count, and in how many steps each of their units."""
    if column.summary == "count":
        return 0.0, 1.0
    return column.lower, 10.0 ** _digits(column)


def _digits(column: NumberColumn) -> int:
    return int(_DIGITS - np.ceil(np.log10(column.upper - column.lower)))


def _of_sum(column: NumberColumn, total: Ints, met: Ints) -> Floats:
    if column.summary == "count":
        found = np.where(met > 0, total, np.nan)
    else:
        lower, scale = _grid(column)
        mean = np.divide(total, met, out=np.full(len(met), np.nan), where=met > 0)
        found = np.round(lower + mean / scale, _digits(column))
    if column.type == "integer":
        found = np.rint(found)
    return np.clip(found, column.lower, column.upper)
