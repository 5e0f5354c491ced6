"""The privacy loss along the outputs of a run, against sums over all outputs."""

from __future__ import annotations

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.audit.replay.loss import Loss
from dpcore.audit.replay.probabilities import choice_logs, permute_and_flip_logs
from dpcore.audit.replay.tape import RunEvent
from dpcore.privacy.budgets import calibrate_gaussian, discrete_gaussian_delta
from dpcore.privacy.mechanisms import ExponentialMechanism, NoisyMax
from dpcore.privacy.randomness import Choice, Noise, SecureRandom
from tests.oracles.mechanisms_oracle import (
    FALSE_ALARM,
    chi_square,
    exponential_probabilities,
    gaussian_pmf,
    geometric_pmf,
    permute_and_flip_probabilities,
)
from tests.support.rows import for_each


def noise(law, scale, first, second):
    what = ("noise", Noise(law, scale, 1.0, lambda own: own), (len(first),))
    return RunEvent(what, np.array(first), None), RunEvent(what, np.array(second), None)


def choice(law, scale, first, second, output=0, promise=1.0):
    what = ("choice", Choice(law, scale, promise, lambda own: 0), (len(first),))
    return RunEvent(what, np.array(first), output), RunEvent(what, np.array(second), output)


def test_noise_costs_what_the_worst_output_shows():
    loss = Loss.along([noise("geometric", 2.0, [3, 0, 5], [3, 1, 3])])
    support = np.arange(-60, 61)
    worst = sum(
        np.abs(np.log(geometric_pmf(2.0, support - x) / geometric_pmf(2.0, support - y))).max()
        for x, y in ((3, 3), (0, 1), (5, 3))
    )
    assert loss.epsilon == pytest.approx(worst, rel=1e-9)
    assert loss.kept == loss.epsilon


@pytest.mark.parametrize("law", ["gumbel", "exponential"])
def test_a_choice_costs_what_the_worst_output_shows(law):
    pair = choice(law, 2.0, [4, 0, 1], [5, 0, -1])
    logs = [choice_logs(own.what[1], own.given) for own in pair]
    assert Loss.along([pair]).epsilon == pytest.approx(np.abs(logs[0] - logs[1]).max())


def test_draws_of_a_larger_mechanism_add_up_with_their_signs():
    up, down = ([4, 0], [5, 0]), ([5, 0], [4, 0])
    one = Loss.along([choice("gumbel", 1.0, *up, promise=None)])
    both = Loss.along([choice("gumbel", 1.0, *own, promise=None) for own in (up, down)])
    assert both.drawn == pytest.approx(0)
    assert one.drawn != pytest.approx(0, abs=1e-6)
    assert both.reach == pytest.approx(both.epsilon)
    assert both.epsilon >= one.epsilon


def test_any_last_draw_counts_however_improbable():
    """The second output has probability below 1e-8 and shows nearly all."""
    loss = Loss.along([choice("gumbel", 1.0, [20, 0], [20, 1], output=0, promise=None)])
    assert loss.epsilon == pytest.approx(1, abs=1e-8)


def test_gaussian_steps_are_accounted_for_together():
    mu = calibrate_gaussian(1.0, 1e-5)
    half = round(2**30 / (mu / math.sqrt(2)))
    pair = noise("gaussian", float(half), [2**30, 0], [0, 0])
    loss = Loss.along([pair, pair])
    assert loss.epsilon_at(1e-5) == pytest.approx(1, rel=1e-6)
    assert loss.holds(1.0000001, 1e-5)
    assert not loss.holds(0.999, 1e-5)
    assert not Loss.along([pair] * 3).holds(1.0, 1e-5)


def test_choices_between_gaussian_steps_are_convolved_exactly():
    """Against an integral over the Gaussian output and a sum over the choices."""
    pairs = [choice("gumbel", 3.0, [4, 0, 1], [5, 0, -1]), choice("gumbel", 3.0, [2, 0], [0, 1])]
    steps = [noise("gaussian", 4.0e6, [3_000_000], [0]), *pairs]
    loss = Loss.along(steps)
    z = np.linspace(-12, 12, 400_001)
    mu, width = 0.75, z[1] - z[0]
    logs = [[choice_logs(own.what[1], own.given) for own in pair] for pair in pairs]

    def delta(epsilon, here, there, sign):
        total = 0.0
        for i, j in np.ndindex(3, 2):
            p = logs[0][here][i] + logs[1][here][j] - (z**2) / 2
            q = logs[0][there][i] + logs[1][there][j] - ((z - sign * mu) ** 2) / 2
            total += np.maximum(np.exp(p) - math.exp(epsilon) * np.exp(q), 0).sum() * width
        return total / math.sqrt(2 * math.pi)

    for epsilon in (0.1, 0.8, 1.5):
        exact = max(delta(epsilon, 0, 1, 1), delta(epsilon, 1, 0, 1))
        assert loss.delta(epsilon) == pytest.approx(exact, rel=1e-6)


def test_many_choices_are_put_on_a_grid_without_harm():
    pairs = [choice("gumbel", 9.0, [4, 0, 1, k], [5, 0, -1, 2]) for k in range(12)]
    steps = [noise("gaussian", 4.0e6, [3_000_000], [0]), *pairs]
    few = [noise("gaussian", 4.0e6, [3_000_000], [0]), *pairs[:6]]
    assert Loss.along(steps).delta(1.0) > Loss.along(few).delta(1.0) > 0


def test_many_choices_that_a_record_moves_alike_tell_nothing():
    """All scores rise by 1, so that every choice is as likely as before."""
    moved = choice("gumbel", 9.0, [0] * 6000, [1] * 6000)
    counted = noise("gaussian", 4.0e6, [3_000_000], [0])
    assert Loss.along([counted, moved]).delta(1.0) == pytest.approx(Loss.along([counted]).delta(1.0))


def test_without_gaussian_noise_a_delta_excuses_nothing():
    loss = Loss.along([noise("geometric", 1.0, [1], [0])])
    assert loss.holds(1.0, 1e-5)
    assert not loss.holds(0.99, 0.5)


# Runs that compose


@for_each(("scale", "distance"), [(0.7, 1), (3.0, 2), (20.0, 1)])
def test_coarse_gaussian_noise_is_compared_value_by_value(scale, distance):
    loss = Loss.along([noise("gaussian", scale, [3, 5], [3, 5 + distance])])
    for epsilon in (0.01, 0.5, 2.0):
        assert loss.delta(epsilon) == pytest.approx(discrete_gaussian_delta(scale, epsilon, distance), rel=1e-6)


def test_gaussian_noise_on_several_counts_and_a_choice_is_convolved_from_below():
    """Against sums over all noises and choices: less than a part in 500 is lost on the grid."""
    pair = choice("gumbel", 3.0, [4, 0, 1], [5, 0, -1])
    loss = Loss.along([noise("gaussian", 2.0, [0, 0, 7], [1, 2, 7]), pair])
    here, there = (choice_logs(own.what[1], own.given) for own in pair)
    support = np.arange(-30, 31)
    first = gaussian_pmf(2.0, support)
    moved = [gaussian_pmf(2.0, support - distance) for distance in (1, 2)]
    p = np.multiply.outer(np.multiply.outer(first, first), np.exp(here))
    q = np.multiply.outer(np.multiply.outer(*moved), np.exp(there))
    for epsilon in (0.1, 0.8):
        both = (np.maximum(one - math.exp(epsilon) * two, 0).sum() for one, two in ((p, q), (q, p)))
        assert 0.998 <= loss.delta(epsilon) / max(both) <= 1 + 1e-9


ORDERS = 1 + np.geomspace(1e-5, 1e5, 20_001)


def rho_of(first, second):
    """Largest of D_alpha / alpha, over a fine grid; and what it is at most between the points of the grid."""
    divergences = []
    for p, q in ((first, second), (second, first)):
        moments = np.array([np.logaddexp.reduce(alpha * p + (1 - alpha) * q) for alpha in ORDERS])
        divergences.append(moments / (ORDERS - 1))
    least = max((own / ORDERS).max() for own in divergences)
    most = max((own[1:] / ORDERS[:-1]).max() for own in divergences)  # D_alpha rises with alpha.
    return least, most


@for_each("law", ["gumbel", "exponential"])
@for_each(
    "scores", [([4, 0, 1], [5, 0, -1]), ([0, 0], [1, 0]), ([0, 30], [1, 30]), (list(range(40)), [*range(39), 44])]
)
def test_the_rho_of_a_choice_is_its_renyi_divergence(law, scores):
    pair = choice(law, 2.0, *scores)
    least, most = rho_of(*(choice_logs(own.what[1], own.given) for own in pair))
    rho = Loss.along([pair]).rho
    assert most / least < 1.002
    assert 0.9999 * least <= rho <= most


def test_permute_and_flip_costs_four_times_what_a_bounded_range_would():
    """Two that are as good, of which one gets better: the exponential mechanism costs eps^2 / 8."""
    rhos = [Loss.along([choice(law, 20.0, [0, 0], [1, 0])]).rho for law in ("gumbel", "exponential")]
    assert rhos[0] == pytest.approx(0.05**2 / 8, rel=0.01)
    assert rhos[1] == pytest.approx(0.05**2 / 2, rel=0.05)


def test_an_output_that_is_hardly_ever_drawn_costs_little_rho():
    """Its loss is as large as that of one that is drawn in half of the runs."""
    rare = Loss.along([choice("gumbel", 1.0, [40, 0], [40, 1])])
    assert rare.epsilon == pytest.approx(1, abs=1e-8)
    assert rare.rho < 0.03


def test_draws_of_a_larger_mechanism_cost_what_is_known_along_their_outputs():
    """Two draws, of which the second depends on the first: against all pairs of outputs, where only one path moves."""
    one = choice("gumbel", 2.0, [4, 0, 1], [5, 0, -1], output=1, promise=None)
    two = choice("gumbel", 2.0, [0, 2], [1, 0], output=0, promise=None)
    tick = RunEvent(("progress", "growing", 1, 2)), RunEvent(("progress", "growing", 1, 2))
    logs = [[choice_logs(own.what[1], own.given) for own in pair] for pair in (one, two)]
    still = np.log([0.5, 0.5])
    joint = [np.concatenate([logs[0][k][i] + (logs[1][k] if i == 1 else still) for i in range(3)]) for k in (0, 1)]
    least, most = rho_of(*joint)
    together, apart = Loss.along([one, two]), Loss.along([one, tick, two])
    assert 0.9999 * least <= together.rho <= most
    singles = [Loss.along([own]) for own in (one, two)]
    assert apart.rho == pytest.approx(sum(own.rho for own in singles))
    assert apart.stages == pytest.approx([own.stages[0] for own in singles])


def test_rho_adds_up_what_each_mechanism_shows():
    pair = choice("gumbel", 2.0, [4, 0, 1], [5, 0, -1])
    counted = noise("gaussian", 2.0, [0, 0], [3, 4]), noise("geometric", 3.0, [1], [0])
    assert Loss.along([*counted, pair]).rho == pytest.approx(2.5**2 / 2 + math.tanh(1 / 6) / 3 + Loss.along([pair]).rho)


def by_enumeration(gaps):
    """Permute-and-flip as it is described: go through a random order, flip a coin for each."""
    accept = np.exp(gaps)
    chances = np.zeros(len(gaps))
    for order in permutations(range(len(gaps))):
        left = 1.0
        for candidate in order:
            chances[candidate] += left * accept[candidate]
            left *= 1 - accept[candidate]
    return chances / math.factorial(len(gaps))


@given(st.lists(st.floats(-30, 0), min_size=1, max_size=6))
def test_permute_and_flip_has_the_probabilities_of_its_description(gaps):
    gaps = np.array([0.0, *gaps])
    exact = by_enumeration(gaps)
    assert np.allclose(np.exp(permute_and_flip_logs(gaps)), exact, rtol=1e-12, atol=0)


@pytest.mark.crossed
@pytest.mark.parametrize("candidates", [2, 40, 256, 257, 3000])
@pytest.mark.parametrize("spread", [0.0, 0.1, 30.0])
def test_probabilities_of_many_candidates_sum_to_one(candidates, spread):
    gaps = -np.sort(np.random.default_rng(1).random(candidates)) * spread
    gaps -= gaps.max()
    assert np.exp(permute_and_flip_logs(gaps)).sum() == pytest.approx(1, rel=1e-11)


def test_panels_agree_with_one_rule():
    gaps = np.concatenate([[0.0], -np.random.default_rng(2).random(299) * 8])
    exact = permute_and_flip_probabilities(gaps, 1.0)
    assert np.allclose(np.exp(permute_and_flip_logs(gaps)), exact, rtol=1e-10)


@pytest.mark.parametrize(
    ("law", "exact"), [("gumbel", exponential_probabilities), ("exponential", permute_and_flip_probabilities)]
)
def test_a_choice_knows_its_law(law, exact):
    scores = np.array([5, 0, 3, 3, -40])
    choice = Choice(law, 2.5, 1.0, lambda own: 0)
    assert np.allclose(np.exp(choice_logs(choice, scores)), exact(scores, 2.5), rtol=1e-12)


@pytest.mark.parametrize("kind", [ExponentialMechanism, NoisyMax])
def test_mechanisms_draw_with_the_probabilities_that_a_replay_takes(kind):
    """The exact samplers themselves, 4,000 times."""
    from decimal import Decimal

    from dpcore.audit.replay.tape import Recording

    mechanism, scores = kind(3, Decimal(1), monotone=True), np.array([6, 3, 0, 5])
    tape = Recording(0)
    mechanism.select(scores, tape)
    (_, choice, _) = tape.events[-1].what
    picks = [mechanism.select(scores, SecureRandom()) for _ in range(4000)]
    observed = np.bincount(picks, minlength=4)
    assert chi_square(observed, 4000 * np.exp(choice_logs(choice, scores))) > FALSE_ALARM
