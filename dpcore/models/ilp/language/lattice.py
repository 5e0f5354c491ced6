"""The lattice: every clause within public limits, each written once.

A clause is a conjunction of factors: at most one about the person, and one for each child
variable. A variable's atoms are about one row, so a factor is counted by itself, and a clause
as the meeting of its factors. Of clauses that say the same by what their conditions contain, the
shortest is kept: two variables of one table, one of which asks nothing that the other does not,
are one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement, product

import numpy as np

from dpcore.arrays import Flags, Ints, Ints32, Words
from dpcore.compiled import kernel
from dpcore.data.bits import pack_rows, word_count
from dpcore.domain.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.ilp.language.atoms import Atom, chosen_atoms
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.parameters import ILPParameters

#: Most clauses of a lattice, and most conjunctions about one row.
MOST_CLAUSES = 3_000_000
MOST_FACTORS = 300_000
#: Atoms of a language, and of a negated variable.
MOST_ATOMS = 2_000
_MOST_NEGATED = 1


@dataclass(frozen=True)
class Factors:
    """Conjunctions about one row. Number 0 is empty: it holds for everybody.

    Attributes
    ----------
    tables : tuple of str
        Tables by their number; the main one, "", is number 0.
    slots : tuple of int
        Most rows of each about one person.
    table : int array of shape (n_factors,)
    members : int array of shape (n_factors, longest)
        Positions of the atoms in the lattice's; -1 beyond the end.
    sizes : int array of shape (n_factors,)
        Number of atoms: 0 for a row that need only exist.
    negated : bool array of shape (n_factors,)
    """

    tables: tuple[str, ...]
    slots: tuple[int, ...]
    table: Ints
    members: Ints
    sizes: Ints
    negated: Flags

    def __len__(self) -> int:
        return len(self.table)

    @property
    def lengths(self) -> Ints:
        """Conditions of each factor, as a clause's length counts them."""
        lengths = np.maximum(self.sizes, (self.table > 0).astype(np.int64))
        return np.asarray(lengths)


@dataclass(frozen=True, eq=False)
class Lattice:
    """Clauses over some atoms.

    Attributes
    ----------
    atoms : tuple of Atom
    factors : Factors
    clauses : int32 array of shape (n_clauses, 1 + max_variables)
        Factors of each clause: the person's, then the variables', 0 where there is none; in
        lexicographic order. The empty clause is the first.
    lengths : int array of shape (n_clauses,)
    """

    atoms: tuple[Atom, ...]
    factors: Factors
    clauses: Ints32
    lengths: Ints

    def __len__(self) -> int:
        return len(self.clauses)

    def clause(self, position: int) -> Clause:
        """One clause in its own form."""
        person, *variables = (int(factor) for factor in self.clauses[position])
        return Clause(
            atoms=self._atoms(person),
            variables=tuple(self._variable(factor) for factor in variables if factor),
        )

    def _atoms(self, factor: int) -> tuple[Atom, ...]:
        members = self.factors.members[factor, : self.factors.sizes[factor]]
        return tuple(self.atoms[member] for member in members)

    def _variable(self, factor: int) -> Variable:
        return Variable(
            table=self.factors.tables[self.factors.table[factor]],
            atoms=self._atoms(factor),
            negated=bool(self.factors.negated[factor]),
        )


def build_lattice(schema: Schema, target: str, parameters: ILPParameters) -> Lattice:
    """The lattice of a request; the last few are remembered.

    Raises
    ------
    RequestError
        If a literal is unknown, or there are too many clauses.
    """
    atoms = chosen_atoms(schema, target, parameters.literals, reserved=parameters.reserved_literals)
    if len(atoms) > MOST_ATOMS:
        raise RequestError(
            f"There are {len(atoms):,} conditions, and at most {MOST_ATOMS:,} can be joined: choose some of them."
        )
    tables = {"": 1, **{child.name: child.max_rows_per_person for child in schema.children}}
    limits = parameters.max_literals, parameters.max_variables
    return _lattice(atoms, tuple(tables.items()), *limits, parameters.negation)


@lru_cache(maxsize=4)
def _lattice(
    atoms: tuple[Atom, ...],
    tables: tuple[tuple[str, int], ...],
    max_literals: int,
    max_variables: int,
    negation: bool,
) -> Lattice:
    cells = _Cells(atoms)
    factors = _factors(atoms, cells, tables, max_literals, max_variables, negation=negation)
    _check_size(factors, max_literals, max_variables)
    chosen = _variable_sets(factors, _Implications(cells, factors), max_literals, max_variables)
    clauses = _with_people(factors, chosen, max_literals)
    return Lattice(atoms, factors, clauses, _total(factors.lengths, clauses))


def _with_people(factors: Factors, chosen: Ints32, longest: int) -> Ints32:
    """Each set of variables with each factor about the person that leaves it short enough.

    Lexicographic, as the sets are.
    """
    lengths = _total(factors.lengths, chosen)
    fitting = [np.flatnonzero(lengths <= left) for left in range(longest + 1)]
    people = np.flatnonzero(factors.table == 0)
    sets = [fitting[left] for left in (longest - factors.lengths[people]).tolist()]
    clauses = np.empty((sum(map(len, sets)), 1 + chosen.shape[1]), dtype=np.int32)
    clauses[:, 0] = np.repeat(people, [len(own) for own in sets])
    clauses[:, 1:] = chosen[np.concatenate(sets)]
    return clauses


def _total(lengths: Ints, rows: Ints32) -> Ints:
    """Conditions of each row of factors."""
    total = np.zeros(len(rows), dtype=np.int64)
    for column in rows.T:
        total += lengths[column]
    return total


def _factors(
    atoms: tuple[Atom, ...],
    cells: _Cells,
    tables: tuple[tuple[str, int], ...],
    longest: int,
    variables: int,
    *,
    negation: bool,
) -> Factors:
    table, negated = [0], [False]
    members: list[tuple[int, ...]] = [()]
    for number, (name, _) in enumerate(tables):
        own = [place for place, atom in enumerate(atoms) if atom.table == name and atom.column]
        exists = any(atom.exists and atom.table == name for atom in atoms)
        if number and not variables:
            continue
        anything: list[tuple[int, ...]] = [()] if number and exists else []
        found = anything + _conjunctions(own, cells, longest)
        few = [item for item in found if len(item) <= _MOST_NEGATED] if negation and number else []
        members += found + few
        negated += [False] * len(found) + [True] * len(few)
        table += [number] * (len(found) + len(few))
    padded = np.full((len(members), longest), -1, dtype=np.int64)
    for place, item in enumerate(members):
        padded[place, : len(item)] = item
    names, slots = zip(*tables, strict=True)
    return Factors(
        names,
        slots,
        np.array(table),
        padded,
        np.array([len(item) for item in members]),
        np.array(negated, dtype=np.bool_),
    )


class _Cells:
    """Which cells of its column each atom asks for, and what two atoms of one column leave."""

    def __init__(self, atoms: Sequence[Atom]) -> None:
        self.columns = [(atom.table, atom.column) for atom in atoms]
        self.cells = [frozenset(atom.cells) for atom in atoms]
        self.alone = set(zip(self.columns, self.cells, strict=True))
        self.alike: dict[tuple[str, str], list[int]] = {}
        for place, column in enumerate(self.columns):
            self.alike.setdefault(column, []).append(place)

    def joined(self, allowed: frozenset[int] | None, atom: int) -> frozenset[int] | None:
        """Cells that are left of those ``allowed``; ``None`` if a shorter conjunction says so."""
        own = self.cells[atom]
        if allowed is None:
            return own
        left = allowed & own
        told = not left or left in (allowed, own) or (self.columns[atom], left) in self.alone
        return None if told else left


def _conjunctions(own: Sequence[int], cells: _Cells, longest: int) -> list[tuple[int, ...]]:
    """Sets of atoms that one row may satisfy, each after its own beginnings: a walk in depth.

    Of the sets that mean the same, the shortest is kept.
    """
    found: list[tuple[int, ...]] = []

    def extend(begun: tuple[int, ...], allowed: dict[tuple[str, str], frozenset[int]], start: int) -> None:
        for place in range(start, len(own)):
            atom = own[place]
            column = cells.columns[atom]
            left = cells.joined(allowed.get(column), atom)
            if left is None:
                continue
            found.append((*begun, atom))
            if len(found) > MOST_FACTORS:
                raise RequestError(
                    "There are too many ways to join these conditions: choose fewer of them, or a shorter clause."
                )
            if len(begun) + 1 < longest:
                extend((*begun, atom), allowed | {column: left}, place + 1)

    extend((), {}, 0)
    return found


class _Implications:
    """Which factors of one table follow from which, by the cells of their atoms."""

    def __init__(self, cells: _Cells, factors: Factors) -> None:
        self._factors = factors
        atoms = len(cells.cells)
        implied = np.eye(atoms, dtype=np.bool_)
        for alike in cells.alike.values():
            for one, other in product(alike, alike):
                implied[one, other] = cells.cells[one] <= cells.cells[other]
        words = word_count(atoms)
        self._own = np.zeros((len(factors), words), dtype=np.uint64)
        self._closure = np.zeros((len(factors), words), dtype=np.uint64)
        bits = pack_rows(np.eye(atoms, dtype=np.bool_))
        closures = pack_rows(implied)
        for place in range(factors.members.shape[1]):
            held = np.flatnonzero(factors.sizes > place)
            self._own[held] |= bits[factors.members[held, place]]
            self._closure[held] |= closures[factors.members[held, place]]

    def _follows(self, one: Ints32, other: Ints32) -> Flags:
        """Whether each ``other`` holds wherever ``one`` does, both taken as not negated."""
        result = np.empty(len(one), dtype=np.bool_)
        _are_within(self._own, self._closure, other, one, result)
        return result

    def apart(self, one: Ints32, other: Ints32) -> Flags:
        """Whether two variables may stand in one clause: neither superfluous nor contradictory."""
        factors = self._factors
        result = np.ones(len(one), dtype=np.bool_)
        alike = np.flatnonzero(factors.table[one] == factors.table[other])
        one, other = one[alike], other[alike]
        forward, backward = self._follows(one, other), self._follows(other, one)
        first, second = factors.negated[one], factors.negated[other]
        result[alike] = ~np.where(first == second, forward | backward, np.where(first, backward, forward))
        return result


@kernel
def _are_within(sets: Words, wider: Words, one: Ints32, other: Ints32, result: Flags) -> None:
    """Whether each of some ``sets``, by its position, is within another one of ``wider``."""
    for pair in range(len(result)):
        word = 0
        while word < sets.shape[1] and sets[one[pair], word] & ~wider[other[pair], word] == 0:
            word += 1
        result[pair] = word == sets.shape[1]


def _variable_sets(factors: Factors, implications: _Implications, longest: int, variables: int) -> Ints32:
    """Sets of variables within the limits: shape (n_sets, variables), 0 where there is none.

    In lexicographic order.
    """
    level = np.zeros((1, 0), dtype=np.int32)
    levels = [np.zeros((1, variables), dtype=np.int32)]
    for count in range(1, variables + 1):
        level = _extended(level, factors, implications, longest)
        levels.append(np.pad(level, ((0, 0), (0, variables - count))))
    sets = np.concatenate(levels)
    return sets[np.lexsort(sets.T[::-1])] if variables else sets


def _extended(begun: Ints32, factors: Factors, implications: _Implications, longest: int) -> Ints32:
    """Each set with one more variable behind its last, of those that leave it short enough."""
    left = longest - _total(factors.lengths, begun)
    last = begun[:, -1] if begun.shape[1] else np.zeros(len(begun), dtype=np.int32)
    found = []
    for most in range(1, longest + 1):
        short = np.flatnonzero((factors.table > 0) & (factors.lengths <= most)).astype(np.int32)
        own = np.flatnonzero(left == most)
        first = np.searchsorted(short, last[own], side="right")
        ways = len(short) - first
        which = np.repeat(own, ways)
        added = short[np.arange(len(which)) - np.repeat(np.cumsum(ways) - ways - first, ways)]
        apart = np.ones(len(which), dtype=np.bool_)
        for column in begun.T:
            apart &= implications.apart(column[which], added)
        found.append(np.concatenate([begun[which[apart]], added[apart, None]], axis=1))
    return np.concatenate(found)


def _check_size(factors: Factors, longest: int, variables: int) -> None:
    """Refuse a lattice that may be too large, by a bound that needs no list of clauses."""
    lengths = factors.lengths
    people = np.bincount(lengths[factors.table == 0], minlength=longest + 1)
    rows = np.bincount(lengths[factors.table > 0], minlength=longest + 1)
    bound = 0
    for count in range(variables + 1):
        for sizes in combinations_with_replacement(range(1, longest + 1), count):
            if sum(sizes) > longest:
                continue
            ways = 1
            for size in set(sizes):
                number = sizes.count(size)
                for step in range(number):
                    ways = ways * (int(rows[size]) + step) // (step + 1)
            bound += ways * int(people[: longest - sum(sizes) + 1].sum())
    if bound > MOST_CLAUSES:
        raise _too_many(bound)


def _too_many(count: int) -> RequestError:
    return RequestError(
        f"There would be up to {count:,} clauses or more, and at most {MOST_CLAUSES:,} can be "
        "compared: choose fewer conditions, a shorter clause or fewer rows that it refers to."
    )
