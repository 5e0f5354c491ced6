"""Choosing a rule list: a pool from the prior with an exact selection, or the thesis's chain.

Both read the records only through capture counts and the integer log-likelihood utility of
:class:`dpcore.data.queries.LogLikelihood`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from typing import Final

import numpy as np

from dpcore.arrays import Ints, Ints16, Words
from dpcore.compiled import kernel
from dpcore.data.bits import capture_rule, count_both, remaining_classes
from dpcore.data.partition import Partition
from dpcore.data.queries import LogLikelihood
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Part
from dpcore.learning.chains import Chain, acceptance
from dpcore.learning.learner import Progress
from dpcore.models.rules.learning.antecedents import Antecedents, kept_vectors
from dpcore.models.rules.learning.moves import log_hastings, propose
from dpcore.models.rules.learning.prior import ListPrior
from dpcore.privacy.mechanisms import ExponentialMechanism
from dpcore.privacy.randomness import RandomSource, uniforms

#: Progress is reported after each of this many equal parts.
PARTS = 20
#: Words of one tile: all antecedents of a tile stay in the cache of a core.
_TILE = 512
#: Bytes of the counts of lists that are asked for at once, of all partitions together.
_AT_ONCE: Final = 256 * 2**20
#: Bytes that a list of a pool takes beside its rules: its length, place and utility, and noise on that.
_LIST: Final = 176


def list_bytes(rules: int) -> int:
    """Bytes of a list of a pool, as it was drawn and in order, with what is kept beside it."""
    return 2 * rules * np.dtype(np.int16).itemsize + _LIST


def counted_bytes(lists: int, rules: int, classes: int, partitions: int) -> int:
    """Bytes of the counts of so many lists, as far as they are asked for at once."""
    return min(_AT_ONCE, lists * _captures_bytes(rules, classes, partitions))


def _captures_bytes(rules: int, classes: int, partitions: int) -> int:
    """Bytes of what partitions tell of each rule of a list, and of its default rule."""
    return 8 * (rules + 1) * classes * partitions


@dataclass(frozen=True)
class CaptureProblem:
    """What a sampler needs of the records."""

    table: PrivateTable
    target: str
    part: Part
    """Part of the records to learn from."""
    antecedents: Antecedents
    likelihood: LogLikelihood

    def utilities(self, lists: Ints16, lengths: Ints, kernel: ListCaptures | None = None) -> Ints:
        """Integer utility of every list, in the order given.

        A list that begins like the one before it reuses that beginning, so sorted lists are
        cheaper. Cost: O(lists x length x words), words fixed by ``max_rows``.

        Parameters
        ----------
        kernel : callable, optional
            :func:`captures_of_lists`, or :func:`captures_of_list`, whose work does not tell the
            length of the list.
        """
        public = lists.shape[1], len(self.likelihood.class_table), len(self.table.partitions)
        most = max(1, _AT_ONCE // _captures_bytes(*public))
        found = np.empty(len(lists), dtype=np.int64)
        for first in range(0, len(lists), most):
            some = slice(first, first + most)
            found[some] = self._utilities(kernel or captures_of_lists, lists[some], lengths[some])
        return found

    def _utilities(self, kernel: ListCaptures, lists: Ints16, lengths: Ints) -> Ints:
        asked = self.target, self.part, self.antecedents, lists, lengths
        return self.likelihood.utilities(self.table.total(kernel, *asked))


#: A kernel that counts what each rule of some lists captures, with the arguments of one.
ListCaptures = Callable[[Partition, str, Part, Antecedents, Ints16, Ints], Ints]


def captures_of_lists(
    partition: Partition, target: str, part: Part, antecedents: Antecedents, lists: Ints16, lengths: Ints
) -> Ints:
    """Rows per class that each rule of each list captures. Sensitivity of a list: ``CAPTURES``.

    Returns
    -------
    array of shape (n_lists, most rules + 1, n_classes)
        Entry ``length`` is the default rule's; those beyond are 0.
    """
    vectors, classes = kept_vectors(partition, target, part, antecedents)
    counts = np.zeros((len(lists), lists.shape[1] + 1, len(classes)), dtype=np.int64)
    _capture_lists(vectors, classes, lists, lengths, counts)
    return counts


def captures_of_list(
    partition: Partition, target: str, part: Part, antecedents: Antecedents, lists: Ints16, lengths: Ints
) -> Ints:
    """The same for one list. Beyond it, rules are asked of nobody.

    The work of a step must not tell how long the chain's present list is.
    """
    vectors, classes = kept_vectors(partition, target, part, antecedents)
    counts = np.zeros((1, lists.shape[1] + 1, len(classes)), dtype=np.int64)
    _capture_list(vectors, classes, lists[0], lengths[0], counts[0])
    return counts


def sample_from_pool(
    problem: CaptureProblem,
    prior: ListPrior,
    pool_size: int,
    epsilon: Decimal,
    randomness: RandomSource,
    progress: Progress,
) -> Ints:
    """Draw ``pool_size`` lists from the public prior; select one by the exponential mechanism.

    Given the pool, list r is chosen with probability proportional to
    exp(epsilon * log-likelihood(r) / Delta). The prior enters as the base measure, untempered.
    Pure epsilon-DP for every pool, hence unconditionally.

    Returns
    -------
    array of int
        Positions of the chosen antecedents, in list order.
    """
    progress("drawing candidate lists", 0, 1)
    lists, lengths = prior.draw(pool_size, randomness)
    order = np.lexsort(lists[:, :4].T[::-1])
    lists, lengths = lists[order], lengths[order]
    progress("drawing candidate lists", 1, 1)
    scores = np.empty(pool_size, dtype=np.int64)
    bounds = np.linspace(0, pool_size, PARTS + 1).astype(int)
    for part, (first, last) in enumerate(pairwise(bounds)):
        scores[first:last] = problem.utilities(lists[first:last], lengths[first:last])
        progress("choosing a list", part + 1, PARTS)
    sensitivity = problem.likelihood.sensitivity
    mechanism = ExponentialMechanism(sensitivity.value, epsilon, sensitivity.monotone)
    chosen = mechanism.select(scores, randomness)
    return lists[chosen, : lengths[chosen]].astype(np.int64)


def run_chain(
    problem: CaptureProblem,
    prior: ListPrior,
    steps: int,
    epsilon: Decimal,
    randomness: RandomSource,
    progress: Progress,
    *,
    tempered_prior: bool = False,
) -> Chain[Ints]:
    """Lazy Metropolis-Hastings over rule lists (Belardo 2018, Algorithm 2), a fixed number of steps.

    It starts from a draw of the prior. The target is prior(r) * exp(epsilon * log-likelihood(r) / Delta); with
    ``tempered_prior`` it is the thesis's (prior(r) * likelihood(r)) ** (epsilon / (2 Delta)). Moves swap two
    rules, add one or delete one; the kind is uniform among those possible in the current
    state, and the Hastings correction accounts for it. epsilon-DP if the chain has converged.
    Deviations: the start and the laziness, without which a chain may never converge.
    """
    if prior.max_rules == 0:  # Nothing was mined: there is one list.
        return Chain(np.empty(0, dtype=np.int64), np.zeros(steps), np.zeros(steps, dtype=np.bool_))
    sensitivity = problem.likelihood.sensitivity
    weight = float(epsilon) / sensitivity.value
    if tempered_prior:
        weight /= 2
    prior_power = weight / problem.likelihood.step if tempered_prior else 1.0
    walk = ListWalk(problem, prior, steps, weight, prior_power, progress)
    return randomness.settle(walk)


@dataclass(frozen=True)
class ListWalk:
    """The chain of :func:`run_chain`, of target exp(weight x utility) x prior^prior_power."""

    problem: CaptureProblem
    prior: ListPrior
    steps: int
    weight: float
    prior_power: float
    progress: Progress

    def start(self, source: RandomSource) -> tuple[Ints, int]:
        """First list and its length: a draw of the prior."""
        lists, lengths = self.prior.draw(1, source)
        return lists[0].astype(np.int64), int(lengths[0])

    def run(self, source: RandomSource) -> Chain[Ints]:
        """Take all steps."""
        most, antecedents = self.prior.max_rules, len(self.prior.sizes)
        state, length = self.start(source)
        proposal, current = np.empty_like(state), self._log_target(state, length)
        scores, taken = np.empty(self.steps), np.empty(self.steps, dtype=np.bool_)
        bounds = np.linspace(0, self.steps, PARTS + 1).astype(int)
        for part, (first, last) in enumerate(pairwise(bounds)):
            noise = uniforms(source, 4 * (last - first)).reshape(-1, 4)
            for step, draws in enumerate(noise, first):
                proposed = propose(state, length, antecedents, draws, proposal)
                target = self._log_target(proposal, proposed)
                odds = target - current + log_hastings(length, proposed, most, antecedents)
                taken[step] = draws[3] < acceptance(odds)
                if taken[step]:
                    state, proposal, length, current = proposal, state, proposed, target
                scores[step] = current
            self.progress("choosing a list", part + 1, PARTS)
        return Chain(state[:length].copy(), scores, taken)

    def _log_target(self, state: Ints, length: int) -> float:
        rows = state[None, :].astype(np.int16), np.array([length])
        utility = int(self.problem.utilities(*rows, captures_of_list)[0])
        return float(self.weight * utility + self.prior_power * self.prior.log_probability(state[:length]))


@kernel
def _union(classes: Words, result: Words) -> None:
    result[:] = classes[0]
    for c in range(1, classes.shape[0]):
        members = classes[c]
        for w in range(result.shape[0]):
            result[w] |= members[w]


@kernel
def _capture_lists(antecedents: Words, classes: Words, lists: Ints16, lengths: Ints, counts: Ints) -> None:
    """Captures of each list, tile by tile; the default rule captures what the others leave.

    What is left after a shared beginning is kept from the list before.
    """
    longest, words = lists.shape[1], classes.shape[1]
    whole = np.zeros(classes.shape[0], np.int64)
    room = np.empty((longest + 1, min(_TILE, words)), np.uint64)
    for start in range(0, words, _TILE):
        stop = min(start + _TILE, words)
        width, members = stop - start, classes[:, start:stop].copy()
        _union(members, room[0, :width])
        for c in range(classes.shape[0]):
            whole[c] += count_both(members[c], members[c])
        for i in range(lists.shape[0]):
            for j in range(_shared(lists, lengths, i), lengths[i]):
                rule = antecedents[lists[i, j], start:stop]
                capture_rule(rule, members, room[j, :width], room[j + 1, :width], counts[i, j])
    for i in range(lists.shape[0]):
        counts[i, lengths[i]] = whole
        shared = _shared(lists, lengths, i)
        for j in range(lengths[i]):
            if j < shared:
                counts[i, j] = counts[i - 1, j]
            counts[i, lengths[i]] -= counts[i, j]


@kernel
def _shared(lists: Ints16, lengths: Ints, i: int) -> int:
    """How many rules a list begins with as the list before it does."""
    shared = 0
    while i > 0 and shared < min(lengths[i], lengths[i - 1]) and lists[i, shared] == lists[i - 1, shared]:
        shared += 1
    return shared


@kernel
def _capture_list(antecedents: Words, classes: Words, state: Ints16, length: int, counts: Ints) -> None:
    remaining = np.empty((2, classes.shape[1]), np.uint64)
    nobody = np.zeros((2, classes.shape[1]), np.uint64)
    beyond = np.zeros(classes.shape[0], np.int64)
    _union(classes, remaining[0])
    for j in range(length):
        capture_rule(antecedents[state[j]], classes, remaining[j % 2], remaining[(j + 1) % 2], counts[j])
    for j in range(length, len(state)):
        capture_rule(antecedents[j % len(antecedents)], classes, nobody[0], nobody[1], beyond)
    remaining_classes(remaining[length % 2], classes, counts[length])
