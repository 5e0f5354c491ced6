"""Which clauses are more general than which: what deleting a subtree of the lattice deletes."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from dpcore.arrays import Ints
from dpcore.models.ilp.language.lattice import Factors, Lattice


class Generality:
    """The clauses of a lattice that are left, level by level.

    Deleting a clause deletes all that add conditions to it. Before a level is asked for, those
    above it must have been.
    """

    def __init__(self, lattice: Lattice) -> None:
        self._lattice = lattice
        self._dead = np.zeros(len(lattice), dtype=np.bool_)
        self._shorter, self._position = _tables(lattice)

    def left_at(self, level: int) -> Ints:
        """Positions of the clauses with ``level`` conditions of whose parents all are left."""
        candidates = np.flatnonzero((self._lattice.lengths == level) & ~self._dead)
        for position in candidates if self._dead.any() else ():
            if any(self._dead[parent] for parent in self.parents(int(position))):
                self._dead[position] = True
        return candidates[~self._dead[candidates]]

    def delete(self, positions: Ints) -> None:
        """Delete the subtrees of clauses."""
        self._dead[positions] = True

    def parents(self, position: int) -> list[int]:
        """Clauses that have one condition less, written in the lattice's own form."""
        row = self._lattice.clauses[position].tolist()
        found = []
        for place, factor in enumerate(row):
            for shorter in self._shorter[factor]:
                changed = [*row[:place], shorter, *row[place + 1 :]]
                # What is left of a variable may follow from another one: then it goes.
                for candidate in (changed, [*row[:place], 0, *row[place + 1 :]]):
                    parent = self._position.get(_in_order(candidate))
                    if parent is not None:
                        found.append(parent)
                        break
        return found


@lru_cache(maxsize=2)
def _tables(lattice: Lattice) -> tuple[list[list[int]], dict[tuple[int, ...], int]]:
    """Shorter factors of each factor, and the position of each clause; the same for every run."""
    position = {tuple(row): place for place, row in enumerate(lattice.clauses.tolist())}
    return _shorter_factors(lattice.factors), position


def _in_order(row: list[int]) -> tuple[int, ...]:
    variables = sorted(factor for factor in row[1:] if factor)
    return (row[0], *variables, *[0] * (len(row) - 1 - len(variables)))


def _shorter_factors(factors: Factors) -> list[list[int]]:
    """For each factor, those with one atom less; the empty one in place of a single condition."""
    keys = [
        (int(table), bool(negated), tuple(members[:size].tolist()))
        for table, negated, members, size in zip(
            factors.table, factors.negated, factors.members, factors.sizes, strict=True
        )
    ]
    position = {key: place for place, key in enumerate(keys)}
    shorter: list[list[int]] = [[]]
    for table, negated, members in keys[1:]:
        if len(members) <= 1:
            shorter.append([0])
            continue
        beginnings = (members[:place] + members[place + 1 :] for place in range(len(members)))
        # What means the same as a single condition is written as that: there is no such factor.
        known = (position.get((table, negated, rest)) for rest in beginnings)
        shorter.append([place for place in known if place is not None])
    return shorter
