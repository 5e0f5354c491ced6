"""Pairwise terms: which pairs, chosen privately, and their coarse cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from dpcore.arrays import Array, Floats, Ints
from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ebm.learning.grid import Bins, pair_sensitivity
from dpcore.models.ebm.learning.kernels import PAIR_STEPS
from dpcore.models.ebm.learning.start import BoostingStart
from dpcore.models.ebm.learning.steps import distances
from dpcore.models.ebm.released.axis import Axis
from dpcore.privacy.mechanisms import ExponentialMechanism
from dpcore.privacy.randomness import RandomSource

#: Most cells of either side of a pair.
_SIDE = 8
#: Mean size of a standard normal variable.
_MEAN_SIZE = float(np.sqrt(2 / np.pi))


@dataclass(frozen=True)
class Side:
    """A feature, coarsened for pairs."""

    axis: Axis
    groups: Array
    """Coarse cell of each bin of the feature: shape (n_bins,)."""
    counts: Floats
    """Positive counts: shape (n_cells,)."""

    def distances(self, bins: Bins) -> Floats:
        """How far its cells are apart, as the bins that it was made of are."""
        return distances(len(self.counts), len(self.counts) - 1 if bins.axis.edges is not None else 0)


def coarsen(schema: Schema, bins: Bins, counts: Floats) -> Side:
    """At most 8 cells: neighbours merged to about equal counts, or the rarest cells merged."""
    column = schema.column(bins.axis.column)
    if isinstance(column, NumericColumn):
        before = np.cumsum(counts[:-1]) - counts[:-1] / 2
        groups = (before / counts[:-1].sum() * (_SIDE - 1)).astype(np.int64)
        groups = np.unique(groups, return_inverse=True)[1]
        cuts = np.flatnonzero(np.diff(groups))
        axis = Axis.numeric(column, tuple(bins.axis.points[cut + 1] for cut in cuts))
        groups = np.append(groups, groups[-1] + 1)
    else:
        kept = np.sort(np.argsort(-counts, kind="stable")[: _SIDE - 1])
        groups = np.full(len(counts), len(kept))
        groups[kept] = np.arange(len(kept))
        groups = np.unique(groups, return_inverse=True)[1]
        axis = Axis.categories(column, tuple(int(group) for group in groups))
    return Side(axis, groups, np.bincount(groups, weights=counts).astype(np.float64))


def choose_pairs(
    tables: Ints,
    sides: Sequence[Side],
    candidates: Sequence[tuple[int, int]],
    start: BoostingStart,
    count: int,
    epsilon: Decimal,
    randomness: RandomSource,
) -> list[tuple[int, int]]:
    """Choose ``count`` pairs one after another, each by the exponential mechanism.

    The utility of a pair is the sum over its cells of the size of the residual sum, whose
    sensitivity is that of one row's residuals, less a public guess of what sampling alone gives.

    Parameters
    ----------
    tables : array of shape (n_candidates, n_outputs, n_first, n_second)
        Answer of :func:`~dpcore.models.ebm.learning.scores.pair_tables`, of all partitions.
    epsilon : Decimal
        Row-level budget of each choice. Pure.
    """
    left = list(candidates)
    sizes = np.abs(tables).sum(axis=(1, 2, 3))
    utilities = sizes - [_by_chance(sides[first], sides[second], start) for first, second in left]
    mechanism = ExponentialMechanism(pair_sensitivity(tables.shape[1]), epsilon, monotone=False)
    chosen: list[tuple[int, int]] = []
    for _ in range(min(count, len(left))):
        place = mechanism.select(utilities, randomness)
        chosen.append(left.pop(place))
        utilities = np.delete(utilities, place)
    return sorted(chosen)


def _by_chance(first: Side, second: Side, start: BoostingStart) -> int:
    """Sum of sizes, about, that sampling alone gives, in steps of pairs."""
    expected = np.outer(first.counts, second.counts) / start.rows
    spread = np.sqrt(expected[:, :, None] * start.variance).sum()
    return int(spread * _MEAN_SIZE / start.clip * PAIR_STEPS)
