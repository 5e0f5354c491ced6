"""The prior of a rule list (Letham et al. 2015): public, so lists can be drawn from it freely.

The number of rules m is Poisson(lambda), truncated to what is possible; the size of each
antecedent is Poisson(eta), truncated to the sizes still available; the antecedent is uniform
among those of that size not yet used.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from dpcore.arrays import Floats, Ints, Ints16
from dpcore.compiled import kernel
from dpcore.models.rules.learning.antecedents import Antecedents
from dpcore.privacy.randomness import RandomSource, uniforms

_CHUNK = 50_000
#: Least logarithm of the chance of an antecedent, and of going on or of ending, where blocks are drawn: their sums
#: are computed with an error that is bounded for terms of up to 128 in size.
_LEAST: Final = -36.0
_LEAST_TURN: Final = -16.0


@dataclass(frozen=True)
class ListPrior:
    """Prior over ordered lists of distinct antecedents."""

    length_weights: Floats
    """Probability of each list length: shape (max_rules + 1,)."""
    size_weights: Floats
    """Unnormalised Poisson weight of each antecedent size: shape (largest_size + 1,)."""
    sizes: Ints
    """Size of each antecedent, in increasing order: shape (n_antecedents,)."""
    starts: Ints
    counts: Ints
    """``starts``, ``counts``: first antecedent of each size, and how many there are: shape (largest_size + 1,)."""

    @classmethod
    def build(cls, antecedents: Antecedents, list_length: float, rule_length: float, max_rules: int) -> ListPrior:
        """Tabulate the prior for a set of antecedents."""
        sizes = antecedents.sizes
        if np.any(np.diff(sizes) < 0):
            raise AssertionError("antecedents must come in order of size")
        counts = np.bincount(sizes)
        starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        lengths = _poisson(list_length, min(max_rules, len(antecedents)))
        weights = _poisson(rule_length, len(counts) - 1)
        return cls(lengths / lengths.sum(), weights, sizes, starts, counts)

    @classmethod
    def of_number(cls, antecedents: Antecedents, rules: int, rule_length: float) -> ListPrior:
        """Tabulate the prior of lists of so many rules, or of as many as there are antecedents."""
        prior = cls.build(antecedents, 1.0, rule_length, rules)
        return replace(prior, length_weights=np.eye(prior.max_rules + 1)[-1])

    @property
    def max_rules(self) -> int:
        """Longest list with positive probability."""
        return len(self.length_weights) - 1

    def draw(self, number: int, randomness: RandomSource) -> tuple[Ints16, Ints]:
        """Draw lists independently.

        Returns
        -------
        lists : array of shape (number, max_rules), int16
            Antecedents of each list in order; -1 beyond its length.
        lengths : array of shape (number,)
        """
        lists = np.full((number, self.max_rules), -1, dtype=np.int16)
        cumulative = np.cumsum(self.length_weights)
        draws = uniforms(randomness, number)
        lengths = np.minimum(np.searchsorted(cumulative, draws, side="right"), self.max_rules)
        for first in range(0, number, _CHUNK):
            some = lengths[first : first + _CHUNK]
            noise = uniforms(randomness, 2 * int(some.sum()))
            _draw(lists[first : first + _CHUNK], some, noise, self.size_weights, self.starts, self.counts)
        return lists, lengths

    def log_weights(self) -> Floats:
        """Log-probability of each antecedent as a rule: by its size, then even among those of that size.

        None is below -36, so that the sums of blocks keep their precision.
        """
        of_sizes = np.where(self.counts > 0, self.size_weights, 0.0)
        chances = (of_sizes / of_sizes.sum() / np.maximum(self.counts, 1))[self.sizes]
        with np.errstate(divide="ignore"):
            return np.asarray(np.maximum(np.log(chances), _LEAST))

    def log_turns(self, rules: int) -> tuple[float, float]:
        """Log-probabilities that a list which has so many rules ends, and that it goes on.

        Where it may go on, neither is below -16, for the same reason.
        """
        end = self.end_probability(rules)
        if end == 1.0:
            return 0.0, -math.inf
        return (max(math.log(end), _LEAST_TURN) if end else _LEAST_TURN), max(math.log1p(-end), _LEAST_TURN)

    def end_probability(self, rules: int) -> float:
        """Probability that a list which has so many rules has no more."""
        if rules >= self.max_rules:
            return 1.0
        return float(self.length_weights[rules] / self.length_weights[rules:].sum())

    def log_probability(self, members: Ints) -> float:
        """Log prior probability of one list."""
        return float(
            log_prior(members, len(members), np.log(self.length_weights), self.size_weights, self.sizes, self.counts)
        )


def _poisson(mean: float, largest: int) -> Floats:
    return np.array([math.exp(k * math.log(mean) - math.lgamma(k + 1)) for k in range(largest + 1)])


@kernel
def _draw(lists: Ints16, lengths: Ints, noise: Floats, size_weights: Floats, starts: Ints, counts: Ints) -> None:
    """Fill ``lists``: each antecedent by its size, then by a partial Fisher-Yates shuffle."""
    total = np.sum(counts)
    deck = np.arange(total).astype(np.int16)
    taken = np.zeros(len(counts), np.int64)
    cursor = 0
    for i in range(len(lengths)):
        taken[:] = 0
        for j in range(lengths[i]):
            size = _pick_size(noise[cursor], size_weights, counts, taken)
            left = counts[size] - taken[size]
            offset = min(int(noise[cursor + 1] * left), left - 1)
            cursor += 2
            here = starts[size] + taken[size]
            there = here + offset
            chosen = deck[there]
            deck[there] = deck[here]
            deck[here] = chosen
            lists[i, j] = chosen
            taken[size] += 1


@kernel
def _pick_size(draw: float, size_weights: Floats, counts: Ints, taken: Ints) -> int:
    available = 0.0
    for size in range(len(counts)):
        if counts[size] > taken[size]:
            available += size_weights[size]
    goal = draw * available
    chosen = 0
    for size in range(len(counts)):
        if counts[size] > taken[size]:
            chosen = size
            goal -= size_weights[size]
            if goal < 0:
                break
    return chosen


@kernel
def log_prior(
    members: Ints, length: int, log_length_weights: Floats, size_weights: Floats, sizes: Ints, counts: Ints
) -> float:
    """Log prior probability of the first ``length`` antecedents of ``members``."""
    left = counts.copy()
    result = log_length_weights[length]
    for j in range(length):
        available = 0.0
        for size in range(len(counts)):
            if left[size] > 0:
                available += size_weights[size]
        size = sizes[members[j]]
        result += np.log(size_weights[size] / available) - np.log(left[size])
        left[size] -= 1
    return float(result)
