"""Compiled loops over some places of a partition: scores, residuals, and their sums.

Every loop visits every place and does the same arithmetic there, whether or not it holds a
record. Scores, labels and residuals are integers, and a residual is a function of its record's
label and scores alone: so a sum is exact, whatever the order, on every machine.
"""

from __future__ import annotations

import numpy as np

from dpcore.arrays import Array, Floats, Ints, Ints32, Words
from dpcore.compiled import kernel

#: Label of a place that holds no record to learn from.
ABSENT = -1
#: Steps of scores per unit of log-odds, and per range of a numeric target.
CLASS_STEPS, NUMBER_STEPS = 2**16, 2**22
#: No score is larger in size, so that the difference of two is a 32-bit integer.
LARGEST_SCORE = 2**30 - 1
#: Grid steps per clip of a residual.
RESIDUAL_STEPS = 2**28
#: Grid steps per clip of a residual when pairs are ranked: a sum of sizes needs no finer ones.
PAIR_STEPS = 2**16

#: The logistic function between +-16, 64 points per unit, in grid steps: between points it is a
#: line, so within 3e-6 of the curve.
_REACH, _DENSITY = 16, 64
_POINTS = np.arange(-_REACH * _DENSITY, _REACH * _DENSITY + 1) / _DENSITY
_LOGISTIC = np.rint(RESIDUAL_STEPS / (1 + np.exp(-_POINTS))).astype(np.int32)
_RISE = np.append(np.diff(_LOGISTIC), 0).astype(np.int32)
_SHIFT = np.int32(10)
_BELOW = np.int32(2**10 - 1)
_LAST = np.int32(_REACH * CLASS_STEPS)
#: exp(-x) of x in score steps, at multiples of 2**10 and below: 24 bits, so products are exact.
_FARTHEST = np.int32(40 * CLASS_STEPS)
_POWER = np.exp(-np.arange(40 * _DENSITY + 1) / _DENSITY).astype(np.float32).astype(np.float64)
_REST = np.exp(-np.arange(2**10) / CLASS_STEPS).astype(np.float32).astype(np.float64)


@kernel
def cells_of(
    numbers: Floats, edges: Floats, low: float, scale: float, first: Words, most: int, missing: int, codes: Array
) -> None:
    """Number of ``edges`` below each number; ``missing`` for NaN.

    Parameters
    ----------
    edges : array of shape (n_edges + 1,)
        Ascending, the last one infinite.
    low, scale : float
        A number is in place (number - low) * scale of ``first``, or in the nearest one.
    first : array of shape (n_places,), uint64
        Edges in the places before: these are below the number.
    most : int
        Most edges in one place: so many are compared with the number.
    """
    last = np.float64(len(first) - 1)
    for i in range(len(numbers)):
        number = numbers[i]
        place = (number - low) * scale
        place = place if place > 0.0 else 0.0
        code = first[np.uint64(place if place < last else last)]
        for _ in range(most):
            code += np.uint64(edges[code] < number)
        codes[i] = code if number == number else missing


@kernel
def move(scores: Ints32, codes: Array, change: Ints32) -> None:
    """Add the change of a record's cell to its scores.

    Parameters
    ----------
    scores : array of shape (n_replicates, n_outputs, n_places)
    codes : array of shape (n_places,)
    change : array of shape (n_replicates, n_outputs, n_cells)
    """
    for replicate in range(scores.shape[0]):
        for output in range(scores.shape[1]):
            own, moves = scores[replicate, output], change[replicate, output]
            for i in range(len(codes)):
                own[i] += moves[codes[i]]


@kernel
def logistic_residuals(labels: Ints32, scores: Ints32, residuals: Ints32) -> None:
    """Residuals y - p of two classes in grid steps, 0 where there is no record.

    Parameters
    ----------
    labels : array of shape (n_places,)
        0 or 1, or :data:`ABSENT`.
    scores, residuals : arrays of shape (n_replicates, 1, n_places)
        Log-odds in score steps; the residuals are filled.
    """
    for replicate in range(scores.shape[0]):
        own, out = scores[replicate, 0], residuals[replicate, 0]
        for i in range(len(labels)):
            place = min(max(own[i], -_LAST), _LAST) + _LAST
            low = place >> _SHIFT
            chance = _LOGISTIC[low] + ((_RISE[low] * (place & _BELOW)) >> _SHIFT)
            out[i] = (labels[i] << np.int32(28)) - chance if labels[i] >= 0 else np.int32(0)


@kernel
def softmax_residuals(labels: Ints32, scores: Ints32, residuals: Ints32) -> None:
    """As :func:`logistic_residuals` for several classes: an indicator minus probabilities.

    A record's residuals have an L2 norm of at most sqrt(2) clips, and two steps.
    """
    replicates, classes, places = scores.shape
    largest = np.empty(places, dtype=np.int32)
    powers, total = np.empty((classes, places)), np.empty(places)
    for replicate in range(replicates):
        largest[:] = scores[replicate, 0]
        for c in range(1, classes):
            for i in range(places):
                largest[i] = max(largest[i], scores[replicate, c, i])
        total[:] = 0.0
        for c in range(classes):
            own, power = scores[replicate, c], powers[c]
            for i in range(places):
                below = min(largest[i] - own[i], _FARTHEST)
                power[i] = _POWER[below >> _SHIFT] * _REST[below & _BELOW]
                total[i] += power[i]
        for c in range(classes):
            out, power = residuals[replicate, c], powers[c]
            for i in range(places):
                residual = ((1.0 if labels[i] == c else 0.0) - power[i] / total[i]) * RESIDUAL_STEPS
                out[i] = np.int32(residual) if labels[i] >= 0 else np.int32(0)


@kernel
def clipped_residuals(labels: Ints32, scores: Ints32, clip: float, residuals: Ints32) -> None:
    """As :func:`logistic_residuals` for numbers: label minus score, clipped to +- ``clip``.

    ``labels``, ``scores`` and ``clip`` are in score steps.
    """
    steps = RESIDUAL_STEPS / clip
    for replicate in range(scores.shape[0]):
        own, out = scores[replicate, 0], residuals[replicate, 0]
        for i in range(len(labels)):
            residual = min(max(np.float64(labels[i] - own[i]), -clip), clip) * steps
            out[i] = np.int32(residual) if labels[i] >= 0 else np.int32(0)


@kernel
def add_up(residuals: Ints32, codes: Array, sums: Ints) -> None:
    """Add residuals to the sums of their cells.

    Four sums of each cell are kept side by side: where most records are in one cell, an addition
    need not wait for the one before it.

    Parameters
    ----------
    residuals : array of shape (n_replicates, n_outputs, n_places)
    sums : array of shape (n_replicates, n_outputs, n_cells), int64
    """
    places, parts = len(codes), np.empty((4, sums.shape[2]), dtype=np.int64)
    one, two, three, four = parts[0], parts[1], parts[2], parts[3]
    for replicate in range(residuals.shape[0]):
        for output in range(residuals.shape[1]):
            values, own = residuals[replicate, output], sums[replicate, output]
            parts[:] = 0
            for i in range(0, places - 3, 4):
                one[codes[i]] += values[i]
                two[codes[i + 1]] += values[i + 1]
                three[codes[i + 2]] += values[i + 2]
                four[codes[i + 3]] += values[i + 3]
            for i in range(places - places % 4, places):
                one[codes[i]] += values[i]
            for cell in range(len(own)):
                own[cell] += one[cell] + two[cell] + three[cell] + four[cell]


@kernel
def add_up_pair(residuals: Ints32, first: Array, second: Array, table: Ints) -> None:
    """Add residuals, truncated to the coarser grid of pairs, to the cells of a pair of features.

    Parameters
    ----------
    residuals : array of shape (n_outputs, n_places)
    first, second : arrays of shape (n_places,)
    table : array of shape (n_outputs, n_first, n_second), int64
    """
    for output in range(residuals.shape[0]):
        values, own = residuals[output], table[output]
        for i in range(len(first)):
            own[first[i], second[i]] += np.int64(values[i] / (RESIDUAL_STEPS // PAIR_STEPS))
