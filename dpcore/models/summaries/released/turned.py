"""Intervals of values that cannot be negative, by what other noise would have made of them."""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Floats
from dpcore.models.summaries.released.reading import Amount


def turned(
    value: float,
    again: Floats,
    alone: Floats | None = None,
    *,
    ratio: bool = False,
) -> Amount:
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
