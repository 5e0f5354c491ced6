"""Greedy rule lists with smooth sensitivity (Ly, Ferry, Huguet, Gambs and Aïvodji 2024), for comparison.

Rule after rule: if noisy counts say that enough records are left, the condition that leaves the least Gini impurity
among them is taken by report noisy max, with noise in proportion to the smooth sensitivity of the impurity (Nissim,
Raskhodnikova and Smith 2007); a rule has noisy class counts, and so has the rest. Laplace noise has a δ, Cauchy noise
none. All steps have the same budget, and length, support and confidence are those of the published program.

Deviations. Conditions are those that the public schema allows, a random thousand of one or two: the program mines
those that are frequent among the records, without noise. A record may be taken away too: the published local
sensitivity is that of adding one. Rules have the chance that their noisy counts tell, not a label alone. What is left
to the rival: the number of records is known to it; the least support holds with 98 % only, which its δ leaves out;
and noise of every condition has a scale that depends on the records, of which its proof counts one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final, Literal, get_args

import numpy as np

from dpcore.arrays import Flags, Floats, Ints

Noise = Literal["Laplace", "Cauchy"]
NOISES: Final[tuple[Noise, ...]] = get_args(Noise)
#: Rules with the last one, which is everybody else; least share of the records that are left; confidence in it.
LENGTH: Final = 5
SUPPORT: Final = 0.05
_CONFIDENCE: Final = 0.98
#: Most conditions to choose from.
_MOST: Final = 1000
#: Exponent of the density of Cauchy noise.
_GAMMA: Final = 2


@dataclass(frozen=True)
class Cells:
    """Cells of one column that a condition allows."""

    column: int
    cells: Flags

    def holds(self, codes: Ints) -> Flags:
        """Of which records: shape (n_rows,)."""
        return np.asarray(self.cells[codes[:, self.column]])


def name(noise: Noise) -> str:
    """What tables call it."""
    return f"greedy, smooth sensitivity, {noise} noise"


def scores(
    codes: Ints, sizes: list[int], ordered: list[bool], truth: Ints, epsilon: float, others: Ints, *, noise: Noise
) -> Floats:
    """Chances of class 1 of other records, shape (n_others,), by a list learned from ``codes`` and ``truth``."""
    draw = np.random.default_rng()
    candidates = _candidates(sizes, ordered, draw)
    met = np.stack([_all(own, codes) for own in candidates], axis=1)
    chosen, counts = _Grower(epsilon, len(truth), noise, draw).grow(met, truth)
    found, left = np.zeros(len(others)), np.ones(len(others), dtype=bool)
    for place, pair in enumerate(counts):
        here = left & _all(candidates[chosen[place]], others) if place < len(chosen) else left
        known = np.maximum(pair, 0)
        found[here] = (known[1] + 1) / (known.sum() + 2)
        left = left & ~here
    return found


def local_sensitivity(records: int) -> float:
    """Largest change of the impurity of a division of so many records by one record more or less."""
    return 0.5 if records <= 2 else 2 * (records - 1) / records**2


def smooth_sensitivity(records: int, beta: float, least: int) -> float:
    """Largest local sensitivity at any distance, each step away counting less by exp(-beta); never below ``least``."""
    away = np.arange(max(records - least, 0) + 1)
    sizes = np.maximum(np.maximum(records - away, least), 2).astype(float)
    return float(np.max(np.exp(-beta * away) * 2 * (sizes - 1) / sizes**2))


def impurity(inside: Floats, whole: Floats) -> Floats:
    """Gini impurity of divisions, in shares of all records, from class counts inside: shape (n_candidates,)."""
    total, left = whole.sum(), 0.0
    for part in (inside, whole - inside):
        size = part.sum(axis=-1)
        left = left + size - (part**2).sum(axis=-1) / np.maximum(size, 1)
    return np.asarray(left / max(total, 1))


def _all(literals: tuple[Cells, ...], codes: Ints) -> Flags:
    return np.asarray(np.logical_and.reduce([own.holds(codes) for own in literals]))


def _candidates(sizes: list[int], ordered: list[bool], draw: np.random.Generator) -> list[tuple[Cells, ...]]:
    """Conditions on one column and a random part of those on two; also what they deny."""
    singles = [own for column, size in enumerate(sizes) for own in _literals(column, size, ordered=ordered[column])]
    pairs = [pair for pair in combinations(singles, 2) if pair[0].column != pair[1].column]
    room = max(0, _MOST - len(singles))
    kept = sorted(draw.permutation(len(pairs))[:room])
    return [(own,) for own in singles][:_MOST] + [pairs[place] for place in kept]


def _literals(column: int, size: int, *, ordered: bool) -> list[Cells]:
    cells = np.arange(size)
    allowed = [cells <= cut for cut in cells[:-1]] if ordered else [cells == own for own in cells]
    if not ordered and size == 2:
        allowed = allowed[:1]
    return [Cells(column, side) for own in allowed for side in (own, ~own)]


class _Grower:
    def __init__(self, epsilon: float, rows: int, noise: Noise, draw: np.random.Generator) -> None:
        self._each = epsilon / (3 * LENGTH - 1)
        self._least = math.floor(SUPPORT * rows)
        self._sure = math.log(1 / (2 * (1 - _CONFIDENCE))) / self._each
        self._noise, self._draw = noise, draw
        delta = 1 / (rows**2 * (LENGTH - 1))
        self._beta = self._each / (2 * (_GAMMA + 1) if noise == "Cauchy" else 2 * math.log(2 / delta))

    def grow(self, met: Flags, truth: Ints) -> tuple[list[int], list[Floats]]:
        """Chosen conditions, and noisy class counts of each and of the rest."""
        left = np.ones(len(truth), dtype=bool)
        held = met.astype(np.float32)
        classes = np.stack([truth == 0, truth == 1]).astype(np.float32)
        chosen, counts = list[int](), list[Floats]()
        while len(chosen) < LENGTH - 1:
            if left.sum() + self._draw.laplace(scale=1 / self._each) < self._least + self._sure:
                break
            here = classes * left
            best = self._choose(np.float64(here @ held).T, np.float64(here.sum(axis=1)), chosen)
            if best is None:
                break
            inside = left & met[:, best]
            chosen.append(best)
            counts.append(self._counted(truth[inside]))
            left &= ~inside
        return chosen, [*counts, self._counted(truth[left])]

    def _choose(self, inside: Floats, whole: Floats, chosen: list[int]) -> int | None:
        """The condition with the least noisy impurity, or none if that of no rule is less."""
        whole_size = max(int(whole.sum()), self._least)
        scale = smooth_sensitivity(whole_size, self._beta, self._least) * self._times
        noisy = impurity(inside, whole) + scale * self._standard(len(inside))
        noisy[chosen] = np.inf
        best = int(np.argmin(noisy))
        none = float(impurity(np.zeros((1, 2)), whole)[0] + scale * self._standard(1)[0])
        return best if noisy[best] < none else None

    @property
    def _times(self) -> float:
        return (2 * (_GAMMA + 1) if self._noise == "Cauchy" else 2) / self._each

    def _standard(self, size: int) -> Any:
        return self._draw.standard_cauchy(size) if self._noise == "Cauchy" else self._draw.laplace(size=size)

    def _counted(self, truth: Ints) -> Floats:
        return np.bincount(truth, minlength=2) + self._draw.laplace(scale=1 / self._each, size=2)
