"""A pair of trees out of a public pool: its scores, its choice, what the choice may depend on."""

from collections import Counter
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.models.redescriptions.learning import pool
from dpcore.models.redescriptions.learning.pool import choose_pair
from dpcore.models.redescriptions.learning.redescription_queries import PAIR_SCORE
from dpcore.privacy.mechanisms import ExponentialMechanism
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.oracles import redescriptions_oracle as oracle
from tests.oracles.mechanisms_oracle import FALSE_ALARM, chi_square
from tests.support.learning import redescription_cases as cases

CLASSES, SPLITS = 3, (3, 4)
#: Sensitivity of the score of a pair, in records.
PROVED = 1.5


def people(size, seed=0):
    draw = np.random.default_rng(seed)
    hidden = draw.random((size, 1)) < 0.5
    sides = [np.where(draw.random((size, n)) < 0.8, hidden, ~hidden) for n in SPLITS]
    labels = np.where(draw.random(size) < 0.7, hidden[:, 0], draw.integers(0, CLASSES, size))
    return *sides, labels


def choose(records, depth=1, size=30, epsilon="1", max_rows=64, reach=PROVED, source=None):
    left, right, labels = records
    return choose_pair(
        cases.crowd(len(labels), max_rows),
        cases.given(cases.vectors(left, max_rows)),
        cases.given(cases.vectors(right, max_rows)),
        cases.given(cases.class_vectors(labels, CLASSES, max_rows)),
        depth,
        size,
        Decimal(epsilon),
        max_rows,
        reach,
        source or SecureRandom(),
    )


@pytest.fixture
def seen(monkeypatch):
    """What the exponential mechanism is given, time after time."""
    noted, select = [], ExponentialMechanism.select

    def watched(mechanism, scores, randomness):
        noted.append((mechanism, scores.copy()))
        return select(mechanism, scores, randomness)

    monkeypatch.setattr(ExponentialMechanism, "select", watched)
    return noted


def pool_of(seed, size, depth):
    """The public pairs that a source with these words gives."""
    inner = 2**depth - 1
    words = SeededRandom(seed).words(2 * size * inner) >> np.uint64(11)
    numbers = (words * 2.0**-53).reshape(2, size, inner)
    trees = [(numbers[side] * SPLITS[side]).astype(int) for side in (0, 1)]
    return [(tuple(map(int, one)), tuple(map(int, two))) for one, two in zip(*trees, strict=True)]


# Scores


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("batch", [7, 4096])
def test_scores_are_those_of_the_definition_rounded_down(depth, batch, seen, monkeypatch):
    monkeypatch.setattr(pool, "_BATCH", batch)
    left, right, labels = records = people(50, seed=depth)
    chosen = choose(records, depth, 40, source=cases.FixedWords(4))
    pairs = pool_of(4, 40, depth)
    ((_, scores),) = seen
    for score, pair in zip(scores, pairs, strict=True):
        exact = oracle.trees_score((left, right), labels, CLASSES, pair, 64)
        assert 0 <= exact - int(score) < 1 + Fraction(1, 2**10)
    assert tuple(tuple(map(int, tree)) for tree in chosen) in pairs


@given(cases.neighbours(splits=SPLITS), st.integers(0, 3), st.sampled_from([1, 2]))
def test_one_record_moves_no_score_further_than_the_mechanism_is_told(pair, room, depth):
    max_rows, answers = len(pair[1]) + room, []
    select = ExponentialMechanism.select
    try:
        ExponentialMechanism.select = lambda mechanism, scores, randomness: answers.append((mechanism, scores)) or 0
        for rows in pair:
            records = cases.sides_of(rows, SPLITS)
            choose(records, depth, 20, max_rows=max_rows, source=cases.FixedWords(2))
    finally:
        ExponentialMechanism.select = select
    (mechanism, before), (_, after) = answers
    assert np.abs(after - before).max() <= mechanism.sensitivity == PAIR_SCORE.value + 1
    # The chances of every pair of the pool, before and after.
    chances = [oracle.softmax(scores, 1 / mechanism.scale) for scores in (before, after)]
    assert np.abs(np.log(chances[0] / chances[1])).max() <= float(mechanism.epsilon) + 1e-9


# The choice


@pytest.mark.parametrize("epsilon", [pytest.param("0.5", marks=pytest.mark.slow), "3"])
def test_given_the_pool_the_choice_is_the_exponential_mechanism(epsilon, seen):
    records, size, draws = people(40, seed=3), 12, 700
    pairs = pool_of(6, size, 1)
    found = Counter(
        tuple(tuple(map(int, tree)) for tree in choose(records, 1, size, epsilon, source=cases.FixedWords(6)))
        for _ in range(draws)
    )
    mechanism, scores = seen[0]
    assert mechanism.scale == pytest.approx(2 * (PAIR_SCORE.value + 1) / float(epsilon))

    def p_value(times):
        chances = oracle.softmax(scores, times / mechanism.scale)
        expected = Counter()
        for pair, chance in zip(pairs, chances, strict=True):
            expected[pair] += draws * chance
        return chi_square([found[pair] for pair in expected], list(expected.values()))

    assert p_value(1) > FALSE_ALARM
    if epsilon == "3":
        assert p_value(2) < FALSE_ALARM, "the test can fail"


@pytest.mark.heavy
@pytest.mark.parametrize(("runs", "size"), [(150, 8_000), pytest.param(400, 20_000, marks=pytest.mark.slow)])
def test_a_large_pool_tends_to_the_mechanism_over_all_pairs(runs, size, seen):
    """Depth 1: 12 pairs. Each is in the pool as often as any other, about."""
    left, right, labels = records = people(40, seed=3)
    epsilon = 60
    found = Counter(tuple(int(tree[0]) for tree in choose(records, 1, size, str(epsilon))) for _ in range(runs))
    states = [(one, other) for one in range(SPLITS[0]) for other in range(SPLITS[1])]
    scores = [oracle.trees_score((left, right), labels, CLASSES, ((one,), (other,)), 64) for one, other in states]
    observed = [found[state] for state in states]
    weight = epsilon / (2 * (PAIR_SCORE.value + 1))
    assert chi_square(observed, runs * oracle.softmax(scores, weight)) > FALSE_ALARM
    assert chi_square(observed, [runs / 12] * 12) < FALSE_ALARM, "the test can fail"


@pytest.mark.parametrize(("reach", "expected"), [(1.5, 385), (64, 64 * 256 + 1), (0.1, 385), (1e8, 256 * 10**8 + 1)])
def test_the_sensitivity_asked_for_is_used_but_never_less_than_the_proved_one(reach, expected, seen):
    choose(people(20), reach=reach)
    assert seen[0][0].sensitivity == expected
    assert seen[0][0].monotone is False
