"""What delta is, and what it is not, on the example of Gaussian noise: see ``docs/privacy/gaussian.md``."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpcore.privacy.budgets import calibrate_gaussian, gaussian_delta


@dataclass(frozen=True)
class DeltaExample:
    """Gaussian noise on a count that one person moves by 1, looked at with one epsilon."""

    deviation: float
    """Standard deviation of the noise, in people."""
    epsilon: float
    """The epsilon that is asked about."""

    @property
    def mu(self) -> float:
        """How far the two distributions are apart, in standard deviations."""
        return 1 / self.deviation

    @property
    def delta(self) -> float:
        """Smallest delta for which the noise is (epsilon, delta)-differentially private."""
        return gaussian_delta(self.mu, self.epsilon)

    @property
    def threshold(self) -> float:
        """Answers above this, counted from the true count without the person, exceed the factor e^epsilon."""
        return self.epsilon / self.mu**2 + 0.5

    @property
    def exceeded(self) -> float:
        """Chance of an answer that is more than e^epsilon times as likely with the person as without."""
        return _below(self.mu / 2 - self.epsilon / self.mu)

    @property
    def far_exceeded(self) -> float:
        """Chance of an answer that moves the odds by more than 2 e^epsilon, either way: at most 3 delta."""
        most = self.epsilon + math.log(2)
        up, down = (_below((sign * self.mu**2 / 2 - most) / self.mu) for sign in (1, -1))
        return up + down


def _below(value: float) -> float:
    """Standard normal distribution function, exact far below 0 too."""
    return math.erfc(-value / math.sqrt(2)) / 2


def calibrated(epsilon: float, delta: float) -> DeltaExample:
    """The least Gaussian noise that is (epsilon, delta)-differentially private."""
    return DeltaExample(1 / calibrate_gaussian(epsilon, delta), epsilon)
