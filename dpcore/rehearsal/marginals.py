"""How often each value of a column occurs, as far as releases tell, and values drawn by it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpcore.arrays import Array, Floats, Ints
from dpcore.domain.columns import RESERVED, Column, NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.rehearsal.knowledge import Knowledge
from dpcore.released.evidence import Bins, Groups, between, without_negatives

#: Standard errors that a count of missing or other values must exceed to be taken for real.
_SEEN = 2.0


@dataclass(frozen=True)
class Marginal:
    """Shares of a column's cells, or of finer bins of its numbers."""

    column: Any
    edges: tuple[float, ...]
    """Numeric column: inner ends of the bins. Empty for a column of categories."""
    shares: Floats
    """One per cell; or one per bin, and one for missing numbers: shape (n_cells,)."""

    def values(self, codes: Ints, generator: np.random.Generator) -> Array:
        """A value in each bin or cell; numbers anywhere in their bin."""
        if not isinstance(self.column, NumericColumn):
            return np.asarray(self.column.cells, dtype=object)[codes]
        points = np.array([self.column.lower, *self.edges, self.column.upper])
        return between(self.column, points, codes, generator)

    def weighted(self, codes: Ints, weights: Floats) -> Marginal:
        """The shares that weighted records have."""
        counts = np.bincount(codes, weights, len(self.shares))
        return replace(self, shares=counts / counts.sum())


def uniform(column: Column) -> Marginal:
    """Every cell alike, but nothing missing and nothing unknown."""
    known = np.array([cell not in RESERVED for cell in column.cells], dtype=np.float64)
    edges = column.inner_edges if isinstance(column, NumericColumn) else ()
    return Marginal(column, tuple(edges), known / known.sum())


def marginals(schema: Schema, known: Sequence[Knowledge]) -> dict[str, Marginal]:
    """One per column: from the first release that has counts of its values, or else uniform."""
    found: dict[str, Marginal] = {}
    for groups in (groups for one in known for groups in one.groups):
        bins = groups.bins
        if bins is not None and bins.column not in found:
            found[bins.column] = _counted(schema.column(bins.column), bins, groups)
    return {column.name: found.get(column.name, uniform(column)) for column in schema}


def _counted(column: Column, own: Bins, groups: Groups) -> Marginal:
    counts, faint = groups.counts, groups.counts < _SEEN * groups.error
    if own.edges is not None:
        missing = np.arange(len(own)) == len(own) - 1
        return Marginal(column, own.edges, without_negatives(np.where(missing & faint, 0, counts)))
    bins = np.asarray(own.groups)
    known = np.array([cell not in RESERVED for cell in column.cells])
    unknown = np.bincount(bins, known) == 0
    shares = without_negatives(np.where(unknown & faint, 0, counts))
    # Cells of one bin have equal parts of it; what nobody declared only if it is alone there.
    parts = np.where(known | unknown[bins], 1.0, 0.0)
    return Marginal(column, (), shares[bins] * parts / np.bincount(bins, parts)[bins])


def drawn(
    each: Mapping[str, Marginal],
    levels: Ints,
    tilts: Mapping[str, Floats],
    generator: np.random.Generator,
) -> dict[str, Ints]:
    """Codes of each column, independent but for a hidden level of each record.

    Parameters
    ----------
    levels : array of shape (n_rows,)
        Level of each record.
    tilts : mapping of str to array of shape (n_levels, n_codes)
        Shares of a column's codes at each level; columns without them do not follow the levels.
    """
    found = {}
    for name, marginal in each.items():
        shares = tilts.get(name, marginal.shares[None, :])
        ends = np.cumsum(shares, axis=1)
        ends /= np.maximum(ends[:, -1:], _LEAST)
        place = generator.random(len(levels))
        codes = np.zeros(len(levels), dtype=np.int64)
        for level in range(len(shares)):
            own = slice(None) if len(shares) == 1 else levels == level
            codes[own] = np.searchsorted(ends[level], place[own], side="right")
        found[name] = np.minimum(codes, shares.shape[1] - 1)
    return found


def tilted(marginal: Marginal, levels: Floats, pull: Floats) -> Floats:
    """Shares of a column's codes at each level, with the marginal shares on average.

    Parameters
    ----------
    levels : array of shape (n_levels,)
        Share of the records at each level.
    pull : array of shape (n_levels, n_codes)
        Logarithm of how much more often than usual a code is found at a level.
    """
    table = np.exp(pull - pull.max(axis=0)) * marginal.shares
    for _ in range(_ROUNDS):
        table *= (levels / np.maximum(table.sum(axis=1), _LEAST))[:, None]
        table *= marginal.shares / np.maximum(table.sum(axis=0), _LEAST)
    return np.asarray(table / np.maximum(table.sum(axis=1, keepdims=True), _LEAST))


_ROUNDS, _LEAST = 30, 1e-300
