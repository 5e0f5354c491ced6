"""The two views of a table: their columns, their splits, and sets of records made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from hashlib import sha256
from typing import Final

import numpy as np

from dpcore.arrays import Ints, Words
from dpcore.data.partition import Partition
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import View
from dpcore.domain.conditions import Condition
from dpcore.models.redescriptions.learning.redescription_queries import leverages, linked, tree_leaves

VIEWS: Final[tuple[View, View]] = ("left", "right")


@dataclass(frozen=True, repr=False)
class Sets:
    """Sets of records, described by public or released facts alone.

    Called with a partition: their bit vectors there, an array of shape (count, n_words).

    Attributes
    ----------
    make : callable
        A function of a module that gives these vectors, from a partition and ``facts``.
    facts : tuple
    count : int
        How many sets there are.
    """

    make: Callable[..., Words]
    facts: tuple[object, ...]
    count: int

    def __repr__(self) -> str:
        return f"Sets({self.key})"

    @cached_property
    def key(self) -> str:
        """What partitions keep the vectors under: the same for the same sets."""
        return sha256(f"{self.make.__qualname__} {self.facts}".encode()).hexdigest()

    def __len__(self) -> int:
        return self.count

    def __call__(self, partition: Partition) -> Words:
        return partition.cached(self.key, lambda: self.make(partition, *self.facts))


def literal_sets(literals: Sequence[Condition]) -> Sets:
    """The records that satisfy each of some conditions."""
    return Sets(Partition.literals, (tuple(literals),), len(literals))


def leaf_sets(literals: Sets, splits: Ints) -> Sets:
    """The records in each leaf of a complete tree over some literals."""
    return Sets(_leaves, (literals, tuple(splits.tolist())), len(splits) + 1)


def _leaves(partition: Partition, literals: Sets, splits: tuple[int, ...]) -> Words:
    return tree_leaves(literals(partition), np.array(splits, dtype=np.int64), partition.members("all"))


@dataclass(frozen=True)
class Sides:
    """Both views of a table, with all of its records.

    Attributes
    ----------
    columns : mapping
        Names of the columns of "left" and "right".
    literals : mapping
        Splits of "left" and "right".
    """

    table: PrivateTable
    columns: Mapping[View, tuple[str, ...]]
    literals: Mapping[View, tuple[Condition, ...]]

    @cached_property
    def sets(self) -> Mapping[View, Sets]:
        """The records that satisfy each split."""
        return {view: literal_sets(items) for view, items in self.literals.items()}

    @cached_property
    def leverages(self) -> Ints:
        """How far each pair of splits is from independent, see :func:`leverages`. Exact, so it must not leave."""
        return leverages(self.table.total(linked, self.sets["left"], self.sets["right"]))


def opposite(view: View) -> View:
    """The other view."""
    return "right" if view == "left" else "left"
