"""How much one person can change an answer, and what it takes to bound that."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from statistics import NormalDist

import numpy as np

from dpcore.lessons.noise import noisy_vector
from dpcore.privacy.budgets import geometric_tail

#: Days after which a stay counts no longer, in the invented hospital of this lesson.
LONGEST_STAY = 365
_PATIENTS = 400


def _stays() -> tuple[int, ...]:
    """Stays that are log-normal as far as 400 of them can be: many short ones, a few very long."""
    places = ((place + 0.5) / _PATIENTS for place in range(_PATIENTS))
    days = (round(4 * math.exp(1.1 * NormalDist().inv_cdf(place))) for place in places)
    return tuple(min(LONGEST_STAY, max(1, stay)) for stay in days)


#: Days in hospital of 400 invented patients, shortest first.
STAYS = _stays()


@dataclass(frozen=True)
class ClampedTotal:
    """All days in hospital, if of every stay at most so many are counted."""

    clamp: int
    """Most days that are counted of a stay: the sensitivity of the total."""
    truth: int
    counted: int
    """``truth``, ``counted``: all days, and those that are counted."""
    margin: int
    """Noise stays within plus or minus this, with 95 %."""
    noisy: int
    """The answer: days that are counted, and noise."""

    @property
    def lost(self) -> int:
        """Days that the clamp leaves out."""
        return self.truth - self.counted

    @property
    def error(self) -> int:
        """The answer is within plus or minus this of the truth, with 95 % or more."""
        return self.lost + self.margin


def clamped_total(clamp: int, epsilon: Decimal, draw: int) -> ClampedTotal:
    """Ask for the total of all days.

    One patient more adds between 0 and ``clamp`` days, so the total changes by at most that.

    Parameters
    ----------
    clamp : int
        Most days that are counted of a stay, from 1 to ``LONGEST_STAY``.
    epsilon : Decimal
        Budget of the answer.
    draw : int
        Names the noise.
    """
    counted = sum(min(stay, clamp) for stay in STAYS)
    noisy = int(noisy_vector(np.array([counted]), clamp, epsilon, draw)[0])
    return ClampedTotal(clamp, sum(STAYS), counted, geometric_tail(clamp / float(epsilon), 0.95), noisy)
