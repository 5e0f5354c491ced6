"""What selections by the exponential mechanism cost beside Gaussian noise.

Calibrated to epsilon, the exponential mechanism is not only epsilon-DP: the logarithms of its
probability ratios lie in a range of length epsilon (Durfee, Rogers 2019). Composed with Gaussian
noise by the distribution of the privacy loss, that costs much less than adding epsilons.
Proof: ``docs/privacy/gaussian.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpcore.arrays import Floats

#: Cells of the range of one loss; each loss counts as the upper end of its cell.
_CELLS = 512
#: What rounding of sums and products may amount to, at most, as a share of the result.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Selections:
    """Some selections by the exponential mechanism, each made whatever was released before."""

    epsilon: float
    """What each is calibrated to, for a person."""
    count: int

    @cached_property
    def losses(self) -> tuple[Floats, Floats]:
        """Possible sums of their losses, rounded up, and the chance of each.

        The loss of one has density exp(x / 2) / (4 sinh(epsilon / 2)) on [-epsilon, epsilon]:
        that pair of distributions dominates all mechanisms of this range.
        """
        width = 2 * self.epsilon / _CELLS
        lower = width * np.arange(_CELLS) - self.epsilon
        one = np.exp(lower / 2) * (math.expm1(width / 2) / (2 * math.sinh(self.epsilon / 2)))
        chances = one
        for _ in range(self.count - 1):
            chances = np.convolve(chances, one)
        reach = self.count * self.epsilon
        sums = width * np.arange(self.count, self.count + len(chances)) - reach
        return np.asarray(sums + 1e-12 * reach), chances

    def delta(self, mu: float, epsilon: float) -> float:
        """Delta at ``epsilon`` of these and all that is ``mu``-Gaussian-DP; never too small."""
        sums, chances = self.losses
        mixed = float(chances @ gaussian_deltas(mu, epsilon - sums))
        return min(1.0, mixed * (1 + _ROUNDING))


def gaussian_deltas(mu: float, epsilons: Floats) -> Floats:
    """:func:`dpcore.privacy.budgets.gaussian_delta` for many epsilons, which may be negative."""
    from scipy.special import log_ndtr

    first, second = (log_ndtr(half - epsilons / mu) for half in (mu / 2, -mu / 2))
    second = second + epsilons
    rounding = 1e-15 * (1 - first + 2 * np.abs(epsilons) - second)
    return np.asarray(np.maximum(np.exp(first) * (1 + rounding) - np.exp(second), 0.0))
