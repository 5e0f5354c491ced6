"""Exact draws from the exponential mechanism over every pair of rules that may come next.

A block puts two rules, one or none after those before it. It is worth the purity of the groups
it makes of the records left: of those that either rule captures, and of the rest. Its
probability is prior x exp(weight x purity), drawn rule by rule with scores as those of trees
(:class:`~dpcore.models.trees.learning.lookahead.ExactWeight`). The prior is that of the thesis:
Poisson in the number of rules and in that of their conditions. Proof:
``docs/privacy/rule-list.md``, section 5b.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from typing import Final

import numpy as np

from dpcore.arrays import Array, Flags, Floats, Ints
from dpcore.compiled import kernel
from dpcore.cores import in_threads
from dpcore.data.partition import Partition
from dpcore.data.table import PrivateTable
from dpcore.domain.schema import Part
from dpcore.learning.learner import Progress
from dpcore.models.rules.learning.antecedents import Antecedents, kept_vectors
from dpcore.models.rules.learning.following import Following
from dpcore.models.rules.learning.prior import ListPrior
from dpcore.models.trees.learning.joint_counts import joint_counts
from dpcore.models.trees.learning.lookahead import ExactWeight, float_error
from dpcore.models.trees.learning.pair_values import GRID
from dpcore.privacy.budgets import EPSILON_STEP
from dpcore.privacy.mechanisms import weighted_index
from dpcore.privacy.randomness import RandomSource

#: Rules of a block, each of which is one choice.
RULES: Final = 2
#: What impurity counts, in eighths: that of the records left to later blocks counts less.
_EIGHTHS: Final = 8
_LEFT: Final = 6


def block_weight(epsilon: Decimal, conditions: int, classes: int, max_rows: int) -> ExactWeight:
    """Weight of purity in the draw of one block that costs a row at most ``epsilon``.

    Purity has sensitivity 1 in either direction: one row moves two blocks apart by 2 at most.
    """
    error = float_error(RULES, conditions + 1, classes)
    return ExactWeight.within(epsilon, 2 * GRID, RULES, error, max_rows)


def part_of_each(epsilon: Decimal, blocks: int) -> Decimal:
    """Budget of each of some blocks, rounded down."""
    return (epsilon / blocks).quantize(EPSILON_STEP, rounding=ROUND_FLOOR)


def block_counts(
    partition: Partition, target: str, part: Part, antecedents: Antecedents, before: tuple[int, ...]
) -> tuple[Array, ...]:
    """Kernel: rows per class that no rule before captures, in all, in each conjunction and in each pair.

    Returns
    -------
    arrays of shape (n_classes,), (n, n_classes) and (n, n, n_classes)
        Every word is visited, whatever the bits are.
    """
    vectors, classes = kept_vectors(partition, target, part, antecedents)
    captured = np.bitwise_or.reduce(vectors[list(before)], axis=0) if before else np.zeros_like(classes[0])
    return joint_counts(vectors, classes & ~captured, RULES)[:3]


@dataclass(frozen=True)
class BlockDrawer:
    """Draws a list block by block.

    Attributes
    ----------
    blocks : int
        Most blocks; the list ends where one has fewer than two rules.
    weight : ExactWeight
        Of one block.
    """

    table: PrivateTable
    target: str
    part: Part
    antecedents: Antecedents
    prior: ListPrior
    blocks: int
    weight: ExactWeight

    def draw(self, randomness: RandomSource, progress: Progress) -> Ints:
        """Positions of the drawn antecedents, in list order."""
        following, chosen = Following.of(self.antecedents, self.table.schema), list[int]()
        for block in range(self.blocks):
            if len(chosen) == RULES * block:
                chosen += self._block(following, chosen, self.eighths(block), randomness)
            progress("choosing a list", block + 1, self.blocks)
        return np.array(chosen, dtype=np.int64)

    def eighths(self, block: int) -> int:
        """What the impurity of the records that a block leaves counts: later blocks will lower it."""
        return _LEFT if block < self.blocks - 1 else _EIGHTHS

    def _block(self, following: Following, before: list[int], eighths: int, randomness: RandomSource) -> list[int]:
        """The next rules: at most two."""
        none, ones, twos = self.table.total(block_counts, self.target, self.part, self.antecedents, tuple(before))
        earlier = np.array(before, dtype=np.int64)
        size, may = len(ones), following.after(earlier)
        stops = [self.prior.end_probability(len(before) + place) for place in range(RULES)]
        priors = self.prior.log_weights()
        later = _Later(
            none, ones, twos, following.after_each(earlier), priors, _logs(stops[1]), self.weight.value, eighths
        )
        bests, rests = later.values()
        ends, goes = _logs(stops[0])
        whole = group_value(none, _EIGHTHS)
        offered = np.append(np.flatnonzero(may), size)
        bests, rests = np.append(bests, whole), np.append(rests + priors + goes, ends)
        place = self._choose(offered, bests, rests, randomness)
        if place == size:
            return []
        second = self._choose(*later.seconds(place), randomness)
        return [place] if second == size else [place, second]

    def _choose(self, offered: Ints, bests: Ints, rests: Floats, randomness: RandomSource) -> int:
        """One of the public ``offered``; the last stands for no rule."""
        offered = offered[rests[offered] > -np.inf]
        scores = self.weight.scores(bests[offered], rests[offered])
        return int(offered[weighted_index(scores, 2.0**self.weight.bits, randomness)])


def _logs(probability: float) -> tuple[float, float]:
    """Logarithms of a probability and of its complement."""
    with np.errstate(divide="ignore"):
        return float(np.log(probability)), float(np.log1p(-probability))


@dataclass(frozen=True)
class _Later:
    """What may come second in a block, and what each first rule is worth by it."""

    none: Ints
    ones: Ints
    twos: Ints
    may: Flags
    priors: Floats
    ends: tuple[float, float]
    weight: float
    eighths: int

    def values(self) -> tuple[Ints, Floats]:
        """Best purity and rest of each first rule, over all that may come second."""
        size = len(self.ones)
        bests, rests = np.zeros(size, dtype=np.int64), np.zeros(size)
        counts, logs = (self.none, self.ones, self.twos), (self.priors, *self.ends)
        in_threads(
            lambda firsts: _fill_firsts(*counts, self.may, *logs, self.weight, self.eighths, firsts, bests, rests),
            size,
        )
        return bests, rests

    def seconds(self, first: int) -> tuple[Ints, Ints, Floats]:
        """Those that may follow one first rule, and last no rule; purity and log-prior of each of all."""
        size = len(self.ones)
        bests, rests = np.zeros(size + 1, dtype=np.int64), np.zeros(size + 1)
        _fill_seconds(
            self.none,
            self.ones,
            self.twos[first],
            first,
            self.may[first],
            self.priors,
            *self.ends,
            self.eighths,
            bests,
            rests,
        )
        return np.append(np.flatnonzero(self.may[first]), size), bests, rests


@kernel
def group_value(counts: Ints, eighths: int) -> np.int64:
    """Size less so many eighths of the impurity, size - sum of count^2 / size, of a group, on the grid."""
    whole, squares = np.int64(0), np.int64(0)
    for count in counts:
        whole += count
        squares += count * count
    impurity = GRID * whole - GRID * squares // max(whole, np.int64(1))
    return GRID * whole - impurity * eighths // _EIGHTHS


@kernel
def _fill_seconds(
    none: Ints,
    ones: Ints,
    both: Ints,
    first: int,
    may: Flags,
    priors: Floats,
    end: float,
    go: float,
    eighths: int,
    bests: Ints,
    rests: Floats,
) -> None:
    """Purity of the three groups of a block with each second rule, and last with none."""
    size, labels = ones.shape
    own, rest = np.empty(labels, np.int64), np.empty(labels, np.int64)
    captured = group_value(ones[first], _EIGHTHS)
    for j in range(size + 1):
        if j < size and not may[j]:
            continue
        for c in range(labels):
            own[c] = ones[j, c] - both[j, c] if j < size else 0
            rest[c] = none[c] - ones[first, c] - own[c]
        bests[j] = captured + group_value(own, _EIGHTHS) + group_value(rest, eighths if j < size else _EIGHTHS)
        rests[j] = priors[j] + go if j < size else end


@kernel
def _fill_firsts(
    none: Ints,
    ones: Ints,
    twos: Ints,
    may: Flags,
    priors: Floats,
    end: float,
    go: float,
    weight: float,
    eighths: int,
    firsts: Ints,
    bests: Ints,
    rests: Floats,
) -> None:
    """Sum over second rules of each of the ``firsts``."""
    size = len(ones)
    each, logs = np.zeros(size + 1, np.int64), np.zeros(size + 1)
    for i in firsts:
        _fill_seconds(none, ones, twos[i], i, may[i], priors, end, go, eighths, each, logs)
        top, total = np.int64(-1), 0.0
        for j in range(size + 1):
            if (j == size or may[i, j]) and logs[j] > -np.inf:
                top = max(top, each[j])
        for j in range(size + 1):
            if (j == size or may[i, j]) and logs[j] > -np.inf:
                total += math.exp(weight * (each[j] - top) + logs[j])
        bests[i], rests[i] = top, math.log(total) if total > 0 else -np.inf
