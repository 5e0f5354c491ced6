"""In which form a run is made."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest

from dpcore.domain.columns import BooleanColumn
from dpcore.domain.schema import Schema
from dpcore.errors import BudgetError
from dpcore.learning.forms import plan_under
from dpcore.models.registry import get_learner
from dpcore.privacy.budgets import BudgetSplit
from dpcore.privacy.filters import PrivacyFilter, smallest_epsilon
from dpcore.privacy.losses import pure_epsilon
from dpcore.released.plan import EVALUATION, RunPlan

SCHEMA = Schema(name="toy", max_rows=1000, columns=(BooleanColumn(name="x"), BooleanColumn(name="y")))
DELTA = Decimal("1e-7")
ROOMY, PURE = (PrivacyFilter(Decimal(5), delta) for delta in (20 * DELTA, Decimal(0)))


def _planner(name: str, epsilon: str):
    def plan(delta: Decimal) -> RunPlan:
        return get_learner(name).plan(SCHEMA, "y", Decimal(epsilon), {}, delta)

    return plan


def _composable(epsilon: str, rho: str):
    """A method with a form that composes."""
    alone = _planner("tree", epsilon)(Decimal(0))

    def plan(delta: Decimal) -> RunPlan:
        if not delta:
            return alone
        whole = smallest_epsilon(Decimal(rho), delta)
        split = BudgetSplit(whole, {alone.estimates_step: whole})
        facts = {"definition": "approximate", "delta": delta, "rho": Decimal(rho), "parallel": {}}
        return replace(alone, epsilon=whole, split=split, **facts)

    return plan


def test_a_method_with_a_pure_form_alone_keeps_it():
    plan = plan_under(ROOMY, _planner("forest", "0.5"))
    assert (plan.definition, plan.delta, plan.parallel[EVALUATION]) == ("pure", 0, plan.epsilon)


def test_boosting_spends_the_delta_it_is_given_and_a_pure_account_refuses_it():
    plan = plan_under(ROOMY, _planner("ebm", "0.5"))
    assert plan.delta == DELTA
    for cap, pure in ((PURE, False), (ROOMY, True)):
        with pytest.raises(BudgetError, match="needs a delta"):
            plan_under(cap, _planner("ebm", "0.5"), pure=pure)


def test_who_is_set_aside_loses_no_more_than_who_is_learned_from_where_runs_compose():
    alone, composed = (_planner("ebm", "0.5")(delta) for delta in (Decimal(0), DELTA))
    assert alone.parallel[EVALUATION] == alone.epsilon
    assert composed.parallel[EVALUATION] == pure_epsilon(composed.rho) < composed.epsilon
    assert composed.loss.rho == composed.rho


@pytest.mark.parametrize(("epsilon", "rho", "form"), [("0.1", "0.002", "approximate"), ("2.5", "0.4", "pure")])
def test_the_form_for_which_a_cap_has_more_room_is_chosen(epsilon, rho, form):
    plan = _composable(epsilon, rho)
    assert plan_under(ROOMY, plan).definition == form
    assert plan_under(ROOMY, plan, pure=True).definition == "pure"
    assert plan_under(ROOMY, plan, most=Decimal("0.01")).definition == "pure"
    assert plan_under(PURE, plan).definition == "pure"
