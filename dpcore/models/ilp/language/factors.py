"""Conjunctions about one row, and what may be said of all rows of a person by each: from the schema alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpcore.arrays import Flags, Ints
from dpcore.errors import RequestError
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.forms import EXISTS, Form

#: Most conjunctions about one row, with what is said of all rows.
MOST_FACTORS = 300_000
#: Atoms of a negated variable.
_MOST_NEGATED = 1


class Limits(NamedTuple):
    """How long a clause may be, and what it may refer to."""

    literals: int
    variables: int
    negation: bool = False


class Table(NamedTuple):
    """A table of the language: its name, most rows about one person, and what may be said of them."""

    name: str
    slots: int
    forms: tuple[Form, ...] = ()


@dataclass(frozen=True)
class Factors:
    """Conjunctions about one row, each with its form. Number 0 is empty: it holds for everybody.

    Attributes
    ----------
    tables : tuple of str
        Tables by their number; the main one, "", is number 0.
    slots : tuple of int
        Most rows of each about one person.
    forms : tuple of Form
        The first one says that a row exists.
    table : int array of shape (n_factors,)
    members : int array of shape (n_factors, longest)
        Positions of the atoms in the lattice's; -1 beyond the end.
    sizes : int array of shape (n_factors,)
        Number of atoms: 0 for a row that need only exist.
    negated : bool array of shape (n_factors,)
    form : int array of shape (n_factors,)
        Number of each form.
    later : int array of shape (n_factors,)
        The factor that a later row must satisfy; 0 if none must.
    """

    tables: tuple[str, ...]
    slots: tuple[int, ...]
    forms: tuple[Form, ...]
    table: Ints
    members: Ints
    sizes: Ints
    negated: Flags
    form: Ints
    later: Ints

    def __len__(self) -> int:
        return len(self.table)

    @property
    def lengths(self) -> Ints:
        """Conditions of each factor, as a clause's length counts them."""
        exist = np.maximum(self.sizes, (self.table > 0).astype(np.int64))
        return np.asarray(np.where(self.form == 0, exist, self.sizes + self.sizes[self.later] + 1))


class _Entry(NamedTuple):
    """A factor before it is an array's row."""

    table: int
    members: tuple[int, ...] = ()
    negated: bool = False
    form: int = 0
    later: int = 0


def build_factors(atoms: tuple[Atom, ...], cells: Cells, tables: Sequence[Table], limits: Limits) -> Factors:
    """Every factor within the limits.

    Of one table, form and sign, each conjunction stands behind its own beginnings.

    Raises
    ------
    RequestError
        If there are too many.
    """
    forms = tuple(dict.fromkeys([EXISTS, *(form for table in tables for form in table.forms)]))
    entries = [_Entry(0)]
    for number, table in enumerate(tables):
        if number and not limits.variables:
            continue
        own = [place for place, atom in enumerate(atoms) if atom.table == table.name and atom.column]
        exists = any(atom.exists and atom.table == table.name for atom in atoms)
        found = _conjunctions(own, cells, limits.literals)
        anything: list[tuple[int, ...]] = [()] if number and exists else []
        start = len(entries) + len(anything)
        entries += _signed(_Entry(number), anything + found, limits, negated=number > 0)
        for form in table.forms:
            entry = _Entry(number, form=forms.index(form))
            if form.then:
                entries += _followed(entry, found, start, limits.literals)
                continue
            said = [item for item in found if len(item) < limits.literals and not cells.must_share(item, form.alike, 2)]
            entries += _signed(entry, said if form.row else anything + said, limits, negated=True)
        _check(len(entries))
    return _as_arrays(entries, tables, forms, limits.literals)


def _signed(entry: _Entry, found: Sequence[tuple[int, ...]], limits: Limits, *, negated: bool) -> list[_Entry]:
    """A factor of each conjunction, and then those that are negated."""
    few = [item for item in found if len(item) <= _MOST_NEGATED] if limits.negation and negated else []
    return [entry._replace(members=item) for item in found] + [
        entry._replace(members=item, negated=True) for item in few
    ]


def _followed(entry: _Entry, found: Sequence[tuple[int, ...]], start: int, longest: int) -> list[_Entry]:
    """Each pair of different conjunctions, of which a later row satisfies the second one."""
    pairs = [
        entry._replace(members=first, later=start + place)
        for first in found
        if len(first) < longest - 1
        for place, second in enumerate(found)
        if first != second and len(first) + len(second) < longest
    ]
    _check(len(pairs))
    return pairs


def _as_arrays(entries: Sequence[_Entry], tables: Sequence[Table], forms: tuple[Form, ...], longest: int) -> Factors:
    padded = np.full((len(entries), longest), -1, dtype=np.int64)
    for place, entry in enumerate(entries):
        padded[place, : len(entry.members)] = entry.members
    return Factors(
        tuple(table.name for table in tables),
        tuple(table.slots for table in tables),
        forms,
        np.array([entry.table for entry in entries]),
        padded,
        np.array([len(entry.members) for entry in entries]),
        np.array([entry.negated for entry in entries], dtype=np.bool_),
        np.array([entry.form for entry in entries]),
        np.array([entry.later for entry in entries]),
    )


class Cells:
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

    def must_share(self, members: Sequence[int], column: str, rows: int) -> bool:
        """Whether so many rows that satisfy a conjunction cannot all differ in a column.

        Rows that lack a value count as if they shared it: what is left out for that asks for missing values.
        """
        own = [self.cells[member] for member in members if self.columns[member][1] == column]
        return bool(own) and len(frozenset.intersection(*own)) < rows


def _conjunctions(own: Sequence[int], cells: Cells, longest: int) -> list[tuple[int, ...]]:
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
            _check(len(found))
            if len(begun) + 1 < longest:
                extend((*begun, atom), allowed | {column: left}, place + 1)

    extend((), {}, 0)
    return found


def _check(count: int) -> None:
    if count > MOST_FACTORS:
        raise RequestError(
            "There are too many ways to join these conditions: choose fewer of them, a shorter clause, or less "
            "that may be said of rows."
        )
