"""Best counts of a pair of trees from its noisy ones: post-processing, free."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpcore.redescriptions.pair import TreePair
from dpcore.schema import Schema

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class PairCounts:
    """Estimated people in each pair of leaves.

    Attributes
    ----------
    counts : array of shape (n_left_leaves, n_right_leaves)
        Not negative, and zero where no record can be.
    live : bool array of the same shape
        Pairs of leaves that a record can reach.
    variance : float
        Of the noise on one count; what the second counts of ``noisy_left`` take off it is not
        taken into account, so intervals are not too short.
    """

    counts: Floats
    live: NDArray[np.bool_]
    variance: float

    @property
    def people(self) -> float:
        """Noisy number of people, at least 1."""
        return max(1.0, float(self.counts.sum()))


def consistent_counts(pair: TreePair, schema: Schema) -> PairCounts:
    """Estimate the counts of a pair by least squares, then without negative ones.

    The rows are first fitted to the second counts of the left leaves, if there are any, each
    weighted by its precision. Negative counts are removed in the way that changes the table
    least while its sum stays (projection onto a simplex), because cutting them off one by one
    would add people.
    """
    reached = [
        np.array([box is not None for box in tree.boxes(schema)])
        for tree in (pair.left, pair.right)
    ]
    live = np.asarray(reached[0][:, None] & reached[1][None, :])
    counts = np.where(live, np.asarray(pair.noisy_counts, dtype=np.float64), 0.0)
    variance = noise_variance(pair.count_scale)
    if pair.noisy_left is not None and pair.left_scale is not None:
        second = np.where(reached[0], np.asarray(pair.noisy_left, dtype=np.float64), 0.0)
        counts = _fit_rows(counts, live, second, variance / noise_variance(pair.left_scale))
    counts[live] = _projected(counts[live])
    return PairCounts(counts, live, variance)


def noise_variance(scale: float) -> float:
    """Variance of two-sided geometric noise of a scale."""
    ratio = float(np.exp(-1.0 / scale)) if scale > 0 else 0.0
    return 2 * ratio / (1 - ratio) ** 2


def _fit_rows(counts: Floats, live: NDArray[np.bool_], second: Floats, precision: float) -> Floats:
    """Move every row's sum towards its second count; ``precision`` is relative to one cell's."""
    width = live.sum(axis=1)
    gap = second - counts.sum(axis=1)
    # Minimises sum (x - counts)^2 + precision (sum x - second)^2 over each row x.
    step = precision * gap / (1 + precision * width)
    return np.where(live, counts + step[:, None], 0.0)


def _projected(values: Floats) -> Floats:
    """Nearest vector without negative entries and with the same sum, or all zero."""
    total = float(values.sum())
    if total <= 0:
        return np.zeros_like(values)
    ordered = np.sort(values)[::-1]
    excess = (np.cumsum(ordered) - total) / np.arange(1, len(values) + 1)
    lowest = excess[np.flatnonzero(ordered > excess)[-1]]
    return np.asarray(np.maximum(values - lowest, 0.0))
