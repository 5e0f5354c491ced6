"""Kernels on bit-packed columns: rows are bits of 64-bit words, conjunction is AND.

Every function visits every word, whatever the bits are, so that run time depends on shapes
only, and shapes are fixed by public inputs.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from dpcore.arrays import Ints, Words
from dpcore.compiled import kernel
from dpcore.data.packing import word_count


def _popcount(typing_context: Any, word: Any) -> Any:  # noqa: ARG001
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:  # noqa: ARG001
        return builder.ctpop(arguments[0])

    return types.uint64(types.uint64), generate


#: Number of set bits, compiled to the processor's own instruction; for kernels alone.
popcount: Callable[[np.uint64], np.uint64] = intrinsic(_popcount)


@kernel
def count_both(one: Words, other: Words) -> np.uint64:
    """Rows in both. Of whole vectors, not of places in a table, the compiler makes SIMD code."""
    total = np.uint64(0)
    for w in range(one.shape[0]):
        total += popcount(one[w] & other[w])
    return total


@kernel
def intersect(one: Words, other: Words, third: Words, common: Words) -> np.uint64:
    """Put the rows in all three into ``common``, and count them."""
    total = np.uint64(0)
    for w in range(common.shape[0]):
        common[w] = one[w] & other[w] & third[w]
        total += popcount(common[w])
    return total


def compress(vectors: Words, mask: Words) -> Words:
    """Keep, for every vector, only the rows in ``mask``, in order.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_words)
    mask : array of shape (n_words,)

    Returns
    -------
    array of shape (n_vectors, word_count(rows in mask)), at least one word wide
    """
    kept = int(np.bitwise_count(mask).sum())
    compressed = np.zeros((len(vectors), max(1, word_count(kept))), dtype=np.uint64)
    _compress(vectors, mask, compressed)
    return compressed


@kernel
def _compress(vectors: Words, mask: Words, compressed: Words) -> None:
    one, zero = np.uint64(1), np.uint64(0)
    for v in range(vectors.shape[0]):
        row = 0
        for w in range(mask.shape[0]):
            left = mask[w]
            while left != zero:
                lowest = left & (~left + one)
                if vectors[v, w] & lowest != zero:
                    compressed[v, row >> 6] |= one << np.uint64(row & 63)
                row += 1
                left ^= lowest


def conjunctions(literals: Words, members: Ints, lengths: Ints) -> Words:
    """AND together, for each row of ``members``, its first ``lengths`` literals.

    Parameters
    ----------
    literals : array of shape (n_literals, n_words)
        Bit vectors.
    members : array of shape (n_conjunctions, max_length)
        Positions in ``literals``; places beyond a conjunction's length are ignored.
    lengths : array of shape (n_conjunctions,)
        At least 1 each.

    Returns
    -------
    array of shape (n_conjunctions, n_words)
    """
    result = literals[members[:, 0]].copy()
    for place in range(1, members.shape[1]):
        longer = np.flatnonzero(lengths > place)
        result[longer] &= literals[members[longer, place]]
    return result


def count_bits(vectors: Words, masks: Words) -> Ints:
    """Rows in both, for every vector and every mask: shape (n_vectors, n_masks)."""
    counts = np.empty((len(vectors), len(masks)), dtype=np.int64)
    fill_counts(vectors, masks, counts)
    return counts


@kernel
def fill_counts(vectors: Words, masks: Words, counts: Ints) -> None:
    """The same into ``counts``, for kernels."""
    for v in range(vectors.shape[0]):
        for m in range(masks.shape[0]):
            counts[v, m] = count_both(vectors[v], masks[m])


@kernel
def capture_rule(rule: Words, classes: Words, remaining: Words, after: Words, counts: Ints) -> None:
    """Split ``remaining`` by a rule: count what it captures per class, put the rest into ``after``.

    ``classes`` has shape (n_classes, n_words) with at least 2 rows, disjoint and covering
    ``remaining``; ``counts`` has shape (n_classes,) and is added to.
    """
    last = classes.shape[0] - 1
    middle = np.uint64(0)
    for c in range(1, last):
        members = classes[c]
        here = np.uint64(0)
        for w in range(remaining.shape[0]):
            here += popcount(remaining[w] & rule[w] & members[w])
        counts[c] += here
        middle += here
    members = classes[0]
    total = np.uint64(0)
    first = np.uint64(0)
    for w in range(remaining.shape[0]):
        captured = remaining[w] & rule[w]
        total += popcount(captured)
        first += popcount(captured & members[w])
        after[w] = remaining[w] ^ captured
    counts[0] += first
    counts[last] += total - first - middle


@kernel
def remaining_classes(remaining: Words, classes: Words, counts: Ints) -> None:
    """Count the rows of ``remaining`` per class into ``counts``."""
    for c in range(classes.shape[0]):
        counts[c] = count_both(remaining, classes[c])
