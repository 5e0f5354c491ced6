"""Public fine cells of the features, the private bins that are made of them, and what the learner asks of the records.

Each question states its sensitivity; proofs are in ``docs/privacy/ebm.md``. All sensitivities are L2, for one row added
or removed, and in grid steps; a person with several rows is covered by a smaller mu per row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from dpcore.arrays import Array, Floats, Ints
from dpcore.data.partition import Partition
from dpcore.domain.columns import Column, IntegerColumn, NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ebm.learning.kernels import PAIR_STEPS, RESIDUAL_STEPS, cells_of
from dpcore.models.ebm.released.axis import Axis
from dpcore.privacy.mechanisms import FineGaussian
from dpcore.privacy.randomness import RandomSource
from dpcore.released.noisy_counts import even_cuts

#: Fine cells that the bins of a numeric column are subdivided into, about.
_FINE_CELLS = 240
#: Places into which numbers are sorted before they are compared with edges, and the inverse of
#: the shortest range for which there is more than one.
_PLACES, _WIDEST = 4096, 1e300


@dataclass(frozen=True)
class FineCells:
    """Public cells of one feature, fine enough for bins to be chosen among their edges."""

    column: Any
    """The feature."""
    edges: Floats | None
    """Numeric column: ascending cut points; the schema's own are among them. The last cell is for missing values.
    ``None``: the cells of the column."""

    @classmethod
    def of(cls, column: Column) -> FineCells:
        """Subdivide the schema's bins of a numeric column evenly."""
        if not isinstance(column, NumericColumn):
            return cls(column, None)
        points = np.array([column.lower, *column.inner_edges, column.upper])
        parts = max(1, _FINE_CELLS // (len(points) - 1))
        shares = np.arange(parts) / parts
        fine = (points[:-1, None] + np.diff(points)[:, None] * shares[1:]).ravel()
        own = points[1:-1]
        if isinstance(column, IntegerColumn):
            fine, own = np.floor(fine), np.floor(own)
        between = [float(f"{edge:.12g}") for edge in fine]
        inside = np.unique([*between, *own])
        return cls(column, inside[(inside >= column.lower) & (inside < column.upper)])

    def __len__(self) -> int:
        return len(self.column.cells) if self.edges is None else len(self.edges) + 2

    def merged(self, most: int) -> tuple[FineCells, Ints]:
        """Runs of as many cells each, so that at most about ``most`` are left, and the run of each cell.

        Missing values stay apart; cells of a column that is not numeric stay as they are.
        """
        width = 1 if self.edges is None else -(-(len(self) - 1) // most)
        if self.edges is None or width == 1:
            return self, np.arange(len(self))
        run = np.arange(len(self) - 1) // width
        return FineCells(self.column, self.edges[width - 1 :: width]), np.append(run, run[-1] + 1)

    def codes(self, partition: Partition) -> Array:
        """Cell of every place of a partition, unsigned; places without a record get some cell."""
        if self.edges is None:
            return partition.codes_of(self.column.name)
        return number_cells(partition.numbers_of(self.column.name), self.edges, len(self) - 1)


def number_cells(numbers: Floats, edges: Floats, missing: int) -> Array:
    """Number of ascending ``edges`` below each number, and ``missing`` for NaN: unsigned integers."""
    low, span = (float(edges[0]), float(edges[-1] - edges[0])) if len(edges) else (0.0, 0.0)
    scale = _PLACES / span if span > 1 / _WIDEST else 0.0
    places = np.minimum((edges - low) * scale, _PLACES - 1).astype(np.int64)
    first = np.searchsorted(places, np.arange(_PLACES)).astype(np.uint64)
    most = int(np.bincount(places, minlength=1).max())
    codes = np.empty(len(numbers), dtype=np.min_scalar_type(missing))
    cells_of(numbers, np.append(edges, np.inf), low, scale, first, most, missing, codes)
    return codes


def feature_cells(schema: Schema, target: str) -> tuple[FineCells, ...]:
    """Fine cells of every column but the target, in schema order."""
    return tuple(FineCells.of(column) for column in schema if column.name != target)


@dataclass(frozen=True)
class Bins:
    """Private bins of one feature, from its noisy histogram. Post-processing."""

    axis: Axis
    """What a reader sees."""
    groups: Ints
    """Bin of each fine cell: shape (n_cells,)."""
    noisy_counts: Floats
    """Records per bin, with noise: shape (n_bins,)."""
    errors: Floats
    """Standard deviation of that noise: shape (n_bins,)."""
    ordered: int
    """The first so many bins are in a meaningful order."""

    @classmethod
    def merge(
        cls, cells: FineCells, noisy: Floats, deviation: float, most: int, least: float, even: float = 0.0
    ) -> Bins:
        """Cut a numeric feature at about equal noisy counts; other features keep their cells.

        Parameters
        ----------
        noisy : array of shape (n_cells,)
            Noisy histogram of the fine cells.
        deviation : float
            Standard deviation of the noise on each.
        most : int
            Most bins, missing values apart.
        least : float
            A bin with a smaller noisy count than twice this is not split.
        even : float
            Share of the records that count as if they were spread evenly over the cells: with 1
            bins are of equal width.
        """
        if cells.edges is None:
            axis = Axis.categories(cells.column)
            groups = np.arange(len(cells))
            ordered = len(cells.column.classes) if cells.column.ordered else 0
        else:
            spread = even * max(float(noisy[:-1].sum()), 0.0) / (len(noisy) - 1)
            cuts = even_cuts((1 - even) * noisy[:-1] + spread, most, least)
            axis = Axis.numeric(cells.column, tuple(float(cells.edges[cut - 1]) for cut in cuts))
            groups = np.searchsorted(cuts, np.arange(len(cells)), side="right")
            groups[-1] = len(cuts) + 1
            ordered = len(cuts) + 1
        sizes = np.bincount(groups)
        counts = np.bincount(groups, weights=noisy).astype(np.float64)
        return cls(axis, groups, counts, deviation * np.sqrt(sizes), ordered)


#: Grid steps per record of a count: noise is drawn for steps, so that its scale is fine.
COUNT_STEPS: Final = 2**28


def histogram_sensitivity(histograms: int) -> int:
    """Of several histograms together: a row is in one cell of each."""
    return _ceil_root(histograms * COUNT_STEPS**2)


def residual_sensitivity(outputs: int, replicates: int) -> int:
    """Of the residual sums of one feature for all replicates: a row is in one run of bins of each.

    One output: a residual is within plus or minus one clip. Several: the residuals of a row,
    an indicator minus probabilities, have an L2 norm of at most sqrt(2).
    """
    # Probabilities sum to 1 up to rounding, for which two steps are ample.
    one = RESIDUAL_STEPS if outputs == 1 else _ceil_root(2 * RESIDUAL_STEPS**2) + 2
    return _ceil_root(replicates * one**2)


def pair_sensitivity(outputs: int) -> int:
    """Of the sum of sizes of a pair's residual table: the L1 norm of a row's residuals."""
    return PAIR_STEPS if outputs == 1 else 2 * PAIR_STEPS + 2


def _ceil_root(square: int) -> int:
    root = math.isqrt(square)
    return root if root * root == square else root + 1


def noisy_histograms(mechanism: FineGaussian, exact: Sequence[Ints], randomness: RandomSource) -> list[Floats]:
    """Release histograms together, in one query. Sensitivity: ``histogram_sensitivity``."""
    ends = np.cumsum([len(counts) for counts in exact])[:-1]
    noisy = mechanism.release(np.concatenate(exact) * COUNT_STEPS, randomness)
    return np.split(noisy / COUNT_STEPS, ends)


def count_deviation(mechanism: FineGaussian) -> float:
    """Standard deviation of the noise on each count, in records."""
    return mechanism.scale / COUNT_STEPS
