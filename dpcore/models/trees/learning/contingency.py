"""What a greedy learner sees of a node: its candidate splits and their branch by class counts.

Candidates come from the schema and the path alone. A category column sends each category to
its own branch and is used once on a path; an ordered column is cut in two at a public edge and
can be cut again below. Everything counted here is exact and must not leave the learners.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from dpcore.arrays import Ints, Words
from dpcore.data.bits import count_bits
from dpcore.data.table import PrivateTable
from dpcore.domain.conditions import Condition
from dpcore.domain.schema import Part, Schema
from dpcore.models.trees.released.splits import Split, split_by_category, split_on


@dataclass(frozen=True)
class Region:
    """Cells that the path to a node leaves possible; public once the path is released.

    Attributes
    ----------
    cells : mapping of str to tuple of int
        Possible cell codes of each column that the path looks at; all cells for others.
    """

    cells: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def possible(self, column: Any) -> tuple[int, ...]:
        """Cell codes of a column that a record here may have."""
        return self.cells.get(column.name, tuple(range(len(column.cells))))

    def narrowed(self, split: Split, branch: int) -> Region:
        """What one branch of a split leaves possible."""
        before = self.cells.get(split.column, range(len(split.branches)))
        after = tuple(code for code in before if split.branches[code] == branch)
        return Region({**self.cells, split.column: after})


@dataclass(frozen=True)
class ColumnCandidates:
    """The candidate splits of one column at a node.

    Attributes
    ----------
    column : column of the schema
    edges : array of shape (n_edges,) or None
        Last cell below each cut; ``None`` is the one split by category.
    """

    column: Any
    edges: Ints | None

    def __len__(self) -> int:
        return 1 if self.edges is None else len(self.edges)

    @property
    def branches(self) -> int:
        """Branches of each of these splits."""
        return len(self.column.classes) + 1 if self.edges is None else 2

    def split(self, place: int, schema: Schema) -> Split:
        """The split at one place of these."""
        if self.edges is None:
            return split_by_category(self.column)
        edge = int(self.edges[place])
        return split_on(Condition(column=self.column.name, first=0, last=edge), schema)

    def tables(self, cell_counts: Ints) -> Ints:
        """Records per branch and class of each candidate, from those per cell and class.

        Returns
        -------
        array of shape (n_candidates, n_branches, n_classes)
        """
        if self.edges is None:
            known = len(self.column.classes)
            rest = cell_counts[known:].sum(axis=0, keepdims=True)
            return np.concatenate([cell_counts[:known], rest])[None]
        below = np.cumsum(cell_counts, axis=0)[self.edges]
        return np.stack([below, cell_counts.sum(axis=0) - below], axis=1)


def column_candidates(column: Any, region: Region) -> ColumnCandidates | None:
    """Candidate splits of a column within a region; ``None`` if there are none."""
    if not column.ordered:
        return None if column.name in region.cells else ColumnCandidates(column, None)
    known = [code for code in region.possible(column) if code < len(column.classes)]
    if len(known) < 2:
        return None
    return ColumnCandidates(column, np.asarray(known[:-1], dtype=np.int64))


@dataclass(frozen=True)
class NodeData:
    """The records that a tree is grown on, as bit vectors.

    Attributes
    ----------
    cells : array of shape (n_cells, n_words), uint64
        One bit vector per (column, cell), columns in schema order.
    classes : array of shape (n_classes, n_words), uint64
        Bit vectors of the training records per class, disjoint.
    schema : Schema
    target : str
    """

    cells: Words
    classes: Words
    schema: Schema
    target: str

    @classmethod
    def of_table(cls, table: PrivateTable, target: str, part: Part) -> NodeData:
        """The records of one part of a table whose target is a declared class."""
        members = table.class_members(target, part)
        return cls(np.asarray(table.cells), members, table.schema, target)

    def restricted(self, members: Words) -> NodeData:
        """Only the records of one bit vector."""
        return replace(self, classes=self.classes & members)

    @cached_property
    def features(self) -> tuple[Any, ...]:
        """Columns other than the target."""
        return tuple(column for column in self.schema if column.name != self.target)

    @cached_property
    def _first_cell(self) -> dict[str, int]:
        starts = np.cumsum([0, *(len(column.cells) for column in self.schema)])
        return {c.name: int(start) for c, start in zip(self.schema, starts[:-1], strict=True)}

    def candidates(self, region: Region) -> list[ColumnCandidates]:
        """Candidate splits of a node, by column."""
        found = (column_candidates(column, region) for column in self.features)
        return [item for item in found if item is not None]

    def members(self, region: Region) -> Words:
        """Records per class in a region: shape (n_classes, n_words)."""
        result = self.classes
        for name, codes in region.cells.items():
            rows = self.cells[[self._first_cell[name] + code for code in codes]]
            result = result & np.bitwise_or.reduce(rows, axis=0)
        return result

    def cell_counts(self, column: Any, members: Words) -> Ints:
        """Records per cell of a column and class: shape (n_cells, n_classes)."""
        start = self._first_cell[column.name]
        return count_bits(self.cells[start : start + len(column.cells)], members)


def widest(candidates: list[ColumnCandidates]) -> int:
    """Most branches of any candidate; 0 if there is none."""
    return max((item.branches for item in candidates), default=0)


def nth_split(schema: Schema, candidates: list[ColumnCandidates], index: int) -> Split:
    """The candidate at a place among those of all columns together."""
    for item in candidates:
        if index < len(item):
            return item.split(index, schema)
        index -= len(item)
    raise IndexError("there are not so many candidates")
