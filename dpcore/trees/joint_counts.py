"""Class counts of every conjunction of up to three literals, each counted once."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from dpcore.bits import Words, count_bits, popcount

Counts = NDArray[np.int64]
SmallCounts = NDArray[np.int32]
#: Words of one tile: all literals of a tile stay in the cache of a core.
_TILE = 256


@dataclass(frozen=True)
class JointCounts:
    """Records per class in every conjunction of up to three literals.

    Attributes
    ----------
    none : array of shape (n_classes,)
        All records.
    ones : array of shape (n_literals, n_classes)
    twos : array of shape (n_literals, n_literals, n_classes)
        Symmetric, with ``ones`` on the diagonal. Empty below depth 2.
    threes : array of shape (n_triples, n_classes), int32
        Triples i < j < k in lexicographic order. Empty below depth 3.
    starts : array of shape (n_literals, n_literals)
        Place of the triple (i, j, j + 1) in ``threes``.
    """

    none: Counts
    ones: Counts
    twos: Counts
    threes: SmallCounts
    starts: Counts


def triple_count(size: int) -> int:
    """Number of triples of ``size`` literals."""
    return size * (size - 1) * (size - 2) // 6


def joint_counts(literals: Words, classes: Words, depth: int) -> JointCounts:
    """Count every conjunction of up to ``depth`` literals per class, on all cores.

    Parameters
    ----------
    literals : array of shape (n_literals, n_words)
    classes : array of shape (n_classes, n_words)
        Disjoint bit vectors of the records of each class.
    depth : int
        1 to 3.

    Returns
    -------
    JointCounts
        After O(n_literals^depth / depth! x n_classes x n_words) steps, whatever the bits are.
    """
    size, labels = len(literals), len(classes)
    ones = count_bits(literals, classes)
    twos = np.zeros((size if depth > 1 else 0, size, labels), dtype=np.int64)
    threes = np.zeros((triple_count(size) if depth > 2 else 0, labels), dtype=np.int32)
    starts = _triple_starts(size)
    if depth > 1:
        in_threads(lambda i: _count_joint(literals, classes, i, twos, starts, threes), size)
        above = np.triu_indices(size, 1)
        twos[above[1], above[0]] = twos[above]
        twos[np.arange(size), np.arange(size)] = ones
    none = np.bitwise_count(classes).sum(axis=1).astype(np.int64)
    return JointCounts(none, ones, twos, threes, starts)


def in_threads(work: Callable[[Counts], None], size: int) -> None:
    """Share the numbers below ``size`` among the cores, dealt in turn, and wait."""
    cores = min(os.cpu_count() or 1, max(1, size))
    shares = [np.arange(core, size, cores) for core in range(cores)]
    with ThreadPoolExecutor(cores) as pool:
        list(pool.map(work, shares))


def _triple_starts(size: int) -> Counts:
    starts = np.zeros((size, size), dtype=np.int64)
    above = np.triu_indices(size, 1)
    lengths = size - 1 - above[1]
    starts[above] = np.cumsum(lengths) - lengths
    return starts


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _count_joint(
    literals: Words,
    classes: Words,
    firsts: Counts,
    twos: Counts,
    starts: Counts,
    threes: SmallCounts,
) -> None:
    """Count the pairs and triples whose lowest literal is one of ``firsts``, tile by tile."""
    size, words = literals.shape
    both = np.empty(_TILE, dtype=np.uint64)
    for start in range(0, words, _TILE):
        width = min(_TILE, words - start)
        for i in firsts:
            for j in range(i + 1, size):
                for c in range(classes.shape[0]):
                    total = np.uint64(0)
                    for w in range(width):
                        word = literals[i, start + w] & literals[j, start + w]
                        both[w] = word & classes[c, start + w]
                        total += popcount(both[w])
                    twos[i, j, c] += total
                    if threes.shape[0] == 0:
                        continue
                    before = starts[i, j] - j - 1
                    for k in range(j + 1, size):
                        here = np.uint64(0)
                        for w in range(width):
                            here += popcount(both[w] & literals[k, start + w])
                        threes[before + k, c] += here
