"""The lattice: every clause within public limits, each written once.

A clause is a conjunction of factors: at most one about the person, and one for each child
variable. A variable's atoms are about one row, so a factor is counted by itself, and a clause
as the meeting of its factors. Of clauses that say the same by what their conditions contain, the
shortest is kept: two variables of one table, one of which asks nothing that the other does not,
are one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement, islice

import numpy as np

from dpcore.arrays import Ints, Ints32
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.models.ilp.language.atoms import Atom, chosen_atoms
from dpcore.models.ilp.language.cells import Cells
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.factors import Factors, Implications, Limits, Table, build_factors
from dpcore.models.ilp.language.forms import Quantifier, forms_of, within_atoms
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.language.nested_conditions import NestedCondition, RowAtom

#: Most clauses of a lattice.
MOST_CLAUSES = 3_000_000
#: Atoms of a language.
MOST_ATOMS = 2_000
#: A bit for each thing that may be said of rows beyond that one exists.
_BITS: dict[Quantifier, int] = {"exists": 0, "counts": 1, "order": 2, "alike": 4, "within": 8}
STRATA = 16


@dataclass(frozen=True, eq=False)
class Lattice:
    """Clauses over some atoms."""

    atoms: tuple[RowAtom, ...]
    factors: Factors
    clauses: Ints32
    """Int32 array of shape (n_clauses, 1 + max_variables). Factors of each clause: the person's, then the variables', 0
    where there is none; in lexicographic order. The empty clause is the first."""
    lengths: Ints
    """Shape (n_clauses,)."""
    strata: Ints
    """Shape (n_clauses,). A number for each length with each set of what is said of rows. Those that only say that rows
    exist are multiples of :data:`STRATA`."""

    def __len__(self) -> int:
        return len(self.clauses)

    def clause(self, position: int) -> Clause:
        """One clause in its own form."""
        person, *variables = (int(factor) for factor in self.clauses[position])
        return Clause(
            atoms=tuple(atom for atom in self._atoms(person) if isinstance(atom, Atom)),
            variables=tuple(self._variable(factor) for factor in variables if factor),
        )

    def _atoms(self, factor: int) -> tuple[RowAtom, ...]:
        members = self.factors.members[factor, : self.factors.sizes[factor]]
        return tuple(self.atoms[member] for member in members)

    @property
    def conditions(self) -> tuple[Atom, ...]:
        """Conditions that its clauses use, each on one row of one table."""
        return tuple(atom for atom in self.atoms if isinstance(atom, Atom))

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
) -> tuple[tuple[RowAtom, ...], tuple[Table, ...], Limits]:
    """Atoms, those about rows that belong to rows last, tables with what may be said of them, and limits of clauses.

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
    limits = Limits(parameters.max_literals, parameters.max_variables, parameters.negation)
    within: tuple[NestedCondition, ...] = ()
    if limits.variables:
        found = within_atoms(schema, atoms, quantifiers, parameters.most_counted, limits.literals)
        within = _within_room(found, MOST_ATOMS - len(atoms))
    tables = [Table("", 1)]
    for child in schema.children:
        columns = {atom.column for atom in atoms if atom.table == child.name}
        forms = forms_of(child, quantifiers, parameters.most_counted, columns)
        tables.append(Table(child.name, child.max_rows_per_person, forms, child.parent or ""))
    return (*atoms, *within), tuple(tables), limits


def _within_room(found: Iterator[NestedCondition], most: int) -> tuple[NestedCondition, ...]:
    """Conditions, if there are no more than so many; no further one is made."""
    within = tuple(islice(found, most + 1))
    if len(within) > most:
        raise RequestError(
            f"There are more than {MOST_ATOMS:,} conditions, those on rows that belong to a row included, which is the "
            "most that can be joined: choose some of them."
        )
    return within


@lru_cache(maxsize=4)
def _lattice(atoms: tuple[RowAtom, ...], tables: tuple[Table, ...], limits: Limits) -> Lattice:
    cells = Cells(atoms)
    factors = build_factors(atoms, cells, tables, limits)
    _check_size(factors, limits)
    chosen = _variable_sets(factors, Implications(atoms, cells, factors), limits.literals, limits.variables)
    clauses = _with_people(factors, chosen, limits.literals)
    lengths = _total(factors.lengths, clauses)
    return Lattice(atoms, factors, clauses, lengths, STRATA * lengths + _said(atoms, factors, clauses))


def _said(atoms: Sequence[RowAtom], factors: Factors, clauses: Ints32) -> Ints:
    """What each clause says of rows, as bits."""
    nested = np.array([*(_nested_bits(atom) for atom in atoms), 0])
    asked = np.bitwise_or.reduce(nested[factors.members], axis=1)
    bits = np.array([_BITS[form.quantifier] for form in factors.forms])[factors.form]
    bits = bits | asked | asked[factors.later]
    said = np.zeros(len(clauses), dtype=np.int64)
    for column in clauses.T:
        said |= bits[column]
    return said


def _nested_bits(atom: RowAtom) -> int:
    if not isinstance(atom, NestedCondition):
        return 0
    return _BITS["within"] | (_BITS["counts"] if atom.least > 1 else 0)


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


def _variable_sets(factors: Factors, implications: Implications, longest: int, variables: int) -> Ints32:
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


def _extended(begun: Ints32, factors: Factors, implications: Implications, longest: int) -> Ints32:
    """Each set with one more variable behind its last, of those that leave it short enough."""
    left = longest - _total(factors.lengths, begun)
    last = begun[:, -1] if begun.shape[1] else np.zeros(len(begun), dtype=np.int32)
    found = []
    for most in range(1, longest + 1):
        short = np.flatnonzero((factors.table > 0) & (factors.told == 0) & (factors.lengths <= most)).astype(np.int32)
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
    rows = np.bincount(lengths[(factors.table > 0) & (factors.told == 0)], minlength=longest + 1)
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
