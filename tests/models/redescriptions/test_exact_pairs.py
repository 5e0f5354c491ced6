"""Pairs of conditions on both sides, drawn together and exactly."""

import math
from decimal import Decimal
from fractions import Fraction
from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from dpcore.models.redescriptions.learning.exact_pairs import (
    PARTS,
    ExactPairs,
    agreement_steps,
    best_utilities,
    candidate_counts,
    candidate_pairs,
    pair_weight,
)
from dpcore.models.redescriptions.learning.redescription_queries import AGREEMENT
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.support.learning import redescription_cases as cases
from tests.support.rows import for_each

#: "and", "or" and single literals over the cells (both, first only, second only, neither).
NAMED = [{0}, {1}, {2}, {3}, {0, 1}, {0, 2}, {1, 3}, {2, 3}, {0, 1, 2}, {0, 1, 3}, {0, 2, 3}, {1, 2, 3}]


def naive_utilities(table, steps):
    """By going through every two unions, with both signs."""
    whole = int(table.sum())
    agreements, excesses = [], [0]
    for rows in NAMED:
        for columns in NAMED:
            both = int(table[np.ix_(sorted(rows), sorted(columns))].sum())
            left = int(table[sorted(rows)].sum()) - both
            right = int(table[:, sorted(columns)].sum()) - both
            neither = whole - both - left - right
            agreements.append(steps * (min(both, neither) - left - right))
            if whole:
                excess = Fraction(both * neither - left * right, max(both, neither, left, right))
                excesses.append(math.floor((steps - Fraction(1, 2)) * min(excess, max(both, neither) - left - right)))
    return max(agreements), max(excesses)


def best_of(table, steps):
    """The kernel's utilities of one table."""
    return tuple(best_utilities(table[:, :, None].astype(float), steps)[:, 0].tolist())


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


def utilities_of(found):
    return np.array([found.agreements, found.excesses], dtype=float)


tables = hnp.arrays(np.int64, (4, 4), elements=st.integers(0, 30))
sides = st.integers(0, 70).flatmap(
    lambda rows: st.tuples(hnp.arrays(np.bool_, (3, rows)), hnp.arrays(np.bool_, (2, rows)))
)


@given(tables)
def test_the_best_utilities_are_those_of_every_two_unions(table):
    for steps in (1, 32, 256):
        assert best_of(table, steps) == naive_utilities(table, steps)


@pytest.mark.parametrize("most", [3, 40, 10**5, 6 * 10**6])
@given(data=st.data())
def test_one_record_moves_the_utilities_by_at_most_one(most, data):
    table = data.draw(hnp.arrays(np.int64, (4, 4), elements=st.integers(0, most)))
    more = table.copy()
    more[data.draw(st.integers(0, 3)), data.draw(st.integers(0, 3))] += 1
    for before, after in zip(best_of(table, 256), best_of(more, 256), strict=True):
        assert abs(int(after) - int(before)) <= 256 * AGREEMENT.value


def test_no_two_small_sets_move_further_than_their_sensitivity():
    """Every table of one condition a side and up to 14 records, and every record more."""

    def found(cells):
        table = np.zeros((4, 4), dtype=np.int64)
        for corner, count in zip(product((0, 3), repeat=2), cells, strict=True):
            table[corner] = count
        return np.array(best_of(table, 256))

    cases = {cells: found(cells) for cells in product(range(15), repeat=4) if sum(cells) < 15}
    moves = [
        np.abs(after - before)
        for cells, before in cases.items()
        for place in range(4)
        if (after := cases.get((*cells[:place], cells[place] + 1, *cells[place + 1 :]))) is not None
    ]
    assert np.max(moves, axis=0).tolist() == [256 * AGREEMENT.value] * 2, "and one is reached"


@for_each("rows", [1, 1000, 2**24 - 1, 2**24, 2**24 + 1, 10**8])
def test_utilities_of_all_records_can_be_kept(rows):
    steps = agreement_steps(rows)
    assert steps == 256 if rows < 2**24 else 16 < steps < 256
    half, quarter = np.diag([rows // 2, 0, 0, rows // 2]), np.full((4, 4), rows // 16)
    for table in (half, quarter):
        for utility in best_of(table, steps):
            assert abs(int(utility)) < 2**31
    assert best_of(half, steps) == (steps * (rows // 2), (2 * steps - 1) * (rows // 2) // 2)


def test_sets_that_have_nothing_to_do_with_each_other_have_no_excess():
    """However rare they are, and whichever complement is taken."""
    for common, rare in ((400, 100), (999, 1), (250, 250)):
        table = np.zeros((4, 4), dtype=np.int64)
        table[np.ix_([0, 3], [0, 3])] = np.outer([rare, common], [rare, common])
        assert best_of(table, 256)[1] == 0
        assert best_of(table[:, ::-1], 256)[1] == 0


def test_excess_tells_sets_that_agreement_cannot_tell():
    """More records are in one set only than in neither."""
    table = np.zeros((4, 4), dtype=np.int64)
    table[np.ix_([0, 3], [0, 3])] = [[56, 12], [12, 20]]
    agreement, excess = best_of(table, 256)
    assert agreement == 0, "of sets without a record"
    assert excess == 511 * (56 * 20 - 12 * 12) // (2 * 56)


def test_one_record_may_move_agreements_up_and_down():
    """So no factor is to be saved: two candidates may move apart by 2."""
    table = np.diag([5, 0, 0, 5]).astype(np.int64)
    up, down = np.diag([5, 0, 0, 6]).astype(np.int64), table.copy()
    down[0, 3] = 1
    lopsided = np.diag([5, 0, 0, 9]).astype(np.int64)
    more = np.diag([6, 0, 0, 9]).astype(np.int64)
    both = [np.array(best_of(each, 256)) for each in (table, up, down, lopsided, more)]
    assert (both[4] - both[3]).tolist() == [256, 255 + (5 * 511 % 2)]
    assert (both[2] - both[0]).tolist() == [-256, -255]
    assert (both[1] - both[0]).tolist() == [0, 0]


@settings(max_examples=settings.default.max_examples // 4)
@given(sides)
def test_utilities_are_those_of_the_counted_cells(views):
    left, right = views
    if left.shape[1] == 0:
        left, right = left[:, :0], right[:, :0]
    found = compared(left, right)
    for p, (i, j) in enumerate(found.left):
        for q, (a, b) in enumerate(found.right):
            table = table_of(left[[i, j]], right[[a, b]])
            assert (found.agreements[p, q], found.excesses[p, q]) == naive_utilities(table, 256)


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


@for_each("words", [1, 157, 1_562_500])
@for_each("sizes", [(1, 1), (3, 5), (60, 120), (1000, 30), (2000, 2000)])
def test_candidates_fit_into_time_and_memory(words, sizes):
    counts = candidate_counts(*sizes, words)
    for count, size in zip(counts, sizes, strict=True):
        assert size <= count <= size * (size + 1) // 2
    product = counts[0] * counts[1]
    assert product <= max(30_000_000, 4 * sizes[0] * sizes[1])
    if sizes == (60, 120):
        assert (counts == (1830, 7260)) == (words < 1_000_000)


@pytest.mark.parametrize(
    ("source", "beyond_chance"),
    [
        (SecureRandom(), False),
        (SeededRandom(3), True),
        pytest.param(SecureRandom(), True, marks=pytest.mark.slow),
        pytest.param(SeededRandom(3), False, marks=pytest.mark.slow),
    ],
)
def test_draws_follow_the_exponential_mechanism(source, beyond_chance):
    """All candidates enumerated; 1e-6 is the chance that a sound sampler fails."""
    generator = np.random.default_rng(5)
    left, right = generator.random((3, 40)) < 0.5, generator.random((2, 40)) < 0.5
    right[0] = left[0] ^ (generator.random(40) < 0.2)
    found = compared(left, right)
    weight = pair_weight(Decimal("0.4"), 40, len(found.right))
    free = np.arange(len(found.left)) != 1, np.ones(len(found.right), dtype=bool)
    expected = np.exp(weight.value * utilities_of(found)[int(beyond_chance)]) * free[0][:, None]
    expected /= expected.sum()
    draws = 2500
    counts = np.zeros_like(expected)
    for _ in range(draws):
        counts[found.draw(weight, beyond_chance, *free, source)] += 1
    assert counts[1].sum() == 0
    kept = expected > 0
    assert stats.chisquare(counts[kept], draws * expected[kept]).pvalue > 1e-6
    uniform = np.full(kept.sum(), draws / kept.sum())
    assert stats.chisquare(counts[kept], uniform).pvalue < 1e-6, "the test tells them apart"


@for_each("change", ["both", "left", "right", "neither"])
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
        values = weight * utilities_of(compared(*views))
        logs.append(values - np.log(np.exp(values).sum(axis=(1, 2), keepdims=True)))
    assert np.abs(logs[0] - logs[1]).max() <= epsilon


@for_each("epsilon", ["1", "0.05", "0.0001"])
def test_a_draw_costs_no_more_than_its_budget(epsilon):
    weight = pair_weight(Decimal(epsilon), 10_000, 50_000)
    cost = 2 * agreement_steps(10_000) * Fraction(weight.numerator, 2**weight.bits) + 8 * Fraction(weight.error)
    assert cost <= Fraction(Decimal(epsilon))
    assert cost > Fraction(Decimal(epsilon)) * Fraction(99, 100)
