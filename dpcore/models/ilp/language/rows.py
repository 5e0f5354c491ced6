"""Rows of a child table about some people, or about one case: what clauses are asked of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpcore.arrays import Flags, Ints
from dpcore.frozen import FrozenModel
from dpcore.released.cases import Box

Codes = Mapping[str, Ints]
#: Whether something surely holds, and whether it may.
Verdict = tuple[bool, bool]


class TableRows:
    """Encoded rows of a child table.

    Parameters
    ----------
    codes : mapping of str to int array of shape (n_rows,)
        Cell codes by column.
    owners : int array of shape (n_rows,)
        Place of each row's person, or of the row that it belongs to.
    times : int array of shape (n_rows,)
        Place of each row in the order of time.
    classes : mapping of str to int
        How many cells of each column are values: the first ones.
    below : mapping of str to TableRows
        Rows of other tables that belong to these, with places of these as their owners.
    """

    def __init__(
        self,
        codes: Codes,
        owners: Ints,
        times: Ints,
        classes: Mapping[str, int],
        below: Mapping[str, TableRows] | None = None,
    ) -> None:
        self.owners, self.below = owners, below or {}
        self._codes, self._times, self._classes = codes, times, classes

    def __len__(self) -> int:
        return len(self.owners)

    def among(self, column: str, cells: Sequence[int]) -> Flags:
        """Rows whose cell of a column is among some."""
        return np.isin(self._codes[column], cells)

    def firsts(self) -> Flags:
        """The first row of each person."""
        return self._leading(self._times)

    def lasts(self) -> Flags:
        """The last row of each person."""
        return self._leading(-self._times)

    def _leading(self, times: Ints) -> Flags:
        order = np.lexsort((times, self.owners))
        leading = np.zeros(len(order), dtype=np.bool_)
        leading[order[np.unique(self.owners[order], return_index=True)[1]]] = True
        return leading

    def followed(self, fits: Flags, after: Flags, people: int) -> Flags:
        """People with a row that fits and a later one among ``after``."""
        earliest, latest = np.full(people, 1 + self._times.max(initial=0)), np.full(people, -1)
        np.minimum.at(earliest, self.owners[fits], self._times[fits])
        np.maximum.at(latest, self.owners[after], self._times[after])
        return np.asarray(earliest < latest)

    def sharing(self, fits: Flags, column: str, people: int) -> Flags:
        """People with two fitting rows that have the same value of a column."""
        codes = self._codes[column]
        fits = fits & (codes < self._classes[column])
        pairs, counts = np.unique(np.stack([self.owners[fits], codes[fits]]), axis=1, return_counts=True)
        found = np.zeros(people, dtype=np.bool_)
        found[pairs[0, counts > 1].astype(np.int64)] = True
        return found


class CaseRow(FrozenModel):
    """One row of a case, of which not all need be known."""

    cells: Box
    """Cells that each column may have."""
    below: Mapping[str, tuple[CaseRow, ...]] = {}
    """Rows of other tables that belong to it, or may."""
    linked: bool = True
    """Of such a row: whether it surely belongs to this one."""


class CaseRows(FrozenModel):
    """Rows of one table about one case, in the order of time."""

    rows: tuple[CaseRow, ...]
    in_order: bool = True
    """Whether their order is known."""
    classes: Mapping[str, int]
    """How many cells of each column are values: the first ones."""
