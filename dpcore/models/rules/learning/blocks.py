"""Exact draws from the exponential mechanism over every pair of rules that may come next.

A block puts two rules, one or none after those before it, and a class on each group that it makes
of the records left: on those that either rule captures, and on the rest. It is worth the records
that have the class of their group, each the more the fewer of its class are left
(:mod:`~dpcore.learning.exact_draws.balance`). Its probability is prior x exp(weight x worth), drawn rule
by rule with scores as those of trees (:class:`~dpcore.learning.exact_draws.lookahead.ExactWeight`), and
then class by class. The prior is that of the thesis, Poisson in the number of conditions, for a given number
of rules; all classes are alike. Proof: ``docs/privacy/rule-list.md``, section 5b.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

import numpy as np

from dpcore.arrays import Array, Flags, Floats, Ints
from dpcore.compiled import kernel
from dpcore.cores import in_threads
from dpcore.data.partition import Partition
from dpcore.data.queries import CAPTURES
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Part
from dpcore.learning.exact_draws.balance import FULL_WEIGHT, expected_shares, posterior_counts, weigh_classes
from dpcore.learning.exact_draws.joint_counts import joint_counts
from dpcore.learning.exact_draws.lookahead import ExactWeight, float_error
from dpcore.learning.exact_draws.pair_values import LEAF_UTILITIES, leaf_value, weighed
from dpcore.learning.learner import Progress
from dpcore.models.rules.learning.antecedents import Antecedents, kept_vectors
from dpcore.models.rules.learning.following import Following
from dpcore.models.rules.learning.prior import ListPrior
from dpcore.privacy.mechanisms import GeometricMechanism, weighted_draws
from dpcore.privacy.randomness import RandomSource

#: Rules of a block, each of which is one choice.
RULES: Final = 2
#: Position in ``LEAF_UTILITIES`` of what a group is worth: with the class that is drawn for it.
_DRAWN: Final = LEAF_UTILITIES.index("labelled")
#: Quarters of the mistakes among those left that count, if later blocks will divide them; captured ones stay.
_LEFT: Final = 1


def block_count(rules: int | None) -> int:
    """Blocks of a list of so many rules; the last one puts one rule if their number is odd."""
    return -(-(rules or 1) // RULES)


def block_weight(epsilon: Decimal, conditions: int, classes: int, max_rows: int) -> ExactWeight:
    """Weight of worth in the draw of one block that costs a row at most ``epsilon``.

    One row more adds to a block between nothing and :data:`FULL_WEIGHT`.
    """
    error = float_error(RULES, conditions + 1, classes)
    return ExactWeight.within(epsilon, FULL_WEIGHT, RULES, error, max_rows)


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
class DrawnList:
    """A list, with what its draw lets expect."""

    members: Ints
    """Positions of the drawn antecedents, in list order: shape (n_rules,)."""
    expected: Floats | None
    """Class shares of those whom each rule captures, and last of everybody else: shape (n_rules + 1, n_classes)."""

    def expected_of(self, groups: Ints) -> Floats | None:
        """Class shares of some of the groups."""
        return None if self.expected is None else self.expected[groups]


@dataclass(frozen=True)
class Block:
    """How one block is drawn."""

    counts: Decimal
    """Row-level budget of the class counts with which it begins."""
    draw: Decimal
    """Row-level budget of its draw."""
    weight: ExactWeight
    """Of its draw."""
    divided: bool
    """Whether later blocks are expected to divide those whom it leaves."""

    def classes_of(self, values: Ints, randomness: RandomSource) -> Ints:
        """Class of each group, given what it is worth with each: shape (n_groups, n_classes)."""
        scores = self.weight.numerator * (values - values.max(axis=1, keepdims=True))
        return weighted_draws(2.0**self.weight.bits, randomness)(scores)

    def choose(self, offered: Ints, bests: Ints, rests: Floats, randomness: RandomSource) -> int:
        """One of the public ``offered``; the last stands for no rule."""
        offered = offered[rests[offered] > -np.inf]
        scores = self.weight.scores(bests[offered], rests[offered])
        (chosen,) = weighted_draws(2.0**self.weight.bits, randomness)(scores[None])
        return int(offered[chosen])


@dataclass(frozen=True)
class BlockDrawer:
    """Draws a list block by block; it ends where one has fewer than two rules."""

    table: PrivateTable
    target: str
    part: Part
    antecedents: Antecedents
    prior: ListPrior
    blocks: tuple[Block, ...]

    def draw(self, randomness: RandomSource, progress: Progress) -> DrawnList:
        """Draw a list."""
        following, chosen, expected = Following.of(self.antecedents, self.table.schema), list[int](), list[Floats]()
        left: Floats | None = None
        for place, block in enumerate(self.blocks):
            if len(chosen) == RULES * place:
                rules, shares, left = self._draw(block, following, chosen, left, randomness)
                chosen, expected = chosen + rules, expected[: len(chosen)] + shares
            progress("choosing a list", place + 1, len(self.blocks))
        return DrawnList(np.array(chosen, dtype=np.int64), np.array(expected))

    def _draw(
        self, block: Block, following: Following, before: list[int], above: Floats | None, randomness: RandomSource
    ) -> tuple[list[int], list[Floats], Floats]:
        """The next rules, at most two; class shares expected of each and of the rest; those when the block began."""
        none, ones, twos = self.table.total(block_counts, self.target, self.part, self.antecedents, tuple(before))
        noisy = GeometricMechanism(CAPTURES.value, block.counts).release(none, randomness)
        counts = posterior_counts(noisy, 1 / float(block.counts), above)
        earlier = np.array(before, dtype=np.int64)
        size, may = len(ones), following.after(earlier)
        priors, class_weights = self.prior.log_weights(), weigh_classes(counts)
        (ends, goes), turns = (self.prior.log_turns(len(before) + place) for place in range(RULES))
        may_each, left = following.after_each(earlier), _LEFT if block.divided else 0
        later = _Later(none, ones, twos, may_each, priors, turns, class_weights, left, block.weight.value)
        bests, rests = later.values()
        whole, rest = leaf_value(none, class_weights, _DRAWN, block.weight.value)
        offered = np.append(np.flatnonzero(may), size)
        bests, rests = np.append(bests, whole), np.append(rests + priors + goes, rest + ends)
        rules = [block.choose(offered, bests, rests, randomness)]
        if rules[0] < size:
            rules.append(block.choose(*later.seconds(rules[0]), randomness))
        if rules[-1] == size:
            rules.pop()
        groups = later.groups(rules)
        if len(rules) == RULES and block.divided:  # What is left is divided further; until then it is as it was.
            groups.pop()
        shares = list(expected_shares(counts, block.classes_of(class_weights * np.stack(groups), randomness)))
        return rules, shares + [counts / counts.sum()] * (len(rules) + 1 - len(shares)), counts / counts.sum()


@dataclass(frozen=True)
class _Later:
    """What may come second in a block, and what each first rule is worth by it."""

    none: Ints
    ones: Ints
    twos: Ints
    may: Flags
    priors: Floats
    ends: tuple[float, float]
    class_weights: Ints
    left: int
    weight: float

    def values(self) -> tuple[Ints, Floats]:
        """Best worth and rest of each first rule, over all that may come second."""
        size = len(self.ones)
        bests, rests = np.zeros(size, dtype=np.int64), np.zeros(size)
        counts, logs = (self.none, self.ones, self.twos), (self.priors, *self.ends)
        values = self.class_weights, self.left, self.weight
        in_threads(lambda firsts: _fill_firsts(*counts, self.may, *logs, *values, firsts, bests, rests), size)
        return bests, rests

    def groups(self, rules: Sequence[int]) -> list[Ints]:
        """Records per class that each of at most two rules captures, and last of the rest."""
        groups = [self.ones[rule] - (self.twos[rules[0], rule] if place else 0) for place, rule in enumerate(rules)]
        return [*groups, self.none - sum(groups, np.zeros_like(self.none))]

    def seconds(self, first: int) -> tuple[Ints, Ints, Floats]:
        """Those that may follow one first rule, and last no rule; worth and rest of each of all."""
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
            self.class_weights,
            self.left,
            self.weight,
            bests,
            rests,
        )
        return np.append(np.flatnonzero(self.may[first]), size), bests, rests


@kernel
def _left_value(counts: Ints, class_weights: Ints, quarters: int, weight: float) -> tuple[np.int64, float]:
    """Worth of those left: of a group, or if so many quarters of its mistakes count, with its best class."""
    if quarters == 0:
        return leaf_value(counts, class_weights, _DRAWN, weight)
    best, whole = np.int64(0), np.int64(0)
    for c in range(counts.shape[0]):
        best = max(best, class_weights[c] * counts[c])
        whole += class_weights[c] * counts[c]
    return (quarters * best + (4 - quarters) * whole) // 4, 0.0


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
    class_weights: Ints,
    left: int,
    weight: float,
    bests: Ints,
    rests: Floats,
) -> None:
    """Worth of the three groups of a block with each second rule, and last with none."""
    size, labels = ones.shape
    own, rest = np.empty(labels, np.int64), np.empty(labels, np.int64)
    captured, captured_rest = leaf_value(ones[first], class_weights, _DRAWN, weight)
    for j in range(size + 1):
        if j < size and not may[j]:
            continue
        for c in range(labels):
            own[c] = ones[j, c] - both[j, c] if j < size else 0
            rest[c] = none[c] - ones[first, c] - own[c]
        others, others_rest = _left_value(rest, class_weights, left if j < size else 0, weight)
        bests[j], rests[j] = captured + others, captured_rest + others_rest
        if j < size:
            more, more_rest = leaf_value(own, class_weights, _DRAWN, weight)
            bests[j] += more
            rests[j] += more_rest + priors[j] + go
        else:
            rests[j] += end


@kernel
def _fill_firsts(
    none: Ints,
    ones: Ints,
    twos: Ints,
    may: Flags,
    priors: Floats,
    end: float,
    go: float,
    class_weights: Ints,
    left: int,
    weight: float,
    firsts: Ints,
    bests: Ints,
    rests: Floats,
) -> None:
    """Sum over second rules of each of the ``firsts``."""
    size = len(ones)
    each, logs = np.zeros(size + 1, np.int64), np.zeros(size + 1)
    for i in firsts:
        _fill_seconds(none, ones, twos[i], i, may[i], priors, end, go, class_weights, left, weight, each, logs)
        top, total = np.int64(-1), 0.0
        for j in range(size + 1):
            if (j == size or may[i, j]) and logs[j] > -np.inf:
                top = max(top, each[j])
        for j in range(size + 1):
            if (j == size or may[i, j]) and logs[j] > -np.inf:
                total += weighed(weight * (each[j] - top) + logs[j])
        bests[i], rests[i] = top, math.log(total) if total > 0 else -np.inf
