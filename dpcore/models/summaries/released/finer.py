"""Numbers on finer cells than those of their column, for quantiles: the cells of the column are divided evenly.

The finer counts have noise of their own. With the counts of the column's cells they are made one by least squares:
a cell is told by its own count and by the sum of its parts. Post-processing: costs nothing. Proof:
``docs/privacy/summaries.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.domain.columns import IntegerColumn, NumberColumn
from dpcore.frozen import FrozenModel
from dpcore.released.noisy_counts import nearest


class CodeLevelTable(FrozenModel):
    """Noisy counts of the groups of one level."""

    name: str
    """Of the level, for people."""
    cells: tuple[str, ...]
    """Its groups for people."""
    groups: tuple[int, ...]
    """Group of each cell of the column."""
    counts: tuple[float, ...]
    deviation: float
    """Standard deviation of the noise on each."""


class CodeTree(FrozenModel):
    """Levels of groups above the cells of one column, the coarsest first."""

    axis: int
    """Place of the column in the model's ``axes``."""
    levels: tuple[CodeLevelTable, ...]


@dataclass(frozen=True)
class Level:
    """Best estimates of one level, the cells of the column being the last."""

    parents: Ints
    """Group of the level above that each is in; 0 at the coarsest: shape (n_groups,)."""
    counts: Floats
    deviations: Floats
    """``counts``, ``deviations``: estimates without bias that add up, and the standard deviations of their noise: shape
    (n_groups,)."""
    values: Floats
    """Counts that are not negative, and add up: shape (n_groups,)."""


def fitted(tree: CodeTree, cells: Floats, variance: float, total: float, total_variance: float) -> tuple[Level, ...]:
    """All levels of a tree, from the coarsest to the cells of the column.

    Parameters
    ----------
    cells : array of shape (n_cells,)
        What other tables tell of the cells of the column, with the sum ``total``.
    variance : float
        Of the noise on each, but for what they have in common.
    """
    parents = parents_of(tree, len(cells))
    known = [np.asarray(level.counts, dtype=np.float64) for level in tree.levels]
    noise = [level.deviation**2 for level in tree.levels]
    # From below: what each group and all that is under it tell of it.
    means, variances = [np.asarray(cells)], [np.full(len(cells), variance)]
    for place in range(len(known) - 1, -1, -1):
        width, below = len(known[place]), parents[place + 1]
        under = np.bincount(below, means[0], width), np.bincount(below, variances[0], width)
        precision = 1 / noise[place] + 1 / under[1]
        means.insert(0, (known[place] / noise[place] + under[0] / under[1]) / precision)
        variances.insert(0, 1 / precision)
    # From above: what is left of a group is shared among its children.
    counts, spread, values = np.array([total]), np.array([total_variance]), np.array([max(total, 0.0)])
    made = []
    for own, mean, each in zip(parents, means, variances, strict=True):
        sums, whole = np.bincount(own, mean, len(counts)), np.bincount(own, each, len(counts))
        part = each / whole[own]
        values = _within(mean + part * (counts - sums)[own], own, values)
        counts, spread = (mean + part * (counts - sums)[own], np.maximum(each - part**2 * (whole - spread)[own], 0.0))
        made.append(Level(own, counts, np.sqrt(spread), values))
    return tuple(made)


def parents_of(tree: CodeTree, cells: int) -> list[Ints]:
    """Group of the level above of each group of every level, and of the cells of the column."""
    below = [np.asarray(level.groups, dtype=np.int64) for level in tree.levels] + [np.arange(cells)]
    found = [np.zeros(len(tree.levels[0].cells), dtype=np.int64)]
    for above, own in pairwise(below):
        parent = np.zeros(int(own.max()) + 1, dtype=np.int64)
        parent[own] = above
        found.append(parent)
    return found


def _within(counts: Floats, parents: Ints, wholes: Floats) -> Floats:
    """The nearest counts that are not negative and add up to those of their parents."""
    made = np.zeros(len(counts))
    for place, whole in enumerate(wholes):
        own = parents == place
        if own.any():
            made[own] = nearest(counts[own], float(whole))
    return made


#: Parts of one cell, at most, and of all cells of a column about.
_PARTS, _ALL = 16, 512


class FinerTable(FrozenModel):
    """Noisy counts of finer cells of a column of numbers."""

    axis: int
    """Place of the column in the model's ``axes``."""
    ends: tuple[float, ...]
    """Ends of the finer cells, ascending, one more than cells."""
    cells: tuple[int, ...]
    """The column's cell that each lies in."""
    counts: tuple[float, ...]
    deviation: float
    """Standard deviation of the noise on each."""


@dataclass(frozen=True)
class Finer:
    """What a column holds, by its finer cells."""

    ends: Floats
    """Shape (n + 1,)."""
    counts: Floats
    """Without bias: shape (n,)."""
    values: Floats
    """Not negative, with the counts of the column's cells: shape (n,)."""
    cells: Ints
    """The column's cell that each lies in: shape (n,)."""
    shared: Floats
    """Variance of the count of each of these: shape (n_cells,)."""
    alone: float
    """Variance of what each finer cell has of its own."""

    def variances_below(self, shares: Floats) -> Floats:
        """Of the number of records up to each end, less a share of all of them: shape (n + 1,)."""
        size = np.bincount(self.cells)
        inside = np.arange(len(self.cells)) + 1 - (np.cumsum(size) - size)[self.cells]
        part, shared = inside / size[self.cells], self.shared[self.cells]
        before, after = (np.cumsum(self.shared) - self.shared)[self.cells], self.shared.sum()
        after = after - before - shared
        share = shares[1:]
        own = self.alone * inside * (1 - part) + shared * (part - share) ** 2
        found = (1 - share) ** 2 * before + share**2 * after + own
        return np.concatenate([[shares[0] ** 2 * self.shared.sum()], np.maximum(found, 0.0)])

    def variance(self, weights: Floats) -> float:
        """Of the sum of the counts with these weights."""
        means = np.bincount(self.cells, weights) / np.bincount(self.cells)
        inside = float(((weights - means[self.cells]) ** 2).sum()) * self.alone
        return inside + float(means**2 @ self.shared)


def finer_ends(column: NumberColumn) -> tuple[tuple[float, ...], tuple[int, ...]]:
    """Ends of finer cells of a column of numbers, and the cell that each lies in. Public: from the schema alone."""
    points = np.array([column.lower, *column.inner_edges, column.upper], dtype=np.float64)
    parts = int(max(1, min(_PARTS, _ALL // (len(points) - 1))))
    ends, cells = [float(points[0])], list[int]()
    for cell, (low, high) in enumerate(pairwise(points)):
        inside = np.linspace(low, high, parts + 1)[1:-1]
        if isinstance(column, IntegerColumn):
            inside = np.floor(inside)
        own = [*np.unique(inside[(inside > low) & (inside < high)]).tolist(), float(high)]
        ends += own
        cells += [cell] * len(own)
    return tuple(ends), tuple(cells)


def finer(table: FinerTable, counts: Floats, deviation: float, values: Floats) -> Finer:
    """Both counts made one.

    Parameters
    ----------
    counts, values : array of shape (n_cells,)
        Of the column's cells with numbers: without bias, and without negative ones.
    deviation : float
        Of the noise on each of ``counts``.
    """
    cells, own = np.asarray(table.cells), np.asarray(table.counts, dtype=np.float64)
    size, sums, alone = np.bincount(cells), np.bincount(cells, own), table.deviation**2
    shared = 1 / (1 / deviation**2 + 1 / (size * alone))
    whole = shared * (counts / deviation**2 + sums / (size * alone))
    made = own + ((whole - sums) / size)[cells]
    kept = np.zeros(len(own))
    for cell, total in enumerate(values):
        kept[cells == cell] = nearest(made[cells == cell], float(total))
    return Finer(np.asarray(table.ends), made, kept, cells, shared, alone)
