"""Pairwise terms: which pairs, chosen privately, and their coarse cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import combinations

import numpy as np

from dpcore.arrays import Array, Floats, Floats32, Ints
from dpcore.domain.columns import NumericColumn
from dpcore.domain.schema import Schema
from dpcore.models.ebm.learning.grid import Bins
from dpcore.models.ebm.learning.kernels import ABSENT, absolute_table_sum
from dpcore.models.ebm.learning.queries import PAIR_STEPS, pair_sensitivity
from dpcore.models.ebm.learning.records import BinnedRecords
from dpcore.models.ebm.learning.start import BoostingStart
from dpcore.models.ebm.released.axis import Axis
from dpcore.privacy.mechanisms import ExponentialMechanism
from dpcore.privacy.randomness import RandomSource

#: Most cells of either side of a pair.
_SIDE = 8
#: Mean size of a standard normal variable.
_MEAN_SIZE = float(np.sqrt(2 / np.pi))


@dataclass(frozen=True)
class Side:
    """A feature, coarsened for pairs.

    Attributes
    ----------
    axis : Axis
    groups : array of shape (n_bins,)
        Coarse cell of each bin of the feature.
    counts : array of shape (n_cells,)
        Positive counts.
    """

    axis: Axis
    groups: Array
    counts: Floats


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


def residuals(records: BinnedRecords, scores: Floats32, clip: float) -> Ints:
    """Residuals under the model so far, in grid steps, 0 where there is no record.

    Parameters
    ----------
    scores : array of shape (n_places, n_outputs)
    """
    labels = records.labels
    if labels.dtype != np.uint8:
        shares = np.clip(np.nan_to_num(labels)[:, None] - scores, -clip, clip) / clip
        present = ~np.isnan(labels)
    else:
        present = labels != ABSENT
        if scores.shape[1] == 1:
            with np.errstate(over="ignore"):
                shares = (labels[:, None] == 1) - 1 / (1 + np.exp(-scores))
        else:
            # Without this shift a large score would not be a number, and a sum without bounds.
            powers = np.exp(scores - scores.max(axis=1, keepdims=True))
            classes = np.arange(scores.shape[1])
            shares = (labels[:, None] == classes) - powers / powers.sum(axis=1, keepdims=True)
    return np.where(present[:, None], np.trunc(shares * PAIR_STEPS), 0).astype(np.int64)


def choose_pairs(
    records: BinnedRecords,
    sides: Sequence[Side],
    exact: Ints,
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
    exact : array of shape (n_places, n_outputs)
        Result of :func:`residuals`.
    epsilon : Decimal
        Row-level budget of each choice. Pure.
    """
    candidates = list(combinations(range(len(sides)), 2))
    utilities = np.array([_utility(records, sides, pair, exact, start) for pair in candidates], dtype=np.int64)
    mechanism = ExponentialMechanism(pair_sensitivity(exact.shape[1]), epsilon, monotone=False)
    chosen: list[tuple[int, int]] = []
    for _ in range(min(count, len(candidates))):
        place = mechanism.select(utilities, randomness)
        chosen.append(candidates.pop(place))
        utilities = np.delete(utilities, place)
    return sorted(chosen)


def _utility(
    records: BinnedRecords,
    sides: Sequence[Side],
    pair: tuple[int, int],
    exact: Ints,
    start: BoostingStart,
) -> int:
    first, second = (sides[feature] for feature in pair)
    table = np.zeros((len(first.axis), len(second.axis), exact.shape[1]), dtype=np.int64)
    mine, other = (
        np.take(side.groups.astype(np.uint8), records.codes[feature], mode="clip")
        for side, feature in zip((first, second), pair, strict=True)
    )
    size = int(absolute_table_sum(exact, mine, other, table))
    expected = np.outer(first.counts, second.counts) / start.rows
    by_chance = np.sqrt(expected[:, :, None] * start.variance).sum() * _MEAN_SIZE / start.clip
    return size - int(by_chance * PAIR_STEPS)
