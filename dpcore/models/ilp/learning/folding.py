"""From bit vectors per slot of a child table to one over people: that a row exists, how many do, and more.

The rows of a conjunction are the AND of its atoms' vectors in each slot, made from those of its own
beginning, so with one AND each. That one exists is the OR over slots; that several do is an
addition bit by bit, which stops at the number asked for. Slots stand in the order in which rows are
kept. Places without a row are in no vector, and every slot of every word is visited.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from dpcore.arrays import Ints, Words
from dpcore.compiled import kernel
from dpcore.cores import in_threads
from dpcore.data.partition import Partition
from dpcore.models.ilp.language.factors import Factors
from dpcore.models.ilp.language.forms import Form

#: Words that a core takes at a time.
_BLOCK = 32


class Conjunctions(NamedTuple):
    """Conjunctions of atoms, and those that a later row must satisfy, by the atoms' positions.

    Attributes
    ----------
    members, later : array of shape (n_conjunctions, longest)
    sizes, later_sizes : array of shape (n_conjunctions,)
    """

    members: Ints
    sizes: Ints
    later: Ints
    later_sizes: Ints


class Slots(NamedTuple):
    """Rows of a table, slot by slot."""

    rows: Words
    """Array of shape (n_slots, n_words). Which slots hold a row."""
    pairs: Words
    """Array of shape (n_pairs, n_words). Which pairs of slots share a value; empty if that is not asked for."""
    backward: bool
    """Whether the first slot holds the last row."""


def slots_of(partition: Partition, name: str, form: Form) -> Slots:
    """Rows of a child table for a form; of the main one, "", everybody in one slot."""
    none = np.zeros((0, partition.parts.shape[1]), dtype=np.uint64)
    if not name:
        return Slots(partition.members("all")[None, :], none, False)
    child = partition.children[name]
    pairs = child.alike(form.alike) if form.alike else none
    return Slots(np.ascontiguousarray(child.rows), pairs, child.table.keep == "last")


def fold(slots: Slots, vectors: Words, conjunctions: Conjunctions, form: Form) -> Words:
    """People for whom what a form says of each conjunction holds: shape (n_conjunctions, n_words).

    Parameters
    ----------
    vectors : array of shape (n_atoms, n_slots, n_words)
        Rows that satisfy each atom.
    conjunctions : Conjunctions
        Each of n atoms stands, of all with n - 1, behind its own beginning.
    """
    words = slots.rows.shape[1]
    folded = np.zeros((len(conjunctions.sizes), words), dtype=np.uint64)
    if form.then:
        work = partial(_fold_then, slots.rows, vectors, *conjunctions, slots.backward, folded)
    else:
        own = slots.rows, vectors, conjunctions.members, conjunctions.sizes
        if form.alike:
            work = partial(_fold_alike, *own, slots.pairs, folded)
        elif form.row:
            work = partial(_fold_first, *own, folded)
        else:
            work = partial(_fold, *own, form.least, folded)
    in_pieces(words, _BLOCK, work)
    return folded


def fold_work(factors: Factors) -> int:
    """Slots that folding all factors visits, in a word."""
    work = 0
    for number, slots in enumerate(factors.slots):
        for which, form in enumerate(factors.forms):
            own = int(((factors.table == number) & (factors.form == which)).sum())
            each = slots * (slots - 1) // 2 if form.alike else slots * (2 if form.then or form.row else form.least)
            work += own * (slots + each if form.alike else each)
    return work


def in_pieces(total: int, piece: int, work: Callable[[int, int], None]) -> None:
    """Do ``work(first, last)`` for pieces of a range, on every core."""

    def share(pieces: Ints) -> None:
        for first in (pieces * piece).tolist():
            work(first, min(total, first + piece))

    in_threads(share, -(-total // piece))


@kernel
def _begun(begun: Words, vectors: Words, members: Ints, size: int, f: int, first: int) -> None:
    """Rows of conjunction ``f`` in a block of words, from those of its own beginning."""
    if size == 0:
        return
    slots, width = begun.shape[1], begun.shape[2]
    for s in range(slots):
        for w in range(width):
            begun[size, s, w] = begun[size - 1, s, w] & vectors[members[f, size - 1], s, first + w]


@kernel
def _start(rows: Words, longest: int, first: int, last: int) -> Words:
    """Room for the rows of a conjunction and of its beginnings, the empty one filled in."""
    begun = np.empty((longest + 1, rows.shape[0], last - first), dtype=np.uint64)
    for s in range(rows.shape[0]):
        for w in range(last - first):
            begun[0, s, w] = rows[s, first + w]
    return begun


@kernel
def _fold(
    rows: Words, vectors: Words, members: Ints, sizes: Ints, least: int, folded: Words, first: int, last: int
) -> None:
    """At least so many rows: plane j of a word holds who has more than j of the slots so far."""
    begun = _start(rows, members.shape[1], first, last)
    planes = np.empty((least, last - first), dtype=np.uint64)
    for f in range(members.shape[0]):
        _begun(begun, vectors, members, sizes[f], f, first)
        planes[:] = 0
        for s in range(rows.shape[0]):
            for j in range(least - 1, 0, -1):
                for w in range(last - first):
                    planes[j, w] |= planes[j - 1, w] & begun[sizes[f], s, w]
            for w in range(last - first):
                planes[0, w] |= begun[sizes[f], s, w]
        for w in range(last - first):
            folded[f, first + w] = planes[least - 1, w]


@kernel
def _fold_first(rows: Words, vectors: Words, members: Ints, sizes: Ints, folded: Words, first: int, last: int) -> None:
    """The row in the first slot that is filled."""
    begun = _start(rows, members.shape[1], first, last)
    for f in range(members.shape[0]):
        _begun(begun, vectors, members, sizes[f], f, first)
        for w in range(last - first):
            seen = np.uint64(0)
            held = np.uint64(0)
            for s in range(rows.shape[0]):
                held |= begun[sizes[f], s, w] & ~seen
                seen |= rows[s, first + w]
            folded[f, first + w] = held


@kernel
def _fold_alike(
    rows: Words, vectors: Words, members: Ints, sizes: Ints, pairs: Words, folded: Words, first: int, last: int
) -> None:
    """Two rows that share a value."""
    begun = _start(rows, members.shape[1], first, last)
    for f in range(members.shape[0]):
        _begun(begun, vectors, members, sizes[f], f, first)
        pair = 0
        for s in range(rows.shape[0]):
            for t in range(s + 1, rows.shape[0]):
                for w in range(last - first):
                    both = begun[sizes[f], s, w] & begun[sizes[f], t, w]
                    folded[f, first + w] |= both & pairs[pair, first + w]
                pair += 1


@kernel
def _fold_then(
    rows: Words,
    vectors: Words,
    members: Ints,
    sizes: Ints,
    later: Ints,
    later_sizes: Ints,
    backward: bool,
    folded: Words,
    first: int,
    last: int,
) -> None:
    """A row, and a later one of another conjunction."""
    slots = rows.shape[0]
    for f in range(members.shape[0]):
        for w in range(first, last):
            before = np.uint64(0)
            held = np.uint64(0)
            for place in range(slots):
                s = slots - 1 - place if backward else place
                one, other = rows[s, w], rows[s, w]
                for i in range(sizes[f]):
                    one &= vectors[members[f, i], s, w]
                for i in range(later_sizes[f]):
                    other &= vectors[later[f, i], s, w]
                held |= other & before
                before |= one
            folded[f, w] = held
