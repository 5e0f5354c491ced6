"""The same question many times: the average gets better, and the cost adds up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import accumulate

from dpcore.privacy.budgets import gaussian_delta
from dpcore.released.noisy_counts import sum_tail

#: Delta of the guarantee of Gaussian noise, in the lesson.
DELTA = 1e-6


@dataclass(frozen=True)
class Averages:
    """What is known after each of several noisy answers to one question.

    Attributes
    ----------
    means : tuple of float
        Average of the first 1, 2, 3, ... answers.
    margins : tuple of float
        The average is within plus or minus this of the truth, with 95 %.
    """

    means: tuple[float, ...]
    margins: tuple[float, ...]


def averages(answers: Sequence[int], epsilon: Decimal) -> Averages:
    """Averages of the first answers, each of them bought for ``epsilon``."""
    scale = 1 / float(epsilon)
    sums = accumulate(answers)
    return Averages(
        tuple(total / asked for asked, total in enumerate(sums, start=1)),
        tuple(sum_tail(scale, asked, 0.95) / asked for asked in range(1, len(answers) + 1)),
    )


def gaussian_cost(epsilon: Decimal, questions: int, delta: float = DELTA) -> float:
    """Epsilon of many answers with Gaussian noise as wide as that of the geometric noise.

    Parameters
    ----------
    epsilon : Decimal
        Budget of one answer with two-sided geometric noise.
    questions : int
        How many answers are given.
    delta : float
        By how much a probability may exceed e^epsilon times the other.

    Returns
    -------
    float
        Smallest epsilon at ``delta``, by Gaussian differential privacy: squares of the losses
        add up, so many questions cost about the root of their number.
    """
    from scipy.optimize import brentq

    mu = math.sqrt(questions) / _deviation(epsilon)
    high = 1.0
    while gaussian_delta(mu, high) > delta:
        high *= 2
    if gaussian_delta(mu, 0.0) <= delta:
        return 0.0
    return float(brentq(lambda e: gaussian_delta(mu, e) - delta, 0.0, high, xtol=1e-9))


def _deviation(epsilon: Decimal) -> float:
    """Standard deviation of two-sided geometric noise: sqrt(2 a) / (1 - a), a = exp(-epsilon)."""
    return 1 / (math.sqrt(2) * math.sinh(float(epsilon) / 2))
