"""From the exact residual sums of one feature to a noisy change of its shape."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.models.ebm.learning.kernels import RESIDUAL_STEPS
from dpcore.models.ebm.learning.start import BoostingStart
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import RandomSource, permutation

#: Prior standard deviation of a bin's score: of one column, and of a pair, which has more bins and
#: adds to what its columns say.
LEVEL, PAIR_LEVEL = 1.0, 0.2
#: Prior standard deviation of the step over an eighth of the range, in units of
#: :attr:`BoostingStart.unit`.
_STEP = 0.4
_STEP_BINS = 8
#: What noise one sum carries in the end, as a multiple of what all sums of a bin together carry.
_INFLATION = 2.0


class Step(Protocol):
    """One way to turn residual sums into a change."""

    def change(self, feature: int, sums: Ints, shape: Floats, randomness: RandomSource) -> Floats:
        """Noisy change of a feature's shape: arrays of shape (n_bins, n_outputs)."""
        ...

    def sampling_variance(self, feature: int) -> Floats:
        """Variance of a shape, about, because people are a sample: shape (n_bins, n_outputs)."""
        ...


@dataclass(frozen=True)
class Feature:
    """What a step knows of one feature.

    Attributes
    ----------
    counts : array of shape (n_bins,)
        Positive, from the noisy histogram.
    ordered : int
        The first so many bins are in a meaningful order.
    level : float
        Prior standard deviation of a bin's score, in units of :attr:`BoostingStart.unit`.
    """

    counts: Floats
    ordered: int
    level: float = LEVEL


class AllBins:
    """Noisy sums of all bins, then one damped Newton step under a Gaussian prior.

    The prior holds scores near 0 and, where bins are ordered, near their neighbours. How far a
    bin follows its sum depends on its noisy count and the known noise: a bin whose sum is mostly
    noise stays where its neighbours are. Post-processing of the noisy sums.

    Parameters
    ----------
    queries : int
        Noisy sums that every bin gets in all, over epochs and replicates.
    """

    def __init__(
        self,
        features: Sequence[Feature],
        start: BoostingStart,
        mechanism: FineGaussian,
        rate: float,
        queries: int,
    ) -> None:
        self._features, self._start = features, start
        self._mechanism, self._rate = mechanism, rate
        self._unit = start.clip / RESIDUAL_STEPS
        noise = (mechanism.scale * self._unit) ** 2 / queries
        self._operators = [
            [
                _operator(feature, curvature, variance, start.unit, noise)
                for curvature, variance in zip(start.curvature, start.variance, strict=True)
            ]
            for feature in features
        ]

    def change(self, feature: int, sums: Ints, shape: Floats, randomness: RandomSource) -> Floats:
        """Noisy change of a feature's shape."""
        noisy = self._mechanism.release(sums, randomness) * self._unit
        columns = [
            gain @ noisy[:, output] - pull @ shape[:, output]
            for output, (gain, pull) in enumerate(self._operators[feature])
        ]
        return self._rate * np.stack(columns, axis=1)

    def sampling_variance(self, feature: int) -> Floats:
        """Variance of a shape, about, because people are a sample: of one whole Newton step."""
        counts = self._features[feature].counts
        columns = [
            gain**2 @ (variance * counts)
            for (gain, _), variance in zip(self._operators[feature], self._start.variance, strict=True)
        ]
        return np.stack(columns, axis=1)


def _operator(feature: Feature, curvature: float, variance: float, unit: float, noise: float) -> tuple[Floats, Floats]:
    """Matrices that a Newton step applies to the sums and to the present shape."""
    hessian = curvature * feature.counts
    weight = hessian**2 / (_INFLATION * noise + variance * feature.counts)
    prior = _prior(feature, unit)
    inverse = np.linalg.inv(np.diag(weight) + prior)
    return inverse * (weight / hessian), inverse @ prior


def _prior(feature: Feature, unit: float) -> Floats:
    precision = np.eye(len(feature.counts)) / (feature.level * unit) ** 2
    if feature.ordered > 1:
        step = feature.ordered / _STEP_BINS / (_STEP * unit) ** 2
        here = np.arange(feature.ordered - 1)
        precision[here, here] += step
        precision[here + 1, here + 1] += step
        precision[here, here + 1] -= step
        precision[here + 1, here] -= step
    return precision


class RandomSplits:
    """A tree of a few leaves with random splits (Nori et al. 2021, Algorithm 1).

    Every leaf is a run of neighbouring bins and moves by rate x noisy sum / noisy count.
    """

    def __init__(
        self,
        features: Sequence[Feature],
        start: BoostingStart,
        mechanism: FineGaussian,
        rate: float,
        leaves: int,
        epochs: int,
    ) -> None:
        self._features, self._start, self._mechanism = features, start, mechanism
        self._factor, self._leaves = rate * start.clip / RESIDUAL_STEPS, leaves
        self._learned = 1 - (1 - rate * start.curvature) ** epochs

    def change(
        self,
        feature: int,
        sums: Ints,
        shape: Floats,  # noqa: ARG002
        randomness: RandomSource,
    ) -> Floats:
        """Noisy change of a feature's shape; its present shape does not matter."""
        counts = self._features[feature].counts
        cuts = permutation(randomness, len(counts) - 1)[: self._leaves - 1] + 1
        firsts = np.sort(np.concatenate([[0], cuts]))
        noisy = self._mechanism.release(np.add.reduceat(sums, firsts, axis=0), randomness)
        moves = self._factor * noisy / np.add.reduceat(counts, firsts)[:, None]
        lengths = np.diff(np.append(firsts, len(counts)))
        return np.repeat(moves, lengths, axis=0)

    def sampling_variance(self, feature: int) -> Floats:
        """Variance of a shape, about, because people are a sample.

        Of leaves of the mean size, and of the part of the way that so many small steps get.
        """
        counts = self._features[feature].counts
        per_record = self._start.variance * (self._learned / self._start.curvature) ** 2
        return np.tile(per_record * self._leaves / counts.sum(), (len(counts), 1))
