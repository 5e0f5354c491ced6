"""The most plausible tables behind noisy ones, for invented records. Post-processing: costs nothing.

An estimate without bias, cut off at 0, has too many people in cells that are empty where noise is wide,
and too few everywhere else. These are means of what may lie behind the noise instead. On one axis the
counts follow, before anything is seen, a gamma distribution that favours few cells with many. On two they
scatter about those of independent axes, as much as the whole table makes most likely, and neighbours in
an order are as much alike as that makes most likely. Where there is hardly any noise both are the
estimates; where there is nothing else, they are shares that say nothing and independent axes.

They are nearer to the true counts than the estimates, and have less structure than these: noise that is
left in looks like structure, and stands in for what a mean leaves out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from typing import Final

import numpy as np
from scipy.special import log_ndtr

from dpcore.arrays import Floats, Ints
from dpcore.models.summaries.released.estimates import Estimates, Pair, scaled
from dpcore.released.noisy_counts import nearest

#: Shape of the gamma distribution; noise below this share of all people needs none.
_SHAPE: Final = 0.1
_HARDLY: Final = 1e-4
#: How many counts are tried for each cell, and how far from its estimate they reach in deviations.
_TRIED: Final = 120
_BEYOND: Final = 6.0
_HALVINGS: Final = 50
#: How widely counts may scatter about independence: as a share of one that is a hundredth of all.
_SCATTERS: Final = 2.0 ** np.arange(-6, 4)
_USUAL: Final = 0.01
#: Over how many cells of an order neighbours may be alike, if at all.
_LENGTHS: Final = (1.0, 3.0, 8.0)
_LEAST: Final = 1e-9


@dataclass(frozen=True)
class PosteriorTable:
    """A table on two axes."""

    table: Floats
    """Shape (cells of the first axis, cells of the second)."""
    nats: float
    """How much the axes tell of each other, times people; 0 if noise alone explains it."""


def posterior_column(own: Estimates, axis: int) -> Floats:
    """Counts of one axis, none negative, with the estimated total."""
    noisy, deviation, total = own.table((axis,)), own.deviation((axis,)), max(own.total, 1.0)
    if deviation < _HARDLY * total:
        return nearest(noisy, total)
    tried, steps = _tried(noisy, deviation)
    logs = (_SHAPE - 1) * np.log(tried) + np.log(steps) - ((noisy[:, None] - tried) / deviation) ** 2 / 2
    # The total is known: the tilt of all cells that makes their means add up to it.
    reach = 50 / deviation + 50 * len(noisy) / total
    low, high = -reach, reach
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if _means(logs, tried, middle).sum() > total else (low, middle)
    means = _means(logs, tried, high)
    return np.asarray(means * total / means.sum())


def _tried(noisy: Floats, deviation: float) -> tuple[Floats, Floats]:
    """Counts that each cell may have, and how far they are apart: closer near 0, where the prior is steep."""
    places = (np.arange(_TRIED) + 0.5) / _TRIED
    lowest = np.maximum(noisy - _BEYOND * deviation, 0.0)[:, None]
    width = np.maximum(noisy, 0.0)[:, None] + _BEYOND * deviation - lowest
    power = np.where(lowest > 0, 1, 3)
    return lowest + width * places**power, width * power * places ** (power - 1)


def _means(logs: Floats, tried: Floats, tilt: float) -> Floats:
    tilted = logs - tilt * tried
    weights = np.exp(tilted - tilted.max(axis=1, keepdims=True))
    return np.asarray((weights * tried).sum(axis=1) / weights.sum(axis=1))


def posterior_pair(
    own: Estimates, pair: Pair, rows: Floats, columns: Floats, in_order: tuple[int, int] = (0, 0)
) -> PosteriorTable:
    """A table that agrees with the counts of its two axes.

    Parameters
    ----------
    in_order : tuple of int
        So many cells of each axis, from its first on, are in an order.
    """
    noisy, variance, total = own.table(pair), own.deviation(pair) ** 2, float(rows.sum())
    rows, columns = np.maximum(rows, _LEAST), np.maximum(columns, _LEAST)
    alone = np.outer(rows, columns) / total
    found = _most_likely(noisy - alone, variance, (rows, columns), in_order)
    if found is None:
        return PosteriorTable(alone, 0.0)
    middle = alone + found.mean
    table = scaled(_positive_means(middle, np.sqrt(found.variances)), rows, columns)
    kept = table > 0
    return PosteriorTable(table, max(float((table[kept] * np.log(table[kept] / alone[kept])).sum()), 0.0))


@dataclass(frozen=True)
class _Differences:
    """What may lie behind noisy differences from independent axes: normal, with known axes of its own."""

    left: Floats
    right: Floats
    middle: Floats
    """Means along these axes."""
    spread: Floats
    """Variances along them."""

    @property
    def mean(self) -> Floats:
        return np.asarray(self.left @ self.middle @ self.right.T)

    @property
    def variances(self) -> Floats:
        return np.asarray(self.left**2 @ self.spread @ (self.right**2).T)


def _most_likely(
    noisy: Floats, variance: float, margins: tuple[Floats, Floats], in_order: tuple[int, int]
) -> _Differences | None:
    """By the scatter, and the length over which neighbours are alike, that make the noisy table most likely.

    ``None`` if there is most likely no difference at all. Counts of size c scatter as c ** (3 / 4), which is a
    product of what rows and columns have of it: so the scatter of all cells is a Kronecker product, whose
    eigenvalues are products of those of two small matrices.
    """
    best, found = -float((noisy**2 / variance).sum() + noisy.size * math.log(variance)), None
    usual = math.sqrt(_USUAL) / float(margins[0].sum())
    spectra = (_spectra(counts**0.75, cells) for counts, cells in zip(margins, in_order, strict=True))
    for left, right in product(*spectra):
        seen = left.vectors.T @ noisy @ right.vectors
        for scatter in _SCATTERS:
            own = scatter**2 * usual * np.outer(left.values, right.values)
            chance = -float((seen**2 / (own + variance) + np.log(own + variance)).sum())
            if chance > best:
                kept = own / (own + variance)
                best, found = chance, _Differences(left.vectors, right.vectors, kept * seen, kept * variance)
    return found


@dataclass(frozen=True)
class _Spectrum:
    """How counts on one axis scatter together: eigenvalues and orthonormal eigenvectors, in columns."""

    values: Floats
    vectors: Floats


def _spectra(widths: Floats, in_order: int) -> list[_Spectrum]:
    """For each length over which neighbours may be alike; ``widths`` says how widely each cell scatters."""
    made = [_Spectrum(widths**2, np.eye(len(widths)))]  # Of a diagonal matrix: none has to be found.
    places = np.arange(len(widths))
    ordered = (places[:, None] < in_order) & (places < in_order)
    for length in _LENGTHS if in_order > 1 else ():
        alike = np.eye(len(widths))
        alike[ordered] = np.exp(-np.abs(places[:, None] - places) / length)[ordered]
        values, vectors = np.linalg.eigh(alike * np.outer(widths, widths))
        made.append(_Spectrum(np.maximum(values, 0.0), vectors))
    return made


def _positive_means(middle: Floats, deviation: Floats) -> Floats:
    """Means of normal variables, given that they are not negative."""
    deviation = np.maximum(deviation, _LEAST)
    place = middle / deviation
    beyond = np.exp(-(place**2) / 2 - log_ndtr(place)) / math.sqrt(2 * math.pi)
    return np.asarray(np.maximum(middle + deviation * beyond, 0.0))


_ROUNDS: Final = 25
#: Part of the way that one table moves weights, and the furthest: they settle where tables contradict each other.
_POWER: Final = 0.7
_FURTHEST: Final = 5.0


def raked(codes: Mapping[int, Ints], tables: Mapping[Pair, Floats]) -> Floats:
    """Weights of records, with mean 1.

    Parameters
    ----------
    codes : mapping of int to array of shape (n_records,)
        Cell of each record in each axis.
    tables : mapping of (int, int) to array
        Counts of two axes, with the same total each.
    """
    records = len(next(iter(codes.values())))
    weights = np.ones(records)
    flat = {pair: codes[pair[0]] * table.shape[1] + codes[pair[1]] for pair, table in tables.items()}
    shares = {pair: table.ravel() / max(float(table.sum()), 1.0) for pair, table in tables.items()}
    for _ in range(_ROUNDS):
        for pair, wanted in shares.items():
            found = np.bincount(flat[pair], weights, minlength=len(wanted)) / records
            ratio = np.divide(wanted, found, out=np.ones_like(wanted), where=found > 0)
            weights *= (np.clip(ratio, 1 / _FURTHEST, _FURTHEST) ** _POWER)[flat[pair]]
        weights *= records / weights.sum()
    return weights


def chosen(weights: Floats, count: int, generator: np.random.Generator) -> Ints:
    """Places of so many records, each as often as its weight asks but for rounding, in a random order."""
    below = np.cumsum(weights)
    points = (np.arange(count) + generator.random()) / max(count, 1) * below[-1]
    places = np.minimum(np.searchsorted(below, points, side="right"), len(weights) - 1)
    return generator.permutation(places)
