"""What a run promises and what its steps cost, in the form that composes."""

from __future__ import annotations

import math
from decimal import Decimal

import pytest

from dpcore.domain.columns import BooleanColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError
from dpcore.learning.exact_draws.balance import block_rho
from dpcore.models.registry import LEARNERS, get_learner
from dpcore.privacy.filters import PrivacyFilter, largest_rho
from dpcore.privacy.losses import pure_epsilon, pure_rho, selection_rho
from dpcore.released.plan import EVALUATION, RunPlan
from tests.support.rows import for_each

SCHEMA = Schema(name="toy", max_rows=1000, columns=(BooleanColumn(name="x"), BooleanColumn(name="y")))
ACCOUNT = PrivacyFilter(Decimal(5), Decimal("0.000001"))
DELTA = ACCOUNT.run_delta
FAMILIES = [name for name in LEARNERS if not name.startswith("fake")]


def _rows(count: int) -> Schema:
    unit = {"column": "person", "max_rows_per_person": count}
    return Schema.from_mapping(SCHEMA.model_dump(mode="json") | {"privacy_unit": unit})


def _plan(name: str, epsilon: str, parameters=None, delta=DELTA, rows=1) -> RunPlan:
    learner = get_learner(name)
    chosen = {"left": ["x"], "right": ["y"]} if learner.family.views else {}
    target = "y" if learner.targeted else ""
    return learner.plan(_rows(rows), target, Decimal(epsilon), chosen | (parameters or {}), delta)


@for_each("name", FAMILIES)
@for_each("epsilon", ["0.01", "0.59852", "5"])
@for_each("rows", [1, 3])
def test_what_is_picked_is_promised_and_costs_the_same_in_every_family(name, epsilon, rows):
    plan = _plan(name, epsilon, rows=rows)
    assert plan.epsilon == sum(plan.split.parts.values()) == Decimal(epsilon)
    assert plan.loss.rho == plan.rho == largest_rho(Decimal(epsilon), DELTA)
    assert plan.delta == DELTA
    if plan.evaluated:
        assert plan.parallel[EVALUATION] == pure_epsilon(plan.rho) < plan.epsilon


@for_each("epsilon", ["0.001", "0.1", "1", "20"])
@for_each("parameters", [{}, {"blocks": (1, 1, 1), "leaf_share": 0.5}])
def test_a_tree_spends_its_rho(epsilon, parameters):
    plan = _plan("tree", epsilon, parameters)
    assert sum(map(block_rho, plan.composed.selections.values())) + plan.composed.counts <= plan.rho


@for_each("rows", [1, 3])
@for_each("clauses", [1, 2, 3])
@for_each("epsilon", ["0.001", "0.1", "1", "30"])
def test_relational_rules_spend_their_rho(epsilon, clauses, rows):
    plan = _plan("ilp", epsilon, {"clauses": clauses, "weigh_alike": False}, rows=rows)
    each = plan.row_epsilon("clauses") / clauses
    assert each == each.quantize(Decimal("1e-9")), "no clause gets more than its part"
    assert clauses * selection_rho(rows * each) + plan.composed.counts <= plan.rho


@for_each("rows", [1, 3])
@for_each("shares", [None, {"list": 1, "estimates": 4}, {"list": 9, "estimates": 1}])
@for_each("epsilon", ["0.001", "0.1", "1"])
def test_a_rule_list_spends_its_rho_and_its_counts_are_as_sharp_as_that_allows(epsilon, shares, rows):
    plan = _plan("rule_list", epsilon, {"shares": shares, "sampler": "pool"}, rows=rows)
    assert selection_rho(plan.composed.selections["list"]) + plan.composed.counts <= plan.rho
    (noise,) = plan.count_noise
    assert math.isclose((rows / noise.deviation) ** 2 / 2, float(plan.composed.counts), rel_tol=1e-6)


@for_each("name", [name for name in FAMILIES if not get_learner(name).family.needs_delta])
def test_a_pure_run_has_less_noise_only_at_a_higher_price(name):
    composed, alone = (_plan(name, "0.5", delta=delta) for delta in (DELTA, Decimal(0)))
    assert (alone.definition, alone.delta, alone.epsilon) == ("pure", 0, Decimal("0.5"))
    assert not composed.delta or ACCOUNT.share(alone.loss) > ACCOUNT.share(ACCOUNT.priced(composed.loss))


def test_a_chain_stays_pure():
    plan = _plan("rule_list", "1", {"sampler": "mcmc"})
    assert (plan.definition, plan.rho, plan.loss.without_rho) == ("pure", None, 1)


def test_who_is_set_aside_loses_no_more_than_who_is_learned_from():
    plan = _plan("ebm", "0.5")
    assert pure_rho(plan.parallel[EVALUATION]) <= plan.rho == plan.loss.rho


@for_each("name", [name for name in FAMILIES if name != "ebm"])
def test_what_is_too_small_for_its_steps_is_refused(name):
    with pytest.raises(BudgetError, match="too small"):
        _plan(name, "0.000000001", rows=3)


def test_gaussian_noise_has_no_epsilon_of_its_own():
    plan = _plan("rule_list", "0.1")
    assert plan.row_epsilon("list") == plan.composed.selections["list"]
    with pytest.raises(KeyError):
        plan.row_epsilon("estimates")
