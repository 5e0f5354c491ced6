"""Selections beside Gaussian noise: never less than the truth, and less than adding up."""

import math
from decimal import Decimal

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate

from dpcore.privacy.bounded_range import Selections
from dpcore.privacy.budgets import calibrate_gaussian, gaussian_delta
from dpcore.privacy.mechanisms import ExponentialMechanism
from tests.oracles import privacy_oracle
from tests.support.rows import for_each


def hockey_stick(ratios, chances, epsilon):
    """Delta of a finite mechanism: its probability ratios, with the chances in the numerator."""
    return float(np.maximum(0, chances * (1 - np.exp(epsilon) / ratios)).sum())


def curve(epsilon, at):
    """The least bound for all mechanisms of this range (docs/privacy/gaussian.md, Lemma 2)."""
    if abs(at) >= epsilon:
        return max(0.0, 1 - math.exp(at))
    return (math.exp(epsilon / 2) - math.exp(at / 2)) ** 2 / math.expm1(epsilon)


@given(st.floats(0.01, 6), st.floats(-1.2, 1.2), st.floats(0.001, 0.999))
def test_the_curve_covers_every_pair_of_two_outcomes_and_one_touches_it(epsilon, share, place):
    at, top = share * epsilon, place * epsilon
    heads = math.expm1(epsilon - top) / math.expm1(epsilon) * math.exp(top)
    pair = np.exp([top, top - epsilon]), np.array([heads, 1 - heads])
    assert hockey_stick(*pair, at) <= curve(epsilon, at) * (1 + 1e-9) + 1e-12
    if abs(at) < epsilon:
        top = (epsilon + at) / 2
        heads = math.expm1(epsilon - top) / math.expm1(epsilon) * math.exp(top)
        pair = np.exp([top, top - epsilon]), np.array([heads, 1 - heads])
        assert hockey_stick(*pair, at) == pytest.approx(curve(epsilon, at), rel=1e-6, abs=1e-12)


@for_each("epsilon", [1e-6, 0.01, 0.5, 5, 100])
def test_losses_have_the_curve_of_the_range(epsilon):
    sums, chances = Selections(epsilon, 1).losses
    assert chances.sum() == pytest.approx(1, abs=1e-12)
    for share in np.linspace(-1.1, 1.1, 23):
        at = share * epsilon
        computed = float(chances @ np.maximum(0, 1 - np.exp(at - sums)))
        assert curve(epsilon, at) <= computed * (1 + 1e-9) + 1e-15
        assert computed - curve(epsilon, at) <= 2 * epsilon / 512 + 1e-12


def test_the_exponential_mechanism_stays_within_the_curve_of_its_range():
    """Exact chances under neighbouring scores that move apart; half the curve is exceeded."""
    draw, epsilon, worst = np.random.default_rng(1), 1.5, 0.0
    scale = ExponentialMechanism(1, Decimal("1.5"), monotone=False).scale
    for _ in range(300):
        scores = draw.integers(0, 6, 8)
        moved = scores + draw.integers(-1, 2, 8)
        one, two = (np.exp(s / scale) / np.exp(s / scale).sum() for s in (scores, moved))
        for at in np.linspace(-1.4, 1.4, 15):
            truth = hockey_stick(one / two, one, at)
            assert truth <= curve(epsilon, at) * (1 + 1e-9)
            worst = max(worst, truth / curve(epsilon, at))
    assert worst > 0.5


def adversary(mu, epsilon, each, top):
    """Exact delta of one selection of two outcomes beside the Gaussian mechanism."""
    heads = math.expm1(each - top) / math.expm1(each) * math.exp(top)
    losses = [(heads, top), (1 - heads, top - each)]
    return sum(chance * privacy_oracle.gaussian_delta(mu, epsilon - loss) for chance, loss in losses)


@given(st.floats(0.05, 4), st.floats(0.05, 0.9), st.floats(0.05, 2), st.floats(0.01, 0.99))
def test_no_selection_of_two_outcomes_beside_gaussian_noise_exceeds_the_bound(epsilon, share, mu, place):
    each = share * epsilon
    bound = Selections(each, 1).delta(mu, epsilon)
    assert adversary(mu, epsilon, each, place * each) <= bound * (1 + 1e-9) + 1e-280


@for_each("count", [1, 2, 5])
@for_each(("mu", "epsilon"), [(0.3, 1.0), (1.0, 2.0), (2.0, 9.0)])
def test_delta_agrees_with_an_integral_over_the_losses(mu, epsilon, count):
    """The sum of the losses has the density of a sum of uniforms, tilted by exp(x / 2)."""
    each = 0.3 * epsilon / count
    reach = count * each

    def uniforms(x):
        place = (x + reach) / (2 * each)
        terms = ((-1) ** k * math.comb(count, k) * max(0.0, place - k) ** (count - 1) for k in range(int(place) + 1))
        return sum(terms) / (math.factorial(count - 1) * 2 * each)

    def density(x):
        tilt = math.exp(x / 2) * (each / (2 * math.sinh(each / 2))) ** count
        return tilt * uniforms(x) * privacy_oracle.gaussian_delta(mu, epsilon - x)

    exact = integrate.quad(density, -reach, reach, epsabs=0, epsrel=1e-8, limit=500)[0]
    bound = Selections(each, count).delta(mu, epsilon)
    assert exact <= bound * (1 + 1e-7)
    assert bound <= Selections(each * (1 + 0.02), count).delta(mu, epsilon)
    assert bound == pytest.approx(exact, rel=0.02)


@given(st.floats(-3, 2.3), st.floats(-12, -3), st.floats(0.01, 0.5), st.integers(1, 10))
def test_selections_cost_something_and_never_more_than_their_sum(log_epsilon, log_delta, share, count):
    epsilon, delta = 10**log_epsilon, 10**log_delta
    own = Selections(share * epsilon / count, count)
    mu = calibrate_gaussian(epsilon, delta, own.delta)
    assert own.delta(mu, epsilon) <= delta
    assert mu < calibrate_gaussian(epsilon, delta)
    assert mu > calibrate_gaussian((1 - share) * epsilon, delta) * (1 - 1e-6)
    assert own.delta(1.01 * mu, epsilon) > delta


def test_pure_selections_beside_gaussian_noise_agree_with_dp_accounting():
    """As if each were any mechanism of its epsilon: an upper bound, and not far away."""
    mu, each, epsilon = 0.4, 0.1, 1.5
    noise = privacy_loss_distribution.from_gaussian_mechanism(1 / mu, value_discretization_interval=1e-4)
    pure = privacy_loss_distribution.from_randomized_response(
        2 / (1 + math.exp(each)), 2, value_discretization_interval=1e-4
    )
    assert pure.get_delta_for_epsilon(each) == pytest.approx(0, abs=1e-4)
    theirs = noise.compose(pure).compose(pure).get_delta_for_epsilon(epsilon)
    ours = Selections(each, 2).delta(mu, epsilon)
    assert gaussian_delta(mu, epsilon) < ours < theirs
    assert ours == pytest.approx(theirs, rel=0.5)
