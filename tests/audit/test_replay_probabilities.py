"""Log-probabilities of choices, against enumeration and against simulated sources."""

import math
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.audit.replay.probabilities import choice_logs, permute_and_flip_logs
from dpcore.privacy.mechanisms import ExponentialMechanism, NoisyMax
from dpcore.privacy.randomness import Choice, SecureRandom
from tests.oracles.mechanisms_oracle import (
    FALSE_ALARM,
    chi_square,
    exponential_probabilities,
    permute_and_flip_probabilities,
)


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
    ("law", "exact"),
    [("gumbel", exponential_probabilities), ("exponential", permute_and_flip_probabilities)],
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
