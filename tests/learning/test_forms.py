"""In which form a run is made."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal

import pytest

from dpcore.domain.columns import BooleanColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError
from dpcore.learning.exact_draws.balance import block_rho
from dpcore.models.registry import LEARNERS, get_learner
from dpcore.privacy.budgets import BudgetSplit
from dpcore.privacy.filters import PrivacyFilter, smallest_epsilon
from dpcore.privacy.losses import NOTHING, pure_epsilon, selection_rho
from dpcore.released.plan import EVALUATION, RunPlan
from dpcore.released.run_form import plan_under
from tests.support.rows import for_each

SCHEMA = Schema(name="toy", max_rows=1000, columns=(BooleanColumn(name="x"), BooleanColumn(name="y")))
DELTA = Decimal("1e-7")
ROOMY, PURE = (PrivacyFilter(Decimal(5), delta) for delta in (20 * DELTA, Decimal(0)))


def _planner(name: str, epsilon: str):
    def plan(delta: Decimal) -> RunPlan:
        parameters = {"sampler": "pool"} if name == "rule_list" else {}
        return get_learner(name).plan(SCHEMA, "y", Decimal(epsilon), parameters, delta)

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


@for_each(
    ("epsilon", "rho", "form"),
    [("0.1", "0.002", "approximate"), ("2.5", "0.4", "pure"), pytest.param("9", "8", "pure", id="neither fits")],
)
def test_the_form_for_which_a_cap_has_more_room_is_chosen(epsilon, rho, form):
    plan = _composable(epsilon, rho)
    assert plan_under(ROOMY, plan).definition == form
    assert plan_under(ROOMY, plan, pure=True).definition == "pure"
    assert plan_under(ROOMY, plan, most=Decimal("0.01")).definition == "pure"
    assert plan_under(PURE, plan).definition == "pure"


# The form that composes


@for_each("epsilon", ["0.000001", "0.00001", "0.001", "0.1", "1", "3", "20"])
@for_each("parameters", [{}, {"blocks": (1, 1, 1), "leaf_share": 0.5}])
def test_a_tree_that_composes_has_less_noise_at_the_same_rho(epsilon, parameters):
    learner = get_learner("tree")
    alone, composed = (learner.plan(SCHEMA, "y", Decimal(epsilon), parameters, delta) for delta in (Decimal(0), DELTA))
    assert composed.loss.rho <= alone.loss.rho
    if composed.composed:
        selections = composed.composed.selections
        assert all(selections[step] > alone.split[step] for step in selections)
        assert sum(map(block_rho, selections.values())) + composed.composed.counts <= composed.rho
    assert (composed == alone) == (composed.composed is None)


@pytest.mark.parametrize("parameters", [{"method": "adiffp"}, {"method": "diffp_id3"}])
def test_other_trees_stay_pure(parameters):
    plans = [get_learner("tree").plan(SCHEMA, "y", Decimal(1), parameters, delta) for delta in (Decimal(0), DELTA)]
    assert plans[0] == plans[1]


@for_each("rows", [1, 3])
@for_each("clauses", [1, 2, 3])
@for_each("epsilon", ["0.000001", "0.001", "0.1", "1", "30"])
def test_relational_rules_compose_only_with_at_least_twice_the_epsilon(epsilon, clauses, rows):
    learner, asked = get_learner("ilp"), {"clauses": clauses, "weigh_alike": False}
    alone, composed = (learner.plan(_rows(rows), "y", Decimal(epsilon), asked, delta) for delta in (Decimal(0), DELTA))
    if epsilon in ("0.000001", "30"):
        assert composed == alone
        return
    chosen, (noise,), (geometric,) = composed.composed, composed.count_noise, alone.count_noise
    assert chosen.selections["clauses"] >= 2 * alone.split["clauses"]
    each = composed.row_epsilon("clauses") / clauses
    assert each == each.quantize(Decimal("1e-9")), "no clause gets more than its part"
    assert clauses * selection_rho(rows * each) + chosen.counts <= composed.rho <= alone.loss.rho
    assert noise.margin() <= geometric.margin()
    assert (composed.sampler, alone.sampler) == (
        "exponential mechanism over the lattice",
        "report noisy max over the lattice",
    )


def _rows(count: int) -> Schema:
    unit = {"column": "person", "max_rows_per_person": count}
    return Schema.from_mapping(SCHEMA.model_dump(mode="json") | {"privacy_unit": unit})


@for_each("rows", [1, 3])
@for_each("shares", [None, {"list": 1, "estimates": 4}, {"list": 9, "estimates": 1}])
@for_each("epsilon", ["0.001", "0.1", "1"])
def test_a_rule_list_that_composes_has_less_noise_at_the_same_rho(epsilon, shares, rows):
    learner, schema = get_learner("rule_list"), _rows(rows)
    alone, composed = (
        learner.plan(schema, "y", Decimal(epsilon), {"shares": shares, "sampler": "pool"}, delta)
        for delta in (Decimal(0), DELTA)
    )
    assert (composed.definition, composed.delta) == ("approximate", DELTA)
    assert composed.epsilon == smallest_epsilon(composed.rho, DELTA) == sum(composed.split.parts.values())
    spent = selection_rho(composed.composed.selections["list"]) + composed.composed.counts
    assert spent <= composed.rho <= alone.rho
    assert composed.loss.rho == composed.rho, "people set aside lose no more"
    assert composed.composed.selections["list"] > alone.split["list"]
    (noise,), (geometric,) = composed.count_noise, alone.count_noise
    decay = math.exp(-float(geometric.epsilon))
    assert noise.deviation <= math.sqrt(2 * decay) / (1 - decay) * (1 + 1e-9)
    assert noise.margin() <= geometric.margin()
    assert (rows / noise.deviation) ** 2 / 2 <= float(composed.composed.counts) * (1 + 1e-9)


@pytest.mark.parametrize("epsilon", ["10", "1000"])
def test_where_gaussian_noise_would_be_larger_a_run_stays_pure(epsilon):
    plan = _planner("rule_list", epsilon)
    assert plan(DELTA) == plan(Decimal(0))


@pytest.mark.parametrize("delta", ["0.5", "0.999"])
def test_a_delta_near_one_needs_no_epsilon_but_people_set_aside_do(delta):
    composed = _planner("rule_list", "0.1")(Decimal(delta))
    assert composed.epsilon >= composed.parallel[EVALUATION] > 0


def test_gaussian_noise_has_no_epsilon_of_its_own():
    composed = _planner("rule_list", "0.1")(DELTA)
    assert composed.row_epsilon("list") == composed.composed.selections["list"]
    with pytest.raises(KeyError):
        composed.row_epsilon("estimates")


# A run that can be made at any rho


@for_each(("cap", "epsilon"), [("5", "0.5"), ("20", "0.5"), ("5", "0.1"), ("5", "5")])
def test_a_run_that_scales_leaves_room_for_as_many_as_pure_ones(cap, epsilon):
    account, learner = PrivacyFilter(Decimal(cap), Decimal("0.000001")), LEARNERS["summaries"]

    def plan(delta, rho=None):
        return learner.plan(_people_schema(), "", Decimal(epsilon), {}, delta, rho)

    made, alone = plan_under(account, plan), plan(Decimal(0))
    assert made.delta > 0
    assert account.fitting(NOTHING, made.loss) >= account.fitting(NOTHING, alone.loss) > 0
    assert made.count_margin() < alone.count_margin()
    assert made.price == Decimal(epsilon)
    assert plan(made.delta, made.loss.rho) == made, "whoever plans again from what was paid has the same plan"
    assert plan_under(account, plan, pure=True) == alone
    assert plan_under(account, plan, most=Decimal("0.01")) == alone


def test_a_run_that_scales_stays_pure_where_that_is_less_noise():
    account, learner = PrivacyFilter(Decimal(1), Decimal("0.000001")), LEARNERS["summaries"]

    def plan(delta, rho=None):
        return learner.plan(_people_schema(), "", Decimal(1), {"columns": ("age",)}, delta, rho)

    assert plan_under(account, plan) == plan(Decimal(0))


@pytest.mark.parametrize("parameters", [{"pairs": 2}, {"by": "flag 1"}])
def test_a_run_too_small_for_its_form_with_a_delta_is_pure(parameters):
    """An account with a delta refuses nothing that one without would take."""
    account, learner = PrivacyFilter(Decimal(1), Decimal("0.000001")), LEARNERS["summaries"]

    def plan(delta, rho=None):
        return learner.plan(_people_schema(), "", Decimal("0.0000019"), parameters, delta, rho)

    with pytest.raises(BudgetError, match="too small for so many tables"):
        plan(account.run_delta)
    alone = plan(Decimal(0))
    assert alone.definition == "pure"
    assert plan_under(account, plan) == plan_under(account, plan, pure=True) == alone


def test_a_run_that_scales_is_pure_where_the_rho_of_its_share_is_too_small():
    account, learner = PrivacyFilter(Decimal("0.00003"), Decimal("0.000001")), LEARNERS["summaries"]

    def plan(delta, rho=None):
        return learner.plan(_people_schema(), "", Decimal("0.000013"), {"pairs": 8}, delta, rho)

    assert plan(account.run_delta).delta, "at the rho of a pure run it is enough"
    assert plan_under(account, plan) == plan(Decimal(0))


def test_what_is_too_small_in_either_form_is_refused_as_in_the_first():
    def plan(delta):
        raise BudgetError("with a delta" if delta else "without")

    with pytest.raises(BudgetError, match="with a delta"):
        plan_under(ROOMY, plan)
    with pytest.raises(BudgetError, match="without"):
        plan_under(ROOMY, plan, pure=True)


def test_a_method_that_needs_a_delta_is_refused_where_the_given_one_is_too_small():
    ebm = _planner("ebm", "0.5")

    def plan(delta):
        if delta:
            raise BudgetError("too small with this delta")
        return ebm(delta)

    with pytest.raises(BudgetError, match="too small with this delta"):
        plan_under(ROOMY, plan)


def _people_schema():
    columns = [{"name": "age", "type": "integer", "lower": 0, "upper": 99, "bins": 10}]
    columns += [{"name": f"flag {number}", "type": "boolean"} for number in range(20)]
    return Schema.from_mapping({"name": "people", "max_rows": 5000, "columns": columns})
