"""Counting values between cut points in a time that does not tell how many values there are."""

from __future__ import annotations

from typing import Literal

import numpy as np

from dpcore.arrays import Flags, Floats, Ints
from dpcore.privacy.randomness import public_generator


def counts_between(edges: Floats, values: Floats, held: Flags, side: Literal["left", "right"] = "left") -> Ints:
    """Number of values in each cell between cut points.

    Every value is looked up. In place of one that is not held stands some cut point, the same in every run: looking
    up one value again and again, or none, would be quicker.

    Parameters
    ----------
    values : array of shape (n,)
        Anything, NaN too, where nothing is held.
    held : array of shape (n,)
        Which of them count.
    side : {"left", "right"}
        In which cell a value is that is a cut point, as of ``numpy.searchsorted``.

    Returns
    -------
    array of shape (len(edges) + 1,)
    """
    # No noise: whatever stands for what is not held, nobody counts it.
    instead = public_generator(0).choice(edges, len(values)) if len(edges) else np.zeros(len(values))
    cells = np.searchsorted(edges, np.where(held, values, instead), side=side)
    return np.bincount(np.where(held, cells, len(edges) + 1), minlength=len(edges) + 2)[:-1].astype(np.int64)
