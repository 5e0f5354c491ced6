"""Pairs of conditions on both sides, drawn together and exactly."""

from decimal import Decimal
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from dpcore.errors import BudgetError
from dpcore.models.redescriptions.learning.exact_pairs import (
    PARTS,
    ExactPairs,
    best_agreement,
    candidate_counts,
    candidate_pairs,
    pair_weight,
)
from dpcore.models.redescriptions.learning.queries import AGREEMENT
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.support import redescription_cases as cases

#: "and", "or" and single literals over the cells (both, first only, second only, neither).
NAMED = [{0}, {1}, {2}, {3}, {0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}]


def naive_agreement(table):
    """By going through every two unions."""
    whole = int(table.sum())
    values = []
    for rows in NAMED:
        for columns in NAMED:
            both = int(table[np.ix_(sorted(rows), sorted(columns))].sum())
            left = int(table[sorted(rows)].sum()) - both
            right = int(table[:, sorted(columns)].sum()) - both
            values.append(min(both, whole - both - left - right) - left - right)
    return max(values)


def table_of(left, right):
    """Counts of the cells of two literals on each side: bool arrays of shape (2, n_rows)."""
    cell = [2 * ~side[0] + ~side[1] for side in (left, right)]
    table = np.zeros((4, 4), dtype=np.int64)
    np.add.at(table, tuple(cell), 1)
    return table


def compared(left, right, pairs=None):
    """Agreements of all candidates over two boolean matrices (n_literals, n_rows)."""
    sets = [cases.given(cases.vectors(side.T)) for side in (left, right)]
    source = SeededRandom(0)
    places = pairs or [candidate_pairs(len(side), len(side) * (len(side) + 1) // 2, source) for side in (left, right)]
    told = []
    found = ExactPairs.compare(cases.crowd(left.shape[1]), *sets, *places, told.append)
    assert told == list(range(1, PARTS + 1))
    return found


tables = hnp.arrays(np.int64, (4, 4), elements=st.integers(0, 30))
sides = st.integers(0, 70).flatmap(
    lambda rows: st.tuples(hnp.arrays(np.bool_, (3, rows)), hnp.arrays(np.bool_, (4, rows)))
)


@given(tables)
def test_best_agreement_is_that_of_every_two_unions(table):
    assert best_agreement(table) == naive_agreement(table)


@given(tables, st.integers(0, 3), st.integers(0, 3))
def test_one_record_moves_the_agreement_by_at_most_one(table, row, column):
    more = table.copy()
    more[row, column] += 1
    assert abs(int(best_agreement(more)) - int(best_agreement(table))) <= AGREEMENT.value


def test_one_record_may_move_agreements_up_and_down():
    """So no factor is to be saved: two candidates may move apart by 2."""
    table = np.diag([5, 0, 0, 5]).astype(np.int64)
    up, down = np.diag([5, 0, 0, 6]).astype(np.int64), table.copy()
    down[0, 3] = 1
    lopsided = np.diag([5, 0, 0, 9]).astype(np.int64)
    more = np.diag([6, 0, 0, 9]).astype(np.int64)
    assert best_agreement(more) - best_agreement(lopsided) == 1
    assert best_agreement(down) - best_agreement(table) == -1
    assert best_agreement(up) == best_agreement(table)


@settings(max_examples=15)
@given(sides)
def test_agreements_are_those_of_the_counted_cells(views):
    left, right = views
    if left.shape[1] == 0:
        left, right = left[:, :0], right[:, :0]
    found = compared(left, right)
    for p, (i, j) in enumerate(found.left):
        for q, (a, b) in enumerate(found.right):
            table = table_of(left[[i, j]], right[[a, b]])
            assert found.agreements[p, q] == naive_agreement(table)


def test_all_pairs_are_candidates_and_single_literals_too():
    pairs = candidate_pairs(4, 10, SeededRandom(1)).tolist()
    expected = [[i, i] for i in range(4)] + [list(two) for two in combinations(range(4), 2)]
    assert sorted(pairs) == sorted(expected)
    assert pairs == sorted(pairs), "the kernel goes through them by their first literal"


def test_too_many_candidates_are_thinned_out_at_random():
    chosen = [candidate_pairs(30, 100, SeededRandom(seed)) for seed in range(2)]
    for pairs in chosen:
        assert pairs.shape == (100, 2)
        assert len(np.unique(pairs, axis=0)) == 100
        assert (pairs[:, 0] == pairs[:, 1]).sum() == 30
    assert not np.array_equal(*chosen)


@pytest.mark.parametrize("words", [1, 157, 1_562_500])
@pytest.mark.parametrize("sizes", [(1, 1), (3, 5), (60, 120), (1000, 30), (2000, 2000)])
def test_candidates_fit_into_time_and_memory(words, sizes):
    counts = candidate_counts(*sizes, words)
    for count, size in zip(counts, sizes, strict=True):
        assert size <= count <= size * (size + 1) // 2
    product = counts[0] * counts[1]
    assert product <= max(30_000_000, 4 * sizes[0] * sizes[1])
    if sizes == (60, 120):
        assert (counts == (1830, 7260)) == (words < 1_000_000)


@pytest.mark.parametrize("source", [SeededRandom(3), SecureRandom()])
def test_draws_follow_the_exponential_mechanism(source):
    """All candidates enumerated; 1e-6 is the chance that a sound sampler fails."""
    generator = np.random.default_rng(5)
    left, right = generator.random((3, 40)) < 0.5, generator.random((2, 40)) < 0.5
    right[0] = left[0] ^ (generator.random(40) < 0.2)
    found = compared(left, right)
    weight = pair_weight(Decimal("0.4"), 40, len(found.right))
    free = np.arange(len(found.left)) != 1, np.ones(len(found.right), dtype=bool)
    expected = np.exp(weight.value * found.agreements.astype(float)) * free[0][:, None]
    expected /= expected.sum()
    draws = 4000
    counts = np.zeros_like(expected)
    for _ in range(draws):
        counts[found.draw(weight, *free, source)] += 1
    assert counts[1].sum() == 0
    kept = expected > 0
    assert stats.chisquare(counts[kept], draws * expected[kept]).pvalue > 1e-6
    uniform = np.full(kept.sum(), draws / kept.sum())
    assert stats.chisquare(counts[kept], uniform).pvalue < 1e-6, "the test tells them apart"


@pytest.mark.parametrize("change", ["both", "left", "right", "neither"])
def test_neighbours_have_probabilities_within_epsilon(change):
    generator = np.random.default_rng(8)
    left, right = generator.random((3, 30)) < 0.4, generator.random((3, 30)) < 0.6
    added = {"both": (True, True), "left": (True, False), "right": (False, True), "neither": (False, False)}[change]
    more = [
        np.concatenate([side, np.full((3, 1), value)], axis=1) for side, value in zip((left, right), added, strict=True)
    ]
    epsilon = 1.0
    weight = pair_weight(Decimal(1), 31, 6).value
    logs = []
    for views in ((left, right), more):
        values = weight * compared(*views).agreements.astype(float)
        logs.append(values - np.log(np.exp(values).sum()))
    assert np.abs(logs[0] - logs[1]).max() <= epsilon


@pytest.mark.parametrize("epsilon", ["1", "0.05", "0.0001"])
def test_a_draw_costs_no_more_than_its_budget(epsilon):
    weight = pair_weight(Decimal(epsilon), 10_000, 50_000)
    cost = 2 * Fraction(weight.numerator, 2**weight.bits) + 8 * Fraction(weight.error)
    assert cost <= Fraction(Decimal(epsilon))
    assert cost > Fraction(Decimal(epsilon)) * Fraction(99, 100)


def test_a_budget_of_nearly_nothing_is_refused():
    with pytest.raises(BudgetError, match="too small"):
        pair_weight(Decimal("0.0000000001"), 10_000, 50_000)
