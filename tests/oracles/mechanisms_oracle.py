"""Exact output distributions of the mechanisms, and a goodness-of-fit test against them."""

import numpy as np
from scipy.stats import chi2

#: False-alarm rate of every statistical test of this project.
FALSE_ALARM = 1e-6


def geometric_pmf(scale, support):
    weights = np.exp(-np.abs(support) / scale)
    return weights * (1 - np.exp(-1 / scale)) / (1 + np.exp(-1 / scale))


def gaussian_pmf(scale, support):
    wide = np.arange(-int(60 * scale) - 10, int(60 * scale) + 11, dtype=float)
    return np.exp(-(support**2) / (2 * scale**2)) / np.exp(-(wide**2) / (2 * scale**2)).sum()


def exponential_probabilities(scores, scale):
    weights = np.exp((np.asarray(scores, dtype=float) - max(scores)) / scale)
    return weights / weights.sum()


def permute_and_flip_probabilities(scores, scale):
    """Each candidate arrives at a uniform time and is accepted with chance exp(-gap / scale)."""
    accept = np.exp((np.asarray(scores, dtype=float) - max(scores)) / scale)
    nodes, weights = np.polynomial.legendre.leggauss(len(scores) + 1)
    times, weights = (nodes + 1) / 2, weights / 2
    passed = 1 - accept[:, None] * times[None, :]
    others = np.array([np.delete(passed, i, axis=0).prod(axis=0) for i in range(len(scores))])
    return accept * (others @ weights)


def chi_square(observed, expected):
    """p-value of counts against expected counts; cells that expect under 5 are pooled."""
    observed, expected = np.asarray(observed, dtype=float), np.asarray(expected, dtype=float)
    order = np.argsort(expected)
    observed, expected = observed[order], expected[order]
    small = np.searchsorted(np.cumsum(expected), 5.0, side="left") + 1
    rare = expected < 5
    cut = max(small, rare.sum()) if rare.any() else 0
    if cut:
        observed = np.concatenate([[observed[:cut].sum()], observed[cut:]])
        expected = np.concatenate([[expected[:cut].sum()], expected[cut:]])
    if len(expected) < 2:
        raise ValueError("too few draws for a test")
    statistic = ((observed - expected) ** 2 / expected).sum()
    return float(chi2.sf(statistic, len(expected) - 1))


def integer_p_value(draws, pmf, reach):
    """p-value of integer draws against a probability mass function; both tails are cells."""
    support = np.arange(-reach, reach + 1)
    probability = pmf(support)
    tail = max(0.0, (1 - probability.sum()) / 2)
    edges = [np.sum(draws < -reach), np.sum(draws > reach)]
    observed = [edges[0], *(np.sum(draws == k) for k in support), edges[1]]
    return chi_square(observed, len(draws) * np.array([tail, *probability, tail]))
