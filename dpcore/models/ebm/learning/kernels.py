"""Compiled loops over records: update scores, sum residuals per bin.

Every loop visits every place of the table and does the same arithmetic there, whether or not
it holds a record. Residuals are truncated to whole grid steps before they are summed, so a sum
is an exact integer whatever the order.
"""

from __future__ import annotations

import math

import numpy as np

from dpcore.arrays import Array, Bytes, Floats, Floats32, Ints
from dpcore.compiled import kernel

#: Label of a place that holds no record to learn from.
ABSENT = 255

#: The logistic function between +-16, 64 points per unit: between points it is a line, so within
#: 3e-6 of the curve. An exponential per record would take most of a pass.
_REACH, _DENSITY = np.float32(16.0), np.float32(64.0)
_LOGISTIC = (1 / (1 + np.exp(-np.arange(-16 * 64, 16 * 64 + 2) / 64))).astype(np.float32)


@kernel
def logistic_sums(
    labels: Bytes,
    scores: Floats32,
    before: Array,
    change: Floats32,
    bins: Array,
    steps: float,
    sums: Ints,
) -> None:
    """Add ``change`` to the scores, then sum residuals y - p per bin, in grid steps.

    Parameters
    ----------
    labels : array of shape (n_places,)
        0 or 1, or :data:`ABSENT`.
    scores : array of shape (n_places,)
        Log-odds, changed in place.
    before, change : arrays of shape (n_places,) and (n_changed_bins,)
        Bins of the feature that has changed, and by how much each.
    bins : array of shape (n_places,)
        Bins of the feature to sum over.
    steps : float
        Grid steps per unit of residual.
    sums : array of shape (n_bins,), int64
        Filled.
    """
    for i in range(len(labels)):
        score = scores[i] + change[before[i]]
        scores[i] = score
        place = (min(max(score, -_REACH), _REACH) + _REACH) * _DENSITY
        low = np.int64(place)
        chance = _LOGISTIC[low] + (_LOGISTIC[low + 1] - _LOGISTIC[low]) * (place - np.float32(low))
        residual = (np.float32(labels[i]) - chance) * steps
        sums[bins[i]] += np.int64(residual) if labels[i] != ABSENT else np.int64(0)


@kernel
def softmax_sums(
    labels: Bytes,
    scores: Floats32,
    before: Array,
    change: Floats32,
    bins: Array,
    steps: float,
    sums: Ints,
) -> None:
    """As :func:`logistic_sums` for several classes: scores of shape (n_places, n_classes).

    ``change`` and ``sums`` have one column per class. A record's residuals have an L2 norm of
    at most sqrt(2).
    """
    classes = scores.shape[1]
    powers = np.empty(classes, dtype=np.float64)
    for i in range(len(labels)):
        largest = np.float32(-np.inf)
        for c in range(classes):
            scores[i, c] += change[before[i], c]
            largest = max(largest, scores[i, c])
        total = 0.0
        for c in range(classes):
            powers[c] = math.exp(scores[i, c] - largest)
            total += powers[c]
        for c in range(classes):
            residual = ((1.0 if labels[i] == c else 0.0) - powers[c] / total) * steps
            sums[bins[i], c] += np.int64(residual) if labels[i] != ABSENT else np.int64(0)


@kernel
def clipped_sums(
    labels: Floats32,
    scores: Floats32,
    before: Array,
    change: Floats32,
    bins: Array,
    steps: float,
    clip: float,
    sums: Ints,
) -> None:
    """As :func:`logistic_sums` for numbers: residuals y - score, clipped to +- ``clip``.

    ``labels`` are numbers, NaN where there is no record.
    """
    for i in range(len(labels)):
        score = scores[i] + change[before[i]]
        scores[i] = score
        residual = min(max(np.float64(labels[i]) - np.float64(score), -clip), clip) * steps
        sums[bins[i]] += np.int64(residual) if labels[i] == labels[i] else np.int64(0)


@kernel
def residual_sizes(
    labels: Floats32,
    scores: Floats32,
    before: Array,
    change: Floats32,
    edges: Floats,
    counts: Ints,
) -> None:
    """Count records by the size of their residual, without changing the scores.

    Group i holds edges[i-1] < size <= edges[i]; the last one all that is larger too.
    """
    last = len(edges) - 1
    for i in range(len(labels)):
        size = abs(np.float64(labels[i]) - np.float64(scores[i] + change[before[i]]))
        group = 0
        for edge in range(last):
            group += 1 if size > edges[edge] else 0
        counts[group] += 1 if labels[i] == labels[i] else 0


@kernel
def absolute_table_sum(residuals: Ints, first: Array, second: Array, table: Ints) -> int:
    """Sum residuals, in grid steps, per cell of a pair of features; return the sum of sizes.

    Parameters
    ----------
    residuals : array of shape (n_places, n_outputs)
        Zero where there is no record.
    table : array of shape (n_first, n_second, n_outputs), int64
        Filled.
    """
    outputs = residuals.shape[1]
    for i in range(len(first)):
        for c in range(outputs):
            table[first[i], second[i], c] += residuals[i, c]
    return int(np.abs(table).sum())
