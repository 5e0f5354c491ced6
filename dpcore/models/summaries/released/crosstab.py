"""Two or more columns of a first look against each other: crosstabs, and answers to questions about groups."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dpcore.arrays import Floats
from dpcore.domain.columns import RESERVED
from dpcore.domain.conditions import Condition
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.summaries.released.estimates import Axes, Estimates, cells_beside, parts_of
from dpcore.models.summaries.released.intervals import Amount, Cells, Denominator, around, intervals, share_intervals
from dpcore.models.summaries.released.reading import cells_of
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_words import cell_words, range_of_counts, range_of_shares, share_alone
from dpcore.numerals import whole
from dpcore.released.blocks import Cell, Noisy, Several, Table

#: Rows and columns of a table; the JSON of the result holds all.
_MOST = 60


@dataclass(frozen=True)
class Crosstab:
    """A table on two axes."""

    rows: str
    columns: str
    """``rows``, ``columns``: what people call the two."""
    row_cells: tuple[str, ...]
    column_cells: tuple[str, ...]
    sizes: Cells
    """People in each row."""
    counts: Cells
    """Of shape (n_rows, n_columns)."""
    shares: Cells
    """Within each row, of the same shape; a row without people has none."""

    def count(self, row: int, column: int) -> Amount:
        """People in one cell."""
        return _amount(self.counts, row, column)

    def share(self, row: int, column: int) -> Amount:
        """Share of one cell within its row."""
        return _amount(self.shares, row, column)


def _amount(cells: Cells, row: int, column: int) -> Amount:
    place = row, column
    return Amount(float(cells.values[place]), float(cells.low[place]), float(cells.high[place]))


def crosstab(model: SummaryModel, schema: Schema, row: int, column: int) -> Crosstab:
    """The table of two axes, of which the first makes the rows.

    Raises
    ------
    KeyError
        If these two were not counted together.
    """
    own, first, second = model.estimates, model.axes[row], model.axes[column]
    pair = (min(row, column), max(row, column))
    counts = cells_of(own, pair)
    return Crosstab(
        first.label(schema),
        second.label(schema),
        cell_words(first, schema),
        cell_words(second, schema),
        cells_of(own, (row,)),
        counts if row < column else Cells(counts.values.T, counts.low.T, counts.high.T),
        _within(own, row, column),
    )


def crosstab_table(model: SummaryModel, schema: Schema, row: int, column: int) -> Table:
    """Share within each value of the first axis, and count; what has more values goes down."""
    table = crosstab(model, schema, row, column)
    groups = _shown(model.axes[row].cells(schema), table.sizes.low)
    cells = _shown(model.axes[column].cells(schema), table.counts.low.max(axis=0))
    sizes = {group: whole(table.sizes.values[group]) for group in groups}
    rows: list[list[Cell]]
    if len(cells) > len(groups):
        head, within = [table.columns, *(table.row_cells[group] for group in groups)], "column"
        rows = [[table.column_cells[cell], *(_both(table, group, cell) for group in groups)] for cell in cells]
        rows.append(["in all", *sizes.values()])
    else:
        head, within = [table.rows, *(table.column_cells[cell] for cell in cells), "in all"], "row"
        rows = [
            [table.row_cells[group], *(_both(table, group, cell) for cell in cells), sizes[group]] for group in groups
        ]
    caption = f"{table.rows} and {table.columns}: share within the {within}, and count; in brackets, for the noise, 95%"
    return Table.of(caption, head, rows)


def _shown(cells: Sequence[str], low: Floats) -> list[int]:
    """Cells that have a line: those for no value only if somebody seems to be in them."""
    return [place for place, cell in enumerate(cells) if cell not in RESERVED or low[place] > 0][:_MOST]


def _both(table: Crosstab, row: int, column: int) -> Several:
    share, count = table.share(row, column), table.count(row, column)
    return Several(
        (Noisy(share_alone(share), range_of_shares(share)), Noisy(whole(count.value), range_of_counts(count)))
    )


def _within(own: Estimates, row: int, column: int) -> Cells:
    """Shares within rows. The noise on the number of people in a row counts too."""
    pair = (min(row, column), max(row, column))
    raw, near = own.table(pair), own.consistent(pair)
    if row > column:
        raw, near = raw.T, near.T
    sizes = np.maximum(own.table((row,)), 1.0)[:, None]
    denominator = Denominator(sizes, own.deviation((row,)) ** 2, raw.shape[1])
    low, high = share_intervals(raw, own.deviation(pair) ** 2, denominator, gaussian=own.gaussian)
    total = near.sum(axis=1, keepdims=True)
    values = np.divide(near, total, out=np.zeros_like(near), where=total > 0)
    return around(values, low, high)


#: Columns that a table has at most.
_MOST = 2


def how_many(model: SummaryModel, conditions: Sequence[Condition]) -> Amount:
    """How many records satisfy all conditions, with an interval for the noise.

    Raises
    ------
    RequestError
        If there is no condition, two are of one column, or they ask of columns that were not counted together.
    """
    own, found = model.estimates, _sum_of(model, conditions)
    low, high = intervals(np.array([found.raw]), math.sqrt(found.variance), gaussian=own.gaussian)
    near = min(max(found.near, float(low[0])), float(high[0]))
    return Amount(near, float(low[0]), float(high[0]))


def share_of_all(model: SummaryModel, conditions: Sequence[Condition]) -> Amount:
    """Share of all records that satisfy all conditions. The noise on their number counts too.

    Raises as :func:`how_many` does.
    """
    own, found = model.estimates, _sum_of(model, conditions)
    denominator = Denominator(np.array(max(own.total, 1.0)), own.total_deviation**2, 1 / found.part)
    low, high = share_intervals(np.array(found.raw), found.variance, denominator, gaussian=own.gaussian)
    value = min(found.near / max(own.total, 1.0), 1.0)
    return Amount(value, min(float(low), value), max(float(high), value))


@dataclass(frozen=True)
class _Sum:
    """Records in some cells of a table."""

    raw: float
    near: float
    """``raw``, ``near``: without bias, and by counts that are not negative."""
    variance: float
    """Of the noise on the former."""
    part: float
    """Share of the cells of the table that these are."""


def _sum_of(model: SummaryModel, conditions: Sequence[Condition]) -> _Sum:
    if not conditions:
        raise RequestError("Ask of at least one column.")
    places = [_place(model, condition.column) for condition in conditions]
    if any(one == other for one, other in pairwise(sorted(places))):
        raise RequestError("A column is used twice: combine its conditions into one.")
    order = sorted(range(len(places)), key=lambda number: places[number])
    axes = tuple(places[number] for number in order)
    if not is_held(model, [condition.column for condition in conditions]):
        raise RequestError(
            "This first look has not counted these columns together: make one with the pair "
            f"'{' by '.join(condition.column for condition in conditions)}'."
            if len(axes) == _MOST
            else f"This asks of {len(axes)} columns: a first look counts {_MOST} together at most."
        )
    return _share_of(model.estimates, axes, [conditions[number] for number in order])


def how_many_by(model: SummaryModel, conditions: Sequence[Condition], by: str) -> list[Amount]:
    """The same for each cell of one more column. Raises as :func:`how_many` does."""
    cells = range(model.sizes[_place(model, by)])
    return [how_many(model, [*conditions, Condition(column=by, first=cell, last=cell)]) for cell in cells]


def is_held(model: SummaryModel, columns: Sequence[str]) -> bool:
    """Whether columns were counted together, so that what is asked of them is free."""
    return tuple(sorted(_place(model, column) for column in columns)) in model.estimates


def _place(model: SummaryModel, column: str) -> int:
    try:
        return model.place(column)
    except KeyError:
        raise RequestError(f"This first look has not counted '{column}'.") from None


def _share_of(own: Estimates, axes: Axes, conditions: Sequence[Condition]) -> _Sum:
    chosen = tuple(slice(condition.first, condition.last + 1) for condition in conditions)
    spans = dict(zip(axes, (condition.last + 1 - condition.first for condition in conditions), strict=True))
    variance = sum(own.variance(part) * _share(own, axes, part, spans) for part in parts_of(axes))
    part = math.prod(spans[axis] / own.sizes[axis] for axis in axes)
    raw, near = own.table(axes)[chosen].sum(), own.consistent(axes)[chosen].sum()
    return _Sum(float(raw), float(near), variance, part)


def _share(own: Estimates, axes: Axes, part: Axes, spans: dict[int, int]) -> float:
    """Variance of the sum of some cells of a table for each unit of variance of a part of it."""
    inside = math.prod(spans[axis] * (1 - spans[axis] / own.sizes[axis]) for axis in part)
    beside = math.prod(spans[axis] for axis in axes if axis not in part) / cells_beside(own.sizes, axes, part)
    return inside * beside**2
