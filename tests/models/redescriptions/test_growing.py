"""Trees drawn exactly, block upon block, against every tree of a small depth."""

from collections import Counter
from decimal import Decimal
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.learning.exact_draws.joint_counts import fits_memory, joint_counts
from dpcore.learning.exact_draws.lookahead import Block, ExactWeight
from dpcore.models.redescriptions.learning import growing
from dpcore.models.redescriptions.learning.growing import draw_tree, exact_blocks
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.oracles import redescriptions_oracle as oracle
from tests.oracles.mechanisms_oracle import FALSE_ALARM, chi_square
from tests.support.learning import redescription_cases as cases
from tests.support.rows import for_each

#: Blocks and splits of domains small enough to list every tree.
DOMAINS = [((1,), 4), ((2,), 3), ((1, 1), 3), ((1, 2), 2), ((2, 1), 2), ((1, 1, 1), 2)]
CLASSES = 3


def records(people, splits, seed):
    draw = np.random.default_rng(seed)
    return draw.random((people, splits)) < 0.5, draw.integers(0, CLASSES, people)


def asked(flags, labels, max_rows=None):
    """The table, its splits and its classes."""
    vectors = cases.vectors(flags, max_rows), cases.class_vectors(labels, CLASSES, max_rows)
    return cases.crowd(len(labels), max_rows), *map(cases.given, vectors)


def weights_of(blocks, epsilon, max_rows, splits):
    return [ExactWeight.fit("purity", depth, epsilon, max_rows, splits, CLASSES).value for depth in blocks]


# Which blocks


@given(st.integers(1, 4), st.integers(1, 20_000), st.integers(2, 16))
def test_blocks_fill_the_depth_and_fit_into_memory(depth, splits, classes):
    blocks = exact_blocks(depth, splits, classes)
    assert sum(blocks) == depth
    for block in blocks:
        assert 1 <= block <= 3
        assert block == 1 or fits_memory(splits, classes, block)


# Heap


@for_each("blocks", [(1, 1, 1, 1), (2, 2), (3, 1), (1, 3), (1, 2, 1), (3,)])
def test_blocks_are_put_where_their_records_are(blocks, monkeypatch):
    """Each block names its own number at its nodes; people tell which block they went through."""
    splits, depth = 40, sum(blocks)
    flags, labels = records(300, splits, seed=1)
    calls = []

    def numbered(joint, prior, size, utility, weight, randomness):
        calls.append((joint, size))
        return Block(tuple((7 * len(calls) + node) % splits for node in range(2**size - 1)), None)

    monkeypatch.setattr(growing, "draw_block", numbered)
    private = asked(flags, labels)
    tree = draw_tree(*private, blocks, Decimal(1), 300, SeededRandom(0))
    assert len(tree) == 2**depth - 1
    number, above = 0, 0
    for size in blocks:
        reached = np.array(oracle.leaves_of(flags, tree[: 2**above - 1]))
        for leaf in range(2**above):
            seen, given_size = calls[number]
            members = cases.class_vectors(np.where(reached == leaf, labels, -1), CLASSES)
            assert given_size == size
            for found, expected in zip(seen, joint_counts(cases.vectors(flags), members, size), strict=True):
                assert np.array_equal(found, expected), "a block sees those who reach it, no one else"
            nodes = oracle.heap_below(2**above - 1 + leaf, size)
            assert [tree[node] for node in nodes] == [(7 * (number + 1) + node) % splits for node in range(2**size - 1)]
            number += 1
        above += size
    assert number == len(calls)


# Distribution


@pytest.mark.heavy
@pytest.mark.parametrize(
    ("source", "draws"), [(SecureRandom(), 500), pytest.param(SeededRandom(3), 1000, marks=pytest.mark.slow)]
)
@pytest.mark.parametrize(("blocks", "splits"), DOMAINS)
def test_draws_follow_the_enumerated_distribution(blocks, splits, source, draws):
    people, epsilon = 14, Decimal(2)
    flags, labels = records(people, splits, seed=5)
    private = asked(flags, labels)
    weights = weights_of(blocks, epsilon, people, splits)

    def expected(times):
        logs = oracle.stacked_log_probabilities(
            flags, labels, CLASSES, splits, blocks, [times * weight for weight in weights]
        )
        return {tree: draws * exp(log) for tree, log in logs.items()}

    exact = expected(1)
    assert sum(exact.values()) == pytest.approx(draws)
    found = Counter(
        tuple(int(split) for split in draw_tree(*private, blocks, epsilon, people, source)) for _ in range(draws)
    )
    observed = [found[tree] for tree in exact]
    assert sum(observed) == draws
    assert chi_square(observed, list(exact.values())) > FALSE_ALARM
    # The test can fail: the same draws do not fit a much larger weight.
    assert chi_square(observed, list(expected(6).values())) < FALSE_ALARM


@given(st.sampled_from([((2,), 2), ((1, 1), 2), ((1,), 3)]), st.data())
def test_no_tree_tells_neighbours_apart_by_more_than_its_levels_cost(domain, data):
    """Classes are the leaves of a released tree of the other view, a function of the record."""
    (blocks, splits), epsilon, max_rows = domain, Decimal("0.8"), 15
    weights = weights_of(blocks, epsilon, max_rows, splits)
    pair = data.draw(cases.neighbours(splits=(splits, 2)))
    other = data.draw(st.lists(st.integers(0, 1), min_size=3, max_size=3))
    logs = []
    for rows in pair:
        left, right, _ = cases.sides_of(rows, (splits, 2))
        classes = oracle.leaves_of(right, other)
        logs.append(oracle.stacked_log_probabilities(left, classes, 4, splits, blocks, weights))
    worst = max(abs(logs[0][tree] - logs[1][tree]) for tree in logs[0])
    assert worst <= len(blocks) * float(epsilon) + 1e-9


def test_the_budget_of_a_block_is_nearly_used_up():
    """One split is right for all but the one who is added; the other is blind."""
    epsilon, size = Decimal(1), 60
    (weight,) = weights_of((1,), epsilon, size + 1, 2)
    labels = [0, 1] * (size // 2)
    flags = [[label == 1, place < size // 2] for place, label in enumerate(labels)]
    before, after = (
        oracle.stacked_log_probabilities(rows, classes, 2, 2, (1,), [weight])
        for rows, classes in ((flags, labels), ([*flags, [True, True]], [*labels, 0]))
    )
    gap = max(abs(before[tree] - after[tree]) for tree in before)
    assert 0.5 * float(epsilon) < gap <= float(epsilon)


@for_each("blocks", [(1,), (2, 2), (1, 1, 1, 1), (3,)])
def test_every_level_is_weighed_for_its_budget(blocks, monkeypatch):
    """Once for each level; the drawn blocks of a level share it."""
    fitted, fit = [], ExactWeight.fit

    def watched(utility, depth, epsilon, *public):
        fitted.append((utility, depth, epsilon, *public))
        return fit(utility, depth, epsilon, *public)

    monkeypatch.setattr(ExactWeight, "fit", watched)
    flags, labels = records(30, 4, seed=2)
    private = asked(flags, labels)
    draw_tree(*private, blocks, Decimal("0.25"), 50, SeededRandom(1))
    assert fitted == [("purity", depth, Decimal("0.25"), 50, 4, CLASSES) for depth in blocks]
