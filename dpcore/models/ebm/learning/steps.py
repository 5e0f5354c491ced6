"""From the exact residual sums of one feature to new shapes of all replicates. Post-processing, but for the noise.

A question adds up residuals over runs of neighbouring bins. One noise is added to each sum, so sums over long runs tell
more of the whole shape, and sums over bins more of its details: the way that is expected to tell most is taken, given
what is known already. How large and how smooth the shape is, the noisy sums tell by empirical Bayes: a shape is a
Gaussian process over its bins, with an exponential kernel where they are in order, and a grid of priors is weighed by
the marginal likelihood of all noisy sums that the feature has had so far (Rasmussen, Williams 2006, chapters 4 and 5).
Shapes that may only rise, or only fall, become the nearest such shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.models.ebm.learning.kernels import RESIDUAL_STEPS
from dpcore.models.ebm.learning.start import BoostingStart
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import RandomSource

#: Standard deviations of a score, in units of a large effect; lengths, in ranges of the column.
_SIZES, _LENGTHS = 2.0 ** np.arange(-5, 2), np.array([0.06, 0.25, 1.0, 4.0])
#: Before a sum is known: the size that is likeliest, and how far off, in logarithms.
_LIKELY, _OFF = 0.35, 0.9
#: Priors with less weight are left out.
_LEAST = 0.01


def distances(bins: int, ordered: int) -> Floats:
    """How far bins are apart, in ranges of the column; infinitely, where order means nothing.

    Parameters
    ----------
    ordered : int
        The first so many bins are in order.

    Returns
    -------
    array of shape (bins, bins)
    """
    place = np.where(np.arange(bins) < ordered, np.arange(bins) / max(1, ordered), np.nan)
    apart = np.nan_to_num(np.abs(place[:, None] - place), nan=np.inf)
    np.fill_diagonal(apart, 0.0)
    return np.asarray(apart)


class Prior:
    """Priors of one shape, and how likely each is.

    Parameters
    ----------
    apart : array of shape (n_bins, n_bins)
        :func:`distances`.
    unit : float
        Size of a large effect.
    doubt : float
        Standard deviation of what is added to all bins alike, because the intercept has noise.
    """

    def __init__(self, apart: Floats, unit: float, doubt: float) -> None:
        forms = np.exp(-apart / _LENGTHS[:, None, None])
        if np.isinf(apart).sum() == apart.size - len(apart):
            forms = forms[:1]
        sizes = np.repeat(_SIZES, len(forms))
        self._kernels = (sizes[:, None, None] * unit) ** 2 * np.tile(forms, (len(_SIZES), 1, 1)) + doubt**2
        self._belief = -((np.log(sizes / _LIKELY) / _OFF) ** 2) / 2
        self.weights = _shares(self._belief)

    def learn(self, precisions: Floats, gathered: Floats) -> None:
        """Weigh the priors by the marginal likelihood of what is known of the shape.

        Parameters
        ----------
        precisions : array of shape (n_outputs, n_bins, n_bins)
            Of the Gaussian likelihood of the scores of each output.
        gathered : array of shape (n_outputs, n_bins)
            Precision times the place of its maximum.
        """
        total = self._belief.copy()
        for precision, seen in zip(precisions, gathered, strict=True):
            system = np.eye(len(seen)) + self._kernels @ precision
            mean = np.linalg.solve(system, (self._kernels @ seen)[:, :, None])[:, :, 0]
            total += (mean @ seen - np.linalg.slogdet(system)[1]) / 2
        self.weights = _shares(total)

    def covariance(self, precision: Floats) -> Floats:
        """Posterior covariance given a likelihood's precision, the mean over the priors: (n_bins, n_bins)."""
        kept = self.weights > min(_LEAST, self.weights.max() / 2)
        own, weights = self._kernels[kept], self.weights[kept] / self.weights[kept].sum()
        posterior = np.linalg.solve(np.eye(len(precision)) + own @ precision, own)
        return np.asarray(np.tensordot(weights, posterior, axes=1))


def _shares(logarithms: Floats) -> Floats:
    powers = np.exp(logarithms - logarithms.max())
    return np.asarray(powers / powers.sum())


#: By how much of a run the ends of runs move from question to question: no fraction of whole numbers.
_GOLDEN = (np.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Runs:
    """One way to add up the bins of a feature."""

    of_bins: Ints
    """Shape (n_bins,). Run of each bin: every bin is in one."""

    def __len__(self) -> int:
        return int(self.of_bins.max()) + 1

    @property
    def matrix(self) -> Floats:
        """1 where a bin is in a run: shape (n_runs, n_bins)."""
        return np.asarray(self.of_bins == np.arange(len(self))[:, None], dtype=np.float64)

    def sums(self, values: Ints) -> Ints:
        """Sums over the runs of values of shape (n_replicates, n_bins, n_outputs)."""
        order = np.argsort(self.of_bins, kind="stable")
        firsts = np.searchsorted(self.of_bins[order], np.arange(len(self)))
        return np.add.reduceat(values[:, order], firsts, axis=1)


def possible_runs(mass: Floats, ordered: int, turn: int, *, whole: bool) -> list[Runs]:
    """Every bin for itself; halves, quarters and so on of the ordered bins; perhaps all bins together.

    Parameters
    ----------
    mass : array of shape (n_bins,)
        Runs have about the same share of it.
    turn : int
        Questions before: ends of all runs but halves differ from turn to turn.
    """
    bins = len(mass)
    found = [np.arange(bins), *([np.zeros(bins, dtype=np.int64)] if whole else [])]
    own = mass[:ordered]
    middles = (np.cumsum(own) - own / 2) / own.sum() if ordered else own
    count = 2
    while count < ordered:
        shift = (turn * _GOLDEN) % 1 if count > 2 else 0.0
        run = np.unique(np.floor(middles * count + shift), return_inverse=True)[1]
        found.append(np.concatenate([run, run.max() + 1 + np.arange(bins - ordered)]))
        count *= 2
    return [Runs(np.asarray(run, dtype=np.int64)) for run in found]


def best_runs(ways: Sequence[Runs], covariances: Floats, hessians: Floats, noise: float, *, centred: bool) -> Runs:
    """The way that lowers the expected loss most (an A-optimal design).

    Parameters
    ----------
    covariances : array of shape (n_outputs, n_bins, n_bins)
        What is not known of the shape.
    hessians : array of shape (n_outputs, n_bins)
        Second derivative of the loss by the score of each bin.
    noise : float
        Variance of the noise on one sum.
    centred : bool
        Whether a level common to all bins is of no interest.
    """
    gains = [
        sum(_gain(way.matrix, *own, noise, centred) for own in zip(covariances, hessians, strict=True)) for way in ways
    ]
    return ways[int(np.argmax(gains))]


def _gain(matrix: Floats, covariance: Floats, hessian: Floats, noise: float, centred: bool) -> float:
    seen = (matrix * hessian) @ covariance
    known = np.linalg.solve((seen * hessian) @ matrix.T + noise * np.eye(len(matrix)), seen)
    gain = float(hessian @ (seen * known).sum(axis=0))
    if centred:
        gain -= float((seen @ hessian) @ (known @ hessian)) / float(hessian.sum())
    return gain


def monotone(shapes: Floats, weights: Floats, ordered: int, direction: int) -> Floats:
    """Isotonic projection of the ordered bins by least squares (pool adjacent violators; Barlow et al. 1972).

    Parameters
    ----------
    shapes : array of shape (n_replicates, n_bins, n_outputs)
    weights : array of shape (n_bins,)
        Positive.
    ordered : int
        The first so many bins are in order; the others stay as they are.
    direction : int
        1: never falls; -1: never rises; 0: anything.
    """
    if direction == 0:
        return shapes
    from scipy.optimize import isotonic_regression

    found = shapes.copy()
    for own in found:
        for output in range(own.shape[1]):
            found_one = isotonic_regression(own[:ordered, output], weights=weights[:ordered], increasing=direction > 0)
            own[:ordered, output] = found_one.x
    return found


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

    def unknown(self, feature: int) -> BinCovariances:
        """What is not known of a shape, beside what the spread of replicates shows."""
        ...


@dataclass(frozen=True)
class Feature:
    """What a step knows of one feature."""

    counts: Floats
    """Positive, from the noisy histogram: shape (n_bins,)."""
    apart: Floats
    """Shape (n_bins, n_bins). How far bins are apart: :func:`~dpcore.models.ebm.learning.steps.distances`."""
    ordered: int
    """The first so many bins are in a meaningful order."""
    level: float = 1.0
    """Size of a large effect, in units of :attr:`BoostingStart.unit`."""
    direction: int = 0
    """1: the shape never falls; -1: it never rises; 0: anything."""


@dataclass(frozen=True)
class BinCovariances:
    """Covariances of the bins of a shape: arrays of shape (n_outputs, n_bins, n_bins)."""

    sampling: Floats
    """Because people are a sample."""
    shrinkage: Floats
    """Because what is smoothed is not followed all the way."""
    noise: Floats | None = None
    """Because of the noise, of each output of a single fit, where replicates cannot show it: shape (n_bins, n_bins)."""


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
        self.doubt = BinCovariances(np.zeros_like(self.covariances), self.covariances)


class AllBins:
    """Noisy sums over runs of neighbouring bins, gathered over epochs by a Kalman filter.

    A noisy sum is what the shape still lacks in a run, times the curvature there, plus noise of
    known variance. So every question is a linear observation of the shape that would leave nothing.
    Its posterior mean is the new shape; older observations count less, as the other shapes
    have moved since. The prior is weighed anew at every turn, by the sums of all replicates
    (:mod:`~dpcore.models.ebm.learning.steps`), and so are the next question's runs
    (:mod:`~dpcore.models.ebm.learning.steps`). All replicates follow their own sums with the weight
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

    def unknown(self, feature: int) -> BinCovariances:
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
        known.doubt = BinCovariances(
            sampling=np.stack([(pull * own) @ pull.T for pull, own in zip(pulls, samplings, strict=True)]),
            shrinkage=known.covariances - known.covariances @ precisions @ known.covariances.swapaxes(1, 2),
        )
        return np.stack([(spread @ own).T for spread, own in zip(known.covariances, gathered, strict=True)], axis=2)
