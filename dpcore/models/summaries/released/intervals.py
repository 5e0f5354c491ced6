"""Intervals for noise on counts that cannot be negative, which cover as often as they say also at 0.

The acceptance of Feldman and Cousins (1998, "Unified approach to the classical statistical analysis
of small signals"): of what noise may make of a count, that which this count explains best compared
with the count that explains it best of all. An interval is never empty, and never below 0.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

import numpy as np

from dpcore.arrays import Floats

CONFIDENCE: Final = 0.95
#: 97.5 % of normal noise is below so many standard deviations.
NORMAL: Final = 1.959963984540054
#: Counts, in standard deviations, of which the acceptance is worked out; above it is symmetric.
_REACH, _STEP = 6.0, 0.005
#: Of two-sided geometric noise alone, the same, and 95 % of it is below so many.
_GEOMETRIC: Final = math.log(20) / math.sqrt(2)


def intervals(counts: Floats, deviation: float, *, gaussian: bool) -> tuple[Floats, Floats]:
    """Lower and upper ends for estimates without bias, of counts that are not negative.

    Parameters
    ----------
    deviation : float
        Of the noise on each.
    gaussian : bool
        Whether noise is Gaussian. If not, it may have the tails of geometric noise.
    """
    scale = deviation * (1.0 if gaussian else _GEOMETRIC / NORMAL)
    if scale <= 0:
        return np.maximum(counts, 0.0), np.maximum(counts, 0.0)
    places = counts / scale
    truths, lowest, highest = _acceptance()
    # A count belongs to the interval of an estimate that is in its acceptance. Both ends of that rise.
    upper = np.interp(places, lowest, truths)
    lower = np.interp(places, highest, truths)
    far = places > _REACH - NORMAL
    return (
        scale * np.where(places > _REACH, places - NORMAL, np.where(places <= highest[0], 0.0, lower)),
        scale * np.where(far, places + NORMAL, upper),
    )


@lru_cache(maxsize=1)
def _acceptance() -> tuple[Floats, Floats, Floats]:
    """Counts, and the lowest and highest estimate that each explains well enough; in standard deviations."""
    from scipy.special import ndtr

    truths = np.arange(0.0, _REACH + _STEP, _STEP)
    lowest, highest = np.empty_like(truths), np.empty_like(truths)
    for place, truth in enumerate(truths):
        # An estimate x >= 0 is explained by log ratio -(x - truth)^2 / 2, one below 0 by x * truth - truth^2 / 2.
        low, high = truth, truth + 6.0
        for _ in range(60):  # The highest accepted estimate, by bisection on the chance of all accepted ones.
            middle = (low + high) / 2
            chance = ndtr(middle - truth) - ndtr(_partner(middle, truth) - truth)
            low, high = (middle, high) if chance < CONFIDENCE else (low, middle)
        highest[place], lowest[place] = high, _partner(high, truth)
    return truths, np.maximum(np.maximum.accumulate(lowest), -40.0), highest


def _partner(high: float, truth: float) -> float:
    """The estimate below a count that it explains as well as the one above."""
    away = (high - truth) ** 2 / 2
    if truth - math.sqrt(2 * away) >= 0:
        return truth - math.sqrt(2 * away)
    return (truth**2 / 2 - away) / truth if truth > 0 else -math.inf
