"""PrivaTree (Vos, Vos, Li, Erkin and Verwer 2023), for comparison: a greedy tree on private histograms.

Of depth 3. At a node every column has a histogram of each class with geometric noise, and the split with the least
Gini impurity is taken; a leaf draws its label by permute-and-flip. The share of the leaves is what keeps the expected
error of a label small, at most half. Cells are the schema's, so no budget goes into quantiles.

Every record is in the histograms of all columns, so these compose: here each has its part of the node's epsilon. The
published program gives each the whole, as if they were of different people; ``sound=False`` does the same, and is then
private only at up to as many times that epsilon as there are columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from scipy.optimize import minimize_scalar

from dpcore.arrays import Flags, Floats, Ints
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.privacy.randomness import SecureRandom

DEPTH = 3
#: Chance of the best label that a leaf is meant to have, and the most that leaves may take.
_SUCCESS, _MOST = 0.99, 0.5


@dataclass(frozen=True)
class _Leaf:
    label: int


@dataclass(frozen=True)
class _Node:
    column: int
    left: Flags
    low: _Node | _Leaf
    high: _Node | _Leaf


def scores(
    codes: Ints, sizes: list[int], ordered: list[bool], truth: Ints, epsilon: float, others: Ints, *, sound: bool
) -> Floats:
    """Labels, as 0 and 1, of other records, shape (n_others,), by a tree learned from ``codes`` and ``truth``."""
    tree = _Grower(sizes, ordered, epsilon, len(truth), sound=sound).grow(codes, truth, 0)
    found = np.zeros(len(others))
    _label(tree, others, np.arange(len(others)), found)
    return found


def _label(part: _Node | _Leaf, others: Ints, rows: Ints, found: Floats) -> None:
    if isinstance(part, _Leaf):
        found[rows] = part.label
        return
    left = part.left[others[rows, part.column]]
    _label(part.low, others, rows[left], found)
    _label(part.high, others, rows[~left], found)


class _Grower:
    def __init__(self, sizes: list[int], ordered: list[bool], epsilon: float, rows: int, *, sound: bool) -> None:
        self._sizes, self._ordered, self._source = sizes, ordered, SecureRandom()
        leaf = min(epsilon * _MOST, _worst_error() * 2**DEPTH / (rows * (1 - _SUCCESS)))
        each = (epsilon - leaf) / DEPTH / (len(sizes) if sound else 1)
        self._leaf = leaf
        self._noise = GeometricMechanism(1, Decimal(repr(each)))

    def grow(self, codes: Ints, truth: Ints, depth: int) -> _Node | _Leaf:
        if depth == DEPTH:
            return self._labelled(truth)
        best, chosen = np.inf, None
        for column, size in enumerate(self._sizes):
            exact = np.stack([np.bincount(codes[truth == label, column], minlength=size) for label in (0, 1)])
            noisy = np.maximum(self._noise.release(exact, self._source), 0)
            impurity, left = self._split(noisy.astype(float), ordered=self._ordered[column])
            if impurity < best:
                best, chosen = impurity, (column, left)
        if chosen is None:
            return self._labelled(truth)
        column, left = chosen
        here = left[codes[:, column]]
        below = [self.grow(codes[part], truth[part], depth + 1) for part in (here, ~here)]
        return _Node(column, left, below[0], below[1])

    def _split(self, counts: Floats, *, ordered: bool) -> tuple[float, Flags]:
        """Least impurity of a division of cells in order, or in the order of the share of the second class."""
        total = counts.sum(axis=0)
        share = np.divide(counts[1], total, out=np.full(len(total), 0.5), where=total > 0)
        order = np.arange(len(total)) if ordered else np.argsort(share, kind="stable")
        low = counts[:, order].cumsum(axis=1)[:, :-1]
        high = counts.sum(axis=1, keepdims=True) - low
        sides = [side.sum(axis=0) for side in (low, high)]
        usable = (sides[0] >= 1) & (sides[1] >= 1)
        if not usable.any():
            return np.inf, np.zeros(len(total), dtype=bool)
        pure = sum((side**2).sum(axis=0) / np.maximum(size, 1) for side, size in zip((low, high), sides, strict=True))
        impurity = np.where(usable, 1 - pure / np.maximum(sides[0] + sides[1], 1), np.inf)
        place = int(np.argmin(impurity))
        left = np.zeros(len(total), dtype=bool)
        left[order[: place + 1]] = True
        return float(impurity[place]), left

    def _labelled(self, truth: Ints) -> _Leaf:
        """Permute-and-flip between two labels, which is report noisy max with exponential noise."""
        counts = np.bincount(truth, minlength=2)
        noise = np.random.default_rng().exponential(1 / self._leaf, 2)
        return _Leaf(int(np.argmax(counts + noise)))


def _worst_error() -> float:
    """Largest expected error of permute-and-flip between two labels, in records at epsilon 1."""

    def gained(p: float) -> float:
        return -2 * np.log(1 / p) * (1 - (1 - (1 - p) ** 2) / (2 * p))

    return -float(minimize_scalar(gained, bounds=(1e-9, 1.0), method="bounded").fun)
