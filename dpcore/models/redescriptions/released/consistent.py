"""Best counts of a pair of trees from its noisy ones: post-processing, free."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist
from typing import Final

import numpy as np

from dpcore.arrays import Flags, Floats, Ints
from dpcore.models.redescriptions.released.tree_pair import Domain, TreePair
from dpcore.privacy.budgets import geometric_tail

#: Standard errors that 95 % of a normal distribution stay within.
Z95: Final = NormalDist().inv_cdf(0.975)
#: Noise on few counts has heavier tails: standard errors, times the number of counts, that it needs beyond these.
_HEAVIER: Final = 0.22
#: Rounds of alternating projection at most, and people by which a count may still be off.
_ROUNDS: Final = 5000
_CLOSE: Final = 1e-3


@dataclass(frozen=True)
class PairCounts:
    """Estimated people in each pair of leaves that a record can reach."""

    table: Floats
    """Not negative: shape (n_reached_left_leaves, n_reached_right_leaves)."""
    free: Floats
    """Without the limit at zero: expected to be right, where the limit favours empty pairs of leaves over full ones.
    Margins allow for the difference."""
    left: Ints
    right: Ints
    """``left``, ``right``: numbers of the leaves that a record can reach, in order."""
    leaves: tuple[int, int]
    """Leaves of each tree, reached or not."""
    scale: float
    """Scale of the two-sided geometric noise on one count, or the deviation of Gaussian noise. What second counts of
    the left leaves and the limit at zero take off it is not taken into account, so intervals are not too short."""
    rows_per_person: int = 1
    """Most records of one person."""
    gaussian: bool = False
    """Whether the noise is Gaussian."""

    @property
    def variance(self) -> float:
        """Variance of the noise on one count."""
        return noise_variance(self.scale, gaussian=self.gaussian)

    @property
    def whole(self) -> Floats:
        """Table of all leaves: shape ``leaves``, zero where no record can be."""
        table = np.zeros(self.leaves)
        table[np.ix_(self.left, self.right)] = self.table
        return table

    @property
    def people(self) -> float:
        """Noisy number of people, at least 1."""
        return max(1.0, float(self.table.sum()))

    def margin(self, left: Flags, right: Flags) -> float:
        """What noise on the people in some leaves of both sides stays within: 95 %.

        Parameters
        ----------
        left, right : bool arrays of shape (n_reached_left_leaves,) and (n_reached_right_leaves,)
        """
        cells = np.ix_(left, right)
        moved = abs(float((self.free - self.table)[cells].sum()))
        return float(self.margin_of(np.asarray(left.sum() * right.sum()))) + moved

    def margin_of(self, counts: Floats | Ints) -> Floats:
        """What noise on sums of so many counts stays within: 95 %."""
        return noise_margin(self.scale, counts, gaussian=self.gaussian)


def consistent_counts(pair: TreePair, domain: Domain) -> PairCounts:
    """Estimate the counts of a pair by least squares, then without negative ones.

    The rows are first fitted to the second counts of the left leaves, if there are any, each
    weighted by its precision. Negative counts are then removed in the way that changes the table
    least while every row and every column keeps its sum. Cutting them off one by one would add
    people; keeping the sum of the whole table alone would move people from full rows to sparse
    ones, and the Jaccard index of large conditions with them.
    """
    left, right = (np.flatnonzero(tree.reached(domain)) for tree in (pair.left, pair.right))
    counts = np.asarray(pair.noisy_counts, dtype=np.float64)[np.ix_(left, right)]
    if pair.noisy_left is not None and pair.left_scale is not None:
        second = np.asarray(pair.noisy_left, dtype=np.float64)[left]
        scales = pair.count_scale, pair.left_scale
        counts = _fit_rows(counts, second, *(noise_variance(scale, gaussian=pair.gaussian) for scale in scales))
    leaves = pair.left.leaf_count, pair.right.leaf_count
    noise = pair.count_scale, domain.rows_per_person, pair.gaussian
    return PairCounts(_without_negatives(counts), counts, left, right, leaves, *noise)


def noise_variance(scale: float, *, gaussian: bool = False) -> float:
    """Variance of two-sided geometric noise of a scale, or of Gaussian noise of a standard deviation."""
    if gaussian:
        return scale**2
    ratio = float(np.exp(-1.0 / scale)) if scale > 0 else 0.0
    return 2 * ratio / (1 - ratio) ** 2


def noise_margin(scale: float, counts: Floats | Ints, *, gaussian: bool = False) -> Floats:
    """What noise on sums of so many counts stays within, with 95 % confidence.

    Exact for a single count with geometric noise; for several at most about 1 % and one person more.
    """
    deviations = np.sqrt(noise_variance(scale, gaussian=gaussian) * counts)
    several = np.ceil(deviations * standard_errors(counts, gaussian=gaussian))
    return several if gaussian else np.where(counts == 1, float(geometric_tail(scale, 0.95)), several)


def standard_errors(counts: Floats | Ints, *, gaussian: bool = False) -> Floats:
    """How many of its standard errors noise on a sum of so many counts stays within, with 95 % confidence.

    If counts weigh differently, those of a sum of alike ones with the same excess kurtosis.
    """
    return np.asarray(Z95 + (0.0 if gaussian else _HEAVIER) / np.maximum(counts, 1))


def _fit_rows(counts: Floats, second: Floats, variance: float, second_variance: float) -> Floats:
    """Move every row's sum towards its second count.

    Minimises sum (x - counts)^2 / variance + (sum x - second)^2 / second_variance over each
    row x: the gap between the two sums is shared in the ratio of their variances.
    """
    own = variance * counts.shape[1]
    share = own / (own + second_variance) if own > 0 else 0.0
    gap = second - counts.sum(axis=1)
    return np.asarray(counts + (share * gap / counts.shape[1])[:, None])


def _without_negatives(counts: Floats) -> Floats:
    """Nearest table without negative entries whose rows and columns keep their sums.

    Sums that are negative themselves are first replaced in the same way. Alternating projections
    after Dykstra, onto tables with these sums and onto tables without negative entries.
    """
    if counts.min(initial=0.0) >= 0:
        return counts
    rows, columns = projected(counts.sum(axis=1)), projected(counts.sum(axis=0))
    if not rows.any():
        return np.zeros_like(counts)
    table, excess = counts, np.zeros_like(counts)
    fitted = _with_sums(table, rows, columns)
    for _ in range(_ROUNDS):
        summed = fitted + excess
        before, table = table, np.maximum(summed, 0.0)
        excess = summed - table
        fitted = _with_sums(table, rows, columns)
        # Dykstra's iterates may rest for many rounds before they move on: resting is not enough.
        if max(np.abs(table - before).max(), np.abs(fitted - table).max()) < _CLOSE / table.size:
            break
    return table


def _with_sums(table: Floats, rows: Floats, columns: Floats) -> Floats:
    """Nearest table with these sums of rows and columns."""
    height, width = table.shape
    row_gap, column_gap = rows - table.sum(axis=1), columns - table.sum(axis=0)
    both = row_gap[:, None] / width + column_gap[None, :] / height
    return np.asarray(table + both - row_gap.sum() / table.size)


def projected(values: Floats) -> Floats:
    """Nearest vector without negative entries and with the same sum, or all zero.

    Every entry pays the same, as far as it can (Held, Wolfe, Crowder 1974): what makes the k
    largest sum to the total, for the k that pays most. A maximum, unlike a search for the last
    entry that can pay, is found whatever the rounding.
    """
    total = math.fsum(values)
    if total <= 0:
        return np.zeros_like(values)
    ordered = np.sort(values)[::-1]
    pays = (np.cumsum(ordered) - total) / np.arange(1, len(values) + 1)
    return np.asarray(np.maximum(values - pays.max(), 0.0))
