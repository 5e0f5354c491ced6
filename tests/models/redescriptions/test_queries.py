"""Every question asked of the records: its answer, its sensitivity, and who attains it."""

from __future__ import annotations

import itertools
import pickle
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.data.bits import count_bits
from dpcore.data.execution.executors import LOCAL
from dpcore.data.packing import unpack
from dpcore.learning.exact_draws.pair_values import GRID
from dpcore.models.redescriptions.learning.redescription_queries import (
    LEAF_COUNTS,
    LEVERAGE,
    PAIR_COUNTS,
    PAIR_SCORE,
    STEPS,
    Linked,
    crossed,
    leaf_members,
    leverages,
    linked,
    pair_scores,
    purities,
    tree_leaves,
)
from dpcore.models.redescriptions.learning.views import leaf_sets, literal_sets
from dpcore.models.redescriptions.released.redescription_family import view_conditions
from tests.oracles import redescriptions_oracle as oracle
from tests.support.learning import redescription_cases as cases
from tests.support.learning.partitioned import divided


def measured(left, right, max_rows=None):
    """Leverage of two columns of truth values, in steps."""
    return int(leverages_of(*(np.reshape(flags, (len(left), 1)) for flags in (left, right)), max_rows)[0, 0])


def leverages_of(left, right, max_rows=None):
    """The same for two matrices of truth values."""
    asked = (cases.given(cases.vectors(flags, max_rows)) for flags in (left, right))
    return leverages(cases.crowd(len(left), max_rows).total(linked, *asked))


def people(both, left_only, right_only, neither):
    """Two columns of truth values with these numbers of people."""
    sizes = (both, left_only, right_only, neither)
    return np.repeat([True, True, False, False], sizes), np.repeat([True, False] * 2, sizes)


# Leverage


def test_the_stated_sensitivities():
    assert (LEVERAGE.value, LEVERAGE.norm, LEVERAGE.monotone) == (256, "Linf", False)
    assert (PAIR_SCORE.value, PAIR_SCORE.norm, PAIR_SCORE.monotone) == (384, "Linf", False)
    assert (PAIR_COUNTS.value, PAIR_COUNTS.norm) == (LEAF_COUNTS.value, LEAF_COUNTS.norm)
    assert (PAIR_COUNTS.value, PAIR_COUNTS.norm) == (1, "L1")
    assert STEPS == oracle.STEPS == GRID, "trees, pairs and starts share one grid"


@given(cases.neighbours(splits=(3, 2)))
def test_leverages_are_those_of_the_definition_and_move_by_less_than_a_record(pair):
    answers = []
    for rows in pair:
        left, right, _ = cases.sides_of(rows, (3, 2))
        table = leverages_of(left, right, 100)
        exact = [[oracle.leverage(left[:, i], right[:, j]) for j in range(2)] for i in range(3)]
        assert table.tolist() == [[int(STEPS * value) for value in line] for line in exact]
        answers.append((table, exact))
    (before, after), exacts = zip(*answers, strict=True)
    assert np.abs(after - before).max() <= LEVERAGE.value
    whole = len(pair[1])
    for one, other in zip(*(itertools.chain(*exact) for exact in exacts), strict=True):
        assert abs(one - other) <= Fraction(whole - 1, whole) < 1


def test_no_small_table_moves_further_than_its_sensitivity():
    """Every table of up to 10 people, and each of the four people that may be added."""
    known, farthest, tables = cache(lambda *sizes: measured(*people(*sizes), 64)), 0, 0
    for sizes in itertools.product(range(11), repeat=4):
        if sum(sizes) > 10:
            continue
        before, tables = known(*sizes), tables + 1
        for kind in range(4):
            more = [size + (place == kind) for place, size in enumerate(sizes)]
            farthest = max(farthest, abs(known(*more) - before))
    assert tables == 1001
    assert 200 < farthest <= LEVERAGE.value


def test_witness_of_the_leverage():
    """Two people agree among 1,100 others; a third moves the pair by exactly 256 steps."""
    assert measured(*people(1, 0, 0, 1099)) == 255
    assert measured(*people(2, 0, 0, 1099)) == 511
    assert LEVERAGE.value == 511 - 255


def test_one_record_moves_two_pairs_in_opposite_directions():
    """So the factor 2 of the exponential mechanism cannot be spared."""
    rise = measured(*people(2, 0, 0, 9999)) - measured(*people(1, 0, 0, 9999))
    fall = measured(*people(200, 1, 9700, 101)) - measured(*people(200, 0, 9700, 101))
    assert rise == 256
    assert fall < -0.9 * 256


def test_the_leverage_of_as_many_records_as_a_schema_allows_is_exact():
    """Half of 100 million people are in both: the largest leverage there is."""
    whole = np.array([[10**8]])
    half = whole // 2
    assert leverages(Linked(half, half, half, whole))[0, 0] == STEPS * 10**8 // 4
    assert leverages(Linked(0 * half, half, half, whole))[0, 0] == STEPS * 10**8 // 4


# Purity and the score of a pair


def tables_of(records, leaves, classes):
    """Leaves of the first tree by class, and leaves of the second by leaf of the first."""
    first, second = np.zeros((leaves, classes), int), np.zeros((leaves, leaves), int)
    for label, one, other in records:
        first[one, label] += 1
        second[other, one] += 1
    return first, second


def reach(records, max_rows, leaves=3, classes=3):
    """Exact score of a pair of trees, in steps."""
    masses = (int(purities(table).sum()) for table in tables_of(records, leaves, classes))
    return oracle.pair_score(*masses, max_rows)


RECORDS = st.tuples(*[st.integers(0, 2)] * 3)


@given(st.lists(st.lists(st.integers(0, 50), min_size=3, max_size=3), min_size=1, max_size=6))
def test_purity_is_that_of_the_definition(counts):
    table = np.array(counts)
    assert int(purities(table).sum()) == oracle.purity_steps(counts)
    assert 0 <= oracle.purity(counts) * STEPS - oracle.purity_steps(counts) < len(counts)
    assert purities(table).tolist() == purities(table[None])[0].tolist()


@given(st.lists(st.integers(0, 40), min_size=1, max_size=5), st.data())
def test_one_record_moves_the_purity_of_a_leaf_by_a_record_at_most(counts, data):
    more = list(counts)
    more[data.draw(st.integers(0, len(counts) - 1))] += 1
    change = int(purities(np.array([more]))[0] - purities(np.array([counts]))[0])
    assert -STEPS <= change <= STEPS


def test_witnesses_of_purity():
    pure, purer = purities(np.array([[2000, 0], [2001, 0]]))
    assert purer - pure == STEPS
    (mixed,) = purities(np.array([[2000, 1]]))
    assert mixed - pure == -STEPS


@settings(max_examples=5 * settings.default.max_examples)
@given(st.lists(RECORDS, max_size=25), RECORDS, st.integers(0, 30))
def test_one_record_moves_the_score_of_a_pair_by_its_sensitivity_at_most(records, added, room):
    max_rows = len(records) + 1 + room
    change = reach([*records, added], max_rows) - reach(records, max_rows)
    assert abs(change) <= PAIR_SCORE.value - Fraction(STEPS, 2 * max_rows)


def test_witnesses_of_the_score_of_a_pair():
    """Up: one more who agrees. Down: one who is in the wrong group of both trees."""
    for size in (10, 1000):
        alike = [(0, 0, 0)] * size
        change = reach([*alike, (0, 0, 0)], size + 1) - reach(alike, size + 1)
        assert change == PAIR_SCORE.value - Fraction(STEPS, 2 * (size + 1)), "attained"
    size = 20_000
    groups = [(0, 0, 0)] * (size // 2) + [(1, 1, 1)] * (size // 2)
    fall = reach([*groups, (1, 0, 1)], size + 1) - reach(groups, size + 1)
    assert fall < -0.998 * PAIR_SCORE.value


def test_dividing_by_the_true_number_of_records_is_not_covered():
    """The score as published, over n itself: one record moves it by far more than 1.5 / N."""

    def published(records):
        return reach(records, len(records)) / (STEPS * len(records))

    change = published([(0, 0, 0), (1, 0, 1)]) - published([(0, 0, 0)])
    assert change == Fraction(-1, 2)
    assert abs(change) > 30 * Fraction(3, 2) / 100, "if N is 100"


@given(st.integers(1, 10**8), st.data())
def test_the_computed_score_is_within_its_stated_error(max_rows, data):
    first, second = (data.draw(st.integers(0, STEPS * max_rows)) for _ in range(2))
    computed = pair_scores(np.array([first]), np.array([second]), max_rows)[0]
    exact = oracle.pair_score(first, second, max_rows)
    assert abs(Fraction(float(computed)) - exact) <= Fraction(1, 2**17) < Fraction(1, 2**10)


# Leaves of complete trees


@given(st.integers(0, 4), st.integers(1, 5), st.integers(0, 80), st.integers(0, 10**6))
def test_leaves_are_those_of_the_definition(depth, splits, size, seed):
    draw = np.random.default_rng(seed)
    flags, tree = draw.random((size, splits)) < 0.5, draw.integers(0, splits, 2**depth - 1)
    whole = cases.everyone(size, 128)
    leaves = tree_leaves(cases.vectors(flags, 128), tree, whole)
    expected = np.array(oracle.leaves_of(flags, tree), dtype=int)
    for leaf, members in enumerate(leaves):
        assert np.array_equal(unpack(members, size), expected == leaf)
    assert np.array_equal(np.bitwise_or.reduce(leaves, axis=0), whole), "nobody is lost"
    assert np.bitwise_count(leaves).sum() == size, "or is in two leaves, nor is padding"


@given(st.integers(1, 4), st.data())
def test_leaves_below_a_node_are_renewed_and_no_others(depth, data):
    draw = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    tree = draw.integers(0, 4, 2**depth - 1)
    flags = cases.vectors(draw.random((90, 4)) < 0.5)
    whole, node = cases.everyone(90), data.draw(st.integers(0, 2**depth - 2))
    members = np.full((2**depth, len(whole)), np.uint64(7))
    first, width = leaf_members(flags, tree, node, whole, members)
    level = (node + 1).bit_length() - 1
    assert width == 2 ** (depth - level)
    assert first == (node + 1 - 2**level) * width
    expected = tree_leaves(flags, tree, whole)
    renewed = np.arange(first, first + width)
    assert np.array_equal(members[renewed], expected[renewed])
    assert np.all(np.delete(members, renewed, axis=0) == 7)


# Counts


@given(cases.neighbours(), st.data())
def test_one_record_is_in_one_pair_of_leaves(pair, data):
    depth = data.draw(st.integers(1, 3))
    tree = st.lists(st.integers(0, 1), min_size=2**depth - 1, max_size=2**depth - 1)
    trees = [np.array(data.draw(tree)) for _ in range(2)]
    answers = []
    for rows in pair:
        sides = cases.sides_of(rows)[:2]
        leaves = [
            leaf_sets(cases.given(cases.vectors(flags, 64)), splits) for flags, splits in zip(sides, trees, strict=True)
        ]
        table, everyone = cases.crowd(len(rows), 64), cases.everyone(len(rows), 64)[None]
        joint = table.total(crossed, *leaves)
        alone = table.total(crossed, leaves[0], cases.given(everyone))[:, 0]
        places = (oracle.leaves_of(flags, splits) for flags, splits in zip(sides, trees, strict=True))
        assert joint.tolist() == oracle.table(*places, (2**depth, 2**depth))
        assert alone.tolist() == joint.sum(axis=1).tolist()
        answers.append((joint, alone))
    for before, after in zip(*answers, strict=True):
        assert np.abs(after - before).sum() == PAIR_COUNTS.value == 1
        assert (after >= before).all()


@pytest.mark.parametrize("depth", [1, 4])
def test_every_record_is_a_witness_of_the_counts(depth):
    tree, flags = np.zeros(2**depth - 1, dtype=np.int64), np.ones((1, 1), dtype=bool)
    leaves = tree_leaves(cases.vectors(flags, 64), tree, cases.everyone(1, 64))
    assert count_bits(leaves, leaves).sum() == PAIR_COUNTS.value


SCHEMA = cases.schema()
LEFT, RIGHT = (view_conditions(SCHEMA, SCHEMA.view(view), reserved=False) for view in ("left", "right"))
#: The first two differ in their conditions alone, the last two in their splits.
SETS = [
    literal_sets(LEFT[:3]),
    literal_sets(RIGHT[:3]),
    leaf_sets(literal_sets(LEFT[:3]), np.array([0, 1, 2])),
    leaf_sets(literal_sets(LEFT[:3]), np.array([0, 2, 1])),
]


class Posted:
    """Kernels and what they are told go through bytes, as if to another process."""

    def total(self, kernel, partitions, *public, **named):
        sent = pickle.loads(pickle.dumps((kernel, public, named)))
        return LOCAL.total(sent[0], partitions, *sent[1], **sent[2])


def test_what_a_partition_keeps_is_told_apart():
    (partition,) = cases.table(SCHEMA, cases.rows_of(SCHEMA, 90)).partitions
    assert len({sets.key for sets in SETS}) == len(SETS)
    for _ in range(2):
        for sets in SETS:
            assert np.array_equal(sets(partition), sets.make(partition, *sets.facts))
            assert len(sets(partition)) == len(sets)


@cases.way
def test_every_question_can_be_asked_elsewhere(way):
    whole = cases.table(SCHEMA, cases.rows_of(SCHEMA, 90))
    chosen = cases.fitting(**way, starts=2, rounds=2)
    models = [cases.run(people, **chosen)[1] for people in (whole, divided(whole, 3, executor=Posted()))]
    assert models[0] == models[1]
