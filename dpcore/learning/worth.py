"""What a record of each class weighs, by noisy class counts, so that the largest outweighs no other.

Two classes then weigh alike. Of several all but the largest weigh as they are: were every class to count as little as
the rarest, all records together would hardly count beside the noise, which the weight of one record sets.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from dpcore.arrays import Floats, Ints

#: Weight of a record of every class but the largest.
WORTH: Final = 4096
#: Records of the expected shares that are added to noisy class counts, in scales of their noise.
_LENT: Final = 2.0


def likely_counts(noisy: Ints, scale: float, above: Floats | None) -> Floats:
    """Positive class counts of some records, from noisy ones and what a larger part of them lets expect.

    Parameters
    ----------
    noisy : array of shape (n_classes,)
    scale : float
        Of the two-sided geometric noise.
    above : array of shape (n_classes,) or None
        Class shares of that larger part, if there is one, or even ones; they count as so many records as the noise.
    """
    shares = np.full(len(noisy), 1 / len(noisy)) if above is None else above
    return np.maximum(noisy, 0) + (_LENT * scale + 1) * shares


def class_worth(counts: Floats) -> Ints:
    """Weight of a record of each class: :data:`WORTH`, and less in the largest, which weighs as much as the second."""
    second = float(np.sort(counts)[-2])
    return np.asarray(np.maximum(1, np.floor(WORTH * np.minimum(1.0, second / counts))), dtype=np.int64)
