"""Columns that take their turn together, and columns whose shapes lie in one table.

A question that asks for many columns at once looks at scores and residuals once, and columns of few
bins share one code of every place, so that it is looked at once for all of them. Public, or released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.models.ebm.learning.records import Binning

#: Most joint bins of columns that share a table: it stays in the fastest memory.
_MOST_JOINT = 1024
#: Rate times columns that move under the same residuals, at most: with more, columns that tell the same
#: story would overshoot together.
_MOST_RATE = 0.25


@dataclass(frozen=True)
class Turns:
    """Which tables hold which features, and which tables have their turn together.

    Attributes
    ----------
    tables : tuple of tuple of int
        Features of each table, by their places among the features to learn.
    turns : tuple of tuple of int
        Tables of each turn.
    """

    tables: tuple[tuple[int, ...], ...]
    turns: tuple[tuple[int, ...], ...]

    @classmethod
    def single(cls, features: int) -> Turns:
        """Every feature for itself."""
        alone = tuple((feature,) for feature in range(features))
        return cls(alone, alone)

    @classmethod
    def together(cls, sizes: Sequence[int], rate: float) -> Turns:
        """As many features in a turn as the rate allows, and as few tables as will hold them.

        Parameters
        ----------
        sizes : sequence of int
            Bins of each feature.
        """
        count = -(-len(sizes) // max(1, int(_MOST_RATE / rate)))
        tables: list[tuple[int, ...]] = []
        turns: list[tuple[int, ...]] = []
        for members in np.array_split(np.arange(len(sizes)), count):
            own = _shared([int(member) for member in members], sizes)
            turns.append(tuple(range(len(tables), len(tables) + len(own))))
            tables += own
        return cls(tuple(tables), tuple(turns))

    def features(self, turn: int) -> list[int]:
        """Features that have this turn, table by table."""
        return [feature for table in self.turns[turn] for feature in self.tables[table]]

    def binnings(self, own: Sequence[Binning]) -> list[Binning]:
        """Of the tables, from those of the features."""
        return [_joint([own[feature] for feature in members]) for members in self.tables]


def _shared(members: Sequence[int], sizes: Sequence[int]) -> list[tuple[int, ...]]:
    """Features in tables: each, the largest first, in the first table that has room for it."""
    tables: list[tuple[int, list[int]]] = []
    for member in sorted(members, key=lambda own: -sizes[own]):
        for place, (joint, held) in enumerate(tables):
            if joint * sizes[member] <= _MOST_JOINT:
                tables[place] = joint * sizes[member], [*held, member]
                break
        else:
            tables.append((sizes[member], [member]))
    return [tuple(sorted(held)) for _, held in tables]


def _joint(binnings: Sequence[Binning]) -> Binning:
    if len(binnings) == 1:
        return binnings[0]
    sides = [(own.columns[0], own.groups[0]) for own in binnings]
    return Binning.of(*((column, groups.astype(np.int64)) for column, groups in sides))


def apart(sums: Ints, sizes: Sequence[int]) -> list[Ints]:
    """Sums over the bins of each feature of a table, from those over its joint bins.

    Parameters
    ----------
    sums : array of shape (n_replicates, n_joint_bins, n_outputs)
    """
    joint = sums.reshape(len(sums), *sizes, sums.shape[2])
    axes = range(1, len(sizes) + 1)
    return [joint.sum(axis=tuple(other for other in axes if other != own)) for own in axes]


def summed(shapes: Sequence[Floats]) -> Floats:
    """Sum of the shapes of a table's features over its joint bins: (n_replicates, n_joint_bins, n_outputs)."""
    total = shapes[0]
    for own in shapes[1:]:
        total = (total[:, :, None, :] + own[:, None, :, :]).reshape(len(own), -1, own.shape[2])
    return total
