"""How many of some clauses one person can satisfy together, at most.

Conditions on one cell of one column exclude each other, and a person has a limited number of
rows: noise for all clauses at once would be for far more than anybody can satisfy. Proof:
``docs/privacy/ilp.md``, section 3.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from dpcore.arrays import Ints
from dpcore.models.ilp.language.factors import Factors
from dpcore.models.ilp.language.lattice import Lattice
from dpcore.models.ilp.language.nested_conditions import NestedCondition, RowAtom

#: What is asked of one row, such as a column, and how often each thing is.
_Kind = tuple[str, ...]
_Asked = tuple[tuple[_Kind, int], ...]
#: By table: most atoms of each kind that hold for one row.
_Met = Sequence[Mapping[_Kind, int]]


class OverlapBounds:
    """Bounds for the clauses of a lattice, from the schema alone.

    Factors are of one kind if they ask the same things of a row of the same table, equally often and
    in the same form; clauses, if their factors are of the same kinds.
    """

    def __init__(self, lattice: Lattice) -> None:
        factors, met = lattice.factors, _most_met(lattice)
        kinds: dict[tuple[int, bool, int, _Asked, _Asked], int] = {}
        own: list[int] = []
        for factor in range(len(factors)):
            asked = _asked(lattice, factor), _asked(lattice, int(factors.later[factor]))
            kind = int(factors.table[factor]), bool(factors.negated[factor]), int(factors.form[factor]), *asked
            own.append(kinds.setdefault(kind, len(kinds)))
        sizes = np.bincount(own).tolist()
        self._most = [
            size if negated else min(size, _of_rows(factors, table, form, asked, later, met))
            for (table, negated, form, asked, later), size in zip(kinds, sizes, strict=True)
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
def overlap_bounds(lattice: Lattice) -> OverlapBounds:
    """Bounds for a lattice; the same for every run."""
    return OverlapBounds(lattice)


def _most_met(lattice: Lattice) -> _Met:
    cells: dict[tuple[str, _Kind], Counter[int]] = defaultdict(Counter)
    for atom in lattice.conditions:
        if not atom.exists:
            cells[atom.table, _kind(atom)].update(atom.cells)
    met = [
        {kind: max(own.values()) for (table, kind), own in cells.items() if table == name}
        for name in lattice.factors.tables
    ]
    nested = Counter((atom.table, _kind(atom)) for atom in lattice.atoms if isinstance(atom, NestedCondition))
    for (name, kind), count in nested.items():
        met[lattice.factors.tables.index(name)][kind] = min(count, _most_within(kind, lattice.factors, met))
    return met


def _kind(atom: RowAtom) -> _Kind:
    """What an atom asks of a row: about a column, or about so many rows that belong to it and some of their columns."""
    if not isinstance(atom, NestedCondition):
        return (atom.column,)
    return ("", atom.inner, str(atom.least), *sorted(inner.column for inner in atom.atoms))


def _most_within(kind: _Kind, factors: Factors, met: _Met) -> int:
    """Most pairs of a person's row and an atom of this kind, about the rows that belong to it, that it satisfies.

    Each takes as many pairs of such a row and a conjunction as it asks for, and a row belongs to one row alone.
    """
    _, inner, least, *columns = kind
    number = factors.tables.index(inner)
    asked = tuple(((column,), count) for column, count in Counter(columns).items())
    return factors.slots[number] * _together(asked, met[number]) // int(least)


def _asked(lattice: Lattice, factor: int) -> _Asked:
    """What a factor's atoms ask of a row, and how often."""
    members = lattice.factors.members[factor, : lattice.factors.sizes[factor]]
    return tuple(sorted(Counter(_kind(lattice.atoms[member]) for member in members).items()))


def _of_rows(factors: Factors, table: int, form: int, asked: _Asked, later: _Asked, met: _Met) -> int:
    """Most factors of a kind, not negated, that hold for the rows of one person.

    Each takes as many pairs of a row and a conjunction that it satisfies as its form asks for.
    """
    said, slots, each = factors.forms[form], factors.slots[table], _together(asked, met[table])
    if said.then:
        return slots * (slots - 1) // 2 * each * _together(later, met[table])
    if said.row:
        return each
    pairs = [slots * each]
    for kind, _ in asked:
        if not kind[0]:  # All rows of the person share those that belong to them.
            pairs.append(each // met[table][kind] * _most_within(kind, factors, met))
    return min(pairs) // (2 if said.alike else said.least)


def _together(asked: _Asked, met: Mapping[_Kind, int]) -> int:
    """Most conjunctions that ask so, each thing so often, and hold for one row."""
    return math.prod(math.comb(met[kind], atoms) for kind, atoms in asked)
