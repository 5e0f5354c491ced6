"""A clause: conditions on a person, and on rows that must, or must not, exist about that person."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpcore.arrays import Flags, Ints
from dpcore.frozen import FrozenModel
from dpcore.models.ilp.language.atoms import Atom
from dpcore.released.cases import Box

Codes = Mapping[str, Ints]


class Variable(FrozenModel):
    """A row of a child table that must exist; if ``negated``, none such may.

    All atoms are about the same row. Two variables of a clause may stand for one row, as in
    Prolog.

    Attributes
    ----------
    atoms : tuple of Atom
        All of this table. Empty: any row.
    """

    table: str
    atoms: tuple[Atom, ...] = ()
    negated: bool = False

    @property
    def length(self) -> int:
        """Number of conditions; to exist is one too."""
        return max(1, len(self.atoms))


class Clause(FrozenModel):
    """The body of a clause; all of it must hold. An empty one holds for everybody."""

    atoms: tuple[Atom, ...] = ()
    variables: tuple[Variable, ...] = ()

    @property
    def length(self) -> int:
        """Number of conditions."""
        return len(self.atoms) + sum(variable.length for variable in self.variables)

    def holds(self, person: Codes, rows: Mapping[str, Codes], owners: Codes, people: int) -> Flags:
        """For whom the clause holds.

        Parameters
        ----------
        person : mapping of str to int array of shape (n_people,)
            Cell codes of the main table, by column.
        rows : mapping of str to mapping of str to int array of shape (n_rows,)
            Cell codes of each child table, by column.
        owners : mapping of str to int array of shape (n_rows,)
            For each child table, the place of each row's person; -1 for nobody.
        """
        result = np.ones(people, dtype=np.bool_)
        for atom in self.atoms:
            result &= np.isin(person[atom.column], atom.cells)
        for variable in self.variables:
            owner = owners[variable.table]
            fits = owner >= 0
            for atom in variable.atoms:
                fits = fits & np.isin(rows[variable.table][atom.column], atom.cells)
            exists = np.zeros(people, dtype=np.bool_)
            exists[owner[fits]] = True
            result &= exists != variable.negated
        return result

    def verdict(self, person: Box, rows: Mapping[str, Sequence[Box]]) -> tuple[bool, bool]:
        """Whether the clause surely holds for one case, and whether it may: all its values may be unknown.

        Parameters
        ----------
        person : mapping of str to set of int
            Cells that each column of the main table may have.
        rows : mapping of str to sequence of such mappings
            One for each row of each child table.
        """
        surely, possibly = _verdict(self.atoms, person)
        for variable in self.variables:
            verdicts = [_verdict(variable.atoms, row) for row in rows.get(variable.table, ())]
            exists = any(sure for sure, _ in verdicts), any(may for _, may in verdicts)
            if variable.negated:
                exists = not exists[1], not exists[0]
            surely, possibly = surely and exists[0], possibly and exists[1]
        return surely, possibly


def _verdict(atoms: Sequence[Atom], cells: Box) -> tuple[bool, bool]:
    """Whether all atoms surely hold in a box, and whether each of them may."""
    held = [(cells[atom.column], frozenset(atom.cells)) for atom in atoms]
    return all(here <= fit for here, fit in held), all(here & fit for here, fit in held)
