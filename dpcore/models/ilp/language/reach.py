"""How many of some clauses one person can satisfy together, at most.

Conditions on one cell of one column exclude each other, and a person has a limited number of
rows: noise for all clauses at once would be for far more than anybody can satisfy. Proof:
``docs/privacy/ilp.md``, section 3.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from functools import lru_cache

import numpy as np

from dpcore.arrays import Ints
from dpcore.models.ilp.language.factors import Factors
from dpcore.models.ilp.language.lattice import Lattice

#: Columns, and how often each is asked about.
_Columns = tuple[tuple[str, int], ...]


class Reach:
    """Bounds for the clauses of a lattice, from the schema alone.

    Factors are of one kind if they ask about the same columns of the same table, equally often and
    in the same form; clauses, if their factors are of the same kinds.
    """

    def __init__(self, lattice: Lattice) -> None:
        factors, met = lattice.factors, _most_met(lattice)
        kinds: dict[tuple[int, bool, int, _Columns, _Columns], int] = {}
        own: list[int] = []
        for factor in range(len(factors)):
            asked = _asked(lattice, factor), _asked(lattice, int(factors.later[factor]))
            kind = int(factors.table[factor]), bool(factors.negated[factor]), int(factors.form[factor]), *asked
            own.append(kinds.setdefault(kind, len(kinds)))
        sizes = np.bincount(own).tolist()
        self._most = [
            size if negated else min(size, _of_rows(factors, table, form, columns, later, met[table]))
            for (table, negated, form, columns, later), size in zip(kinds, sizes, strict=True)
        ]
        self._empty = own[0]
        self._kinds = np.sort(np.array(own)[lattice.clauses], axis=1)

    def most(self, positions: Ints) -> int:
        """Of the clauses at these positions, how many a person can satisfy: at most this, or 1."""
        kinds, counts = np.unique(self._kinds[positions], axis=0, return_counts=True)
        together = (
            min(int(count), self._ways(Counter(row)))
            for row, count in zip(kinds.tolist(), counts.tolist(), strict=True)
        )
        return max(1, sum(together))

    def _ways(self, kinds: Counter[int]) -> int:
        """Ways to choose different factors of these kinds, all of which hold for one person."""
        chosen = ((self._most[kind], n) for kind, n in kinds.items() if kind != self._empty)
        return math.prod(math.comb(most, n) for most, n in chosen)


@lru_cache(maxsize=2)
def reach_of(lattice: Lattice) -> Reach:
    """Bounds for a lattice; the same for every run."""
    return Reach(lattice)


def _most_met(lattice: Lattice) -> list[dict[str, int]]:
    """By table and column: most atoms that hold for one cell."""
    cells: dict[tuple[str, str], Counter[int]] = defaultdict(Counter)
    for atom in lattice.atoms:
        if not atom.exists:
            cells[atom.table, atom.column].update(atom.cells)
    return [
        {column: max(own.values()) for (table, column), own in cells.items() if table == name}
        for name in lattice.factors.tables
    ]


def _asked(lattice: Lattice, factor: int) -> _Columns:
    """Columns that a factor's atoms ask about, and how often."""
    members = lattice.factors.members[factor, : lattice.factors.sizes[factor]]
    return tuple(sorted(Counter(lattice.atoms[member].column for member in members).items()))


def _of_rows(factors: Factors, table: int, form: int, columns: _Columns, later: _Columns, met: dict[str, int]) -> int:
    """Most factors of a kind, not negated, that hold for the rows of one person.

    Each takes as many pairs of a row and a conjunction that it satisfies as its form asks for.
    """
    said, slots, each = factors.forms[form], factors.slots[table], _together(columns, met)
    if said.then:
        return slots * (slots - 1) // 2 * each * _together(later, met)
    if said.row:
        return each
    return slots * each // (2 if said.alike else said.least)


def _together(columns: _Columns, met: dict[str, int]) -> int:
    """Most conjunctions about these columns, so many atoms of each, that hold for one row."""
    return math.prod(math.comb(met[column], atoms) for column, atoms in columns)
