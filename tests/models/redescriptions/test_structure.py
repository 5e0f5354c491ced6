"""What whole runs choose, against every choice that they could have made."""

from collections import Counter
from decimal import Decimal
from functools import cache
from itertools import product

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.learning.exact_draws.lookahead import ExactWeight
from dpcore.learning.learner import Run
from dpcore.models.redescriptions.learning import exact_pairs
from dpcore.models.redescriptions.learning.diversity import best_found, telling_columns
from dpcore.models.redescriptions.learning.exact_pairs import pair_weight
from dpcore.models.redescriptions.learning.plans import CallBudgets
from dpcore.models.redescriptions.learning.redescription_queries import STEPS
from dpcore.privacy.randomness import SecureRandom
from tests.oracles import redescriptions_oracle as oracle
from tests.oracles.mechanisms_oracle import FALSE_ALARM, chi_square
from tests.support.learning.redescription_cases import LEARNER, schema
from tests.support.learning.redescription_cases import table as table_of
from tests.support.rows import for_each

TINY = schema(
    [
        {"name": name, "type": "boolean", "view": view}
        for name, view in (("a", "left"), ("b", "left"), ("c", "right"), ("d", "right"))
    ],
    max_rows=30,
)
LINKED = {"method": "lookahead", "depth": 1, "starts": 1, "tree_share": 0.9}


def plan_of(epsilon, parameters):
    return LEARNER.plan(TINY, "", Decimal(epsilon), parameters)


def structure_chances(rows, plan):
    """Chance of every (literal of the start, split on the left, split on the right)."""
    calls = CallBudgets.of(plan)
    left, right = (np.array([row[i : i + 2] for row in rows]).reshape(-1, 2) == 1 for i in (0, 2))
    pairs = list(product(range(2), repeat=2))
    scores = [int(STEPS * oracle.leverage(left[:, i], right[:, j])) for i, j in pairs]
    starts = oracle.softmax(scores, float(calls.start) / (2 * STEPS))
    chances: Counter[tuple[int, int, int]] = Counter()
    weights = [ExactWeight.fit("purity", 1, calls.tree, TINY.max_rows, 2, 2).value for _ in range(2)]
    for (_, j), chance in zip(pairs, starts, strict=True):
        labels = np.where(right[:, j], 0, 1)
        one = oracle.stacked_log_probabilities(left, labels, 2, 2, (1,), weights[:1])
        for (split,), log in one.items():
            below = np.where(left[:, split], 0, 1)
            two = oracle.stacked_log_probabilities(right, below, 2, 2, (1,), weights[1:])
            for (other,), more in two.items():
                chances[j, split, other] += chance * np.exp(log + more)
    return chances


@pytest.mark.heavy
@pytest.mark.parametrize("runs", [200, pytest.param(1200, marks=pytest.mark.slow)])
def test_the_structure_of_a_run_follows_the_enumerated_distribution(runs):
    rows = [(1, 0, 1, 0)] * 6 + [(0, 1, 0, 0)] * 5 + [(0, 0, 0, 1)] * 4 + [(1, 1, 1, 1)] * 3
    table, source = table_of(TINY, rows), SecureRandom()
    plan = plan_of("3", LINKED)
    found = Counter()
    for _ in range(runs):
        (pair,) = LEARNER.run(Run(table, plan, source)).pairs
        target = {"c = yes": 0, "d = yes": 1}[pair.target]
        splits = [{"a": 0, "b": 1}[pair.left.splits[0].column]]
        splits += [{"c": 0, "d": 1}[pair.right.splits[0].column]]
        found[target, *splits] += 1
    chances = structure_chances(rows, plan)
    assert sum(chances.values()) == pytest.approx(1)
    observed = [found[outcome] for outcome in chances]
    assert sum(observed) == runs
    assert chi_square(observed, [runs * chance for chance in chances.values()]) > FALSE_ALARM
    wrong = structure_chances(rows, plan_of("6", LINKED))
    assert chi_square(observed, [runs * wrong[outcome] for outcome in chances]) < FALSE_ALARM


@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), max_size=25), st.tuples(*[st.integers(0, 3)] * 4))
def test_neighbours_change_the_chance_of_a_structure_by_its_budget_at_most(rows, added):
    plan = plan_of("2", LINKED)
    calls = CallBudgets.of(plan)
    one, other = (structure_chances(people, plan) for people in (rows, [*rows, added]))
    gap = max(abs(np.log(one[outcome] / other[outcome])) for outcome in one)
    assert gap <= float(calls.start + 2 * calls.tree) + 1e-9


#: What the exact pairs choose among, one literal twice or two literals on a side.
CHOICES = ((0, 0), (0, 1), (1, 1))
OUTCOMES = tuple(product(CHOICES, repeat=2))
DRAWN = {"method": "exact_pairs", "starts": 1, "tree_share": 0.9}


def pair_chances(rows, plan, utility=oracle.agreement, outcomes=OUTCOMES):
    """Chance of every choice of two conditions on either side."""
    flags = np.array(rows).reshape(-1, 4) == 1
    scores = [
        oracle.best_utility(utility, [flags[:, i].tolist() for i in left], [flags[:, 2 + i].tolist() for i in right])
        for left, right in outcomes
    ]
    chances = oracle.softmax(scores, float(CallBudgets.of(plan).tree) / 2)
    return dict(zip(outcomes, chances, strict=True))


@pytest.mark.heavy
@pytest.mark.parametrize("runs", [400, pytest.param(1200, marks=pytest.mark.slow)])
def test_exact_pairs_of_a_run_follow_the_enumerated_distribution(runs):
    rows = [(1, 0, 1, 0)] * 3 + [(0, 1, 0, 0)] * 5 + [(0, 0, 0, 1)] * 4 + [(1, 1, 1, 1)] * 3
    table, source = table_of(TINY, rows), SecureRandom()
    plan, found = plan_of("1", DRAWN), Counter()
    for _ in range(runs):
        (pair,) = LEARNER.run(Run(table, plan, source)).pairs
        found[chosen_by(pair)] += 1
        assert all(tree.splits[1] == tree.splits[2] for tree in (pair.left, pair.right))
    chances = pair_chances(rows, plan)
    observed = [found[outcome] for outcome in chances]
    assert sum(observed) == runs
    assert chi_square(observed, [runs * chance for chance in chances.values()]) > FALSE_ALARM
    wrong = pair_chances(rows, plan_of("0.25", DRAWN))
    assert chi_square(observed, [runs * chance for chance in wrong.values()]) < FALSE_ALARM


@settings(max_examples=settings.default.max_examples // 2)
@given(st.lists(st.tuples(*[st.integers(0, 3)] * 4), max_size=25), st.tuples(*[st.integers(0, 3)] * 4))
def test_neighbours_change_the_chance_of_a_pair_by_its_budget_at_most(rows, added):
    plan = plan_of("2", DRAWN)
    for utility in (oracle.agreement, oracle.excess):
        one, other = (pair_chances(people, plan, utility) for people in (rows, [*rows, added]))
        gap = max(abs(np.log(one[outcome] / other[outcome])) for outcome in one)
        assert gap <= float(CallBudgets.of(plan).tree) + 1e-9


def chosen_by(pair):
    """Which literals a pair of trees has."""
    return tuple(
        tuple(names.index(split.column) for split in tree.splits[:2])
        for tree, names in ((pair.left, "ab"), (pair.right, "cd"))
    )


@pytest.mark.slow
def test_a_search_after_one_that_shows_nothing_has_the_other_utility():
    """Every second search against the chances that the first table, as released, leaves it."""
    rows = [(1, 0, 1, 0)] * 9 + [(0, 1, 0, 0)] * 2 + [(0, 0, 0, 1)] * 2 + [(1, 1, 1, 1)] * 3 + [(1, 0, 0, 0)] * 4
    table, source, plan = table_of(TINY, rows), SecureRandom(), plan_of("3", {**DRAWN, "starts": 2})
    observed, expected, wrong = (dict.fromkeys(OUTCOMES, 0.0) for _ in range(3))
    shown, runs = 0, 900
    chances = cache(lambda utility, left: pair_chances(rows, plan, utility, left))
    for _ in range(runs):
        first, second = LEARNER.run(Run(table, plan, source)).pairs
        best = best_found(first, TINY)
        used = telling_columns(first, best)
        shown += best is not None
        sides = [
            [choice for choice in CHOICES if not {names[i] for i in choice} & used] or CHOICES for names in ("ab", "cd")
        ]
        left = tuple(product(*sides))
        after = oracle.agreement if best is not None else oracle.excess
        other = oracle.excess if best is not None else oracle.agreement
        for counts, utility in ((expected, after), (wrong, other)):
            for outcome, chance in chances(utility, left).items():
                counts[outcome] += chance
        observed[chosen_by(second)] += 1
    assert shown < runs / 2, "most first tables show nothing"
    assert chi_square(list(observed.values()), list(expected.values())) > FALSE_ALARM
    assert chi_square(list(observed.values()), list(wrong.values())) < FALSE_ALARM


def test_the_budget_of_an_exact_pair_is_nearly_used_up():
    """So the factor 2 of the exponential mechanism cannot be spared."""
    rows = [(0, 1, 1, 0)] * 4 + [(1, 0, 0, 1)] * 4 + [(1, 1, 0, 0)] * 3
    plan = plan_of("1", DRAWN)
    one, other = (pair_chances(people, plan) for people in (rows, [*rows, (0, 0, 1, 1)]))
    budget = float(CallBudgets.of(plan).tree)
    gap = max(abs(np.log(one[outcome] / other[outcome])) for outcome in one)
    assert 0.9 * budget < gap <= budget


@for_each("epsilon", ["0.001", "1", "100"])
def test_summed_weights_are_within_their_bound(epsilon):
    """The scores of the left conditions against fifty digits."""
    draw, rows, columns, people = np.random.default_rng(1), 5, 4000, 10_000
    utilities = (256 * draw.integers(-people // 2, people // 2, (rows, columns))).astype(np.int32)
    utilities[0] = 7
    weight = pair_weight(Decimal(epsilon), people, columns)
    bests, rests = np.empty(rows, dtype=np.int64), np.empty(rows)
    everything = np.arange(rows), np.arange(columns)
    exact_pairs._fold(utilities, *everything, np.arange(rows), weight.value, bests, rests)
    assert bests.tolist() == utilities.max(axis=1).tolist()
    with mpmath.workdps(50):
        step = mpmath.mpf(weight.numerator) / 2**weight.bits
        exact = [mpmath.log(mpmath.fsum(mpmath.exp(step * int(value)) for value in row)) for row in utilities]
        found = [mpmath.mpf(int(score)) / 2**weight.bits for score in weight.scores(bests, rests)]
        gaps = [f - e for f, e in zip(found, exact, strict=True)]
        assert max(gaps) - min(gaps) <= 2 * weight.error
