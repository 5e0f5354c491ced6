"""The filter of a cap: attacked, and compared with second opinions."""

from __future__ import annotations

import math
import random
from dataclasses import astuple
from decimal import Decimal
from fractions import Fraction
from itertools import product
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.domain.columns import CategoricalColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError
from dpcore.models.registry import LEARNERS
from dpcore.privacy.budgets import EPSILON_STEP
from dpcore.privacy.filters import PrivacyFilter, largest_rho, smallest_epsilon
from dpcore.privacy.losses import (
    NOT_STATED,
    NOTHING,
    RHO_STEP,
    UNBOUNDED,
    Loss,
    gaussian_rho,
    pure_epsilon,
    pure_loss,
    pure_rho,
    run_loss,
    total_loss,
)
from tests.support.results import small_redescriptions
from tests.support.rows import for_each
from tests.support.tables import small_trains
from tests.support.workspaces.fake_learner import real_learners

CAP, DELTA = Decimal(5), Decimal("0.000001")
EPSILONS = [Decimal(e) for e in ("0.001", "0.05", "0.5", "1", "5", "30")]
#: Grid of dp-accounting's losses.
INTERVAL = 1e-3
DELTAS = [Decimal(d) for d in ("1e-12", "1e-6", "1e-3", "0.3")]


@for_each(("epsilon", "delta"), [*product(EPSILONS, DELTAS)])
def test_conversions_agree_with_opendp_and_are_inverse(epsilon, delta):
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib")
    rho = largest_rho(epsilon, delta)
    if rho < 10**6 * RHO_STEP:  # Too few steps to be compared.
        return
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    noise = dp.m.make_gaussian(*space, scale=float(1 / (2 * rho)) ** 0.5)
    curve = dp.c.make_zCDP_to_approxDP(noise).map(1)
    assert float(epsilon) == pytest.approx(curve.epsilon(float(delta)), rel=1e-5, abs=1e-8)
    assert abs(smallest_epsilon(rho, delta) - epsilon) <= Decimal("1e-8") * (1 + epsilon)


def test_the_same_gaussian_runs_are_accepted_as_by_opendp():
    dp = pytest.importorskip("opendp.prelude")
    dp.enable_features("contrib", "honest-but-curious")
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l2_distance(T="i64")
    cap = PrivacyFilter(CAP, DELTA)
    composition = dp.c.make_fully_adaptive_composition(*space, dp.zero_concentrated_divergence())
    dice = random.Random(4)
    for _ in range(5):
        other = dp.c.make_privacy_filter(composition, d_in=1, d_out=float(cap.rho))([0])
        total = NOTHING
        while True:
            scale = dice.uniform(2, 20)
            total += run_loss(Decimal(0), DELTA, gaussian_rho(1 / scale))
            theirs = _takes(other, dp.m.make_gaussian(*space, scale=scale))
            assert cap.accepts(total) == theirs
            if not theirs:
                break


def _takes(queryable, measurement) -> bool:
    from opendp.mod import OpenDPException

    try:
        queryable(measurement)
    except OpenDPException:
        return False
    return True


def test_what_is_accepted_is_never_more_than_the_loss_distribution_allows():
    """dp-accounting composes the worst mechanisms of each run, exactly but for its grid."""
    pld = pytest.importorskip("dp_accounting.pld").privacy_loss_distribution
    dice = random.Random(7)
    for _ in range(6):
        cap = PrivacyFilter(Decimal(dice.choice((1, 2, 5))), DELTA)
        total, composed = NOTHING, pld.identity(INTERVAL)
        for _ in range(60):
            loss, distribution = _run(dice, pld)
            if cap.accepts(total + loss):
                total, composed = total + loss, composed.compose(distribution)
        assert composed.get_delta_for_epsilon(float(cap.epsilon)) <= float(cap.delta) * (1 + 1e-6)


def _run(dice, pld):
    if dice.random() < 0.5:
        epsilon = dice.choice((0.05, 0.2, 0.7))
        worst = pld.from_privacy_parameters(_parameters(epsilon), INTERVAL)
        return pure_loss(Decimal(str(epsilon))), worst
    mu = dice.choice((0.02, 0.1, 0.3))
    noise = pld.from_gaussian_mechanism(1 / mu, value_discretization_interval=INTERVAL)
    return run_loss(Decimal(2), DELTA / 10, gaussian_rho(mu)), noise


def _parameters(epsilon: float):
    from dp_accounting.pld.common import DifferentialPrivacyParameters

    return DifferentialPrivacyParameters(epsilon, 0.0)


@for_each("seed", range(1, 4))
def test_runs_of_all_families_that_are_accepted_keep_the_cap(seed):
    """In the form that the account chooses: the loss distribution of all of them together."""
    pld = pytest.importorskip("dp_accounting.pld").privacy_loss_distribution
    dice = random.Random(seed)
    cap = PrivacyFilter(Decimal(dice.choice((1, 2, 5))), DELTA)
    total, composed, families = NOTHING, pld.identity(INTERVAL), set()
    for _ in range(60):
        plan = _planned(cap, dice.choice(list(real_learners())), Decimal(str(dice.choice((0.02, 0.1, 0.4, 1)))), dice)
        if cap.accepts(total + plan.loss):
            total, composed = total + plan.loss, composed.compose(_worst(plan, pld))
            families.add(plan.family)
    assert len(families) > 3
    assert composed.get_delta_for_epsilon(float(cap.epsilon)) <= float(cap.delta) * (1 + 1e-6)


class _Planned(NamedTuple):
    family: str
    loss: Loss


def _planned(cap: PrivacyFilter, name: str, epsilon: Decimal, dice: random.Random) -> _Planned:
    learner = LEARNERS[name]
    kinds = {
        "ilp": (small_trains.SCHEMA, small_trains.TARGET),
        "redescriptions": (small_redescriptions.SCHEMA, ""),
        "summaries": (_schema(), ""),
    }
    schema, target = kinds.get(name, (_schema(), "three"))
    known = learner.parameters.model_fields
    chosen = {"evaluate": dice.random() < 0.5} if "evaluate" in known else {}
    plan = learner.plan(schema, target, epsilon, chosen, cap.run_delta)
    return _Planned(name, plan.loss)


def _worst(plan: _Planned, pld):
    """A run whose loss is as large as the plan says: randomized response, or Gaussian noise."""
    if plan.loss.delta:
        return pld.from_gaussian_mechanism(float(2 * plan.loss.rho) ** -0.5, value_discretization_interval=INTERVAL)
    return pld.from_privacy_parameters(_parameters(float(pure_epsilon(plan.loss.rho))), INTERVAL)


# An adversary who chooses every run by what was released before, played to the end


class Adversary:
    """Chooses runs by chance, differently after each answer: a fixed function of the answers."""

    def __init__(self, seed: int, cap: PrivacyFilter) -> None:
        self.seed, self.cap = seed, cap

    def chosen(self, answers: tuple[int, ...], total: Loss) -> Loss | None:
        dice = random.Random(f"{self.seed} {answers}")
        for _ in range(8):
            epsilon = Decimal(str(dice.choice((0.1, 0.3, 0.6, 1.2))))
            loss = pure_loss(epsilon)
            kind = dice.random()
            if kind < 0.3:  # It may tell all, with a chance of its delta.
                part = Decimal(str(dice.choice((0.02, 0.1, 0.3))))
                loss = run_loss(epsilon, self.cap.delta * part, UNBOUNDED)
            elif kind < 0.45:
                loss = run_loss(epsilon, Decimal(0), NOT_STATED)
            elif kind < 0.6:  # As it were not pure.
                loss = run_loss(epsilon, self.cap.delta, loss.rho)
            if self.cap.accepts(total + loss):
                return loss
        return None


def excess(adversary: Adversary, turns: int, epsilon: Fraction | float) -> float:
    """Exact delta, at ``epsilon``, of all answers together, between two neighbours."""
    factor, found = math.exp(float(epsilon)), 0.0
    stack = [((), NOTHING, 1.0, 1.0)]
    while stack:
        answers, total, here, there = stack.pop()
        loss = adversary.chosen(answers, total) if len(answers) < turns else None
        if loss is None:
            found += max(0.0, here - factor * there)
            continue
        told = 0.0 if loss.rho.is_finite() else float(loss.delta)
        odds = math.exp(float(loss.epsilon))
        found += here * told  # Here this answer is certain to give the person away.
        rest = 1 - told
        yes, no = rest * odds / (1 + odds), rest / (1 + odds)
        total = total + loss
        stack.append(((*answers, 1), total, here * yes, there * no))
        stack.append(((*answers, 0), total, here * no, there * yes))
    return found


@pytest.mark.crossed
@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("epsilon", "delta"), [("1", "0.01"), ("2", "0.05"), ("0.5", "0.2")])
def test_no_adaptive_choice_of_runs_exceeds_the_cap(seed, epsilon, delta):
    cap = PrivacyFilter(Decimal(epsilon), Decimal(delta))
    assert excess(Adversary(seed, cap), 12, float(epsilon)) <= float(delta)


def test_the_adversary_would_find_a_filter_that_is_too_generous():
    """The same game against a filter that counts half of every loss."""

    class Generous(PrivacyFilter):
        def accepts(self, total: Loss) -> bool:
            return super().accepts(Loss(*[part / 2 for part in astuple(total)]))

    cap = Generous(Decimal("0.5"), Decimal("0.01"))
    assert any(excess(Adversary(seed, cap), 12, 0.5) > 0.01 for seed in range(12))


# What fits


def test_pure_runs_never_fit_less_often_than_when_they_are_added():
    for price in ("0.05", "0.1", "0.5", "1", "5"):
        loss, cap = pure_loss(Decimal(price)), PrivacyFilter(CAP, DELTA)
        assert fitting(cap, loss) >= CAP // Decimal(price)


def fitting(cap: PrivacyFilter, loss: Loss) -> int:
    """How many such runs fit one after the other."""
    count, total = 0, NOTHING
    while cap.accepts(total + loss):
        count, total = count + 1, total + loss
    return count


def test_runs_without_a_rho_are_added_however_many_others_compose():
    """And many small ones never fit more often than their sum allows."""
    chain = run_loss(Decimal("0.02"), Decimal(0), NOT_STATED)
    for cap in (PrivacyFilter(CAP, DELTA), PrivacyFilter(Decimal(1), DELTA), PrivacyFilter(CAP, Decimal(0))):
        assert fitting(cap, chain) == cap.epsilon / chain.epsilon == cap.fitting(NOTHING, chain)
        assert cap.spent(chain) == chain.epsilon
    cap = PrivacyFilter(CAP, DELTA)
    others = total_loss([pure_loss(Decimal("0.05"))] * 160)
    assert cap.accepts(others)
    assert cap.spent(others + chain) > cap.spent(others)
    before = cap.spent(others + chain)
    assert cap.spent(others + chain + chain) - before == chain.epsilon
    total = others
    while cap.accepts(total + chain):
        assert cap.fitting(total, chain) > 0
        total += chain
        assert cap.spent(total) <= CAP
    assert cap.fitting(total, chain) == 0 < total.without_rho
    assert cap.spent(total + chain) > CAP
    left = cap.largest(total, pure=True)
    assert left == 0 or cap.accepts(total + pure_loss(left))
    assert not cap.accepts(total + pure_loss(left + Decimal("0.000000002")))


def test_without_a_delta_epsilons_are_added_and_nothing_else_fits():
    cap = PrivacyFilter(Decimal(1), Decimal(0))
    assert fitting(cap, pure_loss(Decimal("0.01"))) == 100
    assert not cap.accepts(run_loss(Decimal("0.01"), Decimal("1e-9"), Decimal("0.000001")))


def test_pure_runs_leave_room_for_one_with_a_delta_as_adding_does():
    cap = PrivacyFilter(CAP, DELTA)
    spent = pure_loss(Decimal(4)) + run_loss(Decimal(1), DELTA / 20, Decimal("0.03"))
    assert cap.accepts(spent)
    assert cap.spent(spent) == CAP


def test_small_runs_with_a_delta_leave_room_for_a_large_pure_one():
    """Neither adding deltas nor rho alone would accept it."""
    cap = PrivacyFilter(CAP, DELTA)
    spent = total_loss([run_loss(Decimal("0.1"), cap.run_delta, Decimal("0.0002"))] * 20)
    assert Decimal("4.2") < cap.largest(spent, pure=True) < Decimal("4.8")
    assert cap.accepts(spent + pure_loss(cap.largest(spent, pure=True)))
    assert not cap.accepts(spent + pure_loss(cap.largest(spent, pure=True) + EPSILON_STEP))
    assert cap.spent(spent) < Decimal("0.5")
    for epsilon in ("0.01", "0.1", "1", "10"):
        small = PrivacyFilter(Decimal(epsilon), DELTA)
        used = run_loss(Decimal(epsilon) / 100, small.run_delta, (small.rho / 100).quantize(RHO_STEP))
        assert small.largest(total_loss([used] * 3), pure=True) > Decimal(epsilon) / 2


@given(st.lists(st.sampled_from(("0.01", "0.1", "0.7")), max_size=40))
def test_what_is_spent_and_left_agree_with_what_is_accepted(prices):
    cap, total = PrivacyFilter(Decimal(2), DELTA), NOTHING
    for price in prices:
        loss = pure_loss(Decimal(price))
        if cap.accepts(total + loss):
            total += loss
    assert cap.spent(total) <= 2
    assert cap.spent(total) <= total.epsilon
    left = cap.largest(total, pure=True)
    assert left == 0 or cap.accepts(total + pure_loss(left))
    assert not cap.accepts(total + pure_loss(left + Decimal("0.000000002")))


@for_each(("epsilon", "delta"), [("-0.1", "0"), ("1", "1"), ("-1", "0.1")])
def test_what_is_no_cap_is_refused(epsilon, delta):
    with pytest.raises(BudgetError):
        PrivacyFilter(Decimal(epsilon), Decimal(delta))


# Runs of the families


def _schema() -> Schema:
    columns = [CategoricalColumn(name=name, categories=("a", "b")) for name in ("one", "two", "three")]
    return Schema(name="small", max_rows=1000, columns=tuple(columns))


def test_many_runs_with_a_large_delta_of_their_own_are_refused_in_time():
    """Ten thousand of them would be billed a thousandth of epsilon, and tell all but everything."""
    plan = LEARNERS["ebm"].plan(_schema(), "three", Decimal("0.0000001"), {"delta": "0.01", "evaluate": False})
    cap = PrivacyFilter(Decimal(1), DELTA)
    accepted = fitting(cap, plan.loss)
    assert 0 < accepted < 10_000
    assert accepted * plan.loss.rho <= cap.rho


@for_each("evaluate", [False, True])
@for_each("name", ["rule_list", "tree", "ebm"])
def test_a_plan_states_a_loss_that_is_not_more_than_that_of_its_epsilon(name, evaluate):
    plan = LEARNERS[name].plan(_schema(), "three", Decimal("0.5"), {"evaluate": evaluate})
    loss = plan.loss
    assert (loss.epsilon, loss.delta) == (plan.epsilon, plan.delta)
    assert loss.rho <= pure_rho(plan.epsilon)
    assert (loss.rho == pure_rho(plan.epsilon)) == evaluate
    assert total_loss([loss, loss]).rho == 2 * loss.rho


@given(st.decimals("0.001", "3", places=3), st.sampled_from([Decimal(0), DELTA, DELTA / 20]), st.booleans())
def test_as_many_runs_fit_as_are_accepted_one_by_one(epsilon, delta, tight):
    cap = PrivacyFilter(CAP, DELTA)
    loss = run_loss(epsilon, delta, gaussian_rho(float(epsilon) / 4)) if tight else pure_loss(epsilon, delta)
    total, accepted = NOTHING, 0
    expected = cap.fitting(NOTHING, loss)
    while accepted < 200 and cap.accepts(total + loss):
        assert cap.fitting(total, loss) == expected - accepted
        total, accepted = total + loss, accepted + 1
    assert accepted == min(200, expected)


# Prices


def _composing(cap: PrivacyFilter, epsilon: str) -> Loss:
    """What a run that composes is charged."""
    return cap.priced(run_loss(Decimal(epsilon), cap.run_delta, largest_rho(Decimal(epsilon), cap.run_delta)))


@for_each(
    ("cap", "epsilon", "share", "runs"),
    [
        ("5", "0.1", "0.000687", 1455),
        ("5", "0.5", "0.01426", 70),
        ("5", "1", "0.05238", 19),
        ("5", "5", "1", 1),
        ("1", "0.1", "0.01311", 76),
        ("1", "0.5", "0.2723", 3),
    ],
)
def test_a_price_is_a_share_and_a_run_of_the_whole_budget_promises_it(cap, epsilon, share, runs):
    account = PrivacyFilter(Decimal(cap), DELTA)
    loss = _composing(account, epsilon)
    assert account.share(loss) == Decimal(share)
    assert account.fitting(NOTHING, loss) == runs


@given(
    st.decimals("0.01", "50", places=2),
    st.sampled_from(DELTAS[:3]),
    st.lists(st.decimals("0.0001", "60", places=4), min_size=1, max_size=40),
)
def test_prices_add_up_to_the_last_digit_and_cover_what_is_used(epsilon, delta, picked):
    cap, total, sum_of_shares = PrivacyFilter(epsilon, delta), NOTHING, Decimal(0)
    for one in picked:
        loss = _composing(cap, str(one))
        assert loss.rho >= largest_rho(one, cap.run_delta)
        if not cap.accepts(total + loss):
            continue
        total += loss
        sum_of_shares += cap.share(loss)
        assert cap.share(total) == sum_of_shares >= total.rho / cap.rho - Decimal("1e-9")


@given(st.decimals("0.1", "20", places=1), st.decimals("0.001", "1", places=3), st.booleans())
def test_the_epsilon_of_a_share_takes_it_and_hardly_less(epsilon, share, pure):
    cap = PrivacyFilter(epsilon, Decimal(0) if pure else DELTA)
    found = cap.epsilon_of(share)
    loss = pure_loss(found) if pure else _composing(cap, str(found))
    assert share * Decimal("0.999") <= cap.share(loss) <= share


@given(st.decimals("0.5", "9", places=1), st.lists(st.decimals("0.05", "1", places=2), max_size=6))
def test_the_largest_that_fits_fits_and_a_step_more_does_not(epsilon, picked):
    cap = PrivacyFilter(epsilon, DELTA)
    total = total_loss([_composing(cap, str(one)) for one in picked])
    largest = cap.largest(total)

    def fits(one: Decimal) -> bool:
        return cap.accepts(total + run_loss(one, cap.run_delta, largest_rho(one, cap.run_delta)))

    assert not largest or fits(largest)
    assert not fits(largest + 2 * EPSILON_STEP)
