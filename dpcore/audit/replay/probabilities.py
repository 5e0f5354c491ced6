"""Exact log-probabilities of what mechanisms draw."""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp

from dpcore.arrays import Floats, Ints
from dpcore.privacy.randomness import Choice

#: Candidates beyond which the integral of permute-and-flip is done in panels.
_ONE_PANEL = 256


def choice_logs(choice: Choice, scores: Ints) -> Floats:
    """Log-probability of every index: shape (n,)."""
    gaps = (scores - scores.max()) / choice.scale
    return softmax_logs(gaps) if choice.law == "gumbel" else permute_and_flip_logs(gaps)


def softmax_logs(weights: Floats) -> Floats:
    """Log-probabilities proportional to exp(weights)."""
    return np.asarray(weights - logsumexp(weights))


def permute_and_flip_logs(gaps: Floats) -> Floats:
    """Log-probabilities of permute-and-flip, from score gaps in units of the scale, at most 0.

    Each candidate arrives at a uniform time in [0, 1] and is accepted with probability
    q_i = exp(gap_i); the first one accepted wins. Given that i arrives at t, candidate j has not
    been accepted before with probability 1 - t q_j, so

        P(i) = q_i integral over t from 0 to 1 of prod_{j != i} (1 - t q_j).

    The integrand is a polynomial of degree n - 1 without a negative value, for which
    Gauss's rule with enough nodes is exact but for rounding.
    """
    times, weights = _rule(len(gaps))
    passed = np.log1p(-times[:, None] * np.exp(gaps))
    logs = passed.sum(axis=1, keepdims=True) - passed + np.log(weights)[:, None]
    return np.asarray(gaps + logsumexp(logs, axis=0))


@lru_cache(maxsize=512)
def _rule(candidates: int) -> tuple[Floats, Floats]:
    """Nodes and weights on [0, 1]; for many candidates in panels, narrow ones near 0."""
    if candidates <= _ONE_PANEL:
        return _panel(0.0, 1.0, candidates // 2 + 1)
    ends = [0.0, *(2.0 ** -np.arange(candidates.bit_length() + 4)[::-1])]
    parts = [_panel(low, high, 64) for low, high in pairwise(ends)]
    nodes, weights = zip(*parts, strict=True)
    return np.concatenate(nodes), np.concatenate(weights)


def _panel(low: float, high: float, count: int) -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(count)
    return low + (high - low) * (nodes + 1) / 2, weights * (high - low) / 2
