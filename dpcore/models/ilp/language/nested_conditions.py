"""Conditions on a row by the rows of another table that belong to it: a stay with a laboratory value that is high."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from pydantic import Field

from dpcore.arrays import Flags
from dpcore.frozen import FrozenModel
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.rows import CaseRow, TableRows, Verdict

#: Conditions that may hold together on one of the rows that belong to a row.
MOST_WITHIN = 2


class NestedCondition(FrozenModel):
    """Rows that belong to one row of a table: at least so many of them satisfy some conditions."""

    table: str
    """Table of the row to which they belong."""
    inner: str
    """Their own table."""
    atoms: tuple[Atom, ...] = ()
    """All of their table, and about the same row of it. Empty: any row."""
    least: int = Field(default=1, ge=1)
    """So many rows must satisfy them."""

    @property
    def column(self) -> str:
        """It asks about no column of the row itself."""
        return ""

    @property
    def cells(self) -> tuple[int, ...]:
        """Nor about cells of one."""
        return ()

    @property
    def exists(self) -> bool:
        """Whether the row need only exist."""
        return False

    @property
    def about(self) -> tuple[str, ...]:
        """Its table and what of a row it asks about: of each table that belongs to a row, one thing is asked."""
        return self.table, "", self.inner

    @property
    def length(self) -> int:
        """Number of conditions; to exist is one too, and so is to be several."""
        return max(1, len(self.atoms)) + (self.least > 1)

    @property
    def asks(self) -> tuple[tuple[str, str], ...]:
        """Tables and columns that it looks at."""
        return ((self.inner, ""), *((self.inner, atom.column) for atom in self.atoms))

    def fits(self, rows: TableRows) -> Flags:
        """Which rows satisfy it."""
        own = rows.below[self.inner]
        counts = np.bincount(own.owners[fitting(self.atoms, own)], minlength=len(rows))
        return np.asarray(counts >= self.least)

    def verdict(self, row: CaseRow) -> Verdict:
        """Whether it surely holds for a row of which not all is known, and whether it may."""
        fits = [(below.linked, verdict(self.atoms, below)) for below in row.below[self.inner]]
        surely = sum(linked and sure for linked, (sure, _) in fits)
        return surely >= self.least, sum(may for _, (_, may) in fits) >= self.least


#: What may be asked of one row of a table.
RowAtom = Atom | NestedCondition


def single(atoms: Sequence[RowAtom]) -> tuple[Atom, ...]:
    """The conditions, each on one row of one table."""
    return tuple(own for atom in atoms for own in (atom.atoms if isinstance(atom, NestedCondition) else (atom,)))


def fitting(atoms: Sequence[RowAtom], rows: TableRows) -> Flags:
    """Rows that satisfy all atoms."""
    fits = np.ones(len(rows), dtype=np.bool_)
    for atom in atoms:
        fits &= atom.fits(rows)
    return fits


def verdict(atoms: Sequence[RowAtom], row: CaseRow) -> Verdict:
    """Whether all atoms surely hold for a row, and whether each of them may."""
    held = [atom.verdict(row) for atom in atoms]
    return all(sure for sure, _ in held), all(may for _, may in held)
