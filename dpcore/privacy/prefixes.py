"""Noisy cumulative counts over cells in order, with far less error than sums of noisy counts have.

What is asked is a strategy: sums of counts with integer weights. From noisy answers all cumulative
counts follow by least squares. Gaussian noise is given to the square root of the matrix of
cumulative sums (Fichtenberger, Henzinger, Upadhyay 2023), two-sided geometric noise to counts of
cells and of blocks of cells. Proof: ``docs/privacy/learned.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.privacy.budgets import float_below
from dpcore.privacy.mechanisms import GaussianMechanism, GeometricMechanism
from dpcore.privacy.randomness import RandomSource

#: Weights of the square root are multiples of one in so many.
_FINE = 1 << 12
_BLOCK = 16


@dataclass(frozen=True)
class PrefixSums:
    """Cumulative counts of cells in which the rows of a person are.

    Parameters
    ----------
    rows : int
        Rows of one person, at most; each is in one cell, or in none.
    epsilon, rho : Decimal
        Budget of the whole vector: of pure DP, or, if ``rho`` is above 0, zero-concentrated.
    """

    rows: int
    epsilon: Decimal = Decimal(0)
    rho: Decimal = Decimal(0)

    def release(self, counts: Ints, randomness: RandomSource) -> Floats:
        """Estimates of ``counts.cumsum()``."""
        weights = self.weights(len(counts))
        noisy = self.mechanism(len(counts)).release(weights @ counts, randomness).astype(np.float64)
        known = weights.astype(np.float64)
        return np.cumsum(np.linalg.solve(known.T @ known, known.T @ noisy))

    def weights(self, cells: int) -> Ints:
        """What is asked of so many cells: one sum for each row."""
        return _square_root(cells) if self.rho else _blocks(cells)

    def mechanism(self, cells: int) -> GaussianMechanism | GeometricMechanism:
        """The noise on the answers for so many cells, made for the largest change by one person."""
        weights = self.weights(cells)
        if self.rho:
            squares = int((weights**2).sum(axis=0).max())
            return GaussianMechanism(math.isqrt(self.rows**2 * squares - 1) + 1, float_below(self.rho))
        return GeometricMechanism(self.rows * int(weights.sum(axis=0).max()), self.epsilon)


@lru_cache(maxsize=16)
def _square_root(cells: int) -> Ints:
    """Lower triangular weights, of which the square is about a multiple of the cumulative sums."""
    steps = np.arange(1, cells)
    first = np.cumprod(np.concatenate([[1.0], (2 * steps - 1) / (2 * steps)]))
    places = np.subtract.outer(np.arange(cells), np.arange(cells))
    return np.where(places >= 0, np.rint(first * _FINE).astype(np.int64)[np.maximum(places, 0)], 0)


@lru_cache(maxsize=16)
def _blocks(cells: int) -> Ints:
    """Every cell, and every block of cells if there are several blocks."""
    each = np.eye(cells, dtype=np.int64)
    if cells <= _BLOCK:
        return each
    blocks = np.arange(cells) // _BLOCK
    return np.concatenate([(blocks == np.arange(blocks[-1] + 1)[:, None]).astype(np.int64), each])
