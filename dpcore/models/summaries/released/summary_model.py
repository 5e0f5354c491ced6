"""The released tables of noisy counts: all else about a first look follows from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np
import pandas as pd

from dpcore.arrays import Ints
from dpcore.domain.encoding import encode
from dpcore.domain.schemas.schema import Schema
from dpcore.frozen import FrozenModel
from dpcore.models.summaries.released.estimates import Axes, Estimates, Measured
from dpcore.models.summaries.released.finer import CodeTree, FinerTable, Level, fitted
from dpcore.models.summaries.released.summary_parameters import Axis, row_ends


class NoisyTable(FrozenModel):
    """Counts of people by one axis or two, with independent noise of one scale on each."""

    axes: tuple[int, ...]
    """Places in the model's ``axes``, ascending."""
    counts: tuple[float, ...]
    """Row by row; may be negative, and of Gaussian noise they are not whole."""
    deviation: float
    """Standard deviation of the noise, in records."""


class SummaryModel(FrozenModel):
    """A first look: noisy tables, one for each axis and for some pairs."""

    axes: tuple[Axis, ...]
    sizes: tuple[int, ...]
    """Cells of each."""
    tables: tuple[NoisyTable, ...]
    by: int | None = None
    """Place of the axis whose groups are compared."""
    crosstabs: tuple[tuple[int, int], ...] = ()
    found: tuple[tuple[int, int], ...] = ()
    """``crosstabs``, ``found``: pairs that were asked for, and those that were found."""
    trees: tuple[CodeTree, ...] = ()
    """Of columns of codes, counts of the groups that their cells are in."""
    finer: tuple[FinerTable, ...] = ()
    """Of columns of numbers, counts of parts of their cells."""
    gaussian: bool
    """Whether the noise is Gaussian; if not, it is two-sided geometric."""
    count_margin: int
    """Noise on an estimated count of a column stays within plus or minus this, with 95 % confidence; of the column in
    the middle, if they differ."""
    evaluation: None = None

    @property
    def measured(self) -> list[Measured]:
        """The tables as arrays."""
        return [
            Measured(table.axes, np.reshape(table.counts, [self.sizes[axis] for axis in table.axes]), table.deviation)
            for table in self.tables
        ]

    @cached_property
    def estimates(self) -> Estimates:
        """Best estimates of all tables together."""
        own = Estimates(self.sizes, self.measured, gaussian=self.gaussian)
        for tree, levels in zip(self.trees, self.levels, strict=True):
            own.follow(tree.axis, levels[-1].counts, levels[-1].values)
        return own

    @cached_property
    def levels(self) -> tuple[tuple[Level, ...], ...]:
        """Of each tree, its levels from the coarsest to the cells of the column."""
        own = Estimates(self.sizes, self.measured, gaussian=self.gaussian)
        return tuple(
            fitted(tree, own.table((tree.axis,)), own.variance((tree.axis,)), own.total, own.total_deviation**2)
            for tree in self.trees
        )

    @property
    def groups(self) -> tuple[tuple[int, int], ...]:
        """Pairs of which one axis is the groups to be compared."""
        if self.by is None:
            return ()
        return tuple((min(own, self.by), max(own, self.by)) for own in range(len(self.axes)) if own != self.by)

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """All pairs that were counted, each once."""
        return tuple(dict.fromkeys([*self.groups, *self.crosstabs, *self.found]))

    def place(self, name: str) -> int:
        """Place of the axis of a column. Raises ``KeyError`` if it was not looked at."""
        for place, axis in enumerate(self.axes):
            if axis.name == name and not axis.rows:
                return place
        raise KeyError(name)

    def columns(self) -> set[str]:
        """Columns of the main table that were looked at."""
        return {axis.name for axis in self.axes if not axis.rows}

    def exact_table(self, records: Mapping[str, pd.DataFrame], schema: Schema, axes: Axes) -> Ints:
        """Exact counts of a table, without noise. For public records only: every table by its name."""
        main = records[schema.entity]
        codes = [self._codes(records, main, schema, self.axes[axis]) for axis in axes]
        counts = np.zeros([self.sizes[axis] for axis in axes], dtype=np.int64)
        np.add.at(counts, tuple(codes), 1)
        return counts

    def _codes(self, records: Mapping[str, pd.DataFrame], main: pd.DataFrame, schema: Schema, axis: Axis) -> Ints:
        if not axis.rows:
            return encode(schema.column(axis.column), main[axis.column])[0].astype(np.int64)
        child = axis.child(schema)
        owners = records[axis.table][schema.key_of(child)].value_counts()
        rows = main[str(schema.privacy_unit.column)].map(owners).fillna(0)
        return np.searchsorted(np.array(row_ends(child)), rows.to_numpy())
