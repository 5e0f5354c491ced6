"""How the values of one column fall into the bins of a released term."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Self

import numpy as np
from pydantic import model_validator

from dpcore.arrays import Floats, Ints, Values
from dpcore.domain.columns import MISSING, Column, NumberColumn, NumericColumn, format_number
from dpcore.domain.encoding import clamp_numbers, encode_categories
from dpcore.domain.schemas.schema import Schema
from dpcore.frozen import FrozenModel


class Axis(FrozenModel):
    """Bins of one column, the last of a numeric one for missing values."""

    column: str
    """Name of the column."""
    labels: tuple[str, ...]
    """Name of each bin."""
    edges: tuple[float, ...] | None = None
    """Numeric column: ascending cut points. Bin i holds edges[i-1] < value <= edges[i]. ``None`` for a column of
    categories."""
    bounds: tuple[float, float] | None = None
    """Numeric column: its public bounds."""
    groups: tuple[int, ...] = ()
    """Column of categories: bin of each of its cells. Empty for a numeric column."""

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if (self.edges is None) != (self.bounds is None) or (self.edges is None) != bool(self.groups):
            raise ValueError("an axis has either edges with bounds, or groups of cells")
        return self

    @classmethod
    def numeric(cls, column: NumberColumn, edges: tuple[float, ...]) -> Axis:
        """Bins of a numeric column between its bounds, cut at ``edges``."""
        points = [format_number(value) for value in (column.lower, *edges, column.upper)]
        (low, high), *rest = pairwise(points)
        labels = (f"[{low}, {high}]", *(f"({a}, {b}]" for a, b in rest), MISSING)
        return cls(column=column.name, labels=labels, edges=edges, bounds=(column.lower, column.upper))

    @classmethod
    def categories(cls, column: Column, groups: tuple[int, ...] | None = None) -> Axis:
        """Bins of a column of categories: one per cell, or per group of cells."""
        groups = groups or tuple(range(len(column.cells)))
        labels = tuple(" or ".join(cells) for cells in group_members(column.cells, groups))
        return cls(column=column.name, labels=labels, groups=groups)

    def worded(self, schema: Schema) -> Axis:
        """The same bins, called by the words of a schema."""
        return Axis.categories(schema.column(self.column), self.groups) if self.groups else self

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def points(self) -> tuple[float, ...]:
        """Ends of the bins of a numeric column, missing values apart, ascending; else none."""
        if self.edges is None or self.bounds is None:
            return ()
        return (self.bounds[0], *self.edges, self.bounds[1])

    def codes(self, column: Column, values: Values) -> Ints:
        """Bin of each raw value: shape (n_rows,)."""
        if isinstance(column, NumericColumn):
            return self.codes_of_numbers(clamp_numbers(column, values))
        return np.asarray(self.groups, dtype=np.int64)[encode_categories(column, values)]

    def codes_of_numbers(self, numbers: Floats) -> Ints:
        """Bin of each clamped number; NaN is missing."""
        codes = np.searchsorted(np.asarray(self.edges), numbers, side="left")
        codes[np.isnan(numbers)] = len(self.labels) - 1
        return codes.astype(np.int64)


def group_members(cells: Sequence[str], groups: Sequence[int]) -> list[list[str]]:
    """Cells of each group, in order."""
    members: list[list[str]] = [[] for _ in range(max(groups) + 1)]
    for cell, group in zip(cells, groups, strict=True):
        members[group].append(cell)
    return members
