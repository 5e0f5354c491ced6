"""What noise does to a term, seen in the spread of replicates, or known of a single one. Post-processing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Floats
from dpcore.released.evaluation import Z95

#: Share of the variance that smoothing hides which bands allow for: the schedule without noise is smoothed, too.
SMOOTHED = 0.05
#: Degrees of freedom of what is known.
_KNOWN = 1e9
#: Chance below which noise alone does not explain a term.
UNLIKELY = 0.05


@dataclass(frozen=True)
class Band:
    """Mean of the replicates of one term, and what is known of its noise."""

    mean: Floats
    errors: Floats
    """``mean``, ``errors``: shape (n_bins, n_outputs). +-1.96 errors hold the score without noise in 95 % of cases:
    Student's t with one degree of freedom less than replicates is in the errors, and a part of what smoothing hides.
    Those of a single replicate are the known ones of its noise."""
    size: float
    """Mean absolute score that the noise alone would give."""
    p_value: float
    """Chance that noise, and who is in the data, give scores as large where nothing is to be found: all bins and
    outputs together, and where bins are in order their trend, the smaller of both doubled."""
    threshold: float
    """Mean absolute score from which on ``p_value`` is below :data:`UNLIKELY`."""

    @classmethod
    def of(
        cls,
        replicates: Floats,
        weights: Floats,
        sampling: Floats | None = None,
        shrinkage: Floats | None = None,
        ordered: int = 0,
        noise: Floats | None = None,
    ) -> Band:
        """Compare replicates, bins by their weights.

        Parameters
        ----------
        replicates : array of shape (n_replicates, n_bins, n_outputs)
            Centred: their mean over the weights is 0, if they are shapes.
        sampling : array of shape (n_outputs, n_bins, n_bins), optional
            Covariance of the scores because people are a sample, for the test only.
        shrinkage : array of shape (n_outputs, n_bins, n_bins), optional
            The part that errors allow for of what the scores lack because they are smoothed.
        ordered : int
            The first so many bins are in order.
        noise : array of shape (n_bins, n_bins), optional
            Covariance of the scores for the noise alone, of each output. Of a single replicate.
        """
        count, bins, outputs = replicates.shape
        nothing = np.zeros((outputs, bins, bins))
        sampling = nothing if sampling is None else sampling
        mean = replicates.mean(axis=0)
        known = None
        if count == 1:
            assert noise is not None
            known = _about_mean(noise, weights)
            plain = np.repeat(np.sqrt(np.maximum(known.diagonal(), 0.0))[:, None], outputs, axis=1)
        else:
            plain = replicates.std(axis=0, ddof=1) / math.sqrt(count)
        lacking = 0.0 if shrinkage is None else _centred(shrinkage, weights)
        scaled = np.sqrt(weights)[:, None]
        scaled_noise = None if known is None else scaled * known * scaled.T
        tests = [_Test.of(replicates * scaled, float(np.einsum("b,kbb->", weights, sampling)), scaled_noise)]
        if ordered > 2:
            slope = _slope(weights, ordered)
            trend = np.einsum("b,rbk->rk", slope, replicates)[:, None, :]
            along = None if known is None else np.atleast_2d(slope @ known @ slope)
            tests.append(_Test.of(trend, float(np.einsum("b,kbc,c->", slope, sampling, slope)), along))
        return cls(
            mean,
            np.sqrt((plain * student_factor(count)) ** 2 + lacking),
            math.sqrt(2 / math.pi) * float(weights @ plain.mean(axis=1)),
            min(1.0, len(tests) * min(test.p_value for test in tests)),
            float(weights @ np.abs(mean).mean(axis=1)) * min(test.reach(UNLIKELY / len(tests)) for test in tests),
        )


def student_factor(replicates: int) -> float:
    """Student's 97.5 % quantile for so many replicates, in units of the normal one: 1 where the noise is known."""
    from scipy.special import stdtrit

    if replicates == 1:
        return 1.0

    return float(stdtrit(replicates - 1, 0.975)) / Z95


def _centred(covariances: Floats, weights: Floats) -> Floats:
    """Variances of scores less their mean over the weights: (n_bins, n_outputs)."""
    rows = covariances @ weights
    variances = np.einsum("kbb->bk", covariances) - 2 * rows.T + rows @ weights
    return np.asarray(np.maximum(variances, 0.0))


def _about_mean(covariance: Floats, weights: Floats) -> Floats:
    """Covariance of scores less their mean over the weights, whose sum may be 1: shape (n_bins, n_bins)."""
    less = np.eye(len(weights)) - weights if len(weights) > 1 else np.eye(1)
    return np.asarray(less @ covariance @ less.T)


def _slope(weights: Floats, ordered: int) -> Floats:
    """Contrast of a steady rise over the ordered bins, by their weights: shape (n_bins,)."""
    own = weights[:ordered] / weights[:ordered].sum()
    place = np.cumsum(own) - own / 2
    return np.concatenate([own * (place - own @ place), np.zeros(len(weights) - ordered)])


@dataclass(frozen=True)
class _Test:
    """Test that a mean is zero: an F test on sums of squares, what sampling adds one part of them.

    Scores of a term move together, so the sums have few degrees of freedom, d = tr(S)^2 /
    tr(S^2) for the covariance S of a replicate (Satterthwaite 1946), estimated from the
    replicates and so at most one less than their number, which is on the safe side.
    """

    statistic: float
    degrees: float
    further: float

    @classmethod
    def of(cls, replicates: Floats, sampling: float, known: Floats | None = None) -> _Test:
        """Of replicates of shape (n_replicates, ...); of one, (1, n_bins, n_outputs), the covariance is known."""
        count = len(replicates)
        if known is not None:
            return cls._of_one(replicates[0], sampling, known)
        flat = replicates.reshape(count, -1)
        mean = flat.mean(axis=0)
        size, away = float(mean @ mean), flat - mean
        products = away @ away.T / (count - 1)
        total = float(np.trace(products))
        if total <= 0:
            return cls(math.inf if size > 0 else 0.0, 1.0, float(count - 1))
        degrees = total**2 / float((products**2).sum())
        return cls(size / (total / count + sampling), degrees, degrees * (count - 1))

    @classmethod
    def _of_one(cls, scores: Floats, sampling: float, known: Floats) -> _Test:
        """The degrees of freedom of a known covariance are exact in their first two moments."""
        size, outputs, total = float((scores**2).sum()), scores.shape[1], float(np.trace(known))
        if total <= 0:
            return cls(math.inf if size > 0 else 0.0, 1.0, _KNOWN)
        degrees = outputs * total**2 / float((known**2).sum())
        return cls(size / (outputs * total + sampling), degrees, _KNOWN)

    @property
    def p_value(self) -> float:
        """Chance of so large a mean."""
        from scipy.special import fdtrc

        return float(fdtrc(self.degrees, self.further, self.statistic)) if self.statistic < math.inf else 0.0

    def reach(self, level: float) -> float:
        """By which factor the mean would have to change to have this chance."""
        from scipy.special import fdtri

        if not 0 < self.statistic < math.inf:
            return 0.0
        return math.sqrt(float(fdtri(self.degrees, self.further, 1 - level)) / self.statistic)
