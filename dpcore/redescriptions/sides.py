"""The two views of a table: their columns, their splits, and the records as bit vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from dpcore.bits import Words
from dpcore.literals import Literal, bit_vectors
from dpcore.schema import Schema, View
from dpcore.table import PrivateTable
from dpcore.trees.splits import split_literals


def view_literals(schema: Schema, columns: Sequence[str], *, reserved: bool) -> tuple[Literal, ...]:
    """Every public split over the columns of a view, each once."""
    wanted = set(columns)
    literals = split_literals(schema, "", reserved=reserved)
    return tuple(item for item in literals if item.column in wanted)


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
    literals: Mapping[View, tuple[Literal, ...]]

    @cached_property
    def bits(self) -> Mapping[View, Words]:
        """Bit vectors of the splits: arrays of shape (n_splits, n_words)."""
        return {view: bit_vectors(self.table, items) for view, items in self.literals.items()}

    @cached_property
    def everyone(self) -> Words:
        """Bit vector of all records: shape (n_words,)."""
        return self.table.members("all")


def opposite(view: View) -> View:
    """The other view."""
    return "right" if view == "left" else "left"
