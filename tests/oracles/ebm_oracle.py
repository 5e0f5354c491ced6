"""Explainable boosting machines, written down once more in plain numpy, as slowly as needed."""

import math

import numpy as np

#: Label of a place without a record.
ABSENT = -1
#: Steps of scores per unit of log-odds, and per range of a number, as labels have them.
CLASS_STEPS, NUMBER_STEPS = 2**16, 2**22


def residuals(labels, scores, numbers, clip=1.0):
    """Residuals of every place by integer scores (k, n), 0 without a record: (k, n)."""
    scores = np.asarray(scores, dtype=np.float64) / (NUMBER_STEPS if numbers else CLASS_STEPS)
    if numbers:
        raw = np.clip(labels / NUMBER_STEPS - scores, -clip, clip)
    elif len(scores) == 1:
        with np.errstate(over="ignore"):
            raw = (labels == 1) - 1 / (1 + np.exp(-scores))
    else:
        powers = np.exp(scores - scores.max(axis=0))
        raw = (labels == np.arange(len(scores))[:, None]) - powers / powers.sum(axis=0)
    return np.where(labels != ABSENT, raw, 0.0)


def scores_of(base, shapes, codes, numbers):
    """Integer scores (k, n): every shape rounded to whole steps, then added up."""
    steps = NUMBER_STEPS if numbers else CLASS_STEPS
    total = np.tile(np.rint(np.asarray(base) * steps)[:, None], (1, len(codes[0])))
    for shape, own in zip(shapes, codes, strict=True):
        total += np.rint(np.asarray(shape) * steps)[own].T
    return total.astype(np.int64)


def sums(values, bins, size):
    """Sums per bin of integers (k, n), as Python integers: (k, size)."""
    totals = [[0] * size for _ in values]
    for own, row in zip(totals, values, strict=True):
        for value, place in zip(row, bins, strict=True):
            own[place] += int(value)
    return totals


def counts(codes, labels, size):
    totals = [0] * size
    for code, label in zip(codes, labels, strict=True):
        totals[code] += bool(label != ABSENT)
    return totals


def size_groups(labels, scores, edges):
    """Records per group of the size of their residual; the last group holds all beyond."""
    totals = [0] * len(edges)
    for label, score in zip(labels, scores, strict=True):
        if label != ABSENT:
            size = abs(int(label) - int(score)) / NUMBER_STEPS
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


def smoothed(answers, counts, ordered, *, runs, hessian, sampling, noise, unit, doubt):
    """Posterior means of a shape by Gaussian conditioning on the first answers, the priors weighed.

    ``answers`` (replicates, runs) are sums of what a flat shape lacks; ``runs`` the run of each bin.
    The mean over the replicates is what the priors are weighed by.
    """
    size, replicates = len(counts), len(answers)
    add = np.zeros((max(runs) + 1, size))
    for place, run in enumerate(runs):
        add[run, place] = 1
    means, logs = [], []
    for scale in 2.0 ** np.arange(-5, 2):
        for length in (0.06, 0.25, 1.0, 4.0) if ordered > 1 else (1.0,):
            prior = np.eye(size)
            for i in range(ordered):
                for j in range(ordered):
                    prior[i, j] = math.exp(-abs(i - j) / ordered / length)
            prior = (scale * unit) ** 2 * prior + doubt**2
            seen = add @ np.diag(hessian)
            spread = seen @ prior @ seen.T + add @ np.diag(sampling) @ add.T + noise / replicates * np.eye(len(add))
            means.append([prior @ seen.T @ np.linalg.solve(spread, answer) for answer in answers])
            mean = np.mean(answers, axis=0)
            fit = -mean @ np.linalg.solve(spread, mean) / 2 - np.linalg.slogdet(spread)[1] / 2
            logs.append(fit - (math.log(scale / 0.35) / 0.9) ** 2 / 2)
    weights = np.exp(np.array(logs) - max(logs))
    weights = np.where(weights / weights.sum() > 0.01, weights, 0.0)
    return np.tensordot(weights / weights.sum(), np.array(means), axes=1)


def axis_code(edges, number):
    """Bin of one number by scanning the edges; the last bin is for a missing number."""
    if math.isnan(number):
        return len(edges) + 1
    return sum(number > edge for edge in edges)
