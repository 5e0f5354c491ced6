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
from dpcore.models.ilp.language.lattice import Lattice


class Reach:
    """Bounds for the clauses of a lattice, from the schema alone.

    Factors are of one kind if they ask about the same columns of the same table, and equally
    often; clauses, if their factors are of the same kinds.
    """

    def __init__(self, lattice: Lattice) -> None:
        factors, met = lattice.factors, _most_met(lattice)
        kinds: dict[tuple[int, bool, tuple[tuple[str, int], ...]], int] = {}
        own: list[int] = []
        for factor in range(len(factors)):
            members = factors.members[factor, : factors.sizes[factor]]
            columns = Counter(lattice.atoms[member].column for member in members)
            table, negated = int(factors.table[factor]), bool(factors.negated[factor])
            kind = table, negated, tuple(sorted(columns.items()))
            own.append(kinds.setdefault(kind, len(kinds)))
        sizes = np.bincount(own).tolist()
        self._most = [
            size if negated else min(size, factors.slots[table] * _together(columns, met[table]))
            for (table, negated, columns), size in zip(kinds, sizes, strict=True)
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


def _together(columns: tuple[tuple[str, int], ...], met: dict[str, int]) -> int:
    """Most conjunctions about these columns, so many atoms of each, that hold for one row."""
    return math.prod(math.comb(met[column], atoms) for column, atoms in columns)
