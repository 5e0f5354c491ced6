"""The published learner: trees with random splits, of all columns that have their turn at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np

from dpcore.arrays import Array, Floats, Ints
from dpcore.models.ebm.learning.kernels import RESIDUAL_STEPS
from dpcore.models.ebm.learning.start import BoostingStart
from dpcore.models.ebm.learning.steps import BinCovariances, Feature
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import RandomSource


class RandomSplits:
    """A tree of a few leaves with random splits (Nori et al. 2021, Algorithm 1).

    Every leaf is a run of neighbouring bins and moves by rate x noisy sum / noisy count. Columns that
    have their turn together see the same residuals, where the paper goes from column to column.

    Parameters
    ----------
    mechanism : callable
        Noise of one question for so many columns: the same scale for any number of them.
    """

    def __init__(
        self,
        features: Sequence[Feature],
        start: BoostingStart,
        mechanism: Callable[[int], FineGaussian],
        rate: float,
        leaves: int,
        epochs: int,
    ) -> None:
        self._features, self._start = features, start
        self._mechanism, self._rate, self._leaves = cache(mechanism), rate, leaves
        self._noise = [np.zeros((len(own.counts), len(own.counts))) for own in features]
        self._learned = 1 - (1 - rate * start.curvature) ** epochs

    def narrowed(self, start: BoostingStart) -> None:
        """Go on with a narrower clip."""
        self._start = start

    def change(
        self, features: Sequence[int], sums: Sequence[Ints], shapes: Sequence[Floats], randomness: RandomSource
    ) -> list[Floats]:
        """New shapes of features: each replicate of each has its own tree, and one question asks for all."""
        sizes = np.array([own.shape[1] for own in sums])
        ends = self._ends(sizes, len(sums[0]), randomness)
        exact = _between(_padded(sums, sizes), ends)
        counts = [np.tile(self._features[feature].counts[:, None], (len(sums[0]), 1, 1)) for feature in features]
        totals = _between(_padded(counts, sizes), ends)[..., 0]
        held = ends[:, :, :-1] < ends[:, :, 1:]
        noisy = self._mechanism(len(features)).release(exact[held], randomness)
        moves = np.zeros(exact.shape)
        unit = self._rate * self._start.clip / RESIDUAL_STEPS
        moves[held] = unit * noisy / totals[held][:, None]
        leaf = (np.arange(sizes.max())[:, None] >= ends[:, :, None, 1:-1]).sum(axis=3)
        if len(sums[0]) == 1:
            self._add_noise(features, leaf[:, 0], unit * self._mechanism(len(features)).scale / totals[:, 0])
        changes = np.take_along_axis(moves, leaf[..., None], axis=2)
        return [own + change[:, : own.shape[1]] for own, change in zip(shapes, changes, strict=True)]

    def _add_noise(self, features: Sequence[int], leaves: Ints, deviations: Floats) -> None:
        """Covariance of what noise adds to the bins of a single fit: those of one leaf move together.

        What later steps take back of it is left out, and chance in the splits.
        """
        for feature, leaf, deviation in zip(features, leaves, deviations, strict=True):
            own = leaf[: len(self._noise[feature])]
            self._noise[feature] += (own[:, None] == own) * deviation[own] ** 2

    def _ends(self, sizes: Ints, replicates: int, randomness: RandomSource) -> Ints:
        """Where leaves begin and end: (n_features, n_replicates, n_leaves + 1). Those too many are empty.

        Any set of so many cuts between bins is as likely as any other.
        """
        most, cuts = int(sizes.max()), self._leaves - 1
        words = randomness.words(len(sizes) * replicates * (most - 1)).reshape(len(sizes), replicates, most - 1)
        order = np.argsort(words, axis=2)
        real = order < (sizes[:, None, None] - 1)
        # The first real places, in random order.
        chosen = real & (np.cumsum(real, axis=2) <= cuts)
        ends = np.where(chosen, order + 1, sizes[:, None, None])
        ends = np.sort(ends, axis=2)[:, :, :cuts]
        edges = np.zeros((len(sizes), replicates, ends.shape[2] + 2), dtype=np.int64)
        edges[:, :, 1:-1], edges[:, :, -1] = ends, sizes[:, None]
        return edges

    def unknown(self, feature: int) -> BinCovariances:
        """What is not known: about, of leaves of the mean size, after so much of the way as small steps go."""
        counts = self._features[feature].counts
        per_record = self._start.variance * (self._learned / self._start.curvature) ** 2
        sampling = np.eye(len(counts)) * (per_record * self._leaves / counts.sum())[:, None, None]
        return BinCovariances(sampling, np.zeros_like(sampling), self._noise[feature])


def _padded(arrays: Sequence[Array], sizes: Ints) -> Array:
    """Arrays of shape (n_replicates, n_bins, n_outputs) in one, with a 0 in front of the bins and 0 behind them."""
    first = arrays[0]
    whole = np.zeros((len(arrays), len(first), int(sizes.max()) + 1, first.shape[2]), dtype=first.dtype)
    for place, own in enumerate(arrays):
        whole[place, :, 1 : own.shape[1] + 1] = own
    return whole


def _between(bins: Array, ends: Ints) -> Array:
    """Sums of bins between ends, from what :func:`_padded` made: (n_features, n_replicates, n_leaves, n_outputs)."""
    below = np.take_along_axis(np.cumsum(bins, axis=2), ends[..., None], axis=2)
    return np.asarray(np.diff(below, axis=2))
