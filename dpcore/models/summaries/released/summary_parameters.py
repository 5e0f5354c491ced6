"""A declared axis of each table, and parameters of a first look: public choices of the analyst."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import Annotated, Final, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from dpcore.arrays import Floats
from dpcore.domain.columns import RESERVED, Column, IntegerColumn, NumericColumn
from dpcore.domain.derivations import PartOfDate
from dpcore.domain.schemas.names import Name
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.frozen import FrozenModel
from dpcore.released.parameters import Parameters

#: Parts of a date that tell of time as it goes by.
_TIMES: Final = ("year", "quarter", "month", "year-quarter", "year-month")
#: Numbers of rows that have a cell of their own.
_SINGLE: Final = 8


class Axis(FrozenModel):
    """One way to divide people among cells."""

    column: str = ""
    """By the cells of this column of the main table; empty if not."""
    table: str = ""
    """By how many rows they have in this further table; empty if not."""
    edges: tuple[float, ...] | None = None
    """Cut points between the cells of a column of numbers."""
    time: bool = False
    """Whether its cells are years, quarters or months, in their order."""

    @property
    def name(self) -> str:
        """Of the column or the table."""
        return self.column or self.table

    @property
    def rows(self) -> bool:
        """Whether rows of a further table are counted."""
        return bool(self.table)

    def whole(self, schema: Schema) -> bool:
        """Whether its numbers are whole."""
        return self.rows or isinstance(schema.column(self.column), IntegerColumn)

    def in_order(self, size: int) -> int:
        """How many of its ``size`` cells, from the first on, are in an order: all with a value, or none."""
        if self.edges is not None:
            return len(self.edges) + 1
        return size if self.rows else size - len(RESERVED) if self.time else 0

    def cells(self, schema: Schema) -> tuple[str, ...]:
        """Labels of its cells, in order."""
        if not self.rows:
            return tuple(schema.column(self.column).cells)
        ends = row_ends(self.child(schema))
        firsts = [0, *(end + 1 for end in ends[:-1])]
        return tuple(str(a) if a == b else f"{a} to {b}" for a, b in zip(firsts, ends, strict=True))

    def size(self, schema: Schema) -> int:
        """How many cells it has."""
        return len(row_ends(self.child(schema))) if self.rows else len(schema.column(self.column).cells)

    def child(self, schema: Schema) -> ChildTable:
        """The further table whose rows are counted."""
        return next(child for child in schema.children if child.name == self.table)

    def label(self, schema: Schema) -> str:
        """What people call it."""
        return f"rows in {self.table}" if self.rows else schema.column(self.column).label or self.column

    def ends(self, schema: Schema) -> tuple[float, ...] | None:
        """Ends of the cells of a number, ascending, one more than cells with a number; ``None`` of others.

        Cells hold their upper end, and the first one its lower end, too.
        """
        if self.rows:
            return (0.0, *map(float, row_ends(self.child(schema))))
        column = schema.column(self.column)
        if not isinstance(column, NumericColumn):
            return None
        return (float(column.lower), *column.inner_edges, float(column.upper))


def row_ends(table: ChildTable) -> tuple[int, ...]:
    """Largest number of rows of each cell: single numbers first, then ever wider ranges."""
    most = table.max_rows_per_person
    ends = list(range(min(most, _SINGLE) + 1))
    while ends[-1] < most:
        ends.append(min(most, 2 * ends[-1]))
    return tuple(ends)


def axes_of(schema: Schema, columns: tuple[str, ...] | None) -> tuple[Axis, ...]:
    """All axes of a run: its columns in the order of the schema, then the further tables if all are looked at."""
    names = [column.name for column in schema if columns is None or column.name in columns]
    further = [child.name for child in schema.children] if columns is None else []
    return (*(_of_column(schema.column(name)) for name in names), *(Axis(table=name) for name in further))


def whole_ends(ends: Sequence[float]) -> Floats:
    """Largest whole number of each cell between ends, and before them the one below the smallest of all."""
    return np.array([ends[0] - 1, *np.floor(ends[1:])])


def middles(ends: Sequence[float], *, whole: bool) -> Floats:
    """Middle of each cell between ends; of ``whole`` numbers, of those that it holds."""
    own = whole_ends(ends) if whole else np.asarray(ends, dtype=np.float64)
    return np.asarray((own[:-1] + own[1:] + whole) / 2)


def limits(ends: Sequence[float], *, whole: bool) -> tuple[Floats, Floats]:
    """Smallest and largest number of each cell between ends."""
    own = whole_ends(ends) if whole else np.asarray(ends, dtype=np.float64)
    return own[:-1] + whole, own[1:]


def _of_column(column: Column) -> Axis:
    edges = tuple(column.inner_edges) if isinstance(column, NumericColumn) else None
    part = column.derive.part if isinstance(column.derive, PartOfDate) else ""
    return Axis(column=column.name, edges=edges, time=part in _TIMES and column.ordered and edges is None)


SummaryMethod = Literal["weighted", "equal"]
Columns = Annotated[tuple[Name, ...], Field(min_length=1, max_length=1000)]
#: Pairs that one run may find.
MOST_PAIRS: Final = 200
#: Between the two columns of a crosstab, as text.
BETWEEN: Final = " by "


class SummaryParameters(Parameters):
    """Which tables of counts are asked for."""

    method: SummaryMethod = Field(default="weighted", title="How noise is shared")
    """weighted divides the budget so that the error over all cells that are shown is smallest. equal gives every table
    the same part, for comparison."""
    columns: Columns | None = Field(default=None, title="Columns")
    """Columns that are looked at. Fewer of them have less noise each. Default: all."""
    by: Name | None = Field(default=None, title="Groups to compare")
    """Every column is also counted in each group of this one: an outcome, a treatment, a site. Default: none."""
    crosstabs: tuple[Name, ...] = Field(default=(), max_length=200, title="Pairs of columns")
    """Each written as 'sex by died': how many have each value of one with each value of the other."""
    codes: tuple[Name, ...] = Field(default=(), max_length=100, title="Codes by their groups")
    """Columns of codes that are also counted by the groups above their categories: chapters above blocks of ICD-10,
    levels of ATC, or the groups that the schema makes of categories. A group then has less noise than the sum of its
    codes."""
    finer: tuple[Name, ...] = Field(default=(), max_length=100, title="Finer quantiles")
    """Columns of numbers that are also counted in finer cells: medians and other quantiles are told more closely than
    the column's own cut points allow. Takes a part of the budget from the other counts."""
    pairs: int = Field(default=0, ge=0, le=MOST_PAIRS, title="Pairs to be found")
    """So many pairs of columns that go together most are found privately, and counted. They take a part of epsilon from
    the columns."""
    records: bool = Field(default=False, title="Pairs for invented records")
    """As many pairs are found as pay for invented records, by the sizes of columns, the declared most rows and epsilon
    alone: none where noise would hide them. In place of a number of pairs."""
    delta: Decimal | None = Field(default=None, gt=0, le=Decimal("0.01"), title="delta (allowance beyond epsilon)")
    """With it the noise is Gaussian, which is less for many tables. It must be far smaller than 1 divided by the number
    of people. Default: that of the data set's budget; without one, none."""

    @model_validator(mode="after")
    def _each_once(self) -> Self:
        if self.records and self.pairs:
            raise ValueError("pairs are found for invented records, or so many as are named: not both")
        columns = (("column", self.columns or ()), ("column of codes", self.codes), ("column", self.finer))
        for what, names in (*columns, ("pair", self.crosstabs)):
            twice = [name for place, name in enumerate(names) if name in names[:place]]
            if twice:
                raise ValueError(f"the {what} '{twice[0]}' is named twice")
        return self
