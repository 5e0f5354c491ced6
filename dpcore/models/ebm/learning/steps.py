"""From the exact residual sums of one feature to new shapes of all replicates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.models.ebm.learning.kernels import RESIDUAL_STEPS
from dpcore.models.ebm.learning.monotone import monotone
from dpcore.models.ebm.learning.runs import best_runs, possible_runs
from dpcore.models.ebm.learning.smoothing import Prior
from dpcore.models.ebm.learning.start import BoostingStart
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import RandomSource

#: Size of a pair's large effect, of that of a column: it adds to what its columns say.
PAIR_LEVEL = 0.4
#: Curvature of a bin is never taken for less than this share of the curvature at the start.
_FLATTEST = 0.3


class Step(Protocol):
    """One way to turn residual sums into shapes."""

    def change(
        self, features: Sequence[int], sums: Sequence[Ints], shapes: Sequence[Floats], randomness: RandomSource
    ) -> list[Floats]:
        """New shapes of the features that have their turn: each of shape (n_replicates, n_bins, n_outputs)."""
        ...

    def narrowed(self, start: BoostingStart) -> None:
        """Go on with a narrower clip."""
        ...

    def unknown(self, feature: int) -> Doubt:
        """What is not known of a shape, beside what the spread of replicates shows."""
        ...


@dataclass(frozen=True)
class Feature:
    """What a step knows of one feature.

    Attributes
    ----------
    counts : array of shape (n_bins,)
        Positive, from the noisy histogram.
    apart : array of shape (n_bins, n_bins)
        How far bins are apart: :func:`~dpcore.models.ebm.learning.smoothing.distances`.
    ordered : int
        The first so many bins are in a meaningful order.
    level : float
        Size of a large effect, in units of :attr:`BoostingStart.unit`.
    direction : int
        1: the shape never falls; -1: it never rises; 0: anything.
    """

    counts: Floats
    apart: Floats
    ordered: int
    level: float = 1.0
    direction: int = 0


@dataclass(frozen=True)
class Doubt:
    """Covariances of the bins of a shape: arrays of shape (n_outputs, n_bins, n_bins).

    Attributes
    ----------
    sampling : array
        Because people are a sample.
    shrinkage : array
        Because what is smoothed is not followed all the way.
    noise : array of shape (n_bins, n_bins) or None
        Because of the noise, of each output of a single fit, where replicates cannot show it.
    """

    sampling: Floats
    shrinkage: Floats
    noise: Floats | None = None


class _Gathered:
    """All that the noisy sums of one feature have told so far.

    Attributes
    ----------
    precision : array of shape (n_bins, n_bins)
        Of the exact sums of bins, by the questions of one replicate.
    told : array of shape (n_replicates, n_bins, n_outputs)
        Precision times the sums that a flat shape would leave.
    """

    def __init__(self, prior: Prior, replicates: int, bins: int, outputs: int) -> None:
        self.prior, self.turn = prior, 0
        self.precision = np.zeros((bins, bins))
        self.told = np.zeros((replicates, bins, outputs))
        self.covariances = np.stack([prior.covariance(self.precision)] * outputs)
        self.doubt = Doubt(np.zeros_like(self.covariances), self.covariances)


class AllBins:
    """Noisy sums over runs of neighbouring bins, gathered over epochs by a Kalman filter.

    A noisy sum is what the shape still lacks in a run, times the curvature there, plus noise of
    known variance. So every question is a linear observation of the shape that would leave nothing.
    Its posterior mean is the new shape; older observations count less, as the other shapes
    have moved since. The prior is weighed anew at every turn, by the sums of all replicates
    (:mod:`~dpcore.models.ebm.learning.smoothing`), and so are the next question's runs
    (:mod:`~dpcore.models.ebm.learning.runs`). All replicates follow their own sums with the weight
    that their mean deserves. All of it is post-processing of noisy sums.

    Parameters
    ----------
    rate : float
        By how much the weight of older observations falls each epoch.
    classes : bool
        Whether scores are log-odds.
    """

    def __init__(
        self,
        features: Sequence[Feature],
        start: BoostingStart,
        mechanism: FineGaussian,
        rate: float,
        replicates: int,
        *,
        classes: bool,
    ) -> None:
        self._features, self._start, self._mechanism = features, start, mechanism
        self._memory, self._classes = 1 - rate, classes
        outputs = len(start.curvature)
        self._gathered = [
            _Gathered(Prior(own.apart, own.level * start.unit, start.doubt), replicates, len(own.counts), outputs)
            for own in features
        ]

    def narrowed(self, start: BoostingStart) -> None:
        """Go on with a narrower clip."""
        self._start = start

    def change(
        self, features: Sequence[int], sums: Sequence[Ints], shapes: Sequence[Floats], randomness: RandomSource
    ) -> list[Floats]:
        """New shapes of features, one after another."""
        return [self._changed(*own, randomness) for own in zip(features, sums, shapes, strict=True)]

    def _changed(self, feature: int, sums: Ints, shapes: Floats, randomness: RandomSource) -> Floats:
        known, own, replicates = self._gathered[feature], self._features[feature], len(shapes)
        hessians = self._hessians(feature, shapes)
        unit = self._start.clip / RESIDUAL_STEPS
        noise = (self._mechanism.scale * unit) ** 2
        level = not self._classes and known.turn == 0
        ways = possible_runs(hessians.sum(axis=0), own.ordered, known.turn, whole=level)
        runs = best_runs(ways, known.covariances, hessians, noise / replicates, centred=not level)
        noisy = self._mechanism.release(runs.sums(sums), randomness) * unit
        matrix = runs.matrix
        lacking = noisy + matrix @ (hessians.T * shapes)
        known.precision = self._memory * known.precision + matrix.T @ matrix / noise
        known.told = self._memory * known.told + matrix.T @ lacking / noise
        known.turn += 1
        return monotone(self._means(feature, hessians, replicates), hessians.sum(axis=0), own.ordered, own.direction)

    def unknown(self, feature: int) -> Doubt:
        """What is not known of a shape."""
        return self._gathered[feature].doubt

    def _hessians(self, feature: int, shapes: Floats) -> Floats:
        """Curvature of the loss by the score of each bin, as if all else were average: (n_outputs, n_bins)."""
        start, counts = self._start, self._features[feature].counts
        if not self._classes:
            return np.outer(start.curvature, counts)
        scores = shapes.mean(axis=0) + start.intercept
        scores = np.column_stack([np.zeros(len(scores)), scores]) if scores.shape[1] == 1 else scores
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        chances = (powers / powers.sum(axis=1, keepdims=True))[:, -shapes.shape[2] :]
        return np.asarray((np.maximum(chances * (1 - chances), _FLATTEST * start.curvature) * counts[:, None]).T)

    def _means(self, feature: int, hessians: Floats, replicates: int) -> Floats:
        """Posterior means of the shapes of all replicates, after the prior is weighed anew."""
        known, counts = self._gathered[feature], self._features[feature].counts
        precision = replicates * known.precision
        ratio = self._start.variance / self._start.curvature
        samplings = hessians * ratio[:, None] if self._classes else np.outer(self._start.variance, counts)
        # The likelihood of scores, with what sampling adds to the noise of the sums.
        eye = np.eye(len(counts))
        reach = [
            own[:, None] * np.linalg.inv(eye + precision * sampling)
            for own, sampling in zip(hessians, samplings, strict=True)
        ]
        precisions = np.stack([to @ precision * own for to, own in zip(reach, hessians, strict=True)])
        gathered = [to @ known.told[:, :, output].T * replicates for output, to in enumerate(reach)]
        known.prior.learn(precisions, np.stack([own.mean(axis=1) for own in gathered]))
        known.covariances = np.stack([known.prior.covariance(own) for own in precisions])
        pulls = np.stack([spread @ to @ precision for spread, to in zip(known.covariances, reach, strict=True)])
        known.doubt = Doubt(
            sampling=np.stack([(pull * own) @ pull.T for pull, own in zip(pulls, samplings, strict=True)]),
            shrinkage=known.covariances - known.covariances @ precisions @ known.covariances.swapaxes(1, 2),
        )
        return np.stack([(spread @ own).T for spread, own in zip(known.covariances, gathered, strict=True)], axis=2)
