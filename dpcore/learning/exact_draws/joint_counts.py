"""Class counts of every conjunction of up to three literals, each counted once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

import numpy as np

from dpcore.arrays import Array, Ints, Ints32, Words
from dpcore.compiled import kernel
from dpcore.cores import in_threads
from dpcore.data.bits import count_both, intersect

#: Bytes that the counts behind one block, and what is computed from them, may take.
MEMORY_LIMIT: Final = 2 * 2**30
#: Words that the blocks of a tree may visit: some tens of minutes.
WORK_LIMIT: Final = 4 * 10**12
#: Bytes of the counts that are asked for at once.
_AT_ONCE: Final = 256 * 2**20
#: Words of one tile: all literals of a tile stay in the cache of a core.
_TILE = 512


class JointCounts(NamedTuple):
    """Records per class in every conjunction of up to three literals: sums over the records.

    Attributes
    ----------
    none : array of shape (n_classes,)
        All records.
    ones : array of shape (n_literals, n_classes)
    twos : array of shape (n_literals, n_literals, n_classes)
        Symmetric, with ``ones`` on the diagonal. Empty below depth 2.
    threes : array of shape (n_triples, n_classes), int32
        Triples i < j < k in lexicographic order, see :func:`triple_starts`. Empty below depth 3.
    """

    none: Ints
    ones: Ints
    twos: Ints
    threes: Ints32


def triple_count(size: int) -> int:
    """Number of triples of ``size`` literals."""
    return size * (size - 1) * (size - 2) // 6


#: What a conjunction of so many literals costs beside its words, in words: it is part of sums
#: of exponentials. As measured.
_OVERHEAD: Final = {1: 10, 2: 100, 3: 1000}


def block_work(size: int, classes: int, words: int, depth: int) -> float:
    """Words that drawing a block over ``size`` literals visits, or would in the same time."""
    sets = {1: size, 2: size**2 / 2, 3: triple_count(size)}[depth]
    return float(sets * classes * (words + _OVERHEAD[depth]))


def tree_work(blocks: Sequence[int], size: int, classes: int, words: int) -> float:
    """The same for all blocks of a tree, if every one of them is drawn."""
    work, above = 0.0, 1
    for depth in blocks:
        work += above * block_work(size, classes, words, depth)
        above *= 2**depth
    return work


#: Words of the same price as one conjunction in one class: what a word of it, and its exponentials, take.
_WORD, _PAIR, _TRIPLE = 1.0, 5500.0, 3600.0


def exact_words(blocks: Sequence[int], size: int, classes: int, words: int) -> float:
    """Words of the same price as all blocks of a tree: a level visits every row once."""
    total, above = 0.0, 1
    for depth in blocks:
        sets = {1: size, 2: size**2 / 2, 3: triple_count(size)}[depth]
        total += sets * classes * words * _WORD
        pairs = size if depth == 1 else size**2 / 2
        total += above * classes * (pairs * _PAIR + (depth > 2) * sets * _TRIPLE)
        above *= 2**depth
    return total


def joint_bytes(size: int, classes: int, depth: int) -> int:
    """Bytes of the counts behind one block."""
    pairs = size**2 * classes * 8 if depth > 1 else 0
    triples = triple_count(size) * classes * 4 if depth > 2 else 0
    return pairs + triples + (size + 1) * classes * 8


def counted_in_turn(
    nodes: int, size: int, classes: int, depth: int, ask: Callable[[range], tuple[Array, ...]]
) -> Iterator[JointCounts]:
    """The counts of some nodes, as many asked for at once as fit :data:`_AT_ONCE`.

    Parameters
    ----------
    ask : callable
        The four arrays of each node of a range, one after another.
    """
    most = max(1, _AT_ONCE // joint_bytes(size, classes, depth))

    def at_once(start: int) -> Iterator[JointCounts]:
        counts = iter(ask(range(nodes)[start : start + most]))
        return map(JointCounts, counts, counts, counts, counts)

    return chain.from_iterable(map(at_once, range(0, nodes, most)))


def fits_memory(size: int, classes: int, depth: int) -> bool:
    """Whether a block of some depth over ``size`` literals stays below :data:`MEMORY_LIMIT`.

    Triples hold a small count per class; pairs hold a count, and its values while they are
    computed, per class and a few numbers more.
    """
    pairs = size**2 * (48 * classes + 64) if depth > 1 else 0
    triples = triple_count(size) * classes * 4 if depth > 2 else 0
    return max(pairs, triples) <= MEMORY_LIMIT


def joint_counts(literals: Words, classes: Words, depth: int, words: slice = slice(None)) -> JointCounts:
    """Count every conjunction of up to ``depth`` literals per class, on all cores.

    Parameters
    ----------
    literals : array of shape (n_literals, n_words)
    classes : array of shape (n_classes, n_words)
        Disjoint bit vectors of the records of each class.
    depth : int
        1 to 3.
    words : slice
        Only the records there; all by default. Of parts that follow each other, the time of all together depends on
        where they end only through what is left of whole vectors of words.

    Returns
    -------
    JointCounts
        After O(n_literals^depth / depth! x n_classes x n_words) steps, whatever the bits are.
    """
    size, labels = len(literals), len(classes)
    first, last, _ = words.indices(literals.shape[1])
    ones = np.zeros((size, labels), dtype=np.int64)
    _count_single(literals, classes, first, last, ones)
    twos = np.zeros((size if depth > 1 else 0, size, labels), dtype=np.int64)
    threes = np.zeros((triple_count(size) if depth > 2 else 0, labels), dtype=np.int32)
    starts = triple_starts(size if depth > 2 else 0)
    if depth > 1:
        in_threads(lambda i: _count_joint(literals, classes, first, last, i, twos, starts, threes), size)
        above = np.triu_indices(size, 1)
        twos[above[1], above[0]] = twos[above]
        twos[np.arange(size), np.arange(size)] = ones
    none = np.bitwise_count(classes[:, first:last]).sum(axis=1).astype(np.int64)
    return JointCounts(none, ones, twos, threes)


@lru_cache(maxsize=8)
def triple_starts(size: int) -> Ints:
    """Place of the triple (i, j, j + 1) among those of ``size`` literals: shape (size, size)."""
    starts = np.zeros((size, size), dtype=np.int64)
    above = np.triu_indices(size, 1)
    lengths = size - 1 - above[1]
    starts[above] = np.cumsum(lengths) - lengths
    return starts


@kernel
def _count_single(literals: Words, classes: Words, first: int, last: int, ones: Ints) -> None:
    for i in range(literals.shape[0]):
        for c in range(classes.shape[0]):
            ones[i, c] = count_both(literals[i, first:last], classes[c, first:last])


@kernel
def _count_joint(
    literals: Words,
    classes: Words,
    first: int,
    last: int,
    firsts: Ints,
    twos: Ints,
    starts: Ints,
    threes: Ints32,
) -> None:
    """Count the pairs and triples whose lowest literal is one of ``firsts``, tile by tile.

    An end of the words makes two parts of a tile, be one of them empty: so all parts of some words have as many,
    wherever they end.
    """
    size = literals.shape[0]
    room = np.empty(_TILE, dtype=np.uint64)
    for tile in range(first // _TILE, last // _TILE + 1):
        start, stop = max(first, tile * _TILE), min(last, (tile + 1) * _TILE)
        both = room[: stop - start]
        for i in firsts:
            for j in range(i + 1, size):
                for c in range(classes.shape[0]):
                    twos[i, j, c] += intersect(
                        literals[i, start:stop], literals[j, start:stop], classes[c, start:stop], both
                    )
                    if threes.shape[0] == 0:
                        continue
                    before = starts[i, j] - j - 1
                    for k in range(j + 1, size):
                        threes[before + k, c] += count_both(both, literals[k, start:stop])
