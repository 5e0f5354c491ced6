"""Round numbers along an axis."""

from __future__ import annotations

import math

import numpy as np

_STEPS = (1, 2, 2.5, 5, 10)


def nice_ticks(low: float, high: float, about: int = 6) -> list[float]:
    """Round numbers from ``low`` to ``high``, about so many."""
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * next(step for step in _STEPS if power * step >= raw * 0.999)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{number * step:.12g}") for number in np.arange(first, last + 1)]
