"""What noise does to a term, seen in the spread of independent replicates. Post-processing."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Floats

#: Half of a 95 % interval, in standard errors.
Z95 = 1.96


@dataclass(frozen=True)
class Band:
    """Mean of the replicates of one term, and what is known of its noise.

    Attributes
    ----------
    mean, errors : arrays of shape (n_bins, n_outputs)
        +-1.96 errors hold the score without noise in 95 % of cases: Student's t with one degree
        of freedom less than replicates is in the errors.
    size : float
        Mean absolute score that the noise alone would give.
    p_value : float
        Chance that noise, and who is in the data, give scores as large where nothing is to be
        found, all bins and outputs together.
    """

    mean: Floats
    errors: Floats
    size: float
    p_value: float

    @classmethod
    def of(cls, replicates: Floats, weights: Floats, sampling: Floats | float = 0.0) -> Band:
        """Compare replicates, bins by their weights.

        Parameters
        ----------
        replicates : array of shape (n_replicates, n_bins, n_outputs)
        sampling : array of shape (n_bins, n_outputs)
            Variance of a score because people are a sample, for the test only.
        """
        count = len(replicates)
        mean = replicates.mean(axis=0)
        plain = replicates.std(axis=0, ddof=1) / math.sqrt(count)
        return cls(
            mean,
            plain * student_factor(count),
            math.sqrt(2 / math.pi) * float(weights @ plain.mean(axis=1)),
            _p_value(
                replicates * np.sqrt(weights)[:, None],
                float((weights[:, None] * np.asarray(sampling)).sum()),
            ),
        )


def student_factor(replicates: int) -> float:
    """Student's 97.5 % quantile for so many replicates, in units of the normal one."""
    from scipy.special import stdtrit

    return float(stdtrit(replicates - 1, 0.975)) / Z95


def _p_value(replicates: Floats, sampling: float) -> float:
    """Test that the mean is zero: an F test on sums of squares, ``sampling`` one part of them.

    Scores of a term move together, so the sums have few degrees of freedom, d = tr(S)^2 /
    tr(S^2) for the covariance S of a replicate (Satterthwaite 1946), estimated from the
    replicates and so at most one less than their number, which is on the safe side.
    """
    from scipy.special import fdtrc

    count = len(replicates)
    flat = replicates.reshape(count, -1)
    mean = flat.mean(axis=0)
    size, away = float(mean @ mean), flat - mean
    products = away @ away.T / (count - 1)
    total = float(np.trace(products))
    if total <= 0:
        return 0.0 if size > 0 else 1.0
    degrees = total**2 / float((products**2).sum())
    return float(fdtrc(degrees, degrees * (count - 1), size / (total / count + sampling)))
