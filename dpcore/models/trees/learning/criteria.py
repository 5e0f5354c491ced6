"""What a good split is: losses in exact integers, with the sensitivity that they really have.

A candidate split sends the records of a node to branches. Its loss is a sum over branches of a
concave, homogeneous function of the branch's class counts; smaller is better. Every loss is an
integer, so that "one more record never lowers a loss, and raises it by ``sensitivity`` at most"
holds exactly, and the exponential mechanism may treat ``-loss`` as monotone. Proofs:
``docs/privacy/trees.md``, section "Splitting criteria".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Protocol

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.models.trees.released.tree_parameters import Criterion
from dpcore.privacy.sensitivity import Sensitivity

#: Grid units per unit of Gini loss; 256 m^2 fits 64 bits for every allowed number of rows.
GINI_GRID = 256
#: Grid units per bit of entropy.
_BIT_GRID = 2**24
#: Runs of equal increments in the table of k log2 k; up to as many rows every count is its own.
_TABLE_SIZE = 2**22
#: Grid of delta scores.
DELTA_GRID = 2**30


class SplitCriterion(Protocol):
    """One loss, for a public number of rows and of classes."""

    @property
    def name(self) -> Criterion:
        """Name of the loss."""
        ...

    @property
    def unit(self) -> int:
        """Grid units per unit of loss."""
        ...

    @property
    def sensitivity(self) -> Sensitivity:
        """Largest change of the loss of any split, in grid units."""
        ...

    def branch_losses(self, counts: Ints) -> Ints:
        """Loss of each branch: class counts of shape (..., n_classes) to shape (...)."""
        ...


def losses(criterion: SplitCriterion, tables: Ints) -> Ints:
    """Loss of each candidate, in grid units.

    Parameters
    ----------
    tables : array of shape (n_candidates, n_branches, n_classes)
        Records per branch and class; candidates with fewer branches are padded with zeros.

    Returns
    -------
    array of shape (n_candidates,)
    """
    return np.asarray(criterion.branch_losses(tables).sum(axis=-1))


def make_criterion(name: Criterion, max_rows: int, n_classes: int) -> SplitCriterion:
    """Build a loss for at most ``max_rows`` records of ``n_classes`` classes, both public."""
    if name == "error":
        return ErrorLoss()
    if name == "gini":
        return GiniLoss(max_rows)
    if name == "information_gain":
        return EntropyLoss.tabulate(max_rows)
    return MatsushitaLoss(max_rows, n_classes)


@dataclass(frozen=True)
class ErrorLoss:
    """Records outside the most frequent class of their branch. Sensitivity 1, attained."""

    name: Criterion = "error"
    unit: int = 1

    @property
    def sensitivity(self) -> Sensitivity:
        """One record adds at most itself."""
        return Sensitivity(1, "Linf", monotone=True)

    def branch_losses(self, counts: Ints) -> Ints:
        """Loss of each branch."""
        return np.asarray(counts.sum(axis=-1) - counts.max(axis=-1))


@dataclass(frozen=True)
class GiniLoss:
    """Gini impurity times size: m - sum_c n_c^2 / m, rounded down to a grid.

    One record adds at most 2 (N - 1) / N before rounding; rounding down leaves at most the
    next integer.
    """

    max_rows: int
    name: Criterion = "gini"
    unit: int = GINI_GRID

    @property
    def sensitivity(self) -> Sensitivity:
        """The real bound, rounded up to the grid."""
        reach = -(-2 * GINI_GRID * (self.max_rows - 1) // self.max_rows)
        return Sensitivity(max(1, reach), "Linf", monotone=True)

    def branch_losses(self, counts: Ints) -> Ints:
        """Loss of each branch, by exact integer division."""
        whole = counts.sum(axis=-1)
        unequal = whole * whole - (counts * counts).sum(axis=-1)
        return np.asarray(GINI_GRID * unequal // np.maximum(whole, 1))


@dataclass(frozen=True, eq=False)
class EntropyLoss:
    """Shannon entropy in bits times size: F(m) - sum_c F(n_c) with F(k) = k log2 k on a grid.

    F is tabulated with increments that never fall, so one more record of class c adds
    F'(m) - F'(n_c) >= 0 exactly. Above four million rows increments are equal over runs of
    ``run`` counts: F is then a chord of the exact one.

    Attributes
    ----------
    run : int
    increments : array of int64
        F(k + 1) - F(k) for k in each run.
    starts : array of int64
        F at the first count of each run.
    """

    run: int
    increments: Ints
    starts: Ints
    name: Criterion = "information_gain"
    unit: int = _BIT_GRID

    @classmethod
    def tabulate(cls, max_rows: int) -> EntropyLoss:
        """Tabulate F for counts up to ``max_rows``."""
        run = -(-max_rows // _TABLE_SIZE)
        first = np.arange(-(-max_rows // run), dtype=np.float64) * run
        later = np.maximum(first, 1.0)
        chords = np.log2(first + run) + first / run * np.log1p(run / later) / math.log(2)
        increments = np.maximum.accumulate(np.floor(chords * _BIT_GRID).astype(np.int64))
        starts = np.concatenate([[0], np.cumsum(increments * run)])
        return cls(run, np.concatenate([increments, increments[-1:]]), starts)

    @property
    def sensitivity(self) -> Sensitivity:
        """Largest less smallest increment; about log2(N + 1) + 1 / ln 2 bits."""
        reach = int(self.increments[-1] - self.increments[0])
        return Sensitivity(max(1, reach), "Linf", monotone=True)

    def _steep(self, counts: Ints) -> Ints:
        place, beyond = counts // self.run, counts % self.run
        return np.asarray(self.starts[place] + beyond * self.increments[place])

    def branch_losses(self, counts: Ints) -> Ints:
        """Loss of each branch."""
        return np.asarray(self._steep(counts.sum(axis=-1)) - self._steep(counts).sum(axis=-1))


@dataclass(frozen=True)
class MatsushitaLoss:
    """Mean over classes of 2 sqrt(n_y (m - n_y)), each square root rounded down to a grid.

    One record adds at most 4 sqrt(N - 1) to the sum over classes; rounding down adds less
    than one unit per class.
    """

    max_rows: int
    n_classes: int
    name: Criterion = "matsushita"

    @property
    def grid(self) -> int:
        """Grid units per unit of one class's term: (grid N)^2 stays below 2^62."""
        return int(2 ** min(16, 31 - self.max_rows.bit_length()))

    @property
    def unit(self) -> int:
        """Grid units per unit of loss: a mean over classes is a sum over as many more units."""
        return self.grid * self.n_classes

    @property
    def sensitivity(self) -> Sensitivity:
        """The real bound in grid units, and one unit of rounding per class."""
        reach = math.isqrt(16 * self.grid**2 * (self.max_rows - 1)) + self.n_classes
        return Sensitivity(reach, "Linf", monotone=True)

    def branch_losses(self, counts: Ints) -> Ints:
        """Loss of each branch."""
        rest = counts.sum(axis=-1, keepdims=True) - counts
        return np.asarray(integer_sqrt((2 * self.grid) ** 2 * (counts * rest)).sum(axis=-1))


def integer_sqrt(squares: Ints) -> Ints:
    """Floor of the square root, exact, of integers from 0 to 2^62."""
    roots = np.sqrt(squares.astype(np.float64)).astype(np.int64)
    roots -= roots * roots > squares
    roots += (roots + 1) * (roots + 1) <= squares
    return np.asarray(roots)


@lru_cache(maxsize=8)
def shared_criterion(name: Criterion, max_rows: int, n_classes: int) -> SplitCriterion:
    """As :func:`make_criterion`; the trees of a forest share one table."""
    return make_criterion(name, max_rows, n_classes)


def real_losses(name: Criterion, counts: Floats) -> Floats:
    """The same losses as real numbers, for counts that are noise already.

    Parameters
    ----------
    counts : array of shape (..., n_classes), not negative

    Returns
    -------
    array of shape (...), in units of loss
    """
    whole = counts.sum(axis=-1)
    shares = counts / np.maximum(whole, np.finfo(np.float64).tiny)[..., None]
    if name == "error":
        return np.asarray(whole - counts.max(axis=-1))
    if name == "gini":
        return np.asarray(whole * (1.0 - (shares**2).sum(axis=-1)) * (whole > 0))
    if name == "information_gain":
        bits = -shares * np.log2(np.where(shares > 0, shares, 1.0))
        return np.asarray(whole * bits.sum(axis=-1))
    return np.asarray(whole * 2.0 * np.sqrt(np.maximum(shares * (1.0 - shares), 0.0)).mean(axis=-1))


def delta_score(scores: Sequence[int], unit: int) -> tuple[int, Sensitivity]:
    """How far the best candidate is ahead, on the grid of :data:`DELTA_GRID`.

    (loss_2 - loss_1) / (1 + sum of all losses), rounded down (Borhan 2018, Algorithm 1, line 6).
    It lies in [0, 1 / (d - 1)] for d candidates whatever the losses, so that is its
    sensitivity. The proof of the thesis's slightly smaller bound (its Lemma 8) assumes that no
    loss exceeds what one record can add, which is false for large nodes.

    Parameters
    ----------
    scores : sequence of at least 2 int
        Losses in grid units.
    unit : int
        Grid units per unit of loss.
    """
    exact = [int(score) for score in scores]
    best, second = sorted(exact)[:2]
    ahead = DELTA_GRID * (second - best) // (unit + sum(exact))
    return ahead, Sensitivity(DELTA_GRID // (len(exact) - 1), "L1", monotone=False)


def delta_threshold(threshold: float, epsilon: Fraction) -> int:
    """Largest grid value that is at most ``threshold / epsilon``."""
    return math.floor(DELTA_GRID * Fraction(threshold) / epsilon)
