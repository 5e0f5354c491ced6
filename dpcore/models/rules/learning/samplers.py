"""Choosing a rule list: a pool from the prior with an exact selection, or the thesis's chain.

Both read the records only through capture counts and the integer log-likelihood utility of
:class:`dpcore.data.queries.LogLikelihood`.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise

import numpy as np

from dpcore.arrays import Floats, Ints, Ints16, Words
from dpcore.compiled import kernel
from dpcore.data.bits import capture_rule, remaining_classes
from dpcore.data.queries import LogLikelihood
from dpcore.learning.learner import Progress
from dpcore.models.rules.learning.moves import log_hastings, propose
from dpcore.models.rules.learning.prior import ListPrior, log_prior
from dpcore.privacy.mechanisms import ExponentialMechanism
from dpcore.privacy.randomness import RandomSource, uniforms

#: Progress is reported after each of this many equal parts.
PARTS = 20


@dataclass(frozen=True)
class CaptureProblem:
    """What a sampler needs of the records.

    Attributes
    ----------
    antecedents : array of shape (n_antecedents, n_words)
        Bit vectors.
    classes : array of shape (n_classes, n_words)
        Bit vectors of the training records per class, disjoint.
    likelihood : LogLikelihood
    """

    antecedents: Words
    classes: Words
    likelihood: LogLikelihood

    def utilities(self, lists: Ints16, lengths: Ints) -> Ints:
        """Integer utility of every list, in the order given.

        A list that begins like the one before it reuses that beginning, so sorted lists are
        cheaper. Cost: O(lists x length x words), words fixed by ``max_rows``.
        """
        scores = np.empty(len(lists), dtype=np.int64)
        _score_lists(
            self.antecedents,
            self.classes,
            lists,
            lengths,
            self.likelihood.class_table,
            self.likelihood.total_table,
            scores,
        )
        return scores


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


@dataclass(frozen=True)
class Chain:
    """A Metropolis-Hastings run. Only ``final`` may be released.

    Attributes
    ----------
    final : array of int
        Antecedents of the last state, in list order.
    trace : array of shape (steps,)
        Log target after each step. For data sets marked public only.
    """

    final: Ints
    trace: Floats


def run_chain(
    problem: CaptureProblem,
    prior: ListPrior,
    steps: int,
    epsilon: Decimal,
    randomness: RandomSource,
    progress: Progress,
    *,
    tempered_prior: bool = False,
) -> Chain:
    """Metropolis-Hastings over rule lists (Belardo 2018, Algorithm 2), a fixed number of steps.

    The target is prior(r) * exp(epsilon * log-likelihood(r) / Delta); with ``tempered_prior``
    it is the thesis's (prior(r) * likelihood(r)) ** (epsilon / (2 Delta)). Moves swap two
    rules, add one or delete one; the kind is uniform among those possible in the current
    state, and the Hastings correction accounts for it. epsilon-DP if the chain has converged.
    """
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

    def run(self, source: RandomSource) -> Chain:
        """Take all steps and return the last state, with what led there."""
        problem, prior = self.problem, self.prior
        state = np.full(prior.max_rules, -1, dtype=np.int64)
        state[0] = 0
        length = min(1, prior.max_rules)
        trace = np.empty(self.steps)
        bounds = np.linspace(0, self.steps, PARTS + 1).astype(int)
        for part, (first, last) in enumerate(pairwise(bounds)):
            noise = uniforms(source, 4 * (last - first)).reshape(-1, 4)
            length = _run_steps(
                problem.antecedents,
                problem.classes,
                problem.likelihood.class_table,
                problem.likelihood.total_table,
                np.log(prior.length_weights),
                prior.size_weights,
                prior.sizes,
                prior.counts,
                self.weight,
                self.prior_power,
                state,
                length,
                noise,
                trace[first:last],
            )
            self.progress("choosing a list", part + 1, PARTS)
        return Chain(state[:length].copy(), trace)


@kernel
def _union(classes: Words, result: Words) -> None:
    for w in range(classes.shape[1]):
        word = np.uint64(0)
        for c in range(classes.shape[0]):
            word |= classes[c, w]
        result[w] = word


@kernel
def _table_utility(counts: Ints, class_table: Ints, total_table: Ints) -> int:
    total = 0
    result = 0
    for c in range(len(counts)):
        total += counts[c]
        result += class_table[c, counts[c]]
    return int(result - total_table[total])


@kernel
def _score_lists(
    antecedents: Words, classes: Words, lists: Ints16, lengths: Ints, class_table: Ints, total_table: Ints, scores: Ints
) -> None:
    """Utility of each list; what is left after a shared beginning is kept from the list before."""
    longest = lists.shape[1]
    remaining = np.empty((longest + 1, classes.shape[1]), np.uint64)
    partial = np.zeros(longest + 1, np.int64)
    counts = np.zeros(classes.shape[0], np.int64)
    _union(classes, remaining[0])
    for i in range(lists.shape[0]):
        shared = 0
        if i > 0:
            limit = min(lengths[i], lengths[i - 1])
            while shared < limit and lists[i, shared] == lists[i - 1, shared]:
                shared += 1
        for j in range(shared, lengths[i]):
            capture_rule(antecedents[lists[i, j]], classes, remaining[j], remaining[j + 1], counts)
            partial[j + 1] = partial[j] + _table_utility(counts, class_table, total_table)
        remaining_classes(remaining[lengths[i]], classes, counts)
        scores[i] = partial[lengths[i]] + _table_utility(counts, class_table, total_table)


@kernel
def _list_utility(
    antecedents: Words,
    classes: Words,
    state: Ints,
    length: int,
    class_table: Ints,
    total_table: Ints,
    buffer: Words,
    nothing: Words,
    counts: Ints,
) -> int:
    """Utility of the first ``length`` rules of ``state``.

    Places beyond are filled with a rule that captures ``nothing``, which adds 0: the work of a
    step must not tell how long the chain's present list is.
    """
    _union(classes, buffer)
    result = 0
    for j in range(len(state)):
        rule = antecedents[state[j]] if j < length else nothing
        capture_rule(rule, classes, buffer, buffer, counts)
        result += _table_utility(counts, class_table, total_table)
    remaining_classes(buffer, classes, counts)
    return int(result + _table_utility(counts, class_table, total_table))


@kernel
def _run_steps(
    antecedents: Words,
    classes: Words,
    class_table: Ints,
    total_table: Ints,
    log_length_weights: Floats,
    size_weights: Floats,
    sizes: Ints,
    counts: Ints,
    weight: float,
    prior_power: float,
    state: Ints,
    length: int,
    noise: Floats,
    trace: Floats,
) -> int:
    """Advance the chain in place by one step per row of ``noise``; return the list's length."""
    buffer = np.empty(classes.shape[1], np.uint64)
    nothing = np.zeros(classes.shape[1], np.uint64)
    scratch = np.zeros(classes.shape[0], np.int64)
    proposal = np.empty_like(state)
    utility = _list_utility(antecedents, classes, state, length, class_table, total_table, buffer, nothing, scratch)
    prior = log_prior(state, length, log_length_weights, size_weights, sizes, counts)
    current = weight * utility + prior_power * prior
    for step in range(noise.shape[0]):
        proposed = propose(state, length, antecedents.shape[0], noise[step], proposal)
        utility = _list_utility(
            antecedents,
            classes,
            proposal,
            proposed,
            class_table,
            total_table,
            buffer,
            nothing,
            scratch,
        )
        prior = log_prior(proposal, proposed, log_length_weights, size_weights, sizes, counts)
        target = weight * utility + prior_power * prior
        odds = target - current
        odds += log_hastings(length, proposed, len(state), antecedents.shape[0])
        if np.log(1.0 - noise[step, 3]) < odds:
            state[:] = proposal
            length = proposed
            current = target
        trace[step] = current
    return length
