import math
from decimal import Decimal
from fractions import Fraction
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from dpcore.cores import share_of_cores
from dpcore.errors import BudgetError
from dpcore.privacy.budgets import FINE_SCALE
from dpcore.privacy.mechanisms import (
    ExponentialMechanism,
    FineGaussian,
    GaussianMechanism,
    GeometricMechanism,
    NoisyMax,
    round_utility,
)
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.oracles.mechanisms_oracle import (
    FALSE_ALARM,
    chi_square,
    exponential_probabilities,
    gaussian_pmf,
    geometric_pmf,
    integer_p_value,
    permute_and_flip_probabilities,
)
from tests.support.rows import for_each

EPSILONS = [
    Decimal(text) for text in ("0.000001", "0.001", "0.01", "0.1", "0.3", "0.333333333", "0.7", "1", "2.9", "50")
]
SOURCES = [pytest.param(SecureRandom(), id="secure"), pytest.param(SeededRandom(5), id="seeded")]


@for_each("epsilon", EPSILONS)
@for_each("sensitivity", [1, 2, 7, 1000, 10**10])
def test_no_mechanism_spends_more_than_asked(epsilon, sensitivity):
    selections = [
        kind(sensitivity, epsilon, monotone=monotone)
        for kind in (ExponentialMechanism, NoisyMax)
        for monotone in (True, False)
    ]
    for mechanism in (GeometricMechanism(sensitivity, epsilon), *selections):
        spent = Fraction(mechanism.privacy_map(sensitivity))
        assert spent <= Fraction(epsilon)
        assert spent >= Fraction(epsilon) * Fraction(999_999, 1_000_000)


@given(st.decimals(min_value="1e-9", max_value=1000, places=9), st.integers(1, 10**6))
def test_geometric_loss_never_exceeds_its_budget(epsilon, sensitivity):
    mechanism = GeometricMechanism(sensitivity, epsilon)
    assert Fraction(mechanism.privacy_map(sensitivity)) <= Fraction(epsilon)
    assert Fraction(sensitivity) / Fraction(mechanism.scale) <= Fraction(epsilon)


@for_each("rho", [1e-6, 0.01, 0.125, 1 / 3, 2.0])
@for_each("sensitivity", [1, 3, 1000])
def test_gaussian_loss_is_what_was_asked(rho, sensitivity):
    mechanism = GaussianMechanism(sensitivity, rho)
    assert rho * (1 - 1e-6) <= mechanism.privacy_map(sensitivity) <= rho


@for_each("rho", [0.0, -1.0, math.nan, math.inf])
def test_gaussian_refuses_an_unusable_budget(rho):
    with pytest.raises(BudgetError):
        GaussianMechanism(1, rho)


@given(st.integers(1, 2**45), st.floats(1e-5, 40))
def test_fine_gaussian_keeps_its_mu(sensitivity, mu):
    if sensitivity / mu < FINE_SCALE or sensitivity / mu > 2**52:
        with pytest.raises(BudgetError, match="grid"):
            FineGaussian(sensitivity, mu)
        return
    mechanism = FineGaussian(sensitivity, mu)
    assert mechanism.scale >= FINE_SCALE
    assert Fraction(sensitivity) / Fraction(mechanism.scale) <= Fraction(mu)
    assert mechanism.scale == pytest.approx(sensitivity / mu, rel=1e-9)
    assert Fraction(mechanism.privacy_map(sensitivity)) <= Fraction(mu) ** 2 / 2


@for_each("mu", [0.0, -1.0, math.nan, math.inf])
def test_fine_gaussian_refuses_an_unusable_budget(mu):
    with pytest.raises(BudgetError, match="positive"):
        FineGaussian(2**30, mu)
    with pytest.raises(BudgetError, match="positive"):
        FineGaussian(0, 1.0)


@pytest.mark.parametrize("source", SOURCES)
def test_fine_gaussian_noise_is_normal(source):
    mechanism = FineGaussian(2**30, 0.5)
    noise = mechanism.release(np.full(20_000, 2**40), source) - 2**40
    assert kstest(noise / 2**31, "norm").pvalue > FALSE_ALARM
    assert kstest(noise / 2**31 / 1.1, "norm").pvalue < FALSE_ALARM


@pytest.mark.parametrize("source", SOURCES)
def test_fine_gaussian_sums_never_leave_64_bits(source):
    mechanism = FineGaussian(2**50, 0.25)
    largest = np.array([2**62 - 1, 1 - 2**62])
    noise = mechanism.release(largest, source) - largest
    assert np.all(np.abs(noise) < 10 * 2.0**52)
    for value in (2**62, -(2**62), 2**63 - 1, -(2**63)):
        with pytest.raises(BudgetError, match="too fine"):
            mechanism.release(np.array([0, value]), source)


def test_monotone_scores_need_half_the_noise():
    monotone = ExponentialMechanism(3, Decimal(1), monotone=True)
    general = ExponentialMechanism(3, Decimal(1), monotone=False)
    assert monotone.scale == pytest.approx(3.0)
    assert general.scale == pytest.approx(6.0)


@for_each("source", SOURCES)
@for_each("sensitivity", [1, 3])
def test_geometric_noise_has_its_exact_distribution(source, sensitivity):
    mechanism = GeometricMechanism(sensitivity, Decimal("0.5"))
    noise = mechanism.release(np.full(40_000, 7), source) - 7
    assert integer_p_value(noise, lambda k: geometric_pmf(sensitivity / 0.5, k), 40) > FALSE_ALARM
    wrong = sensitivity / 0.5 * 1.1
    assert integer_p_value(noise, lambda k: geometric_pmf(wrong, k), 40) < FALSE_ALARM


def test_gaussian_noise_has_its_exact_distribution():
    mechanism = GaussianMechanism(2, 0.5)
    noise = mechanism.release(np.full(40_000, -3), SecureRandom()) + 3
    assert integer_p_value(noise, lambda k: gaussian_pmf(2.0, k), 12) > FALSE_ALARM
    assert integer_p_value(noise, lambda k: gaussian_pmf(2.2, k), 12) < FALSE_ALARM


def test_seeded_gaussian_noise_is_close_to_it():
    """Rounded, not discrete, Gaussian: for public data only. At scale 4 they are near enough."""
    mechanism = GaussianMechanism(4, 0.5)
    noise = mechanism.release(np.zeros(40_000, dtype=np.int64), SeededRandom(3))
    assert integer_p_value(noise, lambda k: gaussian_pmf(4.0, k), 20) > FALSE_ALARM
    assert integer_p_value(noise, lambda k: gaussian_pmf(4.4, k), 20) < FALSE_ALARM


def test_release_keeps_the_shape_and_adds_independent_noise():
    mechanism = GeometricMechanism(1, Decimal("0.1"))
    values = np.arange(24).reshape(2, 3, 4)
    noisy = mechanism.release(values, SecureRandom())
    assert noisy.shape == values.shape
    assert noisy.dtype == np.int64
    assert len(set((noisy - values).ravel().tolist())) > 3


SCORES = np.array([0, 5, 9, 10, 10, -40])


@for_each("source", SOURCES)
@for_each(
    ("kind", "probabilities"),
    [(ExponentialMechanism, exponential_probabilities), (NoisyMax, permute_and_flip_probabilities)],
)
@for_each("monotone", [True, False])
def test_selections_have_their_exact_distribution(source, kind, probabilities, monotone):
    mechanism = kind(5, Decimal(1), monotone=monotone)
    draws = 1500
    picks = [mechanism.select(SCORES, source) for _ in range(draws)]
    observed = np.bincount(picks, minlength=len(SCORES))
    scale = 5.0 if monotone else 10.0
    assert chi_square(observed, draws * probabilities(SCORES, scale)) > FALSE_ALARM
    assert chi_square(observed, draws * probabilities(SCORES, scale / 2)) < FALSE_ALARM


def test_the_two_selections_are_told_apart():
    exact = exponential_probabilities(SCORES, 5.0)
    other = permute_and_flip_probabilities(SCORES, 5.0)
    assert other.sum() == pytest.approx(1.0)
    assert chi_square(8000 * other, 8000 * exact) < FALSE_ALARM


@pytest.mark.parametrize("probabilities", [exponential_probabilities, permute_and_flip_probabilities])
def test_selection_ratio_over_all_neighbours_never_exceeds_its_budget(probabilities):
    """Exact distributions of all monotone neighbours of small score vectors, changes in 0 .. 3."""
    worst, budget = 0.0, 1.0
    chances = cache(lambda *scores: probabilities(scores, 3 / budget))
    for base in np.ndindex(4, 4, 4):
        for change in np.ndindex(4, 4, 4):
            ratio = chances(*base) / chances(*map(sum, zip(base, change, strict=True)))
            worst = max(worst, np.abs(np.log(ratio)).max())
    assert 0.5 * budget < worst <= budget + 1e-9


@pytest.mark.parametrize("kind", [ExponentialMechanism, NoisyMax])
def test_selection_takes_utilities_as_large_as_the_tables_allow(kind):
    scores = np.array([-(2**61), 0, -(2**61)])
    assert kind(2**35, Decimal(1), monotone=True).select(scores, SecureRandom()) == 1


finite = st.floats(-1e9, 1e9)
steps = st.one_of(st.sampled_from([2.0**-20, 0.1, 0.3, 1.0, 3.0]), st.floats(1e-4, 1e3))


def _upper_float(value):
    number = float(value)
    return number if Fraction(number) >= value else math.nextafter(number, math.inf)


@given(finite, st.floats(0, 1e4), steps)
def test_rounded_utilities_stay_within_the_enlarged_sensitivity(first, move, step):
    second = first + move
    exact = abs(Fraction(first) - Fraction(second))
    (low, high), sensitivity = round_utility(np.array([first, second]), _upper_float(exact), step)
    assert isinstance(sensitivity, int)
    assert abs(int(high) - int(low)) <= sensitivity
    assert sensitivity <= math.floor(_upper_float(exact) / step) + 1


@given(finite, st.floats(0, 100), st.floats(-1, 1), st.floats(-1, 1), steps)
def test_rounded_utilities_allow_for_computation_error(exact, move, wrong, wronger, step):
    error = 1e-3
    computed = np.array([exact + wrong * error, exact + move + wronger * error])
    sensitivity = _upper_float(Fraction(exact + move) - Fraction(exact)) + 1e-6
    grid, enlarged = round_utility(computed, sensitivity, step, error=error)
    assert abs(int(grid[1] - grid[0])) <= enlarged


@pytest.mark.parametrize(
    ("first", "second", "step"), [(0.39999999999999997, 0.69, 0.01), (0.506383673, 1.506383673, 1e-9)]
)
def test_rounding_is_not_fooled_by_a_quotient_that_is_rounded_up(first, second, step):
    """Here 0.69 / 0.01 is less than 69, but its float is 69: one step too many."""
    exact = _upper_float(Fraction(second) - Fraction(first))
    (low, high), sensitivity = round_utility(np.array([first, second]), exact, step)
    assert high - low <= sensitivity
    assert high == math.floor(Fraction(second) / Fraction(step))


def test_rounding_needs_its_extra_step():
    """0.9 and 1.1 are closer than one step of 1, and land on different sides of a grid point."""
    grid, sensitivity = round_utility(np.array([0.9, 1.1]), 0.3, 1.0)
    assert grid[1] - grid[0] == 1 == sensitivity


@given(st.lists(finite, min_size=2, max_size=20), steps)
def test_rounding_keeps_order(values, step):
    grid, _ = round_utility(np.sort(values), 1.0, step)
    assert np.all(np.diff(grid) >= 0)


@for_each("value", [1e300, math.inf, -math.inf, math.nan])
def test_rounding_refuses_a_grid_that_integers_cannot_hold(value):
    with pytest.raises(BudgetError):
        round_utility(np.array([value]), 1.0, 1e-6)


@pytest.mark.parametrize("kind", [partial(FineGaussian, 2**20, 0.1), partial(GeometricMechanism, 1, Decimal("0.1"))])
def test_noise_on_many_entries_does_not_depend_on_the_cores_that_draw_it(kind):
    """Every entry has noise of its own, on its own value; the spread is that of the scale."""
    mechanism, values = kind(), np.arange(2000, dtype=np.int64) * 2**40
    for cores in (1, 3):
        with share_of_cores(cores):
            noise = mechanism.release(values, SecureRandom()) - values
        assert np.abs(noise).max() < 40 * mechanism.scale, "of another value"
        assert (noise[0:1998:3] != noise[1:1998:3]).any(), "two cores drew the same"
        spread = np.sqrt(np.mean(np.square(noise / mechanism.scale)))
        assert 0.8 < spread / (1 if mechanism._law == "gaussian" else np.sqrt(2)) < 1.2
    with share_of_cores(3):
        assert mechanism.release(np.zeros(0, dtype=np.int64), SecureRandom()).shape == (0,)
