"""Conjunctions about one row, and what may be said of all rows of a person by each: from the schema alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpcore.arrays import Flags, Ints
from dpcore.models.ilp.language.cells import Cells, check_count, conjunctions
from dpcore.models.ilp.language.forms import EXISTS, Form
from dpcore.models.ilp.language.within import RowAtom, Within

#: Conditions of a negated variable.
_MOST_NEGATED = 1


class Limits(NamedTuple):
    """How long a clause may be, and what it may refer to."""

    literals: int
    variables: int
    negation: bool = False


class Table(NamedTuple):
    """A table of the language.

    Attributes
    ----------
    slots : int
        Most rows about one person.
    forms : tuple of Form
        What may be said of them beyond that one exists.
    parent : str
        Table to whose rows they belong; empty: to the person alone.
    """

    name: str
    slots: int
    forms: tuple[Form, ...] = ()
    parent: str = ""


@dataclass(frozen=True)
class Factors:
    """Conjunctions about one row, each with its form. Number 0 is empty: it holds for everybody.

    Attributes
    ----------
    tables : tuple of str
        Tables by their number; the main one, "", is number 0.
    slots : tuple of int
        Most rows of each about one person.
    parents : tuple of int
        Table to whose rows those of each belong; 0: to the person alone.
    forms : tuple of Form
        The first one says that a row exists.
    table : int array of shape (n_factors,)
    members : int array of shape (n_factors, longest)
        Positions of the atoms in the lattice's; -1 beyond the end.
    sizes : int array of shape (n_factors,)
        Number of atoms: 0 for a row that need only exist.
    asked : int array of shape (n_factors,)
        Number of conditions of these atoms.
    negated : bool array of shape (n_factors,)
    form : int array of shape (n_factors,)
        Number of each form.
    later : int array of shape (n_factors,)
        The factor that a later row must satisfy; 0 if none must.
    told : int array of shape (n_factors,)
        The factor of another table that says the same, so that no clause says it twice; 0 if none does.
    """

    tables: tuple[str, ...]
    slots: tuple[int, ...]
    parents: tuple[int, ...]
    forms: tuple[Form, ...]
    table: Ints
    members: Ints
    sizes: Ints
    asked: Ints
    negated: Flags
    form: Ints
    later: Ints
    told: Ints

    def __len__(self) -> int:
        return len(self.table)

    @property
    def lengths(self) -> Ints:
        """Conditions of each factor, as a clause's length counts them."""
        exist = np.maximum(self.asked, (self.table > 0).astype(np.int64))
        return np.asarray(np.where(self.form == 0, exist, self.asked + self.asked[self.later] + 1))


class _Entry(NamedTuple):
    """A factor before it is an array's row."""

    table: int
    members: tuple[int, ...] = ()
    negated: bool = False
    form: int = 0
    later: int = 0


def build_factors(atoms: Sequence[RowAtom], cells: Cells, tables: Sequence[Table], limits: Limits) -> Factors:
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
        own = [place for place, atom in enumerate(atoms) if atom.table == table.name and not atom.exists]
        exists = any(atom.exists and atom.table == table.name for atom in atoms)
        found = conjunctions(own, cells, limits.literals)
        anything: list[tuple[int, ...]] = [()] if number and exists else []
        start = len(entries) + len(anything)
        entries += _signed(_Entry(number), anything + found, cells, negated=limits.negation and number > 0)
        for form in table.forms:
            entry = _Entry(number, form=forms.index(form))
            if form.then:
                entries += _followed(entry, found, start, cells, limits.literals)
                continue
            short = [item for item in found if cells.length(item) < limits.literals]
            said = [item for item in short if not cells.must_share(item, form.alike, 2)]
            entries += _signed(entry, said if form.row else anything + said, cells, negated=limits.negation)
        check_count(len(entries))
    return _as_arrays(entries, atoms, cells, tables, forms, limits.literals)


def _signed(entry: _Entry, found: Sequence[tuple[int, ...]], cells: Cells, *, negated: bool) -> list[_Entry]:
    """A factor of each conjunction, and then those that are negated."""
    few = [item for item in found if cells.length(item) <= _MOST_NEGATED] if negated else []
    return [entry._replace(members=item) for item in found] + [
        entry._replace(members=item, negated=True) for item in few
    ]


def _followed(entry: _Entry, found: Sequence[tuple[int, ...]], start: int, cells: Cells, longest: int) -> list[_Entry]:
    """Each pair of different conjunctions, of which a later row satisfies the second one."""
    lengths = [cells.length(item) for item in found]
    pairs = [
        entry._replace(members=first, later=start + place)
        for first, own in zip(found, lengths, strict=True)
        if own < longest - 1
        for place, second in enumerate(found)
        if first != second and own + lengths[place] < longest
    ]
    check_count(len(pairs))
    return pairs


def _told(entries: Sequence[_Entry], atoms: Sequence[RowAtom], cells: Cells, tables: Sequence[Table]) -> list[int]:
    """For each factor, the one of another table that says the same; 0 if none does.

    That a stay has a high value is that there is one: every value belongs to a stay.
    """
    names = [table.name for table in tables]
    position = {entry: place for place, entry in enumerate(entries)}
    found = []
    for entry in entries:
        atom = atoms[entry.members[0]] if len(entry.members) == 1 and not entry.form else None
        if isinstance(atom, Within) and atom.least == 1:
            members = tuple(cells.position(inner) for inner in atom.atoms)
            found.append(position[_Entry(names.index(atom.inner), members, entry.negated)])
        else:
            found.append(0)
    return found


def _as_arrays(
    entries: Sequence[_Entry],
    atoms: Sequence[RowAtom],
    cells: Cells,
    tables: Sequence[Table],
    forms: tuple[Form, ...],
    longest: int,
) -> Factors:
    names = [table.name for table in tables]
    padded = np.full((len(entries), longest), -1, dtype=np.int64)
    for place, entry in enumerate(entries):
        padded[place, : len(entry.members)] = entry.members
    return Factors(
        tuple(table.name for table in tables),
        tuple(table.slots for table in tables),
        tuple(names.index(table.parent) for table in tables),
        forms,
        np.array([entry.table for entry in entries]),
        padded,
        np.array([len(entry.members) for entry in entries]),
        np.array([cells.length(entry.members) for entry in entries]),
        np.array([entry.negated for entry in entries], dtype=np.bool_),
        np.array([entry.form for entry in entries]),
        np.array([entry.later for entry in entries]),
        np.array(_told(entries, atoms, cells, tables)),
    )
