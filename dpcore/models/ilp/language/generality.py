"""Which clauses are more general than which: what deleting a subtree of the lattice deletes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from dpcore.arrays import Ints
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.factors import Factors
from dpcore.models.ilp.language.lattice import Lattice
from dpcore.models.ilp.language.nested_conditions import NestedCondition, RowAtom


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
    return _shorter_factors(lattice), position


def _in_order(row: list[int]) -> tuple[int, ...]:
    variables = sorted(factor for factor in row[1:] if factor)
    return (row[0], *variables, *[0] * (len(row) - 1 - len(variables)))


def _shorter_factors(lattice: Lattice) -> list[list[int]]:
    """For each factor, those with one condition less; the empty one in place of a single condition.

    To say of rows more than that one exists is a condition, too.
    """
    factors, fewer_within = lattice.factors, _shorter_within(lattice.atoms)
    keys = [_key(factors, factor) for factor in range(len(factors))]
    position = {key: place for place, key in enumerate(keys)}
    told = factors.told.tolist()
    shorter: list[list[int]] = [[]]
    for (table, negated, form, members, later), length in zip(keys[1:], factors.lengths[1:].tolist(), strict=True):
        if length <= 1 or negated:  # With fewer conditions, a negated one asks for more.
            shorter.append([0])
            continue
        # What means the same as a single condition is written as that: there is no such factor.
        fewer = [(table, negated, form, rest, later) for rest in _fewer(members, fewer_within)]
        fewer += [(table, negated, form, members, rest) for rest in _fewer(later, fewer_within)]
        fewer += [(table, negated, 0, members, ())] if form and not later else []
        known = [position[key] for key in fewer if key in position]
        shorter.append([told[place] or place for place in known] or [0])
    return shorter


def _shorter_within(atoms: Sequence[RowAtom]) -> dict[int, list[int]]:
    """Of each atom about rows that belong to a row, and has several conditions, those with one less."""
    position = {atom: place for place, atom in enumerate(atoms)}
    shorter = {}
    for place, atom in enumerate(atoms):
        if isinstance(atom, NestedCondition) and atom.length > 1:
            fewer = [atom.model_copy(update={"atoms": rest}) for rest in _beginnings(atom.atoms) if rest]
            fewer += [atom.model_copy(update={"least": 1})] if atom.least > 1 else []
            shorter[place] = [position[one] for one in fewer if one in position]
    return shorter


_Key = tuple[int, bool, int, tuple[int, ...], tuple[int, ...]]


def _key(factors: Factors, factor: int) -> _Key:
    """Table, sign, form and atoms of a factor, and the atoms of a later row."""
    members, later = (
        tuple(factors.members[one, : factors.sizes[one]].tolist()) for one in (factor, int(factors.later[factor]))
    )
    return int(factors.table[factor]), bool(factors.negated[factor]), int(factors.form[factor]), members, later


def _fewer(members: tuple[int, ...], within: Mapping[int, list[int]]) -> list[tuple[int, ...]]:
    """A conjunction with one condition less, in each way that there is."""
    found = []
    for place, member in enumerate(members):
        before, behind = members[:place], members[place + 1 :]
        fewer = within.get(member)
        found += [before + behind] if fewer is None else [(*before, one, *behind) for one in fewer]
    return found


def _beginnings(members: tuple[Atom, ...]) -> list[tuple[Atom, ...]]:
    """Some conditions without each of them in turn."""
    return [members[:place] + members[place + 1 :] for place in range(len(members))]
