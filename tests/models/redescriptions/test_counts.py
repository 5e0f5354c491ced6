"""Counts of a pair of trees from noisy ones: least squares without negative ones, and p-values that allow for noise."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.stats import binom, norm

from dpcore.domain.conditions import Condition
from dpcore.models.redescriptions.released.consistent import consistent_counts, noise_margin, noise_variance, projected
from dpcore.models.redescriptions.released.significance import Independence, Sizes, binomial_tail
from dpcore.models.redescriptions.released.tree_pair import Domain, Tree, TreePair
from tests.oracles import extraction_oracle as oracle
from tests.support.learning.redescription_tables import exact_margin, geometric, level_tree, pair_of, wide_schema
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward

NARROW = ward(
    {"name": "age", "type": "integer", "lower": 0, "upper": 90, "edges": [30, 60]},
    {"name": "sick", "type": "boolean"},
    {"name": "left_0", "type": "boolean"},
    {"name": "left_1", "type": "boolean"},
    {"name": "right_0", "type": "boolean"},
    {"name": "right_1", "type": "boolean"},
    name="narrow",
    max_rows=1000,
)


def test_variance_of_the_noise_is_that_of_two_sided_geometric_noise():
    for scale in (0.5, 3.0, 20.0):
        drawn = geometric(scale, (400_000,), seed=0)
        assert noise_variance(scale) == pytest.approx(np.var(drawn), rel=0.03)
    assert noise_variance(0) == 0


@for_each("scale", [0.1, 0.3, 1.0, 5.0, 24.0, 100.0])
def test_margins_of_few_counts_hold_as_often_as_they_say(scale):
    """Where a normal distribution of the same variance would be too light."""
    assert float(noise_margin(scale, np.array(1))) == exact_margin(scale, 1)
    for counts in (2, 3, 4, 8, 16, 64):
        exact = exact_margin(scale, counts)
        assert exact <= float(noise_margin(scale, np.array(counts))) <= 1.01 * exact + 1


@for_each("scale", [0.7, 3.0, 20.0])
def test_margins_of_gaussian_counts_are_those_of_their_sum(scale):
    assert noise_variance(scale, gaussian=True) == scale**2
    for counts in (1, 4, 64):
        margin = float(noise_margin(scale, np.array(counts), gaussian=True))
        assert margin == math.ceil(norm.ppf(0.975) * scale * math.sqrt(counts))


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 3))
@settings(deadline=None)
def test_rows_are_fitted_to_their_second_counts_as_least_squares_would(seed, left, right):
    """Large counts, so that the limit at zero plays no part."""
    draw = np.random.default_rng(seed)
    counts = draw.integers(500, 1000, (2**left, 2**right))
    second = counts.sum(axis=1) + draw.integers(-40, 40, 2**left)
    scale, left_scale = draw.uniform(0.5, 9, 2)
    schema = wide_schema(max(left, right))
    pair = pair_of(counts, scale, second, left_scale)
    found = consistent_counts(pair, Domain(schema))
    weights = 1 / np.sqrt([noise_variance(scale), noise_variance(left_scale)])
    for row, whole, fitted in zip(counts, second, found.table, strict=True):
        system = np.vstack([np.eye(len(row)) * weights[0], np.full((1, len(row)), weights[1])])
        wanted = np.append(row * weights[0], whole * weights[1])
        np.testing.assert_allclose(fitted, np.linalg.lstsq(system, wanted, rcond=None)[0])


def test_what_no_record_can_reach_is_left_out_of_the_fit():
    young = Condition(column="age", first=0, last=0)
    not_old = Condition(column="age", first=0, last=1)
    left = Tree(view="left", splits=(not_old, young, young))  # Nobody over 60 is under 30.
    counts = ((90, 80), (70, 60), (5, -7), (50, 40))
    pair = TreePair(
        start=0,
        round=0,
        target="",
        left=left,
        right=level_tree("right", 1),
        noisy_counts=counts,
        count_scale=2.0,
        noisy_left=(180, 120, 9, 95),
        left_scale=2.0,
    )
    found = consistent_counts(pair, Domain(NARROW))
    assert found.left.tolist() == [0, 1, 3]
    assert found.right.tolist() == [0, 1]
    assert found.leaves == (4, 2)
    assert found.table.shape == (3, 2)
    assert found.table.sum() == pytest.approx(390 + 2 / 3 * (10 - 10 + 5))
    assert not found.whole[2].any()
    np.testing.assert_array_equal(found.whole[[0, 1, 3]], found.table)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.integers(1, 3))
@example(17506, 1, 1)
@example(536, 3, 1)
@settings(deadline=None)
def test_negative_counts_go_as_the_nearest_table_with_the_same_sums_says(seed, left, right):
    """The optimum of a quadratic program: the step from the noisy table has duals."""
    draw = np.random.default_rng(seed)
    noisy = draw.integers(-30, 60, (2**left, 2**right))
    noisy[0, 0] += 500
    found = consistent_counts(pair_of(noisy, 10.0), Domain(wide_schema(3)))
    table = found.table
    rows, columns = projected(noisy.sum(axis=1)), projected(noisy.sum(axis=0))
    np.testing.assert_allclose(table.sum(axis=1), rows, atol=0.05)
    np.testing.assert_allclose(table.sum(axis=0), columns, atol=0.05)
    assert table.min() >= 0
    assert table.sum() == pytest.approx(max(noisy.sum(), 0), abs=0.05)
    step, close = table - noisy, 0.1
    equal, limits = [], []
    for i in range(noisy.shape[0]):
        for j in range(noisy.shape[1]):
            dual = np.zeros(sum(noisy.shape))
            dual[i], dual[noisy.shape[0] + j] = 1, 1
            limits.append((dual, step[i, j] + close))
            if table[i, j] > close:
                equal.append((-dual, -step[i, j] + close))
    both = [*limits, *equal]
    duals = linprog(
        np.zeros(sum(noisy.shape)), [row for row, _ in both], [value for _, value in both], bounds=(None, None)
    )
    assert duals.status == 0


@given(st.lists(st.integers(-50, 80), min_size=1, max_size=12))
def test_the_nearest_vector_without_negative_entries(values):
    found = projected(np.array(values, dtype=float))
    total = max(sum(values), 0)
    assert found.sum() == pytest.approx(total)
    low, high = -1.0, max(values) + 1.0
    for _ in range(200):  # Bisection on what everybody pays.
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(np.array(values) - middle, 0).sum() > total else (low, middle)
    np.testing.assert_allclose(found, np.maximum(np.array(values) - high, 0), atol=1e-6)


def exactly_projected(values):
    """The same in fractions: entries that cannot pay their part leave, one round after another."""
    exact = [Fraction(value) for value in values]
    total, paying = sum(exact), list(exact)
    if total <= 0:
        return [0.0] * len(values)
    while True:
        each = (sum(paying) - total) / len(paying)
        able = [value for value in paying if value > each]
        if len(able) == len(paying):
            return [float(max(value - each, Fraction(0))) for value in exact]
        paying = able


sizes = st.sampled_from([1e-18, 1e-9, 0.1, 1.0, 1e6, 1e18])
parts = st.one_of(st.floats(-1, 1), st.sampled_from([-1.0, -0.5, 0.0, 0.5, 1.0]))
entries = st.builds(lambda size, part: size * part, sizes, parts)


@given(st.lists(entries, min_size=1, max_size=16))
@example([4.199999999999999, -1.8000000000000003, -6.199999999999999, 3.8000000000000007])
@example([1.0, -1.0, 1e-18])
@example([-3.0, -3.0])
@example([1e18, -1e18, 0.1])
@settings(max_examples=5 * settings.default.max_examples, deadline=None)
def test_the_nearest_vector_of_any_numbers_is_that_of_exact_arithmetic(values):
    """Rounding moves an entry by a tiny part of the largest one, and nothing fails."""
    found = projected(np.array(values))
    largest = max(abs(value) for value in values)
    assert found.min() >= 0
    np.testing.assert_allclose(found, exactly_projected(values), rtol=0, atol=1e-14 * largest)


@pytest.mark.parametrize("sparse", [True, False])
def test_estimated_counts_are_nearer_to_the_truth_than_noisy_ones(sparse):
    """And nearer still with second counts. On average over many draws."""
    draws = 100 if sparse else 200
    draw = np.random.default_rng(3)
    exact = np.round(draw.gamma(0.2 if sparse else 5, 100, (8, 8))).astype(int)
    domain, errors = Domain(wide_schema(3)), np.zeros(3)
    for turn in range(draws):
        noisy = exact + geometric(15.0, exact.shape, seed=turn)
        second = exact.sum(axis=1) + geometric(15.0, (8,), seed=1000 + turn)
        once = consistent_counts(pair_of(noisy, 15.0), domain).table
        twice = consistent_counts(pair_of(noisy, 15.0, second, 15.0), domain).table
        errors += [((table - exact) ** 2).sum() for table in (noisy, once, twice)]
    assert errors[2] < errors[1]
    assert errors[1] < (0.7 if sparse else 1) * errors[0]


def sizes_of(both: object, left: float, right: float, inside: tuple[int, int]) -> Sizes:
    array = np.atleast_1d(np.asarray(both, dtype=float))
    ones = np.ones(len(array))
    return Sizes(array, (left * ones, right * ones), (inside[0] * ones, inside[1] * ones))


@for_each(
    ("people", "leaves", "scale", "shares", "inside"),
    [
        (1000, (4, 4), 12.0, (0.24, 0.1), (1, 1)),
        (1000, (4, 4), 3.0, (0.5, 0.3), (2, 1)),
        (300, (4, 4), 10.0, (0.3, 0.4), (2, 2)),
        (10_000, (16, 16), 24.0, (0.2, 0.3), (4, 4)),
        (10_000, (4, 8), 5.0, (0.6, 0.7), (3, 6)),
    ],
)
def test_p_values_are_those_of_the_distribution_they_approximate(people, leaves, scale, shares, inside):
    expected = people * shares[0] * shares[1]
    for spread in (0.5, 1.5, 2.5, 4.0):
        one = Independence(people, leaves, scale)
        step = np.sqrt(expected + 2 * scale**2 * inside[0] * inside[1])
        both = round(expected + spread * step)
        exact = oracle.noisy_p_value(both, shares, inside, leaves, people, scale)
        plain = binom.sf(both - 1, people, shares[0] * shares[1])
        found = one.p_values(sizes_of(both, *shares, inside))[0]
        if exact > 1e-5:  # The integral cannot tell smaller ones from rounding.
            assert found == pytest.approx(max(exact, plain), rel=0.06)
        assert found >= plain


def test_without_noise_p_values_are_the_published_ones():
    one = Independence(500, (4, 4), 0.0)
    both = np.arange(30, 200, 10)
    found = one.p_values(sizes_of(both, 0.4, 0.3, (1, 2)))
    np.testing.assert_allclose(found, binom.sf(both - 1, 500, 0.4 * 0.3))


@for_each("chance", [0.0, 1e-9, 0.02, 0.5, 0.999, 1.0])
@for_each("people", [1, 7, 500, 40_000])
def test_a_binomial_tail_is_scipy_s(people, chance):
    least = np.unique([-1, 0, 1, 2, people // 3, people - 1, people, people + 1])
    found = binomial_tail(least, people, np.full(len(least), chance))
    np.testing.assert_allclose(found, binom.sf(least - 1, people, chance), rtol=1e-9, atol=1e-300)


def test_noise_only_raises_p_values_and_more_people_only_lower_them():
    both = np.arange(0, 900, 7)
    before = Independence(1000, (8, 8), 0.0).p_values(sizes_of(both, 0.5, 0.6, (3, 4)))
    for scale in (0.3, 2.0, 9.0, 40.0):
        found = Independence(1000, (8, 8), scale).p_values(sizes_of(both, 0.5, 0.6, (3, 4)))
        assert np.all(found >= before - 1e-12)
        assert np.all(np.diff(found) <= 1e-9)
        assert np.all((found >= 0) & (found <= 1))
        before = found if scale > 1 else before


@pytest.mark.crossed
@pytest.mark.parametrize("scale", [0.0, 0.2, 3.0, 30.0])
@pytest.mark.parametrize("most", [0.0, 1e-6, 0.01, 0.3, 1.0])
@pytest.mark.parametrize("gaussian", [False, True])
def test_bounds_settle_what_p_values_would(scale, most, gaussian):
    draw = np.random.default_rng(0)
    n = 4000
    left, right = draw.uniform(0, 1, n), draw.uniform(0, 1, n)
    left[:100], right[50:150] = draw.integers(0, 2, 100), 1.0
    both = np.minimum(left, right) * draw.uniform(0, 1, n) * 2000
    inside = draw.integers(1, 8, n).astype(float), draw.integers(1, 8, n).astype(float)
    some, one = Sizes(both, (left, right), inside), Independence(2000.0, (8, 8), scale, gaussian=gaussian)
    np.testing.assert_array_equal(one.significant(some, most), one.p_values(some) <= most)


@pytest.mark.heavy
@pytest.mark.parametrize("draws", [70_000, pytest.param(200_000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize(
    ("scale", "inside"), [pytest.param(12.0, (1, 1), marks=pytest.mark.slow), (12.0, (2, 2)), (1.0, (1, 2))]
)
def test_p_values_give_no_more_false_alarms_than_they_say(scale, inside, draws, gaussian):
    """Of many draws of independent sides; five deviations, 1e-6.

    Positive control: the published p-values, which ignore the noise.
    """
    people, shares, leaves = 1000, (0.3, 0.2), 4
    both = np.random.default_rng(1).binomial(people, shares[0] * shares[1], draws).astype(float)
    weights = [
        a * b
        for a in [1 - shares[0]] * inside[0] + [-shares[0]] * (leaves - inside[0])
        for b in [1 - shares[1]] * inside[1] + [-shares[1]] * (leaves - inside[1])
    ]
    for seed, weight in enumerate(weights):
        normal = np.rint(scale * np.random.default_rng(seed).standard_normal(draws))
        both += weight * (normal if gaussian else geometric(scale, (draws,), seed))
    values = Independence(people, (leaves, leaves), scale, gaussian=gaussian).p_values(sizes_of(both, *shares, inside))
    for level in (0.1, 0.01, 0.001):
        room = 5 * np.sqrt(level / draws)
        assert 0.5 * level < np.mean(values <= level) <= 1.03 * level + room
    published = binom.sf(np.rint(both) - 1, people, shares[0] * shares[1])
    if scale > 5:
        assert np.mean(published <= 0.001) > 0.02


@for_each("scale", [0.0, 1.0, 6.0])
def test_a_person_with_several_rows_counts_as_one(scale):
    """Independent sides, all rows of a person alike; false alarm 1e-6. Positive control: as if they were people."""
    people, rows, shares, draws = 600, 5, (0.3, 0.3), 4000
    both = rows * np.random.default_rng(1).binomial(people, shares[0] * shares[1], draws).astype(float)
    both += geometric(scale, (draws,), 2) if scale else 0
    some = sizes_of(both, *shares, (2, 2))
    one = Independence(rows * people, (4, 4), scale, rows)
    values, alone = one.p_values(some), Independence(rows * people, (4, 4), scale).p_values(some)
    for level in (0.05, 0.01):
        assert np.mean(values <= level) <= level + 5 * np.sqrt(level / draws)
        assert np.mean(alone <= level) > 2 * level
        np.testing.assert_array_equal(one.significant(some, level), values <= level)
