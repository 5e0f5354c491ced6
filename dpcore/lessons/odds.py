"""Epsilon as odds: what an answer can at most teach somebody about one person."""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Odds:
    """What an observer believes of one person, before and after an answer."""

    before: float
    """Chance that the person is in the data, as the observer sees it beforehand."""
    lowest: float
    highest: float
    """``lowest``, ``highest``: the same chance after the answer, for the two worst answers."""


def worst_odds(before: float, epsilon: Decimal) -> Odds:
    """Move the odds by a factor of exp(epsilon) in either direction (Bayes' rule).

    Parameters
    ----------
    before : float
        A chance strictly between 0 and 1.
    epsilon : Decimal
        Budget of everything that the observer sees.
    """
    factor = math.exp(float(epsilon))
    rest = 1 - before
    return Odds(before, before / (before + rest * factor), before * factor / (before * factor + rest))


def shown_chance(chance: float) -> str:
    """A chance for people, never rounded to certainty: ``6.3%``, ``above 99.9%``."""
    if not 0.001 <= chance <= 0.999:
        return "below 0.1%" if chance < 0.5 else "above 99.9%"
    return f"{chance:.0%}" if 0.0995 <= chance < 0.9005 else f"{chance:.1%}"
