"""What a greedy learner sees of a node: its candidate splits and their branch by class counts.

Candidates come from the schema and the path alone. A category column sends each category to
its own branch and is used once on a path; an ordered column is cut in two at a public edge and
can be cut again below. Everything counted here is exact and must not leave the learners.

A whole level of nodes is counted in one pass over all places: see :class:`Routes`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import pairwise
from typing import Final

import numpy as np

from dpcore.arrays import Array, Flags, Ints, Words
from dpcore.compiled import kernel
from dpcore.cores import in_threads
from dpcore.data.counting import count_pairs
from dpcore.data.partition import Partition
from dpcore.data.queries import Groups, class_groups, group_counts
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import Column
from dpcore.domain.conditions import Condition, Cuts, cuts_of
from dpcore.domain.schemas.schema import Part, Schema
from dpcore.models.trees.learning.growth import Grown
from dpcore.models.trees.learning.path_form import PURE, PathForm
from dpcore.models.trees.released.splits import Split, split_by_category, split_on
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.privacy.sensitivity import Sensitivity

#: Bytes of the counts that are asked for at once.
_AT_ONCE: Final = 256 * 2**20
#: Places that are taken down a tree one after another: their codes stay in the cache of a core.
_NEAR: Final = 2**10


@dataclass(frozen=True)
class Region:
    """Cells that the path to a node leaves possible; public once the path is released.

    Attributes
    ----------
    cells : mapping of str to tuple of int
        Possible cell codes of each column that the path looks at; all cells for others.
    """

    cells: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    def possible(self, column: Column) -> tuple[int, ...]:
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

    column: Column
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
        return split_on(Condition(column=self.column.name, first=0, last=edge), schema.column(self.column.name))

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


def column_candidates(column: Column, region: Region, cuts: Cuts) -> ColumnCandidates | None:
    """Candidate splits of a column within a region; ``None`` if there are none."""
    if not column.ordered:
        return None if column.name in region.cells else ColumnCandidates(column, None)
    known = [code for code in region.possible(column) if code < len(column.classes)]
    edges = [code for code in cuts_of(column, cuts) if known and known[0] <= code < known[-1]]
    return ColumnCandidates(column, np.asarray(edges, dtype=np.int64)) if edges else None


@dataclass(frozen=True)
class Routes:
    """The way from the root of a tree, all of it released, to some of its nodes.

    Attributes
    ----------
    columns : array of shape (n_nodes,)
        Position in the schema of the column that a node looks at.
    onward : array of shape (n_nodes, most cells)
        Node to which each of its cells leads: a node without split to itself.
    steps : int
        Depth of the tree.
    numbers : array of shape (n_nodes,)
        Number of the node among those looked for; ``ends`` for others.
    ends : int
        How many are looked for.
    """

    columns: Ints
    onward: Ints
    steps: int
    numbers: Ints
    ends: int

    @classmethod
    def to(cls, ends: Sequence[Grown], root: Grown, schema: Schema) -> Routes:
        """The way to ``ends``, nodes of which none lies below another."""
        nodes, depths, first = [root], [0], []
        for node, depth in zip(nodes, depths, strict=False):
            first.append(len(nodes))
            nodes += node.children
            depths += [depth + 1] * len(node.children)
        numbers = {id(end): number for number, end in enumerate(ends)}
        positions = {column.name: position for position, column in enumerate(schema)}
        widest = max(len(column.cells) for column in schema)
        columns, onward = np.zeros(len(nodes), dtype=np.int64), np.tile(np.arange(len(nodes))[:, None], widest)
        for place, node in enumerate(nodes):
            if node.children and node.split is not None:
                columns[place] = positions[node.split.column]
                branches = node.split.branches
                onward[place, : len(branches)] = first[place] + np.asarray(branches)
        found = np.array([numbers.get(id(node), len(ends)) for node in nodes], dtype=np.int64)
        return cls(columns, onward, max(depths), found, len(ends))


@dataclass(frozen=True)
class Share:
    """One of several even parts of the records: a function of each record's own number, and of keys.

    Attributes
    ----------
    keys : tuple of int
        Two uniform 64-bit words, drawn before any record is looked at.
    parts : int
    number : int
        Which of them, from 0.
    """

    keys: tuple[int, int]
    parts: int
    number: int

    def holds(self, partition: Partition) -> Flags:
        """Whether each place is in this part."""
        everyone = partition.cached(
            (Share, self.keys, self.parts), lambda: _parts(partition.ids, self.keys, self.parts)
        )
        return np.asarray(everyone == self.number)


def _parts(ids: Words, keys: tuple[int, int], parts: int) -> Array:
    """Part of each record: the upper half of its mixed number, scaled."""
    mixed = _mixed(_mixed(ids ^ np.uint64(keys[0])) ^ np.uint64(keys[1]))
    part = (mixed >> np.uint64(32)) * np.uint64(parts) >> np.uint64(32)
    return part.astype(np.uint8 if parts <= 256 else np.uint32)


def _mixed(words: Words) -> Words:
    """The finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection in which every bit moves all."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


@dataclass(frozen=True)
class NodeData:
    """The records that a tree is grown on: questions about its nodes, and what is public of them.

    Attributes
    ----------
    table : PrivateTable
    target : str
    part : str
        Part of the records, of those whose target is a declared class.
    share : Share or None
        Only the records that fall into it.
    cuts : mapping of str to tuple of int
        Where columns of numbers may be cut.
    form : PathForm
        How what is asked of them is paid for.
    """

    table: PrivateTable
    target: str
    part: Part
    share: Share | None = None
    cuts: Cuts = field(default_factory=dict)
    form: PathForm = PURE

    @property
    def schema(self) -> Schema:
        """The public domain."""
        return self.table.schema

    @cached_property
    def n_classes(self) -> int:
        """Number of classes of the target."""
        return len(self.schema.column(self.target).classes)

    @cached_property
    def features(self) -> tuple[Column, ...]:
        """Columns other than the target."""
        return tuple(column for column in self.schema if column.name != self.target)

    @cached_property
    def _cells(self) -> dict[str, slice]:
        ends = np.cumsum([0, *(len(column.cells) for column in self.features)]).tolist()
        return {c.name: slice(*pair) for c, pair in zip(self.features, pairwise(ends), strict=True)}

    def candidates(self, region: Region) -> list[ColumnCandidates]:
        """Candidate splits of a node, by column."""
        found = (column_candidates(column, region, self.cuts) for column in self.features)
        return [item for item in found if item is not None]

    def of_column(self, cell_counts: Ints, column: Column) -> Ints:
        """What :meth:`cell_counts` of a node say of one column: shape (n_cells, n_classes)."""
        return cell_counts[self._cells[column.name]]

    def cell_counts(self, routes: Routes) -> Ints:
        """Records per node, cell of every feature, and class: see :data:`CELLS`.

        Returns
        -------
        array of shape (n_ends, n_cells, n_classes)
            Columns in schema order.
        """
        counts = self.table.total(
            cells_by_node, self.target, self.part, partial(reached, routes, self.share), routes.ends
        )
        return counts.reshape(len(counts), routes.ends, self.n_classes).swapaxes(0, 1)

    def class_counts(self, routes: Routes) -> Ints:
        """Records per node and class, of nodes of which none lies below another: (n_ends, n_classes)."""
        return group_counts(self.table, self.target, self.part, partial(reached, routes, self.share), routes.ends)

    def most_at_once(self) -> int:
        """Nodes for which :meth:`cell_counts` fit :data:`_AT_ONCE`."""
        cells = sum(len(column.cells) for column in self.features)
        return max(1, _AT_ONCE // (8 * max(1, cells) * self.n_classes))


#: Of nodes of which none lies below another: a row is in one of them, in one cell of each column,
#: and has one class. So it moves one entry for each column: sensitivity 1 in L1 and in L2, of c columns c and the
#: root of c.
CELLS = Sensitivity(1, "L1", monotone=True)


def reached(routes: Routes, share: Share | None, partition: Partition) -> Ints:
    """Number of the node that each place reaches; ``routes.ends`` if none, or not in the share."""
    found = walked(np.asarray(partition.codes), routes.columns, routes.onward, routes.steps, routes.numbers)
    return found if share is None else routes.ends + share.holds(partition) * (found - routes.ends)


def stopped_at(model: TreeModel, numbers: Ints, partition: Partition) -> Ints:
    """Number of the node of a released tree where each place stops: shape (rows,).

    Parameters
    ----------
    numbers : array of shape (n_nodes,)
    """
    names = model.columns()
    if not names:
        return np.full(partition.rows, numbers[0])
    columns, onward, steps = model.steps(names)
    positions = np.array([partition.schema.index(name) for name in names])
    return walked(np.asarray(partition.codes), positions[columns], onward, steps, numbers)


def cells_by_node(partition: Partition, target: str, part: Part, ends: Groups, end_count: int) -> Ints:
    """Kernel of :meth:`NodeData.cell_counts`: shape (n_cells, end_count x n_classes).

    Every place is visited once for each column, wherever it ends: so the time does not depend on
    the records.
    """
    schema, groups = partition.schema, class_groups(partition, target, part, ends, end_count)
    columns = np.array([place for place, column in enumerate(schema) if column.name != target], dtype=np.int64)
    first = np.cumsum([0, *(len(column.cells) for column in schema if column.name != target)])
    # One more for what is not counted.
    width = end_count * len(schema.column(target).classes) + 1
    counts = np.zeros((first[-1], width), dtype=np.int64)
    codes = np.asarray(partition.codes)

    def count(chosen: Ints) -> None:
        for place in chosen:
            count_pairs(codes[columns[place]], groups, width, counts[first[place] : first[place + 1]].ravel())

    in_threads(count, len(columns))
    return counts[:, :-1]


def walked(codes: Array, columns: Ints, onward: Ints, steps: int, numbers: Ints) -> Ints:
    """Number of the node where each place ends that is taken down a tree: shape (rows,).

    Parameters
    ----------
    codes : array of shape (n_columns, rows), unsigned
    columns, onward, steps, numbers
        As of :class:`Routes`.
    """
    found = np.empty(codes.shape[1], dtype=np.int64)
    used, own = np.unique(columns, return_inverse=True)
    _walk(codes, used, own.astype(np.uint16), onward.astype(np.uint16), steps, numbers, found)
    return found


@kernel
def _walk(codes: Array, used: Ints, columns: Array, onward: Array, steps: int, numbers: Ints, found: Ints) -> None:
    """Take every place as many steps as the tree is deep.

    The columns ``used`` are read from start to end, whichever of them a place is asked about.
    """
    near = np.empty((len(used), _NEAR), dtype=codes.dtype)
    for start in range(0, len(found), _NEAR):
        many = min(_NEAR, len(found) - start)
        for place in range(len(used)):
            near[place, :many] = codes[used[place], start : start + many]
        for row in range(many):
            node = np.uint64(0)
            for _ in range(steps):
                node = np.uint64(onward[node, np.uint64(near[np.uint64(columns[node]), row])])
            found[start + row] = numbers[node]


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
