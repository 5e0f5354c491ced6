"""Losses, contingency tables and pruning done slowly and plainly: no imports of the engine."""

import math
from fractions import Fraction

from scipy.stats import binom


def error(counts):
    return Fraction(sum(counts) - max(counts))


def gini(counts):
    """Sum over ordered pairs of distinct classes of n_a n_b / m."""
    whole = sum(counts)
    pairs = sum(a * b for i, a in enumerate(counts) for j, b in enumerate(counts) if i != j)
    return Fraction(pairs, whole) if whole else Fraction(0)


def information_gain(counts):
    """m times Shannon's entropy in bits."""
    whole = sum(counts)
    return -sum(n * math.log2(n / whole) for n in counts if n)


def matsushita(counts):
    whole = sum(counts)
    return sum(2 * math.sqrt(n * (whole - n)) for n in counts) / len(counts)


LOSSES = {
    "error": error,
    "gini": gini,
    "information_gain": information_gain,
    "matsushita": matsushita,
}


def loss(name, table):
    """Loss of one candidate: a list of branches, each a list of class counts."""
    return float(sum(LOSSES[name](branch) for branch in table))


def delta_score(scores):
    """Exact delta score of losses in their own unit."""
    first, second = sorted(scores)[:2]
    return Fraction(second - first) / (1 + sum(scores))


def branch_table(rows, labels, column, branches, classes):
    """Records per branch and class, for the branch of each cell of a column."""
    table = [[0] * classes for _ in range(max(branches) + 1)]
    for row, label in zip(rows, labels, strict=True):
        if label < classes:
            table[branches[row[column]]][label] += 1
    return table


def upper_error_rate(total, errors, confidence):
    """Largest p with P(Binomial(total, p) <= errors) >= confidence, by bisection."""
    low, high = errors / total, 1.0
    for _ in range(200):
        middle = (low + high) / 2
        if binom.cdf(errors, total, middle) >= confidence:
            low = middle
        else:
            high = middle
    return low
