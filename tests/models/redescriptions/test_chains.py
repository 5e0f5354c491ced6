"""The published draws of trees: Markov chains against their transition matrices, and pairs out of a public pool."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.models.redescriptions.learning import pool
from dpcore.models.redescriptions.learning import tree_chains as chains
from dpcore.models.redescriptions.learning.pool import choose_pair
from dpcore.models.redescriptions.learning.redescription_queries import PAIR_SCORE, STEPS
from dpcore.models.redescriptions.learning.tree_chains import Proposals, pair_chain, random_tree, tree_chain
from dpcore.privacy.mechanisms import ExponentialMechanism
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.oracles import redescriptions_oracle as oracle
from tests.oracles.mechanisms_oracle import FALSE_ALARM, chi_square
from tests.support.learning import redescription_cases as cases
from tests.support.rows import for_each

CLASSES, MAX_ROWS = 3, 40
#: Splits of the two views.
SPLITS = (2, 2)


def people(size, splits=SPLITS, seed=0):
    """Two matrices of truth values and classes, all three related."""
    draw = np.random.default_rng(seed)
    hidden = draw.random(size) < 0.5
    sides = [np.where(draw.random((size, n)) < 0.7, hidden[:, None], draw.random((size, n)) < 0.5) for n in splits]
    return *sides, np.where(draw.random(size) < 0.6, hidden, draw.integers(0, CLASSES, size))


def packed(left, right, labels):
    return (
        cases.crowd(len(labels), 64),
        cases.given(cases.vectors(left, 64)),
        cases.given(cases.vectors(right, 64)),
        cases.given(cases.class_vectors(labels, CLASSES, 64)),
    )


def pair_of(asked, depth, steps, weight, source):
    trees = pair_chain(*asked, depth, steps, MAX_ROWS, weight, source)
    return tuple(int(split) for tree in trees for split in tree)


def tree_of(asked, depth, steps, weight, source):
    table, left, _, classes = asked
    tree = tree_chain(table, left, classes, depth, steps, weight, source)
    return tuple(int(split) for split in tree)


class Single:
    """Chain over single trees, its states and their scores."""

    draw = staticmethod(tree_of)

    def __init__(self, records, depth, splits=SPLITS):
        self.records, self.asked = records, packed(*records)
        self.options = [splits[0]] * (2**depth - 1)
        self.states = oracle.all_trees(splits[0], depth)

    def score(self, state):
        left, _, labels = self.records
        return oracle.tree_score(left, labels, CLASSES, state)


class Pair:
    """Chain over pairs of trees."""

    draw = staticmethod(pair_of)

    def __init__(self, records, depth, splits=SPLITS):
        self.records, self.asked, self.inner = records, packed(*records), 2**depth - 1
        self.options = [splits[0]] * self.inner + [splits[1]] * self.inner
        trees = [oracle.all_trees(count, depth) for count in splits]
        self.states = [(*one, *other) for one in trees[0] for other in trees[1]]

    def score(self, state):
        trees = state[: self.inner], state[self.inner :]
        *sides, labels = self.records
        return oracle.trees_score(sides, labels, CLASSES, trees, MAX_ROWS)


def matrix_of(kind, weight):
    scores = [kind.score(state) for state in kind.states]
    return oracle.transition_matrix(kind.states, kind.options, scores, weight / STEPS)


def target_of(kind, weight):
    return oracle.softmax([kind.score(state) for state in kind.states], weight / STEPS)


# Distribution


@for_each("make", [Single, Pair])
@for_each("depth", [1, 2])
def test_the_chain_leads_to_the_exponential_mechanism(make, depth):
    """Symmetric proposals, detailed balance, and the enumerated target in the limit."""
    kind, weight = make(people(16), depth), 1.2
    free = matrix_of(kind, 0.0)
    assert np.allclose(free, free.T)
    matrix, target = matrix_of(kind, weight), target_of(kind, weight)
    flow = target[:, None] * matrix
    assert np.allclose(flow, flow.T, atol=1e-15)
    assert np.allclose(target @ matrix, target)
    start = np.full(len(kind.states), 1 / len(kind.states))
    assert np.abs(start @ np.linalg.matrix_power(matrix, 800) - target).sum() < 1e-4
    assert np.abs(start - target).sum() > 0.2, "there is something to converge to"


_CHAINS = [(Single, 1), (Single, 2), (Pair, 1), (Pair, 2)]
#: Chains, steps, and where their noise comes from; long walks are in the slow form.
_WALKS = [
    *((*chain, steps, source) for chain in _CHAINS for steps, source in ((1, SeededRandom(7)), (4, SecureRandom()))),
    *(
        pytest.param(*chain, steps, source, marks=pytest.mark.slow)
        for chain in _CHAINS
        for steps, source in (
            (1, SecureRandom()),
            (4, SeededRandom(7)),
            *product((120, 400), (SecureRandom(), SeededRandom(7))),
        )
    ),
]


@pytest.mark.parametrize(("make", "depth", "steps", "source"), _WALKS)
def test_chains_follow_their_transition_matrix(make, depth, steps, source):
    kind, weight, runs = make(people(16), depth), 1.2, 3000 if steps >= 120 else 1500
    start = np.full(len(kind.states), 1 / len(kind.states))
    found = Counter(kind.draw(kind.asked, depth, steps, weight, source) for _ in range(runs))
    observed = [found[state] for state in kind.states]
    assert sum(observed) == runs

    def p_value(wrong):
        power = np.linalg.matrix_power(matrix_of(kind, wrong), steps)
        return chi_square(observed, runs * (start @ power))

    assert p_value(weight) > FALSE_ALARM
    if steps > 1:
        assert p_value(-weight) < FALSE_ALARM, "the test can fail"
    if steps >= 120:
        assert chi_square(observed, runs * target_of(kind, weight)) > FALSE_ALARM
        assert chi_square(observed, runs * target_of(kind, 0.3 * weight)) < FALSE_ALARM


def test_random_trees_are_uniform():
    found = Counter(tuple(random_tree(2, 2, SecureRandom())) for _ in range(2000))
    observed = [found[tree] for tree in oracle.all_trees(2, 2)]
    assert chi_square(observed, [2000 / 8] * 8) > FALSE_ALARM
    assert {len(random_tree(5, depth, SecureRandom())) for depth in (1, 2, 3, 4)} == {1, 3, 7, 15}


# Steps


@given(st.integers(1, 4), st.sampled_from(["single", "pair"]), st.integers(0, 10**6))
def test_scores_kept_up_to_date_lead_where_scores_computed_anew_do(depth, kind, seed):
    """The same proposals through the chain and through brute force over records."""
    draw, splits, steps, weight = np.random.default_rng(seed), (3, 4), 25, 1.5
    records = people(int(draw.integers(0, 30)), splits, seed)
    made = (Single if kind == "single" else Pair)(records, 1, splits)
    made.inner, nodes = 2**depth - 1, (2**depth - 1) * (1 if kind == "single" else 2)
    made.options = [splits[0]] * made.inner + [splits[1]] * (nodes - made.inner)
    source = SeededRandom(seed)
    first = [random_tree(splits[0], depth, source)]
    trees = first + ([random_tree(splits[1], depth, source)] if kind == "pair" else [])
    proposals = Proposals.draw(nodes, steps, source)
    listed = list(zip(proposals.nodes, proposals.splits, proposals.chances, strict=True))
    expected = oracle.metropolis(np.concatenate(trees).tolist(), listed, made.options, made.score, weight / STEPS)
    again = kind == "pair"
    found = (pair_of if again else tree_of)(made.asked, depth, steps, weight, SeededRandom(seed))
    assert found == expected


@for_each("accept", [True, False])
@for_each("depth", [1, 2, 3])
def test_a_step_changes_the_node_that_was_drawn_and_nothing_else(accept, depth):
    """Whatever the node and the split: so the way back is as likely as the way there."""
    table, left, right, classes = packed(*people(30, (3, 5)))
    inner = 2**depth - 1
    for node in range(2 * inner):
        for split in range(3 if node < inner else 5):
            trees = [np.full(inner, 2, dtype=np.int64), np.full(inner, 4, dtype=np.int64)]
            choice = (split + 0.5) / (3 if node < inner else 5)
            chance = 0.0 if accept else 0.5
            proposals = Proposals(*(np.array([number]) for number in (node, choice, chance)))
            chain = chains._walk(table, [left, right], classes, trees, 1 / (STEPS * MAX_ROWS), 1 / STEPS, proposals)
            expected = [2] * inner + [4] * inner
            if accept:
                expected[node] = split
            assert np.concatenate(chain.final).tolist() == expected
            assert chain.taken.tolist() == [accept]


class Ones(SecureRandom):
    """The largest words there are."""

    def words(self, count):
        return np.full(count, ~np.uint64(0))


@for_each("nodes", [1, 2, 3, 5, 7, 14, 15, 30])
def test_the_largest_words_are_still_in_range(nodes):
    proposals = Proposals.draw(nodes, 3, Ones())
    assert proposals.nodes.tolist() == [nodes - 1] * 3
    assert np.all(proposals.chances < 1)
    for splits in (1, 2, 3, 999, 255_000):
        assert random_tree(splits, 2, Ones()).tolist() == [splits - 1] * 3
        assert int(proposals.splits[0] * splits) == splits - 1


POOLED = (3, 4)
#: Sensitivity of the score of a pair, in records.
PROVED = 1.5


def crowd_of(size, seed=0):
    draw = np.random.default_rng(seed)
    hidden = draw.random((size, 1)) < 0.5
    sides = [np.where(draw.random((size, n)) < 0.8, hidden, ~hidden) for n in POOLED]
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
    trees = [(numbers[side] * POOLED[side]).astype(int) for side in (0, 1)]
    return [(tuple(map(int, one)), tuple(map(int, two))) for one, two in zip(*trees, strict=True)]


# Scores


@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("batch", [7, 4096])
def test_scores_are_those_of_the_definition_rounded_down(depth, batch, seen, monkeypatch):
    monkeypatch.setattr(pool, "_BATCH", batch)
    left, right, labels = records = crowd_of(50, seed=depth)
    chosen = choose(records, depth, 40, source=cases.FixedWords(4))
    pairs = pool_of(4, 40, depth)
    ((_, scores),) = seen
    for score, pair in zip(scores, pairs, strict=True):
        exact = oracle.trees_score((left, right), labels, CLASSES, pair, 64)
        assert 0 <= exact - int(score) < 1 + Fraction(1, 2**10)
    assert tuple(tuple(map(int, tree)) for tree in chosen) in pairs


@given(cases.neighbours(splits=POOLED), st.integers(0, 3), st.sampled_from([1, 2]))
def test_one_record_moves_no_score_further_than_the_mechanism_is_told(pair, room, depth):
    max_rows, answers = len(pair[1]) + room, []
    select = ExponentialMechanism.select
    try:
        ExponentialMechanism.select = lambda mechanism, scores, randomness: answers.append((mechanism, scores)) or 0
        for rows in pair:
            records = cases.sides_of(rows, POOLED)
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
    records, size, draws = crowd_of(40, seed=3), 12, 700
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
    left, right, labels = records = crowd_of(40, seed=3)
    epsilon = 60
    found = Counter(tuple(int(tree[0]) for tree in choose(records, 1, size, str(epsilon))) for _ in range(runs))
    states = [(one, other) for one in range(POOLED[0]) for other in range(POOLED[1])]
    scores = [oracle.trees_score((left, right), labels, CLASSES, ((one,), (other,)), 64) for one, other in states]
    observed = [found[state] for state in states]
    weight = epsilon / (2 * (PAIR_SCORE.value + 1))
    assert chi_square(observed, runs * oracle.softmax(scores, weight)) > FALSE_ALARM
    assert chi_square(observed, [runs / 12] * 12) < FALSE_ALARM, "the test can fail"


@pytest.mark.parametrize(("reach", "expected"), [(1.5, 385), (64, 64 * 256 + 1), (0.1, 385), (1e8, 256 * 10**8 + 1)])
def test_the_sensitivity_asked_for_is_used_but_never_less_than_the_proved_one(reach, expected, seen):
    choose(crowd_of(20), reach=reach)
    assert seen[0][0].sensitivity == expected
    assert seen[0][0].monotone is False
