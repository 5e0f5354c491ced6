"""The two views of a table: their columns, their splits, and the records as bit vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from dpcore.arrays import Words
from dpcore.data.table import PrivateTable, bit_vectors
from dpcore.domain.columns import View
from dpcore.domain.conditions import Condition, threshold_conditions
from dpcore.domain.schema import Schema
from dpcore.models.trees.released.splits import split_conditions

VIEWS: Final[tuple[View, View]] = ("left", "right")


def view_conditions(
    schema: Schema, columns: Sequence[str], *, reserved: bool, either_way: bool = False
) -> tuple[Condition, ...]:
    """Every public split over the columns of a view, each once.

    Parameters
    ----------
    reserved : bool
        Also split on ``(missing)`` and ``(other)``.
    either_way : bool
        Ordered columns: ``>`` at every edge beside ``<=``. They are not each other's negation:
        ``(missing)`` satisfies neither, so it may stand with either side.
    """
    wanted = set(columns)
    literals = [item for item in split_conditions(schema, "", reserved=reserved) if item.column in wanted]
    if either_way:
        for column in (item for item in schema if item.name in wanted and item.ordered):
            thresholds = threshold_conditions(column, reserved=False)
            literals += [item for item in thresholds if item.first > 0]
    return tuple(literals)


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
