"""Scores of a partition's records under given shapes, and the sums of their residuals.

A score is a sum of whole numbers, one for each shape, so it does not matter in which order
shapes changed. A partition keeps the scores that it last worked out and moves them by what has
changed since; if nothing is kept, it works them out again. So all that is found here is a
function of a partition's records and of the arguments, which are public or released.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

import numpy as np

from dpcore.arrays import Array, Floats, Ints, Ints32
from dpcore.cores import in_threads
from dpcore.data.counting import cells_between
from dpcore.data.partition import Partition
from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ebm.learning.kernels import (
    CLASS_STEPS,
    LARGEST_SCORE,
    NUMBER_STEPS,
    add_up,
    add_up_pair,
    clipped_residuals,
    logistic_residuals,
    move,
    softmax_residuals,
)
from dpcore.models.ebm.learning.records import Binning, Layout, cell_codes, counted, labels_of, layout_codes
from dpcore.models.ebm.learning.start import SIZE_EDGES

#: Places whose scores are looked at together: they stay in a core's cache.
_BLOCK = 2**14
#: Blocks for which a further core is worth it.
_MANY_BLOCKS = 2


class Shapes:
    """Shapes of some replicates in score steps, as questions carry them. Released.

    One table for each binning: of one shape, or of the sum of the shapes of several columns.

    Attributes
    ----------
    layout : Layout
    base : array of shape (n_outputs,), int32
        Score of everybody before the shapes are added.
    tables : array of shape (n_replicates, n_outputs, n_bins), int32
        What the bins of all shapes add, one shape after the other.
    """

    def __init__(self, schema: Schema, layout: Layout, intercept: Floats, replicates: int) -> None:
        self.layout = layout
        self._starts = np.concatenate([[0], np.cumsum([len(binning) for binning in layout.binnings])])
        self._steps = NUMBER_STEPS if isinstance(schema.column(layout.target), NumericColumn) else CLASS_STEPS
        # A start is never cut off, but added to the released shapes as it is: they share what it leaves.
        self.base = np.rint(intercept * self._steps).astype(np.int32)
        self._largest = (LARGEST_SCORE - int(np.abs(self.base).max())) // len(layout.binnings)
        self.tables = np.zeros((replicates, len(intercept), self._starts[-1]), dtype=np.int32)

    def put(self, feature: int, shapes: Sequence[Floats]) -> None:
        """Exchange one shape: for each replicate an array of shape (n_bins, n_outputs)."""
        self.tables[:, :, self.places(feature)] = self._on_grid(np.stack(shapes)).swapaxes(1, 2)

    @property
    def key(self) -> tuple[str, bytes, tuple[int, ...]]:
        """The same for all shapes that scores can be moved between."""
        return self.layout.key, self.base.tobytes(), self.tables.shape

    def at(self, bins: Array) -> Ints:
        """The shapes to which some bins belong."""
        return np.unique(np.searchsorted(self._starts, np.flatnonzero(bins), side="right") - 1)

    def places(self, feature: int) -> slice:
        """Where the bins of a shape are."""
        return slice(int(self._starts[feature]), int(self._starts[feature + 1]))

    def _on_grid(self, values: Floats) -> Ints32:
        """The nearest steps of a shape, and no more than all of them together may have."""
        return np.clip(np.rint(values * self._steps), -self._largest, self._largest).astype(np.int32)


class _Scores:
    """Scores of every place of a partition, and the shapes that they belong to.

    Attributes
    ----------
    blocks : list of arrays of shape (n_replicates, n_outputs, n_places), int32
    """

    def __init__(self) -> None:
        self.turn = threading.Lock()
        self.blocks: list[Ints32] = []
        self._of: tuple[str, bytes, tuple[int, ...]] | None = None
        self._tables = np.empty(0, dtype=np.int32)

    @property
    def nbytes(self) -> int:
        """Room that they take."""
        return sum(block.nbytes for block in self.blocks)

    def begin(self, rows: int, shapes: Shapes) -> list[tuple[int, Ints32]]:
        """Shapes that have changed, and by how much: tables over their bins.

        From here until :meth:`end` the scores belong to no shapes.
        """
        if self._of != shapes.key:
            *lanes, _ = shapes.tables.shape
            sizes = (min(_BLOCK, rows - start) for start in range(0, rows, _BLOCK))
            self.blocks = [np.empty((*lanes, size), dtype=np.int32) for size in sizes]
            for block in self.blocks:
                block[:] = shapes.base[:, None]
            self._tables = np.zeros_like(shapes.tables)
        self._of = None
        change = shapes.tables - self._tables
        return [
            (feature, change[:, :, shapes.places(feature)])
            for feature in shapes.at(np.asarray(change.any(axis=(0, 1))))
        ]

    def end(self, shapes: Shapes) -> None:
        """Now they belong to these."""
        self._of, self._tables = shapes.key, shapes.tables.copy()


def _looked(partition: Partition, shapes: Shapes, look: Callable[[slice, Ints32], Ints]) -> Ints:
    """Sum of what ``look`` finds in blocks of places, given these and their scores."""
    state = partition.cached("ebm scores", _Scores)
    codes, binnings = layout_codes(partition, shapes.layout), shapes.layout.binnings
    found: list[Ints] = []
    with state.turn:
        changes = [
            (codes[feature], np.ascontiguousarray(change[:, :, binnings[feature].of_codes]))
            for feature, change in state.begin(partition.rows, shapes)
        ]
        none = np.empty((*shapes.tables.shape[:2], 0), dtype=np.int32)

        def work(mine: Ints) -> None:
            total = look(slice(0, 0), none)
            for number in mine:
                block, scores = slice(number * _BLOCK, (number + 1) * _BLOCK), state.blocks[number]
                for own, change in changes:
                    move(scores, own[block], change)
                total += look(block, scores)
            found.append(total)

        in_threads(work, len(state.blocks), _MANY_BLOCKS)
        state.end(shapes)
    return np.asarray(np.sum(found, axis=0))


def _residuals(labels: Ints32, scores: Ints32, clip: float, *, numbers: bool) -> Ints32:
    """Residuals in grid steps: shape (n_replicates, n_outputs, n_places)."""
    residuals = np.empty(scores.shape, dtype=np.int32)
    if numbers:
        clipped_residuals(labels, scores, clip * NUMBER_STEPS, residuals)
    elif scores.shape[1] == 1:
        logistic_residuals(labels, scores, residuals)
    else:
        softmax_residuals(labels, scores, residuals)
    return residuals


def _numbers(partition: Partition, layout: Layout) -> bool:
    return isinstance(partition.schema.column(layout.target), NumericColumn)


def residual_sums(partition: Partition, shapes: Shapes, tables: Sequence[int], clip: float) -> tuple[Ints, ...]:
    """Residual sums of the bins of some tables in grid steps: each of shape (n_replicates, n_bins, n_outputs).

    Sensitivity of one, for each replicate: :func:`~dpcore.models.ebm.learning.grid.residual_sensitivity`.

    Parameters
    ----------
    tables : sequence of int
        Binnings of the layout. All are asked under the same shapes.
    clip : float
        Largest size of a residual of a number, as a share of the target's range.
    """
    layout = shapes.layout
    labels, codes = labels_of(partition, layout.target, layout.part), layout_codes(partition, layout)
    groups, numbers = [layout.binnings[table].of_codes for table in tables], _numbers(partition, layout)

    def look(block: slice, scores: Ints32) -> Ints:
        sums = [np.zeros((*scores.shape[:2], len(own)), dtype=np.int64) for own in groups]
        residuals = _residuals(labels[block], scores, clip, numbers=numbers)
        for table, own in zip(tables, sums, strict=True):
            add_up(residuals, codes[table][block], own)
        return np.concatenate(sums, axis=2)

    found = _looked(partition, shapes, look)
    of_tables = np.split(found, np.cumsum([len(own) for own in groups])[:-1], axis=2)
    # Codes of a bin are neighbours.
    firsts = [np.searchsorted(own, np.arange(int(own[-1]) + 1)) for own in groups]
    return tuple(np.add.reduceat(sums, own, axis=2).swapaxes(1, 2) for sums, own in zip(of_tables, firsts, strict=True))


def residual_sizes(partition: Partition, shapes: Shapes) -> Ints:
    """Records per group of the size of their residual under the first replicate.

    Group i holds edges[i-1] < size <= edges[i], the last one all that is larger too. Sensitivity:
    :func:`~dpcore.models.ebm.learning.grid.histogram_sensitivity`.
    """
    labels = labels_of(partition, shapes.layout.target, shapes.layout.part)

    def look(block: slice, scores: Ints32) -> Ints:
        sizes = np.abs(labels[block] - scores[0, 0])
        groups = cells_between(SIZE_EDGES[:-1] * NUMBER_STEPS, sizes.astype(np.float64))
        return counted(labels[block], groups, len(SIZE_EDGES))

    return _looked(partition, shapes, look)


def pair_tables(
    partition: Partition, shapes: Shapes, sides: Sequence[Binning], pairs: Sequence[tuple[int, int]], clip: float
) -> Ints:
    """Residual sums per cell of pairs of features, in steps of pairs: (n_pairs, n_outputs, n_first, n_second).

    Padded to the largest side. The residuals of a row, of which each pair's table holds every one
    once, have an L1 norm of at most :func:`~dpcore.models.ebm.learning.grid.pair_sensitivity`.
    """
    layout, size = shapes.layout, max(len(side) for side in sides)
    labels, numbers = labels_of(partition, layout.target, layout.part), _numbers(partition, layout)
    cells = cell_codes(partition, layout.target)

    def look(block: slice, scores: Ints32) -> Ints:
        tables = np.zeros((len(pairs), scores.shape[1], size, size), dtype=np.int64)
        values = _residuals(labels[block], scores, clip, numbers=numbers)[0]
        coarse: list[Array] = [side.groups[0][cells[side.columns[0]][block]] for side in sides]
        for table, (first, second) in zip(tables, pairs, strict=True):
            add_up_pair(values, coarse[first], coarse[second], table)
        return tables

    return _looked(partition, shapes, look)
