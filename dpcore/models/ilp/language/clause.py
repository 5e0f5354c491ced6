"""A clause: conditions on a person, and on rows that must, or must not, exist about that person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

import numpy as np
from pydantic import Field

from dpcore.arrays import Flags
from dpcore.frozen import FrozenModel
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.forms import EXISTS, Form, Row
from dpcore.models.ilp.language.nested_conditions import NestedCondition, RowAtom, fitting, verdict
from dpcore.models.ilp.language.rows import CaseRow, CaseRows, Codes, TableRows, Verdict
from dpcore.released.cases import Box


class Variable(FrozenModel):
    """What must be true of the rows of a child table, or must not if ``negated``: usually, that one exists.

    All atoms are about the same row. Two variables of a clause may stand for one row, as in
    Prolog.
    """

    table: str
    atoms: tuple[RowAtom, ...] = ()
    """All of this table. Empty: any row."""
    negated: bool = False
    least: int = Field(default=1, ge=1)
    """So many rows must satisfy the atoms."""
    row: Row = ""
    """The row that must satisfy them, by the order of the table."""
    alike: str = ""
    """Column whose value two rows that satisfy them must share; neither may lack it."""
    later: tuple[RowAtom, ...] = ()
    """Of the same table. A row that comes later must satisfy these."""

    @property
    def form(self) -> Form:
        """How its atoms are said of the rows."""
        return Form(self.least, self.row, self.alike, bool(self.later))

    @property
    def ordered(self) -> bool:
        """Whether it speaks of the order of rows."""
        return self.form.quantifier == "order"

    @property
    def length(self) -> int:
        """Number of conditions; to exist is one too, and so is each other thing said of rows."""
        said = sum(atom.length for atom in (*self.atoms, *self.later))
        return max(1, said) if self.form == EXISTS else said + 1

    @property
    def asks(self) -> set[tuple[str, str]]:
        """Tables and columns that it looks at; no column, where rows need only exist."""
        asked = {asked for atom in (*self.atoms, *self.later) for asked in atom.asks}
        return asked | {(self.table, self.alike)}

    @property
    def nested(self) -> tuple[NestedCondition, ...]:
        """What it asks of rows that belong to its rows."""
        return tuple(atom for atom in (*self.atoms, *self.later) if isinstance(atom, NestedCondition))

    def holds(self, rows: TableRows, people: int) -> Flags:
        """For whom it holds, not taken as negated."""
        fits = fitting(self.atoms, rows)
        if self.later:
            return rows.followed(fits, fitting(self.later, rows), people)
        if self.alike:
            return rows.sharing(fits, self.alike, people)
        if self.row:
            fits = fits & rows.firsts() if self.row == "first" else fits & rows.lasts()
        counts = np.bincount(rows.owners[fits], minlength=people)
        return np.asarray(counts >= self.least)

    def verdict(self, case: CaseRows) -> Verdict:
        """Whether it surely holds for rows of which some cells are not known, and whether it may."""
        surely, possibly = self._exists(case.rows, case.in_order, case.classes.get(self.alike, 0))
        return (not possibly, not surely) if self.negated else (surely, possibly)

    def _exists(self, rows: Sequence[CaseRow], in_order: bool, classes: int) -> Verdict:
        fits = [verdict(self.atoms, row) for row in rows]
        if self.later:
            after = [verdict(self.later, row) for row in rows]
            pairs = [(fits[i], after[j]) for i, j in permutations(range(len(rows)), 2) if i < j or not in_order]
            surely = in_order and any(one[0] and other[0] for one, other in pairs)
            return surely, any(one[1] and other[1] for one, other in pairs)
        if self.alike:
            return self._shared(rows, fits, classes)
        if self.row and not in_order:
            return bool(fits) and all(sure for sure, _ in fits), any(may for _, may in fits)
        if self.row:
            fits = fits[:1] if self.row == "first" else fits[-1:]
        return sum(sure for sure, _ in fits) >= self.least, sum(may for _, may in fits) >= self.least

    def _shared(self, rows: Sequence[CaseRow], fits: Sequence[Verdict], classes: int) -> Verdict:
        values = [self._values(row, classes) for row in rows]
        surely = possibly = False
        for i, j in permutations(range(len(rows)), 2):
            possibly |= fits[i][1] and fits[j][1] and bool(values[i] & values[j])
            one, other = rows[i].cells[self.alike], rows[j].cells[self.alike]
            known = len(one) == 1 and one == other
            surely |= fits[i][0] and fits[j][0] and known and bool(values[i])
        return surely, possibly

    def _values(self, row: CaseRow, classes: int) -> frozenset[int]:
        """Values that the shared column may have in a row that satisfies the atoms."""
        left = frozenset(cell for cell in row.cells[self.alike] if cell < classes)
        for atom in self.atoms:
            left = left & frozenset(atom.cells) if atom.column == self.alike else left
        return left


class Clause(FrozenModel):
    """The body of a clause; all of it must hold. An empty one holds for everybody."""

    atoms: tuple[Atom, ...] = ()
    variables: tuple[Variable, ...] = ()

    @property
    def length(self) -> int:
        """Number of conditions."""
        return len(self.atoms) + sum(variable.length for variable in self.variables)

    def holds(self, person: Codes, rows: Mapping[str, TableRows], people: int) -> Flags:
        """For whom the clause holds.

        Parameters
        ----------
        person : mapping of str to int array of shape (n_people,)
            Cell codes of the main table, by column.
        rows : mapping of str to TableRows
            Each child table that it refers to.
        """
        result = np.ones(people, dtype=np.bool_)
        for atom in self.atoms:
            result &= np.isin(person[atom.column], atom.cells)
        for variable in self.variables:
            result &= variable.holds(rows[variable.table], people) != variable.negated
        return result

    def verdict(self, person: Box, rows: Mapping[str, CaseRows]) -> Verdict:
        """Whether the clause surely holds for one case, and whether it may: all its values may be unknown.

        Parameters
        ----------
        person : mapping of str to set of int
            Cells that each column of the main table may have.
        rows : mapping of str to CaseRows
            Of each child table that it refers to.
        """
        surely, possibly = verdict(self.atoms, CaseRow(cells=person))
        for variable in self.variables:
            sure, may = variable.verdict(rows[variable.table])
            surely, possibly = surely and sure, possibly and may
        return surely, possibly
