"""How many people each clause of a lattice covers, set at a time on packed bits.

A conjunction about one row is a bit vector per slot of the child table, folded into one over people:
:mod:`dpcore.models.ilp.learning.folding`. A clause is the AND of its factors, and shares what it has
in common with the clause before it. Every word of every vector is visited, whatever the bits are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from dpcore.arrays import Ints, Ints32, Words
from dpcore.compiled import kernel
from dpcore.data.bits import count_both
from dpcore.data.packing import word_count
from dpcore.data.partition import Partition
from dpcore.domain.schemas.schema import Part, Schema
from dpcore.errors import RequestError
from dpcore.models.ilp.language.clause import Clause
from dpcore.models.ilp.language.factors import Factors
from dpcore.models.ilp.language.ilp_parameters import ILPSettings
from dpcore.models.ilp.language.lattice import Lattice, build_lattice
from dpcore.models.ilp.language.nested_conditions import NestedCondition, RowAtom
from dpcore.models.ilp.learning.folding import Conjunctions, fold, fold_work, in_pieces, slots_of
from dpcore.models.ilp.learning.nesting import nested_slots, nested_work, within_vectors

#: Bytes that the bit vectors of a run may take.
MEMORY_LIMIT = 3 * 2**30
#: Words that a run may visit: some tens of minutes.
WORK_LIMIT = 10**12
#: Clauses that a core takes at a time.
_CHUNK = 512


def covered(partition: Partition, target: str, part: Part, parameters: ILPSettings, chosen: Sequence[int]) -> Ints:
    """Negatives and positives that each clause of a lattice covers: shape (n_clauses, 2).

    People whom a clause covers that was ``chosen`` before, by its position, count as neither.
    """
    lattice = build_lattice(partition.schema, target, parameters)
    folded = partition.cached(("factors", target, parameters), lambda: fold_factors(partition, lattice))
    classes = partition.class_members(target, part)
    positive = partition.schema.column(target).classes.index(parameters.positive)
    sides = np.stack([np.bitwise_or.reduce(np.delete(classes, positive, axis=0), axis=0), classes[positive]])
    for place in chosen:
        sides &= ~np.bitwise_and.reduce(folded[lattice.clauses[place]], axis=0)
    return count_clauses(lattice, folded, sides)


def clause_vectors(partition: Partition, clauses: Sequence[Clause]) -> Words:
    """Bit vector of the people whom each clause covers: shape (n_clauses, n_words)."""
    return np.stack([clause_vector(partition, clause) for clause in clauses])


def atom_vectors(partition: Partition, name: str, atoms: Sequence[RowAtom]) -> Words:
    """Bit vectors of atoms of one table: shape (n_atoms, n_slots, n_words); one slot for ""."""
    slots = len(partition.children[name].rows) if name else 1
    vectors = np.empty((len(atoms), slots, partition.parts.shape[1]), dtype=np.uint64)
    nested = {place: atom for place, atom in enumerate(atoms) if isinstance(atom, NestedCondition)}
    for place, atom in enumerate(atoms):
        if place not in nested:
            vectors[place] = (
                partition.children[name].rows_in(atom.column, atom.cells) if name else _person_vector(partition, atom)
            )
    if nested:
        vectors[list(nested)] = within_vectors(partition, name, list(nested.values()))
    return vectors


def _person_vector(partition: Partition, atom: RowAtom) -> Words:
    return partition.in_cells(atom.column, atom.cells)[None, :]


def clause_vector(partition: Partition, clause: Clause) -> Words:
    """Bit vector of the people whom a clause covers: shape (n_words,)."""
    covered = partition.members("all")
    for atom in clause.atoms:
        covered = covered & _person_vector(partition, atom)[0]
    for variable in clause.variables:
        asked, own = (*variable.atoms, *variable.later), len(variable.atoms)
        sizes = np.arange(own + 1)  # The conjunction behind its own beginnings.
        members = np.tile(np.arange(len(asked)), (own + 1, 1))
        later = np.full(own + 1, len(variable.later))
        conjunctions = Conjunctions(members, sizes, np.roll(members, -own, axis=1), later)
        vectors = atom_vectors(partition, variable.table, asked)
        slots = slots_of(partition, variable.table, variable.form)
        holds = fold(slots, vectors, conjunctions, variable.form)[-1]
        covered = covered & (~holds if variable.negated else holds)
    return covered


def fold_factors(partition: Partition, lattice: Lattice) -> Words:
    """Bit vector over people of each factor: shape (n_factors, n_words).

    A negated factor holds where what it says does not. Factor 0 holds for all people.
    """
    factors, words = lattice.factors, partition.parts.shape[1]
    folded = np.zeros((len(factors), words), dtype=np.uint64)
    everybody = partition.members("all")
    for number, name in enumerate(factors.tables):
        own = [place for place, atom in enumerate(lattice.atoms) if _is_of(atom, name)]
        vectors: Words | None = None
        position = np.full(len(lattice.atoms) + 1, -1, dtype=np.int64)
        position[own] = np.arange(len(own))
        for which, form in enumerate(factors.forms):
            chosen = np.flatnonzero((factors.table == number) & (factors.form == which))
            if not len(chosen):
                continue
            if vectors is None:
                vectors = atom_vectors(partition, name, [lattice.atoms[place] for place in own])
            later = factors.later[chosen]
            conjunctions = Conjunctions(
                position[factors.members[chosen]],
                factors.sizes[chosen],
                position[factors.members[later]],
                factors.sizes[later],
            )
            folded[chosen] = fold(slots_of(partition, name, form), vectors, conjunctions, form)
    folded[factors.negated] = ~folded[factors.negated] & everybody
    return folded


def _is_of(atom: RowAtom, name: str) -> bool:
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
    in_pieces(len(lattice), _CHUNK, partial(_count, *given))
    return counts


@kernel
def _count(clauses: Ints32, folded: Words, classes: Words, counts: Ints, first: int, last: int) -> None:
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


def check_effort(schema: Schema, atoms: Sequence[RowAtom], factors: Factors, clauses: int) -> None:
    """Refuse, from public inputs, what could not be finished: it would cost its budget.

    Raises
    ------
    RequestError
        If a run would need too much memory or take hours.
    """
    words = word_count(schema.max_rows)
    slots = {"": 1, **{child.name: child.max_rows_per_person for child in schema.children}}
    used = [factors.tables[number] for number in np.unique(factors.table)]
    asked = {name: slots[name] * sum(_is_of(atom, name) for atom in atoms) for name in used}
    pairs = [slots[name] * (slots[name] - 1) // 2 for name in used if any(form.alike for form in factors.forms)]
    # Vectors of atoms and of pairs of rows, twice those of people, and the cells of one column while it is read.
    memory = 8 * words * (max(asked.values()) + max(pairs, default=0) + nested_slots(atoms, slots) + 2 * len(factors))
    memory += 2 * schema.max_rows * max(slots[name] for name in used)
    rows = fold_work(factors) + nested_work(atoms, slots)
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
