"""The exact sampler against enumeration of every block."""

import itertools
import math
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from functools import cache

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.data.packing import pack
from dpcore.errors import BudgetError
from dpcore.learning.exact_draws.joint_counts import joint_counts, triple_count, triple_starts
from dpcore.learning.exact_draws.lookahead import ExactWeight, _Problem, beside, draw_block
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.oracles import lookahead_oracle
from tests.oracles.mechanisms_oracle import FALSE_ALARM, chi_square
from tests.support.rows import for_each

UTILITIES = ("labelled", "correct", "purity")
#: Depth, splits, classes: domains small enough to list every tree.
DOMAINS = [(1, 5, 3), (2, 4, 2), (2, 3, 3), (3, 3, 2)]


def records(rows, splits, classes, seed):
    generator = np.random.default_rng(seed)
    return generator.random((rows, splits)) < 0.5, generator.integers(0, classes, rows)


def packed(features, labels, classes):
    words = max(1, -(-len(labels) // 64))
    literals = np.stack([pack(features[:, i], words) for i in range(features.shape[1])])
    return literals, np.stack([pack(labels == c, words) for c in range(classes)])


def prior_of(splits):
    """A prior that tells the splits apart."""
    return np.arange(1, splits + 1) / sum(range(1, splits + 1))


def problem_of(features, labels, classes, depth, utility, weight):
    joint = joint_counts(*packed(features, labels, classes), depth)
    return _Problem(joint, np.log(prior_of(features.shape[1])), depth, utility, weight)


def path_to(place, splits):
    """Signed literals above a heap place."""
    if place == 0:
        return ()
    parent, side = (place - 1) // 2, (place - 1) % 2
    return (*path_to(parent, splits), (splits[parent], side))


def records_at(joint, path):
    """Records per class at a node."""
    if not path:
        return joint.none
    *above, (literal, side) = path
    holds = beside(joint, tuple(above))[literal]
    return records_at(joint, tuple(above)) - holds if side else holds


def candidates(problem, path):
    joint = problem._joint
    return problem.candidates(path, records_at(joint, path), beside(joint, path))


def log_probabilities(problem, weight):
    """Log-probability with which the sampler draws given splits, from its integer scores."""

    @cache
    def after(path):
        logs = weight.scores(*candidates(problem, path)) / 2.0**weight.bits
        return logs - logs.max() - math.log(np.exp(logs - logs.max()).sum())

    return lambda splits: sum(after(path_to(place, splits))[split] for place, split in enumerate(splits))


@pytest.mark.crossed
@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize(
    ("depth", "splits", "classes", "epsilon"),
    [pytest.param(*DOMAINS[-1], "0.3", marks=pytest.mark.slow), (*DOMAINS[-1], "4")]
    + [(*domain, epsilon) for domain in DOMAINS[:-1] for epsilon in ("0.3", "4")],
)
def test_scores_give_every_tree_its_enumerated_probability(utility, depth, splits, classes, epsilon):
    features, labels = records(40, splits, classes, seed=depth + splits)
    weight = ExactWeight.fit(utility, depth, Decimal(epsilon), 40, splits, classes)
    problem = problem_of(features, labels, classes, depth, utility, weight)
    exact = lookahead_oracle.log_probabilities(
        features, labels, classes, prior_of(splits), depth, utility, weight.value
    )
    assert len(exact) == splits ** (2**depth - 1)
    computed = log_probabilities(problem, weight)
    for tree, expected in exact.items():
        assert computed(tree) == pytest.approx(expected, abs=1e-8)


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("utility", "depth", "splits", "source", "draws"),
    [
        ("labelled", 2, 3, SeededRandom(11), 450),
        ("correct", 3, 2, SeededRandom(11), 450),
        pytest.param("purity", 3, 2, SeededRandom(11), 900, marks=pytest.mark.slow),
        pytest.param("labelled", 2, 3, SecureRandom(), 900, marks=pytest.mark.slow),
        pytest.param("correct", 3, 2, SecureRandom(), 900, marks=pytest.mark.slow),
        ("purity", 3, 2, SecureRandom(), 450),
    ],
)
def test_draws_follow_the_enumerated_distribution(utility, depth, splits, source, draws):
    classes = 2
    features, labels = records(12, splits, classes, seed=3)
    joint, prior = joint_counts(*packed(features, labels, classes), depth), prior_of(splits)
    weight = ExactWeight.fit(utility, depth, Decimal("0.5"), 12, splits, classes)
    exact = lookahead_oracle.probabilities(features, labels, classes, prior, depth, utility, weight.value)
    found = Counter()
    for _ in range(draws):
        block = draw_block(joint, np.log(prior), depth, utility, weight, source)
        found[block.splits if block.labels is None else (block.splits, block.labels)] += 1
    assert set(found) <= set(exact)
    outcomes = sorted(exact)
    observed = [found[outcome] for outcome in outcomes]
    expected = [draws * exact[outcome] for outcome in outcomes]
    assert chi_square(observed, expected) > FALSE_ALARM
    # The test can fail: the same draws do not fit twice the weight.
    other = lookahead_oracle.probabilities(features, labels, classes, prior, depth, utility, 8 * weight.value)
    assert chi_square(observed, [draws * other[o] for o in outcomes]) < FALSE_ALARM


@pytest.mark.crossed
@pytest.mark.heavy
@pytest.mark.parametrize("utility", UTILITIES)
@pytest.mark.parametrize(
    ("depth", "splits", "tables"), [(1, 3, 60), (2, 2, 60), (3, 2, 12), pytest.param(3, 2, 25, marks=pytest.mark.slow)]
)
def test_no_tree_tells_neighbours_apart_by_more_than_epsilon(utility, depth, splits, tables):
    """Random data sets, each with a random record added."""
    epsilon, classes, generator = Decimal("0.7"), 2, np.random.default_rng(5)
    weight = ExactWeight.fit(utility, depth, epsilon, 12, splits, classes)
    worst = 0.0
    for _ in range(tables):
        rows = int(generator.integers(0, 11))
        features = generator.random((rows, splits)) < generator.random()
        labels = (generator.random(rows) < generator.random()).astype(int)
        added = generator.random((1, splits)) < 0.5
        label = generator.integers(0, classes, 1)
        sides = [(features, labels), (np.vstack([features, added]), np.append(labels, label))]
        logs = [
            lookahead_oracle.all_log_probabilities(*side, classes, prior_of(splits), depth, utility, weight.value)
            for side in sides
        ]
        gaps = [logs[0][outcome] - logs[1][outcome] for outcome in logs[0]]
        worst = max(worst, *map(abs, gaps))
        # So its loss in zero-concentrated DP is that of a selection.
        assert max(gaps) - min(gaps) <= float(epsilon) + 1e-9
    assert worst <= float(epsilon) + 1e-9
    # The bound is nearly attained, so the search could have found a violation.
    assert worst > 0.4 * float(epsilon)


@for_each(("utility", "depth"), [("labelled", 2), ("correct", 3), ("purity", 3)])
def test_all_neighbours_of_a_tiny_domain_stay_within_epsilon(utility, depth):
    """Two splits and two classes: every data set of up to 3 records, every record added."""
    epsilon, kinds = Decimal(1), list(itertools.product((False, True), (False, True), (0, 1)))
    weight = ExactWeight.fit(utility, depth, epsilon, 4, 2, 2)

    @cache
    def logs(rows):
        features = np.array([row[:2] for row in rows], dtype=bool).reshape(len(rows), 2)
        labels = np.array([row[2] for row in rows], dtype=int)
        return lookahead_oracle.all_log_probabilities(features, labels, 2, prior_of(2), depth, utility, weight.value)

    worst, pairs = 0.0, 0
    for size in range(4):
        for rows in itertools.combinations_with_replacement(kinds, size):
            for added in kinds:
                one, other = logs(rows), logs(tuple(sorted((*rows, added))))
                worst = max(worst, *(abs(one[outcome] - other[outcome]) for outcome in one))
                pairs += 1
    assert pairs == 8 * (1 + 8 + 36 + 120)
    assert 0.4 < worst <= 1 + 1e-9


@pytest.mark.parametrize(("utility", "depth"), [("labelled", 1), ("correct", 2)])
def test_all_neighbours_of_a_tiny_domain_stay_within_epsilon_with_weights(utility, depth):
    """As above, with records of one class that are worth five times those of the other. Half the reach is caught."""
    epsilon, worth = Decimal(1), np.array([1, 5])
    kinds = list(itertools.product((False, True), (False, True), (0, 1)))
    weight = ExactWeight.fit(utility, depth, epsilon, 4, 2, 2, 5)

    @cache
    def logs(rows, times=1):
        features = np.array([row[:2] for row in rows], dtype=bool).reshape(len(rows), 2)
        labels = np.array([row[2] for row in rows], dtype=int)
        heavier = ExactWeight(times * weight.numerator, weight.bits, weight.error, weight.slack)
        joint = joint_counts(*packed(features, labels, 2), depth)
        problem = _Problem(joint, np.log(prior_of(2)), depth, utility, heavier, worth)
        found, log_probability = {}, log_probabilities(problem, heavier)
        for splits in itertools.product(range(2), repeat=2**depth - 1):
            chance = log_probability(splits)
            if utility == "correct":
                found[splits] = chance
                continue
            for classes in itertools.product((0, 1), repeat=2**depth):
                values = [worth * records_at(joint, path_to(2**depth - 1 + leaf, splits)) for leaf in range(2**depth)]
                own = sum(
                    heavier.value * v[c] - np.logaddexp.reduce(heavier.value * v)
                    for v, c in zip(values, classes, strict=True)
                )
                found[splits, classes] = chance + float(own)
        return found

    worst = {1: 0.0, 2: 0.0}
    for times in worst:
        for size in range(3):
            for rows in itertools.combinations_with_replacement(kinds, size):
                for added in kinds:
                    one, other = logs(rows, times), logs(tuple(sorted((*rows, added))), times)
                    worst[times] = max(worst[times], *(abs(one[outcome] - other[outcome]) for outcome in one))
    assert 0.3 < worst[1] <= 1 + 1e-9
    assert utility == "correct" or worst[2] > 1


@given(
    st.integers(1, 3),
    st.integers(1, 300),
    st.integers(2, 50),
    st.sampled_from(UTILITIES),
    st.integers(1, 10**9),
    st.integers(1, 10**8),
)
def test_weight_and_rounding_together_stay_within_the_budget(depth, splits, classes, utility, billionths, rows):
    epsilon = Decimal(billionths) / 10**9
    try:
        weight = ExactWeight.fit(utility, depth, epsilon, rows, splits, classes)
    except BudgetError:
        assert epsilon < Decimal("1e-6")
        return
    reach = 2 * 256 if utility == "purity" else 1
    exact = Fraction(weight.numerator, 2**weight.bits) * reach
    assert exact + 4 * (2**depth - 1) * Fraction(weight.error) <= Fraction(epsilon)
    # Scores stay inside 64 bits, and hardly any budget is lost.
    assert weight.numerator * rows * (256 if utility == "purity" else 1) < 2**62
    if epsilon > Decimal("0.001"):
        assert exact > Fraction(epsilon) * Fraction(99, 100)


@for_each("utility", UTILITIES)
def test_rounding_errors_are_within_their_bound(utility):
    """The scores of the root's splits against fifty digits."""
    depth, splits, classes, rows = 3, 6, 3, 700
    features, labels = records(rows, splits, classes, seed=9)
    labels = np.where(features[:, 0] ^ features[:, 1], 0, labels)
    for epsilon in ("0.01", "1", "50"):
        weight = ExactWeight.fit(utility, depth, Decimal(epsilon), rows, splits, classes)
        problem = problem_of(features, labels, classes, depth, utility, weight)
        scores = weight.scores(*candidates(problem, ()))
        with mpmath.workdps(50):
            exact = lookahead_oracle.root_log_weights(
                features,
                labels,
                classes,
                np.log(prior_of(splits)),
                depth,
                utility,
                mpmath.mpf(weight.numerator) / 2**weight.bits,
            )
            found = [mpmath.mpf(int(score)) / 2**weight.bits for score in scores]
            gaps = [f - e for f, e in zip(found, exact, strict=True)]
            # A constant does not matter: the draw sees differences of scores.
            assert max(gaps) - min(gaps) <= 2 * weight.error


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 9), st.integers(1, 3), st.integers(0, 200), st.integers(0, 10**6))
def test_joint_counts_count_every_conjunction(splits, depth, rows, seed):
    features, labels = records(rows, splits, 3, seed)
    joint = joint_counts(*packed(features, labels, 3), depth)

    def count(*chosen):
        held = features[:, list(chosen)].all(axis=1)
        return [int((held & (labels == c)).sum()) for c in range(3)]

    assert joint.none.tolist() == count()
    for i in range(splits):
        assert joint.ones[i].tolist() == count(i)
        for j in range(splits) if depth > 1 else ():
            assert joint.twos[i, j].tolist() == count(i, j)
    triples = [(i, j, k) for i in range(splits) for j in range(i + 1, splits) for k in range(j + 1, splits)]
    assert len(joint.threes) == (triple_count(splits) if depth == 3 else 0)
    for i, j, k in triples if depth == 3 else ():
        assert joint.threes[triple_starts(splits)[i, j] + k - j - 1].tolist() == count(i, j, k)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(0, 100), st.integers(0, 10**6))
def test_nodes_follow_from_the_conjunctions_of_what_holds(splits, depth, rows, seed):
    """Every path of up to as many signed literals as were counted, repeated and contrary ones too."""
    features, labels = records(rows, splits, 3, seed)
    joint = joint_counts(*packed(features, labels, 3), depth)

    def count(path):
        held = np.all([features[:, i] != bool(side) for i, side in path], axis=0) if path else np.full(rows, True)
        return [int((held & (labels == c)).sum()) for c in range(3)]

    signed = list(itertools.product(range(splits), (0, 1)))
    paths = [path for length in range(depth + 1) for path in itertools.product(signed, repeat=length)]
    for place in np.random.default_rng(seed).choice(len(paths), min(60, len(paths)), replace=False):
        path = paths[place]
        assert records_at(joint, path).tolist() == count(path)
        if len(path) < depth:
            assert beside(joint, path).tolist() == [count((*path, (i, 0))) for i in range(splits)]


def test_joint_counts_span_many_tiles():
    features, labels = records(64 * 700, 5, 2, seed=1)
    joint = joint_counts(*packed(features, labels, 2), 3)
    held = features[:, [0, 2, 4]].all(axis=1)
    place = triple_starts(5)[0, 2] + 4 - 2 - 1
    assert joint.threes[place].tolist() == [(held & (labels == c)).sum() for c in (0, 1)]
