"""Both samplers against full enumeration on a domain small enough to list every rule list."""

import itertools
import math
from dataclasses import replace
from decimal import Decimal
from functools import cache

import numpy as np
import pytest

from dpcore.data.queries import LogLikelihood
from dpcore.data.table import PrivateTable
from dpcore.learning.learner import no_progress
from dpcore.models.rules.learning import samplers
from dpcore.models.rules.learning.moves import log_hastings, nth_unused, propose
from dpcore.models.rules.learning.prior import ListPrior
from dpcore.models.rules.learning.samplers import CaptureProblem, run_chain, sample_from_pool
from dpcore.privacy.mechanisms import ExponentialMechanism
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.oracles import rules_oracle
from tests.oracles.mechanisms_oracle import FALSE_ALARM, chi_square
from tests.support.learning.enumerated_lists import (
    ALL,
    COLUMNS,
    ETA,
    ITEMSETS,
    LAMBDA,
    LONGEST,
    PLAIN,
    ROWS,
    SCHEMA,
    TINY,
)
from tests.support.learning.enumerated_lists import antecedents as _antecedents
from tests.support.learning.enumerated_lists import prior_of as _prior
from tests.support.learning.partitioned import divided
from tests.support.rows import for_each
from tests.support.tables.small_tables import domain, neighbours, schema_of, table_of

EPSILON = Decimal(4)
ALPHA = (1.0, 1.0)


def _problem(rows=ROWS, schema=SCHEMA, count=ALL, alpha=ALPHA):
    likelihood = LogLikelihood.tabulate(alpha, schema.max_rows)
    return CaptureProblem(table_of(schema, rows), "y", "all", _antecedents(count), likelihood)


def _log_likelihood(members, rows=ROWS):
    counts = rules_oracle.capture_counts(rows, [r[2] for r in rows], [PLAIN[m] for m in members], 2)
    return rules_oracle.log_likelihood(counts, ALPHA)


def _prior_oracle(count=ALL, longest=LONGEST):
    return rules_oracle.prior([len(i) for i in ITEMSETS[:count]], LAMBDA, ETA, longest)


def _posterior(epsilon, *, count=ALL, longest=LONGEST, prior_power=1.0, divisor=1.0):
    """Enumerated target: prior ** power * likelihood ** (epsilon / (divisor log(N + 1)))."""
    weight = float(epsilon) / math.log(SCHEMA.max_rows + 1) / divisor
    weights = {
        members: chance**prior_power * math.exp(weight * _log_likelihood(members))
        for members, chance in _prior_oracle(count, longest).items()
    }
    whole = sum(weights.values())
    return {members: value / whole for members, value in weights.items()}


def _p_value(picks, distribution):
    observed = dict.fromkeys(distribution, 0)
    for pick in picks:
        observed[tuple(int(i) for i in pick)] += 1
    expected = len(picks) * np.array(list(distribution.values()))
    return chi_square(list(observed.values()), expected)


# The prior


@for_each("count", [1, 2, 3, 4, 5])
@for_each("longest", [1, 3, 9])
def test_log_probability_is_the_enumerated_prior(count, longest):
    prior, exact = _prior(count, longest), _prior_oracle(count, longest)
    assert sum(exact.values()) == pytest.approx(1.0)
    for members, chance in exact.items():
        computed = prior.log_probability(np.array(members, dtype=np.int64))
        assert computed == pytest.approx(math.log(chance), abs=1e-9)


@pytest.mark.crossed
@pytest.mark.parametrize("source", [SecureRandom(), SeededRandom(1)])
@pytest.mark.parametrize("count", [2, 5])
def test_draws_follow_the_enumerated_prior(source, count):
    lists, lengths = _prior(count).draw(30_000, source)
    assert np.all((lists >= 0).sum(axis=1) == lengths)
    picks = [row[:length] for row, length in zip(lists, lengths, strict=True)]
    exact = _prior_oracle(count)
    assert _p_value(picks, exact) > FALSE_ALARM
    wrong = rules_oracle.prior([len(i) for i in ITEMSETS[:count]], LAMBDA * 1.15, ETA, LONGEST)
    assert _p_value(picks, wrong) < FALSE_ALARM


def test_one_draw_does_not_depend_on_the_one_before():
    """The deck is not put back in order between lists: consecutive pairs are independent."""
    lists, _ = ListPrior.build(_antecedents(3), 1.0, 1.0, 1).draw(90_001, SeededRandom(8))
    pairs = list(itertools.pairwise(lists[:, 0].tolist()))[::2]
    exact = {(): 0.5} | {(i,): 0.5 / 3 for i in range(3)}
    flat = {-1: exact[()], **{i: exact[(i,)] for i in range(3)}}
    expected = {(a, b): flat[a] * flat[b] for a in flat for b in flat}
    assert _p_value(pairs, expected) > FALSE_ALARM


# Scores


@pytest.mark.parametrize("alpha", [(1.0, 1.0), (0.5, 3.0)])
def test_scores_of_all_lists_are_their_log_likelihood(alpha):
    problem = _problem(alpha=alpha)
    for order in (1, -1):
        everything = sorted(_prior_oracle())[::order]
        lists = np.array([m + (-1,) * (3 - len(m)) for m in everything], dtype=np.int16)
        lengths = np.array([len(m) for m in everything])
        scores = problem.utilities(lists, lengths)
        for members, score in zip(everything, scores, strict=True):
            rules = [PLAIN[m] for m in members]
            counts = rules_oracle.capture_counts(ROWS, [r[2] for r in ROWS], rules, 2)
            assert score == problem.likelihood.utilities(counts)
            exact = rules_oracle.log_likelihood(counts, alpha)
            assert score * problem.likelihood.step == pytest.approx(exact, abs=1e-6)


@pytest.mark.parametrize("count", [1, 3])
def test_no_more_lists_are_counted_at_once_than_fit(count, monkeypatch):
    """However long a pool is; all partitions may have answered before the first answer is added up."""
    domain, rows = schema_of(COLUMNS, max_rows=200), ROWS * 5
    problem = _problem(rows, domain)
    lists, lengths = _prior().draw(1000, SeededRandom(3))
    expected, asked = problem.utilities(lists, lengths), []
    total = PrivateTable.total

    def watched(table, kernel, *public):
        found = total(table, kernel, *public)
        asked.append(found.nbytes * len(table.partitions))
        return found

    monkeypatch.setattr(PrivateTable, "total", watched)
    monkeypatch.setattr(samplers, "_AT_ONCE", 10_000)
    parted = replace(problem, table=divided(problem.table, count))
    np.testing.assert_array_equal(parted.utilities(lists, lengths), expected)
    assert len(asked) > 1
    assert max(asked) <= 10_000
    monkeypatch.setattr(samplers, "_AT_ONCE", 1)
    np.testing.assert_array_equal(parted.utilities(lists[:5], lengths[:5]), expected[:5])


class _Remembered:
    """A problem that works out the utilities of the same lists once: thousands of fits and chains ask again."""

    def __init__(self, problem):
        self._problem, self._known, self.likelihood = problem, {}, problem.likelihood

    def utilities(self, lists, lengths, kernel=None):
        key = lists.tobytes(), lengths.tobytes()
        if key not in self._known:
            self._known[key] = self._problem.utilities(lists, lengths, kernel)
        return self._known[key]


# The pool


class _FixedPool(SecureRandom):
    """Always the same words, so that every fit sees the same pool; selection stays secure."""

    def __init__(self):
        self._source = SeededRandom(11)

    def words(self, count):
        return self._source.words(count)


@pytest.mark.heavy
@pytest.mark.parametrize("fits", [800, pytest.param(4000, marks=pytest.mark.slow)])
def test_given_the_pool_selection_is_the_exponential_mechanism(fits):
    problem, prior = _Remembered(_problem()), _prior()
    lists, lengths = prior.draw(60, _FixedPool())
    pool = [tuple(r[:n].tolist()) for r, n in zip(lists, lengths, strict=True)]
    picks = [sample_from_pool(problem, prior, 60, EPSILON, _FixedPool(), no_progress) for _ in range(fits)]

    def exact(epsilon):
        weight = float(epsilon) / math.log(SCHEMA.max_rows + 1)
        weights = np.array([math.exp(weight * _log_likelihood(m)) for m in pool])
        chances = dict.fromkeys(pool, 0.0)
        for members, chance in zip(pool, weights / weights.sum(), strict=True):
            chances[members] += chance
        return chances

    assert _p_value(picks, exact(EPSILON)) > FALSE_ALARM
    assert _p_value(picks, exact(EPSILON / 2)) < FALSE_ALARM


@pytest.mark.heavy
@pytest.mark.parametrize("fits", [1400, pytest.param(4000, marks=pytest.mark.slow)])
def test_a_large_pool_samples_the_enumerated_posterior(fits):
    """Of order 1 / pool size from it: with 500 lists and 4,000 fits far below what is testable."""
    problem, prior, source = _problem(), _prior(), SeededRandom(21)
    picks = [sample_from_pool(problem, prior, 500, EPSILON, source, no_progress) for _ in range(fits)]
    assert _p_value(picks, _posterior(EPSILON)) > FALSE_ALARM
    assert _p_value(picks, _posterior(2 * EPSILON)) < FALSE_ALARM
    assert _p_value(picks, _posterior(EPSILON, divisor=2)) < FALSE_ALARM


# The chain


def _states(count, longest):
    return list(_prior_oracle(count, longest))


@for_each(("count", "longest"), [(1, 1), (2, 1), (2, 2), (3, 3), (4, 3), (4, 4)])
def test_proposals_are_the_enumerated_ones(count, longest):
    """Uniform noise on a grid that every choice divides gives the exact distribution."""
    grid = [(i + 0.5) / 12 for i in range(12)]
    for state in _states(count, longest):
        padded = np.array(state + (-1,) * (longest - len(state)), dtype=np.int64)
        proposal, seen = np.empty(longest, dtype=np.int64), {}
        for noise in itertools.product(grid[::2], grid, grid):
            length = propose(padded, len(state), count, np.array([*noise, 0.0]), proposal)
            key = tuple(proposal[:length].tolist())
            seen[key] = seen.get(key, 0) + 1
            assert np.all(proposal[length:] == -1)
        exact = rules_oracle.proposals(state, count, longest)
        assert seen.keys() == exact.keys()
        for key, chance in exact.items():
            assert seen[key] / (6 * 144) == pytest.approx(chance)


@for_each(("count", "longest"), [(1, 1), (2, 1), (2, 2), (3, 3), (5, 3), (4, 4)])
def test_hastings_correction_is_the_ratio_of_proposals(count, longest):
    moves = {s: rules_oracle.proposals(s, count, longest) for s in _states(count, longest)}
    for state, reachable in moves.items():
        for proposal, chance in reachable.items():
            exact = math.log(moves[proposal][state] / chance)
            computed = log_hastings(len(state), len(proposal), longest, count)
            assert computed == pytest.approx(exact, abs=1e-12)


def test_nth_unused_skips_what_is_used():
    for count in range(1, 7):
        for used in range(count):
            for state in itertools.permutations(range(count), used):
                free = [i for i in range(count) if i not in state]
                padded = np.array([*state, -1], dtype=np.int64)
                assert [nth_unused(padded, used, k) for k in range(len(free))] == free


TARGETS = {False: {}, True: {"prior_power": float(EPSILON) / 2 / math.log(SCHEMA.max_rows + 1), "divisor": 2.0}}


def _chains(problem, prior, steps, source, tempered):
    arguments = (problem, prior, steps, EPSILON, source, no_progress)
    return [run_chain(*arguments, tempered_prior=tempered).final for _ in range(1500)]


def _after(steps, tempered, first=None):
    """Distribution after so many steps from the prior, or from one list, by the enumerated transition matrix."""
    target = _posterior(EPSILON, count=4, **TARGETS[tempered])
    matrix = rules_oracle.metropolis_matrix(target, 4, LONGEST)
    prior = _prior_oracle(4)
    start = np.array([prior[state] if first is None else float(state == first) for state in target])
    return dict(zip(target, start @ np.linalg.matrix_power(matrix, steps), strict=True))


@pytest.mark.heavy
@pytest.mark.parametrize(("chains", "steps"), [(600, 240), pytest.param(5000, 600, marks=pytest.mark.slow)])
@pytest.mark.parametrize("tempered", [False, True])
def test_independent_chains_reach_the_enumerated_target(tempered, chains, steps):
    problem, prior = _Remembered(_problem(count=4)), _prior(4)
    target, after = _posterior(EPSILON, count=4, **TARGETS[tempered]), _after(steps, tempered)
    assert sum(abs(after[state] - target[state]) for state in target) < 1e-4, "more steps make the test fair"
    source = SeededRandom(31)
    picks = [
        run_chain(problem, prior, steps, EPSILON, source, no_progress, tempered_prior=tempered).final
        for _ in range(chains)
    ]
    assert _p_value(picks, target) > FALSE_ALARM
    assert _p_value(picks, _posterior(EPSILON, count=4, **TARGETS[not tempered])) < FALSE_ALARM


@pytest.mark.parametrize(
    ("steps", "tempered"),
    [(1, True), (2, False), (3, True), (7, False), pytest.param(50, True, marks=pytest.mark.slow)],
)
def test_short_chains_have_the_distribution_of_the_transition_matrix(steps, tempered):
    """Far from convergence: the start and every step are right, not only the limit."""
    problem, prior, source = _Remembered(_problem(count=4)), _prior(4), SecureRandom()
    picks = _chains(problem, prior, steps, source, tempered)
    assert _p_value(picks, _after(steps, tempered)) > FALSE_ALARM
    wrong = _after(steps, tempered, (0,)) if steps < 7 else _after(steps, not tempered)
    assert _p_value(picks, {state: max(chance, 1e-300) for state, chance in wrong.items()}) < FALSE_ALARM


def test_a_chain_tells_of_every_step():
    for steps in (1, 7, 20, 333):
        chain = run_chain(_problem(), _prior(), steps, EPSILON, SeededRandom(1), no_progress)
        assert chain.scores.shape == chain.taken.shape == (steps,)
        assert np.all(np.isfinite(chain.scores))
        assert np.all(np.diff(chain.scores)[~chain.taken[1:]] == 0)


def test_progress_is_fixed_by_public_inputs():
    def calls(rows, runner):
        seen = []
        runner(_problem(rows), _prior(), 40, EPSILON, SeededRandom(1), lambda *c: seen.append(c))
        return seen

    for runner in (sample_from_pool, run_chain):
        assert calls(ROWS, runner) == calls([], runner)


# Neighbours: the exact output distribution, with the library's own integers and scale

TINY_COUNT = 3
MONOTONE = ExponentialMechanism(
    LogLikelihood.tabulate(ALPHA, TINY.max_rows).sensitivity.value, Decimal(1), monotone=True
)


def _output(rows, exponent=1.0):
    """Log probability of every list: prior * exp(exponent * utility / scale)."""
    return _sorted_output(tuple(sorted(rows)), exponent)


@cache
def _sorted_output(rows, exponent):
    problem, prior = _problem(rows, TINY, TINY_COUNT), _prior_oracle(TINY_COUNT)
    lists = np.array([m + (-1,) * (3 - len(m)) for m in prior], dtype=np.int16)
    scores = problem.utilities(lists, np.array([len(m) for m in prior]))
    logs = np.log(list(prior.values())) + exponent * scores / MONOTONE.scale
    return logs - np.logaddexp.reduce(logs)


def _worst(rows, exponent=1.0):
    return max(np.abs(_output(less, exponent) - _output(more, exponent)).max() for less, more in neighbours(TINY, rows))


@pytest.mark.heavy
@pytest.mark.parametrize("apart", [13, pytest.param(3, marks=pytest.mark.slow)])
def test_neighbour_ratio_never_exceeds_the_budget(apart):
    """All neighbours, (other) and (missing) included, of tables of up to two rows."""
    kinds = domain(TINY)[::apart]
    small = [list(rows) for size in (0, 1, 2) for rows in itertools.combinations_with_replacement(kinds, size)]
    assert max(_worst(rows) for rows in small) <= 1.0 + 1e-9


#: Seven alike, one short of max_rows: here one row of the other class can do the most.
EXTREME = [(0, 0, 0)] * 7


def test_neighbour_ratio_is_nearly_used_up_and_a_doubled_exponent_exceeds_it():
    assert 0.5 < _worst(EXTREME) <= 1.0 + 1e-9
    assert _worst(EXTREME, exponent=2.0) > 1.0


def test_rows_of_one_person_compose():
    """Two rows more: at most twice the row-level budget, and more than once."""
    loss = np.abs(_output(EXTREME[:6]) - _output([*EXTREME[:6], (1, 0, 1), (1, 0, 1)])).max()
    assert loss <= 2.0 + 1e-9
    assert _worst(EXTREME) <= 1.0 + 1e-9


@for_each("seed", range(3))
def test_neighbour_ratio_holds_for_every_pool(seed):
    """Given any pool the selection alone is private: the pool need not resemble the prior."""
    lists, lengths = _prior(TINY_COUNT).draw(12, SeededRandom(seed))
    for rows in (EXTREME, [*EXTREME[:3], (1, 1, 1), (0, 1, 1)]):
        for less, more in neighbours(TINY, rows):
            logs = []
            for data in (less, more):
                scores = _problem(data, TINY, TINY_COUNT).utilities(lists, lengths)
                weights = scores / MONOTONE.scale
                logs.append(weights - np.logaddexp.reduce(weights))
            assert np.abs(logs[0] - logs[1]).max() <= 1.0 + 1e-9
