"""The lattice: every clause within public limits, each written once.

A clause is a conjunction of factors: at most one about the person, and one for each child
variable. A variable's atoms are about one row, so a factor is counted by itself, and a clause
as the meeting of its factors. Of clauses that say the same by what their conditions contain, the
shortest is kept: two variables of one table, one of which asks nothing that the other does not,
are one.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement, product

import numpy as np

from dpcore.arrays import Flags, Ints, Ints32, Words
from dpcore.compiled import kernel
from dpcore.data.packing import pack_rows, word_count
from dpcore.domain.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.ilp.language.atoms import Atom, chosen_atoms
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.factors import Cells, Factors, Limits, Table, build_factors
from dpcore.models.ilp.language.forms import Quantifier, forms_of
from dpcore.models.ilp.language.parameters import ILPParameters

#: Most clauses of a lattice.
MOST_CLAUSES = 3_000_000
#: Atoms of a language.
MOST_ATOMS = 2_000
#: A bit for each thing that may be said of rows beyond that one exists.
_BITS: dict[Quantifier, int] = {"exists": 0, "counts": 1, "order": 2, "alike": 4}
_STRATA = 8


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
    strata : int array of shape (n_clauses,)
        A number for each length with each set of what is said of rows. Those that only say that
        rows exist are multiples of 8.
    """

    atoms: tuple[Atom, ...]
    factors: Factors
    clauses: Ints32
    lengths: Ints
    strata: Ints

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
        form = self.factors.forms[self.factors.form[factor]]
        return Variable(
            table=self.factors.tables[self.factors.table[factor]],
            atoms=self._atoms(factor),
            negated=bool(self.factors.negated[factor]),
            least=form.least,
            row=form.row,
            alike=form.alike,
            later=self._atoms(int(self.factors.later[factor])),
        )


def build_lattice(schema: Schema, target: str, parameters: ILPParameters) -> Lattice:
    """The lattice of a request; the last few are remembered.

    Raises
    ------
    RequestError
        If a literal is unknown, or there are too many clauses.
    """
    return _lattice(*language_of(schema, target, parameters, parameters.quantifiers or ()))


def language_of(
    schema: Schema, target: str, parameters: ILPParameters, quantifiers: Collection[Quantifier]
) -> tuple[tuple[Atom, ...], tuple[Table, ...], Limits]:
    """Atoms, tables with what may be said of their rows, and limits of clauses.

    Raises
    ------
    RequestError
        If a literal is unknown, or there are too many.
    """
    atoms = chosen_atoms(schema, target, parameters.literals, reserved=parameters.reserved_literals)
    if len(atoms) > MOST_ATOMS:
        raise RequestError(
            f"There are {len(atoms):,} conditions, and at most {MOST_ATOMS:,} can be joined: choose some of them."
        )
    tables = [Table("", 1)]
    for child in schema.children:
        columns = {atom.column for atom in atoms if atom.table == child.name}
        forms = forms_of(child, quantifiers, parameters.most_counted, columns)
        tables.append(Table(child.name, child.max_rows_per_person, forms))
    return atoms, tuple(tables), Limits(parameters.max_literals, parameters.max_variables, parameters.negation)


@lru_cache(maxsize=4)
def _lattice(atoms: tuple[Atom, ...], tables: tuple[Table, ...], limits: Limits) -> Lattice:
    cells = Cells(atoms)
    factors = build_factors(atoms, cells, tables, limits)
    _check_size(factors, limits)
    chosen = _variable_sets(factors, _Implications(cells, factors), limits.literals, limits.variables)
    clauses = _with_people(factors, chosen, limits.literals)
    lengths = _total(factors.lengths, clauses)
    return Lattice(atoms, factors, clauses, lengths, _STRATA * lengths + _said(factors, clauses))


def _said(factors: Factors, clauses: Ints32) -> Ints:
    """What each clause says of rows, as bits."""
    bits = np.array([_BITS[form.quantifier] for form in factors.forms])[factors.form]
    said = np.zeros(len(clauses), dtype=np.int64)
    for column in clauses.T:
        said |= bits[column]
    return said


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


class _Implications:
    """Which factors of one table follow from which, by the cells of their atoms."""

    def __init__(self, cells: Cells, factors: Factors) -> None:
        self._factors = factors
        atoms = len(cells.cells)
        implied = np.eye(atoms, dtype=np.bool_)
        for alike in cells.alike.values():
            for one, other in product(alike, alike):
                implied[one, other] = cells.cells[one] <= cells.cells[other]
        forms = factors.forms
        self._implied = np.array([[one.implies(other) for other in forms] for one in forms], dtype=np.bool_)
        self._two = np.array([form.least == 2 for form in forms], dtype=np.bool_)
        self._then = np.array([form.then for form in forms], dtype=np.bool_)
        self._row = np.array([bool(form.row) for form in forms], dtype=np.bool_)
        self._settled = self._alike(cells)
        words = word_count(atoms)
        self._own = np.zeros((len(factors), words), dtype=np.uint64)
        self._closure = np.zeros((len(factors), words), dtype=np.uint64)
        bits = pack_rows(np.eye(atoms, dtype=np.bool_))
        closures = pack_rows(implied)
        for place in range(factors.members.shape[1]):
            held = np.flatnonzero(factors.sizes > place)
            self._own[held] |= bits[factors.members[held, place]]
            self._closure[held] |= closures[factors.members[held, place]]

    def _alike(self, cells: Cells) -> Flags:
        """Whether the rows that a factor asks for must share what a form asks for: by form and factor."""
        factors = self._factors
        settled = np.zeros((len(factors.forms), len(factors)), dtype=np.bool_)
        least = np.array([2 if form.alike else form.least for form in factors.forms])[factors.form]
        for which, form in enumerate(factors.forms):
            for factor in np.flatnonzero(least > 1) if form.alike else ():
                members = factors.members[factor, : factors.sizes[factor]].tolist()
                settled[which, factor] = cells.must_share(members, form.alike, int(least[factor]))
        return settled

    def _within(self, other: Ints | Ints32, one: Ints | Ints32) -> Flags:
        """Whether the atoms of each ``other`` follow from those of ``one``."""
        result = np.empty(len(one), dtype=np.bool_)
        _are_within(self._own, self._closure, other.astype(np.int32), one.astype(np.int32), result)
        return result

    def _follows(self, one: Ints32, other: Ints32) -> Flags:
        """Whether each ``other`` holds wherever ``one`` does, both taken as not negated."""
        form, later = self._factors.form, self._factors.later
        first = self._within(other, one)
        result = (self._implied[form[one], form[other]] | self._settled[form[other], one]) & first
        pairs = np.flatnonzero(self._then[form[one]])
        if len(pairs):
            first, one, other = first[pairs], one[pairs], other[pairs]
            second, asked = self._within(other, later[one]), form[other]
            ordered = self._then[asked] & first & self._within(later[other], later[one])
            result[pairs] = ((asked == 0) & (first | second)) | (self._two[asked] & first & second) | ordered
        return result

    def apart(self, one: Ints32, other: Ints32) -> Flags:
        """Whether two variables may stand in one clause: neither superfluous nor contradictory."""
        factors = self._factors
        result = np.ones(len(one), dtype=np.bool_)
        alike = np.flatnonzero(factors.table[one] == factors.table[other])
        one, other = one[alike], other[alike]
        forward, backward = self._follows(one, other), self._follows(other, one)
        first, second = factors.negated[one], factors.negated[other]
        # What two variables say of the same last row is said by one.
        same = self._row[factors.form[one]] & self._row[factors.form[other]] & ~first & ~second
        told = np.where(first == second, forward | backward, np.where(first, backward, forward))
        result[alike] = ~(told | same)
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


def most_by_length(factors: Factors, limits: Limits) -> list[int]:
    """At most so many clauses of each length: a bound that needs no list of them."""
    longest, lengths = limits.literals, factors.lengths
    people = np.bincount(lengths[factors.table == 0], minlength=longest + 1)
    rows = np.bincount(lengths[factors.table > 0], minlength=longest + 1)
    bounds = [0] * (longest + 1)
    for count in range(limits.variables + 1):
        for sizes in combinations_with_replacement(range(1, longest + 1), count):
            ways = 1
            for size in set(sizes):
                number = sizes.count(size)
                for step in range(number):
                    ways = ways * (int(rows[size]) + step) // (step + 1)
            for own in range(longest - sum(sizes) + 1):
                bounds[sum(sizes) + own] += ways * int(people[own])
    return bounds


def _check_size(factors: Factors, limits: Limits) -> None:
    """Refuse a lattice that may be too large."""
    bound = sum(most_by_length(factors, limits))
    if bound > MOST_CLAUSES:
        less = " or less that may be said of rows" if len(factors.forms) > 1 else ""
        raise RequestError(
            f"There would be up to {bound:,} clauses or more, and at most {MOST_CLAUSES:,} can be "
            f"compared: choose fewer conditions, a shorter clause, fewer rows that it refers to{less}."
        )
