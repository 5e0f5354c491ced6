"""How many people each clause of a lattice covers, set at a time on packed bits.

A conjunction about one row is a bit vector per slot of the child table: the AND of its atoms'
vectors, made from that of its own beginning, so with one AND each. Folding ORs the slots into a
bit vector over people. A clause is the AND of its factors, and shares what it has in common with
the clause before it. Every word of every vector is visited, whatever the bits are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from dpcore.arrays import Ints, Ints32, Words
from dpcore.compiled import kernel
from dpcore.cores import in_threads
from dpcore.data.bits import count_both, word_count
from dpcore.data.partition import Partition
from dpcore.domain.schema import Part, Schema
from dpcore.errors import RequestError
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause
from dpcore.models.ilp.language.lattice import Factors, Lattice, build_lattice
from dpcore.models.ilp.language.parameters import ILPSettings

#: Bytes that the bit vectors of a run may take.
MEMORY_LIMIT = 3 * 2**30
#: Words that a run may visit: some tens of minutes.
WORK_LIMIT = 10**12
#: Words, and clauses, that a core takes at a time.
_BLOCK = 32
_CHUNK = 512


def covered(partition: Partition, target: str, part: Part, parameters: ILPSettings, chosen: Sequence[int]) -> Ints:
    """Negatives and positives that each clause of a lattice covers: shape (n_clauses, 2).

    People whom a clause covers that was ``chosen`` before, by its position, count as neither.
    """
    lattice = build_lattice(partition.schema, target, parameters)
    folded = partition.kept(("factors", target, parameters), lambda: fold_factors(partition, lattice))
    classes = partition.class_members(target, part)
    positive = partition.schema.column(target).classes.index(parameters.positive)
    sides = np.stack([np.bitwise_or.reduce(np.delete(classes, positive, axis=0), axis=0), classes[positive]])
    for place in chosen:
        sides &= ~np.bitwise_and.reduce(folded[lattice.clauses[place]], axis=0)
    return count_clauses(lattice, folded, sides)


def clause_vectors(partition: Partition, clauses: Sequence[Clause]) -> Words:
    """Bit vector of the people whom each clause covers: shape (n_clauses, n_words)."""
    return np.stack([clause_vector(partition, clause) for clause in clauses])


def atom_vectors(partition: Partition, name: str, atoms: Sequence[Atom]) -> Words:
    """Bit vectors of atoms of one table: shape (n_atoms, n_slots, n_words); one slot for ""."""
    slots = len(partition.children[name].rows) if name else 1
    vectors = np.empty((len(atoms), slots, partition.parts.shape[1]), dtype=np.uint64)
    for place, atom in enumerate(atoms):
        vectors[place] = (
            partition.children[name].rows_in(atom.column, atom.cells) if name else _person_vector(partition, atom)
        )
    return vectors


def _person_vector(partition: Partition, atom: Atom) -> Words:
    cells = [partition.cell(atom.column, cell) for cell in atom.cells]
    return np.asarray(np.bitwise_or.reduce(cells, axis=0))[None, :]


def clause_vector(partition: Partition, clause: Clause) -> Words:
    """Bit vector of the people whom a clause covers: shape (n_words,)."""
    covered = partition.members("all")
    for atom in clause.atoms:
        covered = covered & _person_vector(partition, atom)[0]
    for variable in clause.variables:
        rows = partition.children[variable.table].rows
        for atom in variable.atoms:
            rows = rows & partition.children[variable.table].rows_in(atom.column, atom.cells)
        exists = np.bitwise_or.reduce(rows, axis=0)
        covered = covered & (~exists if variable.negated else exists)
    return covered


def fold_factors(partition: Partition, lattice: Lattice) -> Words:
    """Bit vector over people of each factor: shape (n_factors, n_words).

    A negated factor holds where no row satisfies its atoms. Factor 0 holds for all people.
    """
    factors, words = lattice.factors, partition.parts.shape[1]
    folded = np.zeros((len(factors), words), dtype=np.uint64)
    everybody = partition.members("all")
    for number, name in enumerate(factors.tables):
        chosen = np.flatnonzero(factors.table == number)
        if not len(chosen):
            continue
        own = [place for place, atom in enumerate(lattice.atoms) if _is_of(atom, name)]
        vectors = atom_vectors(partition, name, [lattice.atoms[place] for place in own])
        rows = partition.children[name].rows if name else everybody[None, :]
        position = np.full(len(lattice.atoms) + 1, -1, dtype=np.int64)
        position[own] = np.arange(len(own))
        members = position[factors.members[chosen]]
        results = np.zeros((len(chosen), words), dtype=np.uint64)
        given = np.ascontiguousarray(rows), vectors, members, factors.sizes[chosen], results
        _in_parallel(words, _BLOCK, partial(_fold, *given))
        folded[chosen] = results
    folded[factors.negated] = ~folded[factors.negated] & everybody
    return folded


def _is_of(atom: Atom, name: str) -> bool:
    return atom.table == name and not atom.exists


def count_clauses(lattice: Lattice, folded: Words, classes: Words) -> Ints:
    """People of each class whom each clause covers: shape (n_clauses, n_classes).

    Parameters
    ----------
    classes : array of shape (n_classes, n_words)
        Bit vectors of disjoint groups of people.
    """
    counts = np.zeros((len(lattice), len(classes)), dtype=np.int64)
    given = lattice.clauses, folded, np.ascontiguousarray(classes), counts
    _in_parallel(len(lattice), _CHUNK, partial(_count, *given))
    return counts


def _in_parallel(total: int, piece: int, work: Callable[[int, int], None]) -> None:
    """Do ``work(first, last)`` for pieces of a range, on every core."""

    def share(pieces: Ints) -> None:
        for first in (pieces * piece).tolist():
            work(first, min(total, first + piece))

    in_threads(share, -(-total // piece))


@kernel
def _fold(
    rows: Words,
    vectors: Words,
    members: Ints,
    sizes: Ints,
    folded: Words,
    first: int,
    last: int,
) -> None:
    """Words ``first`` to ``last`` of each conjunction, from those of its own beginning.

    Each conjunction of n atoms stands, of all with n - 1, behind its own beginning.
    """
    slots, width = rows.shape[0], last - first
    begun = np.empty((members.shape[1] + 1, slots, width), dtype=np.uint64)
    for s in range(slots):
        for w in range(width):
            begun[0, s, w] = rows[s, first + w]
    for f in range(members.shape[0]):
        size = sizes[f]
        for s in range(slots):
            for w in range(width):
                value = begun[size, s, w]
                if size > 0:
                    value = begun[size - 1, s, w] & vectors[members[f, size - 1], s, first + w]
                    begun[size, s, w] = value
                folded[f, first + w] |= value


@kernel
def _count(
    clauses: Ints32,
    folded: Words,
    classes: Words,
    counts: Ints,
    first: int,
    last: int,
) -> None:
    """Clauses ``first`` to ``last``, each from what it shares with the one before it."""
    places, words = clauses.shape[1], folded.shape[1]
    begun = np.empty((places, words), dtype=np.uint64)
    for c in range(first, last):
        shared = 0
        if c > first:
            while shared < places - 1 and clauses[c, shared] == clauses[c - 1, shared]:
                shared += 1
        for p in range(shared, places):
            factor = clauses[c, p]
            if p == 0:
                for w in range(words):
                    begun[0, w] = folded[factor, w]
            elif factor == 0:
                for w in range(words):
                    begun[p, w] = begun[p - 1, w]
            else:
                for w in range(words):
                    begun[p, w] = begun[p - 1, w] & folded[factor, w]
        for k in range(classes.shape[0]):
            counts[c, k] = count_both(begun[places - 1], classes[k])


def check_effort(schema: Schema, atoms: Sequence[Atom], factors: Factors, clauses: int) -> None:
    """Refuse, from public inputs, what could not be finished: it would cost its budget.

    Raises
    ------
    RequestError
        If a run would need too much memory or take hours.
    """
    words = word_count(schema.max_rows)
    slots = {"": 1, **{child.name: child.max_rows_per_person for child in schema.children}}
    sizes = np.bincount(factors.table, minlength=len(factors.tables)).tolist()
    used = [name for name, size in zip(factors.tables, sizes, strict=True) if size]
    asked = {name: slots[name] * sum(_is_of(atom, name) for atom in atoms) for name in used}
    # Vectors of atoms, twice those of people, and the cells of one column while it is read.
    memory = 8 * words * (max(asked.values()) + 2 * len(factors))
    memory += 2 * schema.max_rows * max(slots[name] for name in used)
    rows = sum(slots[name] * size for name, size in zip(factors.tables, sizes, strict=True))
    if memory > MEMORY_LIMIT:
        raise RequestError(
            f"So many conditions on up to {schema.max_rows:,} rows need more memory than a run "
            "may use: choose fewer conditions or a shorter clause."
        )
    if words * (rows + 64 * sum(asked.values()) + 4 * clauses) > WORK_LIMIT:
        raise RequestError(
            f"{clauses:,} clauses on up to {schema.max_rows:,} rows would take hours: choose "
            "fewer conditions or a shorter clause."
        )
