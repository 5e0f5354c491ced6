"""Compiled sums over the splits of every node two splits deep, for blocks of depth 3."""

from __future__ import annotations

import math
from typing import Final, Literal

import numpy as np

from dpcore.arrays import Floats, Ints, Ints32
from dpcore.compiled import kernel

#: What a leaf is worth. ``labelled``: the records of the class that is drawn for it, each worth as much as
#: the weight of its class. ``correct``: those of the class for which that is most. ``purity``: sum over
#: classes of count^2 / size, without weights.
LeafUtility = Literal["labelled", "correct", "purity"]
LEAF_UTILITIES: Final = ("labelled", "correct", "purity")
#: Steps per unit of purity: the grid on which it is an integer.
GRID: Final = 256


#: Exponents are kept between these, where exp takes as long for all. The ends change no sum of weights: beside the
#: largest of them, exp of the least is nothing, and exp of the largest is 1.
LEAST_EXPONENT: Final = -500.0
_LARGEST_EXPONENT: Final = -(2.0**-54)


@kernel
def weighed(exponent: float) -> float:
    """Exp of a number that is not positive."""
    return math.exp(min(max(exponent, LEAST_EXPONENT), _LARGEST_EXPONENT))


@kernel
def leaf_value(counts: Ints, class_weights: Ints, kind: int, weight: float) -> tuple[np.int64, float]:
    """Value of a leaf; ``kind`` is the position of its utility in :data:`LEAF_UTILITIES`.

    Parameters
    ----------
    class_weights : array of shape (n_classes,)
        Weight of each class.
    """
    best, whole, squares = np.int64(0), np.int64(0), np.int64(0)
    for c in range(counts.shape[0]):
        best = max(best, class_weights[c] * counts[c])
        whole += counts[c]
        squares += counts[c] * counts[c]
    if kind == 2:
        return GRID * squares // max(whole, np.int64(1)), 0.0
    if kind == 1:
        return best, 0.0
    total = 0.0
    for c in range(counts.shape[0]):
        total += weighed(weight * (class_weights[c] * counts[c] - best))
    return best, math.log(total / counts.shape[0])


@kernel
def fill_pairs(
    none: Ints,
    ones: Ints,
    twos: Ints,
    threes: Ints32,
    starts: Ints,
    firsts: Ints,
    log_prior: Floats,
    class_weights: Ints,
    kind: int,
    weight: float,
    bests: Ints,
    rests: Floats,
) -> None:
    """Values of all signed pairs of different literals whose lower one is in ``firsts``.

    The four signed nodes of a pair are numbered 2 x (first does not hold) + (second does not).
    """
    size, labels = ones.shape
    node, side = np.empty((4, labels), np.int64), np.empty((4, labels), np.int64)
    other = np.empty(labels, np.int64)
    split_bests, split_rests = np.empty((4, size), np.int64), np.empty((4, size))
    for i in firsts:
        for j in range(i + 1, size):
            _signed(none, ones[i], ones[j], twos[i, j], node)
            for k in range(size):
                if k in (i, j):
                    # One of the two sides is the node itself, the other is empty.
                    side[:] = 0
                else:
                    low, high = min(i, k), max(j, k)
                    middle = i + j + k - low - high
                    three = threes[starts[low, middle] + high - middle - 1]
                    _signed(ones[k], twos[i, k], twos[j, k], three, side)
                for s in range(4):
                    best, rest = leaf_value(side[s], class_weights, kind, weight)
                    for c in range(labels):
                        other[c] = node[s, c] - side[s, c]
                    other_best, other_rest = leaf_value(other, class_weights, kind, weight)
                    split_bests[s, k] = best + other_best
                    split_rests[s, k] = rest + other_rest + log_prior[k]
            for s in range(4):
                top = split_bests[s].max()
                total = 0.0
                for k in range(size):
                    total += weighed(weight * (split_bests[s, k] - top) + split_rests[s, k])
                bests[i, j, s // 2, s % 2] = bests[j, i, s % 2, s // 2] = top
                rests[i, j, s // 2, s % 2] = rests[j, i, s % 2, s // 2] = math.log(total)


@kernel
def _signed(whole: Ints, first: Ints, second: Ints, both: Ints, out: Ints) -> None:
    """Counts of the four signed conjunctions of two literals within ``whole``."""
    for c in range(whole.shape[0]):
        out[0, c] = both[c]
        out[1, c] = first[c] - both[c]
        out[2, c] = second[c] - both[c]
        out[3, c] = whole[c] - first[c] - second[c] + both[c]
