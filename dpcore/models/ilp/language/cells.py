"""Conjunctions about one row: which atoms one row may satisfy together, and what follows from which."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product

import numpy as np

from dpcore.arrays import Flags
from dpcore.errors import RequestError
from dpcore.models.ilp.language.nested_conditions import NestedCondition, RowAtom

#: Most conjunctions about one row, with what is said of all rows.
MOST_FACTORS = 300_000


class Cells:
    """Which cells of its column each atom asks for, and what two atoms of one column leave."""

    def __init__(self, atoms: Sequence[RowAtom]) -> None:
        self.lengths = [atom.length for atom in atoms]
        self.columns = [atom.about for atom in atoms]
        self.cells = [frozenset(atom.cells) for atom in atoms]
        self.alone = set(zip(self.columns, self.cells, strict=True))
        self._alike: dict[tuple[str, ...], list[int]] = {}
        for place, column in enumerate(self.columns):
            self._alike.setdefault(column, []).append(place)
        self._within = [(place, atom) for place, atom in enumerate(atoms) if isinstance(atom, NestedCondition)]
        self._positions = {atom: place for place, atom in enumerate(atoms)}

    def length(self, members: Sequence[int]) -> int:
        """Conditions of a conjunction."""
        return sum(self.lengths[member] for member in members)

    def position(self, atom: RowAtom) -> int:
        """Place of an atom."""
        return self._positions[atom]

    def implied(self) -> Flags:
        """Which atoms follow from which: shape (n_atoms, n_atoms), from rows to columns.

        From what is asked of rows that belong to a row follows, of one of them, what they satisfy.
        """
        implied = np.eye(len(self.cells), dtype=np.bool_)
        for alike in self._alike.values():
            if self.cells[alike[0]]:
                for one, other in product(alike, alike):
                    implied[one, other] = self.cells[one] <= self.cells[other]
        if not self._within:
            return implied
        places = np.array([place for place, _ in self._within])
        least = np.array([atom.least for _, atom in self._within])
        asked = np.zeros((len(places), len(self.cells)), dtype=np.bool_)
        for number, (_, atom) in enumerate(self._within):
            asked[number, [self.position(inner) for inner in atom.atoms]] = True
        held = _joined(asked, implied)
        missed = _joined(~held, asked.T)
        about = np.unique([self.columns[place][2] for place in places], return_inverse=True)[1]
        implied[places] |= held
        implied[np.ix_(places, places)] = ~missed & (least[:, None] >= least) & (about[:, None] == about)
        return implied

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
        own = [self.cells[member] for member in members if self.columns[member][1:] == (column,)]
        return bool(own) and len(frozenset.intersection(*own)) < rows


def _joined(one: Flags, other: Flags) -> Flags:
    """Product of two tables of flags; of single-precision numbers, which are multiplied many times as fast."""
    return np.asarray((one.astype(np.float32) @ other.astype(np.float32)) > 0)


def conjunctions(own: Sequence[int], cells: Cells, longest: int) -> list[tuple[int, ...]]:
    """Sets of atoms that one row may satisfy, each after its own beginnings: a walk in depth.

    Of the sets that mean the same, the shortest is kept. ``longest`` is in conditions.

    Raises
    ------
    RequestError
        If there are too many.
    """
    found: list[tuple[int, ...]] = []

    def extend(begun: tuple[int, ...], allowed: dict[tuple[str, ...], frozenset[int]], start: int, room: int) -> None:
        for place in range(start, len(own)):
            atom = own[place]
            column, length = cells.columns[atom], cells.lengths[atom]
            left = cells.joined(allowed.get(column), atom) if length <= room else None
            if left is None:
                continue
            found.append((*begun, atom))
            check_count(len(found))
            if length < room:
                extend((*begun, atom), allowed | {column: left}, behind[place], room - length)

    behind = [place + 1 for place in range(len(own))]
    for place in range(len(own) - 2, -1, -1):  # Of those about the rows of one table that belong to it, one is asked.
        if not cells.cells[own[place]] and cells.columns[own[place]] == cells.columns[own[place + 1]]:
            behind[place] = behind[place + 1]
    extend((), {}, 0, longest)
    return found


def check_count(count: int) -> None:
    """Refuse more than :data:`MOST_FACTORS`. Raises ``RequestError``."""
    if count > MOST_FACTORS:
        raise RequestError(
            "There are too many ways to join these conditions: choose fewer of them, a shorter clause, or less "
            "that may be said of rows."
        )
