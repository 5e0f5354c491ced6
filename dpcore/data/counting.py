"""Kernels that look up and count cells of places, in a time that does not depend on what is there.

Every place is visited and takes the same instructions: no branch depends on a record, a search takes as many steps
for every value, and neighbouring places count into tables of their own, so that none waits for the one before it
where all are in one cell.
"""

from __future__ import annotations

from typing import Final, Literal

import numpy as np

from dpcore.arrays import Array, Flags, Floats, Ints
from dpcore.compiled import kernel

#: Tables into which neighbouring places are counted, and places after which they are added up: 16 bits hold these.
_LANES: Final = 8
_AT_ONCE: Final = 2**18


@kernel
def count_pairs(first: Array, second: Array, width: int, counts: Ints) -> None:
    """Add the number of places with each pair of codes to ``counts``.

    Parameters
    ----------
    first, second : arrays of shape (n_places,), unsigned
    width : int
        Codes of ``second``.
    counts : array of shape (n_first * width,)
    """
    lanes = np.empty((_LANES, len(counts)), dtype=np.uint16)
    for start in range(0, len(first), _AT_ONCE):
        stop = min(start + _AT_ONCE, len(first))
        whole = stop - (stop - start) % _LANES
        lanes[:] = 0
        for i in range(start, whole, _LANES):
            for lane in range(_LANES):
                cell = np.uint64(first[i + lane]) * np.uint64(width) + np.uint64(second[i + lane])
                lanes[np.uint64(lane), cell] += np.uint16(1)
        for i in range(whole, stop):
            lanes[np.uint64(0), np.uint64(first[i]) * np.uint64(width) + np.uint64(second[i])] += np.uint16(1)
        for lane in range(_LANES):
            for place in range(len(counts)):
                counts[place] += lanes[lane, place]


def count_codes(codes: Array, size: int) -> Ints:
    """Number of places with each code: shape (size,)."""
    counts = np.zeros(size, dtype=np.int64)
    count_pairs(codes, np.zeros(len(codes), dtype=np.uint8), 1, counts)
    return counts


def count_held(codes: Array, held: Flags, size: int) -> Ints:
    """Number of places with each code, of those that are held: shape (size,)."""
    counts = np.zeros(2 * size, dtype=np.int64)
    count_pairs(codes, held.view(np.uint8), 2, counts)
    return counts[1::2].copy()


def cells_between(edges: Floats, values: Floats, side: Literal["left", "right"] = "left") -> Array:
    """Cell of each value between ascending cut points, as ``numpy.searchsorted`` has it; 0 for NaN. Unsigned."""
    cells = np.empty(len(values), dtype=np.uint32)
    _look_up(edges, values, side == "right", cells)
    return cells


@kernel
def _look_up(edges: Floats, values: Floats, right: bool, cells: Array) -> None:
    for i in range(len(values)):
        below, left, value = np.uint64(0), len(edges), values[i]
        while left > 0:
            half = (left + 1) // 2
            edge = edges[below + np.uint64(half - 1)]
            below += np.uint64(half) * np.uint64((edge < value) | (right & (edge == value)))
            left -= half
        cells[i] = below


def counts_between(edges: Floats, values: Floats, held: Flags, side: Literal["left", "right"] = "left") -> Ints:
    """Number of values in each cell between ascending cut points, of those that are held: shape (len(edges) + 1,).

    Parameters
    ----------
    values : array of shape (n,)
        Anything, NaN too, where nothing is held.
    side : {"left", "right"}
        In which cell a value is that is a cut point, as of ``numpy.searchsorted``.
    """
    return count_held(cells_between(edges, values, side), held, len(edges) + 1)
