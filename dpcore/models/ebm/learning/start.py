"""Where boosting starts: intercept, counts and sizes, read off noisy histograms. Free."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpcore.arrays import Floats
from dpcore.models.ebm.learning.grid import Bins

#: Size of a large effect, as a share of the spread, if not even the target's histogram is clear.
_DOUBT = 0.1
#: Doubt about an intercept: of log-odds, at least and at most, or of a number in units of its spread, at
#: least; and of a number that may be anywhere, as a share of its range.
_LEAST_DOUBT, _MOST_DOUBT, _ANYWHERE = 0.1, 1.0, 0.25
#: Share of the residuals of a numeric target that are not clipped, if noise allows.
_UNCLIPPED = 0.99
#: Noise beyond which sizes of residuals tell nothing: no more than this share may be clipped.
_MOST_CLIPPED = 0.1
#: Upper edges of the groups of residual sizes, as shares of the target's range.
SIZE_EDGES = 2.0 ** (-np.arange(36)[::-1] / 3.0)
#: A noisy count below this many standard deviations may be of nobody.
_SEEN = 2.0
#: One above this many surely is of somebody, even among a hundred others.
_CERTAIN = 3.5
#: Share of the records that must be in such cells, and cells that are not merged further.
_MOST_ROWS, _FEWEST_CELLS = 0.8, 4


@dataclass(frozen=True)
class BoostingStart:
    """What boosting knows before the first sum."""

    intercept: Floats
    """Scores of everybody before the first epoch: shape (n_outputs,)."""
    curvature: Floats
    """Second derivative of a record's loss by its score: shape (n_outputs,)."""
    unit: float
    """Size of a large effect: 1 for log-odds; the target's standard deviation for numbers."""
    clip: float
    """Largest size of a residual."""
    variance: Floats
    """Variance of a record's residual: shape (n_outputs,)."""
    rows: float
    """Noisy number of records."""
    doubt: float
    """Standard deviation of the noise on the intercept, about."""

    def counts(self, bins: Bins) -> Floats:
        """Positive counts of a feature's bins that sum to ``rows``."""
        return self.positive(bins.noisy_counts, bins.errors)

    def positive(self, noisy: Floats, errors: Floats | float) -> Floats:
        """Noisy counts raised to at least half their noise, scaled to sum to ``rows``."""
        floored = np.maximum(noisy, np.asarray(errors) / 2)
        return np.asarray(floored * (self.rows / floored.sum()))


def total_rows(histograms: Sequence[Floats], deviation: float, max_rows: int) -> float:
    """Number of records by all histograms together, the shorter ones weighing more."""
    totals = [histogram.sum() for histogram in histograms]
    weights = [1 / len(histogram) for histogram in histograms]
    rows = float(np.average(totals, weights=weights))
    return min(max(rows, 10.0, deviation / 2), float(max(10, max_rows)))


def start_classes(counts: Floats, deviation: float, rows: float) -> BoostingStart:
    """Log-odds of noisy class counts: of the second class of two, or of every class.

    Parameters
    ----------
    deviation : float
        Standard deviation of the noise on each count.
    """
    counts = np.clip(counts, 0.01 * rows, None)
    shares = counts / counts.sum()
    doubt = min(max(deviation / float(counts.min()), _LEAST_DOUBT), _MOST_DOUBT)
    if len(shares) == 2:
        share = shares[1:]
        intercept = np.log(share / (1 - share))
    else:
        share, intercept = shares, np.log(shares)
    curvature = share * (1 - share)
    return BoostingStart(intercept, curvature, 1.0, 1.0, curvature, rows, doubt)


def start_numbers(counts: Floats, deviation: float, rows: float) -> BoostingStart:
    """Mean and spread of a numeric target's noisy histogram over its public range [0, 1].

    Cells are merged two by two until most records are in cells that stand out from the noise;
    the other cells count as empty. If nothing stands out, the target may be anywhere, and
    effects are held small.
    """
    while len(counts) > _FEWEST_CELLS and not _stands_out(counts, deviation, rows):
        counts, deviation = counts.reshape(-1, 2).sum(axis=1), deviation * math.sqrt(2)
    cells = len(counts)
    middles = (np.arange(cells) + 0.5) / cells
    weights, doubt = np.full(cells, 1 / cells), _DOUBT
    if _stands_out(counts, deviation, rows):
        doubt = 1.0
        seen = np.where(counts > _CERTAIN * deviation, counts, 0.0)
        weights = seen / seen.sum()
    mean = float(weights @ middles)
    spread = math.sqrt(float(weights @ (middles - mean) ** 2) + 1 / (12 * cells**2))
    away = np.abs(middles - mean)
    order = np.argsort(away)
    inside = min(int(np.searchsorted(np.cumsum(weights[order]), _UNCLIPPED)), cells - 1)
    clip = min(float(away[order][inside]) + 1 / (2 * cells), 1.0)
    unsure = _LEAST_DOUBT * spread if doubt == 1.0 else _ANYWHERE
    return BoostingStart(np.array([mean]), np.ones(1), spread * doubt, clip, np.array([spread**2]), rows, unsure)


def _stands_out(counts: Floats, deviation: float, rows: float) -> bool:
    return bool(counts[counts > _CERTAIN * deviation].sum() >= _MOST_ROWS * rows)


def narrow(start: BoostingStart, sizes: Floats, deviation: float) -> BoostingStart:
    """Lower clip and variance to what a noisy histogram of residual sizes supports.

    Parameters
    ----------
    sizes : array of shape (n_groups,)
        Noisy records per group of :data:`SIZE_EDGES`.
    deviation : float
        Standard deviation of the noise on each.
    """
    allowed = max((1 - _UNCLIPPED) * start.rows, _SEEN * deviation * math.sqrt(len(sizes)))
    if allowed > _MOST_CLIPPED * start.rows:
        return start
    larger = np.cumsum(sizes[::-1])[::-1]
    first = int(np.argmax(larger <= allowed)) if np.any(larger <= allowed) else len(sizes)
    clip = min(start.clip, float(SIZE_EDGES[max(first - 1, 0)]))
    seen = np.where(sizes > _SEEN * deviation, sizes, 0.0)
    if seen.sum() < start.rows / 2:
        return replace(start, clip=clip)
    typical = SIZE_EDGES * 2 ** (-1 / 6)
    variance = np.array([float(seen @ typical**2) / float(seen.sum())])
    return replace(start, clip=clip, variance=np.minimum(start.variance, variance))
