"""Kernels on bit-packed columns: rows are bits of 64-bit words, conjunction is AND.

Every function visits every word, whatever the bits are, so that run time depends on shapes
only, and shapes are fixed by public inputs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from dpcore.arrays import Ints, Words
from dpcore.compiled import kernel

#: Words that loops over bits take at a time, and vectors side by side.
_WHOLE, _SIMD = 32, 8


def _popcount(typing_context: object, word: object) -> tuple[object, Callable[..., object]]:  # noqa: ARG001
    def generate(context: object, builder: Any, signature: object, arguments: Sequence[object]) -> object:  # noqa: ARG001
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


def room_of(masks: Words) -> Ints:
    """Where the rows of each mask begin once they are closed up by :func:`closed_up`, and where the last ones end.

    Parameters
    ----------
    masks : array of shape (n_masks, n_words)
        Disjoint.

    Returns
    -------
    array of shape (n_masks + 1,)
        In words. The last entry is a function of the shape of ``masks`` alone.
    """
    rows = np.bitwise_count(masks).sum(axis=1, dtype=np.int64)
    widths = -(-rows // (64 * _WHOLE)) * _WHOLE
    return np.concatenate([[0], np.cumsum(widths)[:-1], [masks.shape[1] + _WHOLE * len(masks)]])


def closed_up(vectors: Words, masks: Words, room: Ints) -> Words:
    """For every vector the rows of one mask after those of the other, in order, with nothing between rows of one.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_words)
    masks : array of shape (n_masks, n_words)
        Disjoint.
    room : array of shape (n_masks + 1,)
        As :func:`room_of` has it, or for some masks that follow each other the part of it.

    Returns
    -------
    array of shape (n_vectors, room[-1] - room[0])
        Places that are left over hold no row.
    """
    padded = np.zeros((masks.shape[1], -(-len(vectors) // _SIMD) * _SIMD), dtype=np.uint64)
    padded[:, : len(vectors)] = vectors.T
    closed = np.zeros((room[-1] - room[0] + 2, padded.shape[1]), dtype=np.uint64)
    _close_up(padded, masks, room - room[0], closed)
    return np.ascontiguousarray(closed[:-2, : len(vectors)].T)


@kernel
def _close_up(vectors: Words, masks: Words, room: Ints, closed: Words) -> None:
    """Close up word by word, all vectors at once. The arrays have a word of each vector side by side.

    Bits of a word move in six steps, by 1, 2, 4, ... 32 places: those move in a step whose distance has its bit. See
    Warren, Hacker's Delight (2nd edition), section 7-4.
    """
    moves = np.empty(6, dtype=np.uint64)
    for m in range(masks.shape[0]):
        row = np.uint64(64 * room[m])
        for w in range(masks.shape[1]):
            mask = masks[m, w]
            left, gaps = mask, ~mask << np.uint64(1)
            for step in range(6):
                odd = gaps
                for shift in range(6):
                    odd ^= odd << np.uint64(1 << shift)
                moves[step] = odd & left
                left = (left ^ moves[step]) | (moves[step] >> np.uint64(1 << step))
                gaps &= ~odd
            first, second, third, fourth, fifth, sixth = moves
            place, offset = row >> np.uint64(6), row & np.uint64(63)
            for v in range(vectors.shape[1]):
                bits = vectors[w, v] & mask
                bits = (bits ^ (bits & first)) | ((bits & first) >> np.uint64(1))
                bits = (bits ^ (bits & second)) | ((bits & second) >> np.uint64(2))
                bits = (bits ^ (bits & third)) | ((bits & third) >> np.uint64(4))
                bits = (bits ^ (bits & fourth)) | ((bits & fourth) >> np.uint64(8))
                bits = (bits ^ (bits & fifth)) | ((bits & fifth) >> np.uint64(16))
                bits = (bits ^ (bits & sixth)) | ((bits & sixth) >> np.uint64(32))
                closed[place, v] |= bits << offset
                closed[place + np.uint64(1), v] |= (bits >> np.uint64(1)) >> (np.uint64(63) - offset)
            row += popcount(mask)


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
