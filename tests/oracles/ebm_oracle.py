"""Explainable boosting machines, written down once more in plain numpy, as slowly as needed."""

import math

import numpy as np

#: Label of a place without a class.
ABSENT = 255
#: Grid steps of the kernels, per clip and per record.
STEPS = 2**28


def moved(scores, before, change):
    """Scores after a change of one feature's shape, in the engine's 32-bit arithmetic."""
    return (scores + np.asarray(change, dtype=np.float32)[before]).astype(np.float32)


def present(labels):
    return ~np.isnan(labels) if labels.dtype.kind == "f" else labels != ABSENT


def residuals(labels, scores, clip=1.0):
    """Residuals of every place in units of the target, 0 without a record: (n, k)."""
    scores = np.asarray(scores, dtype=np.float64)
    scores = scores if scores.ndim == 2 else scores[:, None]
    if labels.dtype.kind == "f":
        raw = np.clip(labels.astype(np.float64)[:, None] - scores, -clip, clip)
    elif scores.shape[1] == 1:
        with np.errstate(over="ignore"):
            raw = (labels == 1)[:, None] - 1 / (1 + np.exp(-scores))
    else:
        powers = np.exp(scores - scores.max(axis=1, keepdims=True))
        raw = (labels[:, None] == np.arange(scores.shape[1])) - powers / powers.sum(axis=1, keepdims=True)
    return np.where(present(labels)[:, None], raw, 0.0)


def grid_sums(values, bins, size, steps):
    """Sums per bin of values truncated to whole steps, as Python integers: (size, k)."""
    totals = [[0] * values.shape[1] for _ in range(size)]
    for row, place in zip(values, bins, strict=True):
        for output, value in enumerate(row):
            totals[place][output] += int(float(value) * steps)
    return np.array(totals, dtype=np.int64)


def counts(codes, labels, size):
    totals = [0] * size
    for code, kept in zip(codes, present(labels), strict=True):
        totals[code] += bool(kept)
    return totals


def size_groups(labels, scores, edges):
    """Records per group of the size of their residual; the last group holds all beyond."""
    totals = [0] * len(edges)
    for label, score in zip(labels.astype(float), np.asarray(scores, dtype=float), strict=True):
        if not math.isnan(label):
            size = abs(label - score)
            group = next((i for i, edge in enumerate(edges) if size <= edge), len(edges) - 1)
            totals[group] += 1
    return totals


def pair_utility(values, first, second):
    """Sum over the cells of two features of the size of the sum of values: (n, k) integers."""
    table = {}
    for row, cell in zip(values.tolist(), zip(first, second, strict=True), strict=True):
        for output, value in enumerate(row):
            table[*cell, output] = table.get((*cell, output), 0) + value
    return sum(abs(total) for total in table.values())


def newton_step(sums, counts, ordered, *, curvature, variance, unit, noise, present_shape=None):
    """Maximum of a Gaussian approximation of the likelihood times the prior of shapes.

    The likelihood of a bin's score is that of its sum, whose variance is twice the noise plus
    what sampling adds; the prior ties every score to 0 and ordered neighbours to one another.
    """
    size = len(counts)
    shape = np.zeros(size) if present_shape is None else present_shape
    hessian = curvature * counts
    weight = hessian**2 / (2 * noise + variance * counts)
    precision = np.diag(np.full(size, 1 / unit**2))
    for i in range(ordered - 1):
        gap = np.zeros(size)
        gap[i], gap[i + 1] = 1, -1
        precision += np.outer(gap, gap) * (ordered / 8) / (0.4 * unit) ** 2
    system = np.diag(weight) + precision
    return np.linalg.solve(system, weight * (sums / hessian) - precision @ shape)


def axis_code(edges, number):
    """Bin of one number by scanning the edges; the last bin is for a missing number."""
    if math.isnan(number):
        return len(edges) + 1
    return sum(number > edge for edge in edges)
