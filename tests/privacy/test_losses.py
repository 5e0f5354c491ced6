"""Conversions to zero-concentrated DP, against exact Renyi divergences."""

from __future__ import annotations

from decimal import Decimal

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from dpcore.errors import BudgetError
from dpcore.privacy.budgets import EPSILON_STEP
from dpcore.privacy.losses import (
    RHO_STEP,
    UNBOUNDED,
    gaussian_rho,
    pure_epsilon,
    pure_loss,
    pure_rho,
    run_loss,
    selection_epsilon,
    selection_rho,
    total_loss,
)
from tests.support.rows import for_each

ORDERS = [mpf(order) for order in ("1.000001", "1.01", "1.5", "2", "3", "7.5", "32", "500")]
EPSILONS = [Decimal(e) for e in ("0.000001", "0.01", "0.1", "0.5", "1", "3", "10", "60")]


def divergence(first: list, second: list, order) -> mpf:
    """Exact Renyi divergence of two lists of chances, to sixty digits."""
    with mp.workdps(60):
        terms = [mpf(p) ** order * mpf(q) ** (1 - order) for p, q in zip(first, second, strict=True)]
        return mpmath.log(mpmath.fsum(terms)) / (order - 1)


def normalised(weights: list) -> list:
    whole = mpmath.fsum(weights)
    return [weight / whole for weight in weights]


def answers(epsilon: Decimal) -> tuple[list, list]:
    """Randomized response: the worst of all epsilon-DP mechanisms."""
    with mp.workdps(60):
        odds = mpmath.exp(mpf(str(epsilon)))
        return [odds / (1 + odds), 1 / (1 + odds)], [1 / (1 + odds), odds / (1 + odds)]


@for_each("epsilon", EPSILONS)
def test_pure_dp_is_covered_at_every_order_and_nothing_less_would_do(epsilon):
    first, second = answers(epsilon)
    rho = mpf(str(pure_rho(epsilon)))
    for order in ORDERS:
        assert divergence(first, second, order) <= order * rho
    reached = divergence(first, second, ORDERS[0]) / ORDERS[0]
    assert rho - reached <= rho * mpf("1e-4") + mpf(str(RHO_STEP))


@for_each("epsilon", EPSILONS[1:6])
def test_two_sided_geometric_noise_on_one_count_is_randomized_response(epsilon):
    with mp.workdps(60):
        decay = mpmath.exp(-mpf(str(epsilon)))
        reach = range(-int(40 / epsilon), int(40 / epsilon) + 1)
        here = normalised([decay ** abs(x) for x in reach])
        there = normalised([decay ** abs(x - 1) for x in reach])
        for order in ORDERS[2:5]:
            exact = divergence(*answers(epsilon), order)
            assert abs(divergence(here, there, order) - exact) < exact * mpf("1e-9")


@given(st.lists(st.integers(0, 40), min_size=2, max_size=7), st.data(), st.sampled_from(EPSILONS[2:7]), st.booleans())
def test_the_exponential_mechanism_loses_no_more_than_its_range_allows(scores, data, epsilon, same):
    """Scores that move by one: all upwards with the full weight, or either way with half of it."""
    steps = st.sampled_from((0, 1) if same else (-1, 0, 1))
    moved = [score + data.draw(steps) for score in scores]
    with mp.workdps(60):
        weight = mpf(str(epsilon)) / (1 if same else 2)
        first, second = (normalised([mpmath.exp(weight * score) for score in side]) for side in (scores, moved))
        rho = mpf(str(selection_rho(epsilon)))
        for order in ORDERS:
            assert divergence(first, second, order) <= order * rho
            assert divergence(second, first, order) <= order * rho


def test_permute_and_flip_loses_more_than_that():
    """Of two candidates it flips one at a time: the chances follow from the first flip."""

    def chances(gap: int, weight: float) -> list[float]:
        best = 1 - np.exp(-weight * gap) / 2
        return [best, 1 - best]

    first, second = chances(0, 1.0), chances(1, 1.0)
    assert divergence(first, second, ORDERS[0]) > ORDERS[0] * mpf(str(selection_rho(Decimal(1))))


@for_each("scale", [0.5, 1.0, 4.0])
def test_discrete_gaussian_noise_keeps_its_rho(scale):
    with mp.workdps(60):
        reach = range(-60, 62)
        here = normalised([mpmath.exp(-(mpf(x) ** 2) / (2 * mpf(scale) ** 2)) for x in reach])
        there = normalised([mpmath.exp(-(mpf(x - 1) ** 2) / (2 * mpf(scale) ** 2)) for x in reach])
        rho = mpf(str(gaussian_rho(1 / scale)))
        for order in ORDERS[1:5]:
            assert divergence(there, here, order) <= order * rho * (1 + mpf("1e-9"))


@given(st.integers(1, 10**12))
def test_a_pure_epsilon_is_the_largest_of_its_rho(steps):
    epsilon = Decimal(steps).scaleb(-9)
    found = pure_epsilon(pure_rho(epsilon))
    assert found >= epsilon
    assert pure_rho(found) <= pure_rho(epsilon)


def test_losses_add_up_exactly():
    lines = [pure_loss(Decimal("0.1"))] * 3 + [run_loss(Decimal(1), Decimal("1e-7"), Decimal("0.02"))]
    whole = total_loss(lines)
    assert whole.epsilon == Decimal("1.3")
    assert whole.delta == Decimal("1e-7")
    assert whole.rho == 3 * pure_rho(Decimal("0.1")) + Decimal("0.02")
    assert (whole.pure, whole.rest) == (Decimal("0.3"), Decimal("0.02"))
    assert pure_loss(Decimal(1), Decimal("1e-7")).rho == UNBOUNDED


@for_each("amounts", [(-1, 0, 0), (1, 1, 0), (1, 0, -1), ("NaN", 0, 0), (1, "NaN", 0), (1, 0, "NaN")])
def test_what_is_no_loss_is_refused(amounts):
    with pytest.raises(BudgetError):
        run_loss(*map(Decimal, amounts))


@for_each("rho", ["0", "0.000000000001", "0.0003125", "0.3", "7.654321098765", "100000"])
def test_a_selection_gets_the_largest_epsilon_that_a_rho_pays_for(rho):
    epsilon = selection_epsilon(Decimal(rho))
    assert selection_rho(epsilon) <= Decimal(rho) < selection_rho(epsilon + EPSILON_STEP)
