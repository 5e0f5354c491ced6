"""Numbers on finer cells than those of their column, for quantiles: the cells of the column are divided evenly.

The finer counts have noise of their own. With the counts of the column's cells they are made one by least squares:
a cell is told by its own count and by the sum of its parts. Post-processing: costs nothing. Proof:
``docs/privacy/summaries.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.domain.columns import IntegerColumn
from dpcore.frozen import FrozenModel
from dpcore.released.noisy_counts import nearest

#: Parts of one cell, at most, and of all cells of a column about.
_PARTS, _ALL = 16, 512


class FinerTable(FrozenModel):
    """Noisy counts of finer cells of a column of numbers.

    Attributes
    ----------
    axis : int
        Place of the column in the model's ``axes``.
    ends : tuple of float
        Ends of the finer cells, ascending, one more than cells.
    cells : tuple of int
        The column's cell that each lies in.
    counts : tuple of float
    deviation : float
        Standard deviation of the noise on each.
    """

    axis: int
    ends: tuple[float, ...]
    cells: tuple[int, ...]
    counts: tuple[float, ...]
    deviation: float


@dataclass(frozen=True)
class Finer:
    """What a column holds, by its finer cells.

    Attributes
    ----------
    ends : array of shape (n + 1,)
    counts : array of shape (n,)
        Without bias.
    values : array of shape (n,)
        Not negative, with the counts of the column's cells.
    cells : array of shape (n,)
        The column's cell that each lies in.
    shared : array of shape (n_cells,)
        Variance of the count of each of these.
    alone : float
        Variance of what each finer cell has of its own.
    """

    ends: Floats
    counts: Floats
    values: Floats
    cells: Ints
    shared: Floats
    alone: float

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


def finer_ends(column: Any) -> tuple[tuple[float, ...], tuple[int, ...]]:
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
