"""Intervals for noise on counts that cannot be negative, which cover as often as they say also at 0.

The acceptance of Feldman and Cousins (1998, "Unified approach to the classical statistical analysis
of small signals"): of what noise may make of a count, that which this count explains best compared
with the count that explains it best of all. An interval is never empty, and never below 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
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


@dataclass(frozen=True)
class Amount:
    """An estimate with its 95 % interval for noise."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Cells:
    """Counts of people in some cells, or their shares."""

    values: Floats
    """Not negative."""
    low: Floats
    high: Floats
    """``low``, ``high``: ends of the 95 % interval of each for noise."""

    def amount(self, place: int) -> Amount:
        """That of one cell."""
        return Amount(float(self.values[place]), float(self.low[place]), float(self.high[place]))


def around(values: Floats, low: Floats, high: Floats) -> Cells:
    """Cells whose intervals hold their values too: that there are no negative counts may have moved these."""
    return Cells(values, np.minimum(low, values), np.maximum(high, values))


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


@dataclass(frozen=True)
class Denominator:
    """What shares are of."""

    counts: Floats
    """At least 1; of a shape that fits that of the counts in it."""
    variance: float
    """Of the noise on each."""
    cells: float
    """Cells that each is the sum of, divided by those that a count is the sum of: a count goes up with it by one part
    in so many."""


def share_intervals(
    counts: Floats, variance: float, denominator: Denominator, *, gaussian: bool
) -> tuple[Floats, Floats]:
    """Lower and upper ends, from 0 to 1; both 0 and 1 where the whole may well be nobody.

    Parameters
    ----------
    counts : array
        Estimates without bias.
    variance : float
        Of the noise on each.
    gaussian : bool
        Whether noise is Gaussian. If not, it may have the tails of geometric noise.
    """
    part = 1 / denominator.cells
    low, high = _ends(counts, variance, denominator, part, gaussian=gaussian)
    others = variance + (1 - 2 * part) * denominator.variance
    least, most = _ends(denominator.counts - counts, others, denominator, 1 - part, gaussian=gaussian)
    above = counts > denominator.counts / 2
    return np.where(above, 1 - most, low), np.where(above, 1 - least, high)


def _ends(
    counts: Floats, variance: float, denominator: Denominator, part: float, *, gaussian: bool
) -> tuple[Floats, Floats]:
    if variance <= 0:
        exact = np.clip(counts / denominator.counts, 0.0, 1.0)
        return exact, exact
    low, high = intervals(counts, math.sqrt(variance), gaussian=gaussian)

    def end(count: Floats, side: int) -> Floats:
        # The share s at which counts - s * whole is as far from 0 as the end of the count from the count.
        reach = (counts - count) ** 2 / variance
        square = denominator.counts**2 - reach * denominator.variance
        middle = denominator.counts * counts - reach * part * denominator.variance
        root = np.sqrt(np.maximum(middle**2 - square * (counts**2 - reach * variance), 0.0))
        found = np.full_like(root, 0.0 if side < 0 else 1.0)
        np.divide(middle + side * root, square, out=found, where=square > 0)
        return np.clip(found, 0.0, 1.0)

    return np.where(low > 0, end(low, -1), 0.0), end(high, 1)


def folded_interval(value: float, again: Floats, alone: Floats | None = None, *, ratio: bool = False) -> Amount:
    """A value of at least 0 with an interval: what other noise would have done to it, turned over.

    Where that reaches 0, noise can only have added: then as much may hide above the value as it adds to it.

    Parameters
    ----------
    again : array of shape (n_draws,)
        What the value would be with other noise on top.
    alone : array of shape (n_draws,) or None
        What noise makes of a true 0. A value adds up the noise on many counts, so that it may
        be far above 0 by noise alone; then its interval begins at 0, whatever other noise on top of it would do.
    ratio : bool
        Whether it is a ratio with much noise below it. Other noise takes such a value farther up than down, and how far
        depends on the value: the interval then also reaches as far as the values with other noise do.
    """
    high, low = (float(end) for end in np.quantile(again, (0.975, 0.025)))
    least, largest = 2 * value - high, 2 * value - low
    if ratio:
        least, largest = min(least, low), max(largest, high)
    if least > 0 and (alone is None or value > np.quantile(alone, 0.95)):
        return Amount(value, min(least, value), max(largest, value))
    return Amount(value, 0.0, max(largest if ratio else high, value))
