"""Exact log-probabilities of what mechanisms draw, and their Rényi divergence."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from scipy.special import logsumexp

from dpcore.arrays import Floats, Ints
from dpcore.privacy.randomness import Choice

#: Orders of Rényi divergences, less 1, that are looked at, and how many of them at once.
_ORDERS, _COARSE = (1e-4, 1e4), 40
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


#: Log-probabilities of all outputs of a draw on either table, and the output.
Draw = tuple[Floats, Floats, int]


def divergence_rho(draws: Sequence[Draw]) -> float:
    """Largest Rényi divergence of order alpha, divided by alpha, over all alpha above 1, in both directions.

    Of draws that follow each other, what is known along their outputs: the divergence of the rest after any other
    output is taken as 0. So it is never above the true one, and exact for a single draw but for
    the search, which loses less than a part in 10,000.
    """
    return max(_largest_rho(draws), _largest_rho([(second, first, output) for first, second, output in draws]))


def _largest_rho(draws: Sequence[Draw]) -> float:
    orders = np.geomspace(_ORDERS[0], _ORDERS[1], _COARSE)
    for _ in range(2):
        rhos = _log_moments(draws, 1 + orders) / (orders * (1 + orders))
        best = int(rhos.argmax())
        orders = np.geomspace(orders[max(best - 1, 0)], orders[min(best + 1, len(orders) - 1)], _COARSE)
    return max(float(rhos.max()), 0.0)


def _log_moments(draws: Sequence[Draw], orders: Floats) -> Floats:
    """Logarithm of the sum of P^alpha Q^(1 - alpha) over all outputs, for each alpha."""
    rest = np.zeros_like(orders)
    for first, second, output in reversed(draws):
        terms = np.multiply.outer(orders, first - second) + second
        terms[:, output] += rest
        rest = np.maximum(np.asarray(logsumexp(terms, axis=1)), 0.0)
    return rest


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
