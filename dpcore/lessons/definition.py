"""The definition of differential privacy, for one set of answers and two neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal

from dpcore.lessons.neighbours import GROUP
from dpcore.lessons.noise import noise_chance


@dataclass(frozen=True)
class SetChances:
    """Chance that an answer falls into a set, with a person and without."""

    low: int
    high: int
    """``low``, ``high``: the set: all whole numbers from one to the other, both included."""
    count: int
    """True count with the person; without, it is one less."""
    epsilon: Decimal
    """Budget of the answer."""
    present: float
    absent: float
    """``present``, ``absent``: exact chance of an answer in the set, with the person and without."""

    @property
    def ratio(self) -> float:
        """How many times as likely the set is with the person as without."""
        return self.present / self.absent

    @property
    def factor(self) -> float:
        """What the ratio, and its inverse, never exceed: e^epsilon."""
        return math.exp(float(self.epsilon))

    def after(self, before: float) -> float:
        """Chance that the person is in the data, for whoever gave it ``before`` and sees such an answer."""
        return before * self.present / (before * self.present + (1 - before) * self.absent)


def set_chances(low: int, high: int, epsilon: Decimal) -> SetChances:
    """Chances of a set of answers to how many of :data:`GROUP` are counted, and without one of those.

    Parameters
    ----------
    low, high : int
        Ends of the set, ``low`` at most ``high``.
    epsilon : Decimal
        Budget of the answer.
    """
    count = sum(one.counted for one in GROUP)
    present, absent = (
        math.fsum(noise_chance(answer - middle, epsilon) for answer in range(low, high + 1))
        for middle in (count, count - 1)
    )
    return SetChances(low, high, count, epsilon, present, absent)
