"""Intervals for shares: a noisy count of a noisy number of people.

A share s is held if noise explains count - s * people well enough, of which the variance is known for every s
(Fieller 1954, "Some problems in interval estimation"). How far the count may be off is that of :mod:`intervals`, so
shares of 0 are covered as often as others; those above a half are told by what is missing to all, so 1 is too.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Floats
from dpcore.models.summaries.released.intervals import intervals


@dataclass(frozen=True)
class Whole:
    """What shares are of.

    Attributes
    ----------
    counts : array
        At least 1; of a shape that fits that of the counts in it.
    variance : float
        Of the noise on each.
    cells : float
        Cells that each is the sum of, divided by those that a count is the sum of: a count goes up with it by one
        part in so many.
    """

    counts: Floats
    variance: float
    cells: float


def share_intervals(counts: Floats, variance: float, whole: Whole, *, gaussian: bool) -> tuple[Floats, Floats]:
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
    part = 1 / whole.cells
    low, high = _ends(counts, variance, whole, part, gaussian=gaussian)
    others = variance + (1 - 2 * part) * whole.variance
    least, most = _ends(whole.counts - counts, others, whole, 1 - part, gaussian=gaussian)
    above = counts > whole.counts / 2
    return np.where(above, 1 - most, low), np.where(above, 1 - least, high)


def _ends(counts: Floats, variance: float, whole: Whole, part: float, *, gaussian: bool) -> tuple[Floats, Floats]:
    if variance <= 0:
        exact = np.clip(counts / whole.counts, 0.0, 1.0)
        return exact, exact
    low, high = intervals(counts, math.sqrt(variance), gaussian=gaussian)

    def end(count: Floats, side: int) -> Floats:
        # The share s at which counts - s * whole is as far from 0 as the end of the count from the count.
        reach = (counts - count) ** 2 / variance
        square = whole.counts**2 - reach * whole.variance
        middle = whole.counts * counts - reach * part * whole.variance
        root = np.sqrt(np.maximum(middle**2 - square * (counts**2 - reach * variance), 0.0))
        found = np.full_like(root, 0.0 if side < 0 else 1.0)
        np.divide(middle + side * root, square, out=found, where=square > 0)
        return np.clip(found, 0.0, 1.0)

    return np.where(low > 0, end(low, -1), 0.0), end(high, 1)
