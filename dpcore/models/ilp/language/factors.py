"""Conjunctions about one row, and what may be said of all rows of a person by each: from the schema alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from dpcore.arrays import Flags, Ints, Ints32, Words
from dpcore.compiled import kernel
from dpcore.data.packing import pack_rows, word_count
from dpcore.models.ilp.language.cells import Cells, check_count, conjunctions
from dpcore.models.ilp.language.forms import EXISTS, Form
from dpcore.models.ilp.language.nested_conditions import NestedCondition, RowAtom

#: Conditions of a negated variable.
_MOST_NEGATED = 1


class Limits(NamedTuple):
    """How long a clause may be, and what it may refer to."""

    literals: int
    variables: int
    negation: bool = False


class Table(NamedTuple):
    """A table of the language."""

    name: str
    slots: int
    """Most rows about one person."""
    forms: tuple[Form, ...] = ()
    """What may be said of them beyond that one exists."""
    parent: str = ""
    """Table to whose rows they belong; empty: to the person alone."""


@dataclass(frozen=True)
class Factors:
    """Conjunctions about one row, each with its form. Number 0 is empty: it holds for everybody."""

    tables: tuple[str, ...]
    """Tables by their number; the main one, "", is number 0."""
    slots: tuple[int, ...]
    """Most rows of each about one person."""
    parents: tuple[int, ...]
    """Table to whose rows those of each belong; 0: to the person alone."""
    forms: tuple[Form, ...]
    """The first one says that a row exists."""
    table: Ints
    """Shape (n_factors,)."""
    members: Ints
    """Positions of the atoms in the lattice's; -1 beyond the end: shape (n_factors, longest)."""
    sizes: Ints
    """Shape (n_factors,). Number of atoms: 0 for a row that need only exist."""
    asked: Ints
    """Number of conditions of these atoms: shape (n_factors,)."""
    negated: Flags
    """Shape (n_factors,)."""
    form: Ints
    """Number of each form: shape (n_factors,)."""
    later: Ints
    """The factor that a later row must satisfy; 0 if none must: shape (n_factors,)."""
    told: Ints
    """The factor of another table that says the same, so that no clause says it twice; 0 if none does: shape
    (n_factors,)."""

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
        if isinstance(atom, NestedCondition) and atom.least == 1:
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


class Implications:
    """Which factors follow from which, by the cells of their atoms and by what belongs to what."""

    def __init__(self, atoms: Sequence[RowAtom], cells: Cells, factors: Factors) -> None:
        self._factors = factors
        implied = cells.implied()
        forms = factors.forms
        self._implied = np.array([[one.implies(other) for other in forms] for one in forms], dtype=np.bool_)
        self._two = np.array([form.least == 2 for form in forms], dtype=np.bool_)
        self._then = np.array([form.then for form in forms], dtype=np.bool_)
        self._row = np.array([bool(form.row) for form in forms], dtype=np.bool_)
        self._settled = self._alike(cells)
        self._parents = np.array(factors.parents)
        self._rows = np.array([2 if form.alike else form.least for form in forms], dtype=np.int64)
        self._counted = np.array([form.quantifier in ("exists", "counts") for form in forms], dtype=np.bool_)
        self._below = _rows_below(atoms, factors)
        words = word_count(len(cells.cells))
        self._own = np.zeros((len(factors), words), dtype=np.uint64)
        self._closure = np.zeros((len(factors), words), dtype=np.uint64)
        bits = pack_rows(np.eye(len(cells.cells), dtype=np.bool_))
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

    def _follows_across(self, one: Ints32, other: Ints32) -> Flags:
        """The same of two tables, where the rows of either may belong to those of the other.

        Of stays with a high value, as many values are high, or more; and every value belongs to a stay.
        """
        factors = self._factors
        mine, theirs, form = factors.table[one], factors.table[other], factors.form[other]
        least = np.where(self._counted[form], self._rows[form], np.iinfo(np.int64).max)
        rows = self._below[one, theirs] * self._rows[factors.form[one]]
        result = (rows >= least) & self._within(other, one)
        later = factors.later[one]
        result |= (self._below[later, theirs] >= least) & self._within(other, later)
        exists = (form == 0) & (factors.sizes[other] == 0)
        return np.asarray(result | (exists & (self._parents[mine] == theirs)))

    def apart(self, one: Ints32, other: Ints32) -> Flags:
        """Whether two variables may stand in one clause: neither superfluous nor contradictory."""
        factors = self._factors
        result = np.ones(len(one), dtype=np.bool_)
        mine, theirs = factors.table[one], factors.table[other]
        alike = np.flatnonzero(mine == theirs)
        result[alike] = self._apart(one[alike], other[alike], self._follows)
        linked = np.flatnonzero((self._parents[mine] == theirs) | (self._parents[theirs] == mine))
        result[linked] = self._apart(one[linked], other[linked], self._follows_across)
        return result

    def _apart(self, one: Ints32, other: Ints32, follows: Callable[[Ints32, Ints32], Flags]) -> Flags:
        factors = self._factors
        forward, backward = follows(one, other), follows(other, one)
        first, second = factors.negated[one], factors.negated[other]
        # What two variables say of the same last row is said by one.
        same = self._row[factors.form[one]] & self._row[factors.form[other]] & ~first & ~second
        same &= factors.table[one] == factors.table[other]
        told = np.where(first == second, forward | backward, np.where(first, backward, forward))
        return np.asarray(~(told | same))


def _rows_below(atoms: Sequence[RowAtom], factors: Factors) -> Ints:
    """Rows of each table that belong to a row which satisfies each factor, at least: (n_factors, n_tables)."""
    least = np.zeros((len(atoms) + 1, len(factors.tables)), dtype=np.int64)  # The last is of no atom.
    for place, atom in enumerate(atoms):
        if isinstance(atom, NestedCondition):
            least[place, factors.tables.index(atom.inner)] = atom.least
    return np.asarray(least[factors.members].max(axis=1))


@kernel
def _are_within(sets: Words, wider: Words, one: Ints32, other: Ints32, result: Flags) -> None:
    """Whether each of some ``sets``, by its position, is within another one of ``wider``."""
    for pair in range(len(result)):
        word = 0
        while word < sets.shape[1] and sets[one[pair], word] & ~wider[other[pair], word] == 0:
            word += 1
        result[pair] = word == sets.shape[1]
