"""P-values that allow for noise: against an integral, draws, and their own bounds."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from dpcore.models.redescriptions.released.significance import Independence, Sizes, binomial_tail
from tests.oracles import extraction_oracle as oracle
from tests.support.learning.redescription_tables import geometric
from tests.support.rows import for_each


def sizes(both: object, left: float, right: float, inside: tuple[int, int]) -> Sizes:
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
        found = one.p_values(sizes(both, *shares, inside))[0]
        if exact > 1e-5:  # The integral cannot tell smaller ones from rounding.
            assert found == pytest.approx(max(exact, plain), rel=0.06)
        assert found >= plain


def test_without_noise_p_values_are_the_published_ones():
    one = Independence(500, (4, 4), 0.0)
    both = np.arange(30, 200, 10)
    found = one.p_values(sizes(both, 0.4, 0.3, (1, 2)))
    np.testing.assert_allclose(found, binom.sf(both - 1, 500, 0.4 * 0.3))


@for_each("chance", [0.0, 1e-9, 0.02, 0.5, 0.999, 1.0])
@for_each("people", [1, 7, 500, 40_000])
def test_a_binomial_tail_is_scipy_s(people, chance):
    least = np.unique([-1, 0, 1, 2, people // 3, people - 1, people, people + 1])
    found = binomial_tail(least, people, np.full(len(least), chance))
    np.testing.assert_allclose(found, binom.sf(least - 1, people, chance), rtol=1e-9, atol=1e-300)


def test_noise_only_raises_p_values_and_more_people_only_lower_them():
    both = np.arange(0, 900, 7)
    before = Independence(1000, (8, 8), 0.0).p_values(sizes(both, 0.5, 0.6, (3, 4)))
    for scale in (0.3, 2.0, 9.0, 40.0):
        found = Independence(1000, (8, 8), scale).p_values(sizes(both, 0.5, 0.6, (3, 4)))
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
    values = Independence(people, (leaves, leaves), scale, gaussian=gaussian).p_values(sizes(both, *shares, inside))
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
    some = sizes(both, *shares, (2, 2))
    one = Independence(rows * people, (4, 4), scale, rows)
    values, alone = one.p_values(some), Independence(rows * people, (4, 4), scale).p_values(some)
    for level in (0.05, 0.01):
        assert np.mean(values <= level) <= level + 5 * np.sqrt(level / draws)
        assert np.mean(alone <= level) > 2 * level
        np.testing.assert_array_equal(one.significant(some, level), values <= level)
