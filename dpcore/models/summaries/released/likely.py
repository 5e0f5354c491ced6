"""The most plausible tables behind noisy ones, for invented records. Post-processing: costs nothing.

An estimate without bias, cut off at 0, has too many people in cells that are empty where noise is wide, and
too few everywhere else. These are means of what may lie behind the noise instead. On one axis the
counts follow, before anything is seen, a gamma distribution that favours few cells with many; on two they scatter about
those of independent axes, as much as the whole table makes most likely. Where there is hardly any noise
both are the estimates; where there is nothing else, they are shares that say nothing and independent axes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.special import log_ndtr

from dpcore.arrays import Floats
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
_LEAST: Final = 1e-9


@dataclass(frozen=True)
class Likely:
    """A table on two axes.

    Attributes
    ----------
    table : array of shape (cells of the first axis, cells of the second)
    nats : float
        How much the axes tell of each other, times people; 0 if noise alone explains it.
    """

    table: Floats
    nats: float


def likely_column(own: Estimates, axis: int) -> Floats:
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


def likely_pair(own: Estimates, pair: Pair, rows: Floats, columns: Floats) -> Likely:
    """A table that agrees with the counts of its two axes."""
    noisy, variance, total = own.table(pair), own.deviation(pair) ** 2, float(rows.sum())
    alone = np.maximum(np.outer(rows, columns) / total, _LEAST)
    usual = alone**1.5 * math.sqrt(_USUAL * total)
    # A table whose axes go together by chance alone is the first of those that are compared.
    scatters = [np.zeros_like(alone), *(scatter**2 * usual for scatter in _SCATTERS)]
    chances = [-((noisy - alone) ** 2 / (variance + one) + np.log(variance + one)).sum() for one in scatters]
    scatter = scatters[int(np.argmax(chances))]
    if not scatter.any():
        return Likely(alone, 0.0)
    middle = (noisy * scatter + alone * variance) / (variance + scatter)
    means = _positive_means(middle, np.sqrt(scatter * variance / (variance + scatter)))
    table = scaled(means, rows, columns)
    kept = table > 0
    return Likely(table, max(float((table[kept] * np.log(table[kept] / alone[kept])).sum()), 0.0))


def _positive_means(middle: Floats, deviation: Floats) -> Floats:
    """Means of normal variables, given that they are not negative."""
    deviation = np.maximum(deviation, _LEAST)
    place = middle / deviation
    beyond = np.exp(-(place**2) / 2 - log_ndtr(place)) / math.sqrt(2 * math.pi)
    return np.asarray(np.maximum(middle + deviation * beyond, 0.0))
