"""What holds for the learner of every family: what it refuses, promises, releases and hides."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pandas as pd
import pytest
from pydantic import BaseModel

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, FrostglassError, RequestError, SchemaError
from dpcore.learning.learner import Learner, Run
from dpcore.models.registry import LEARNERS
from dpcore.models.released import parse_model
from dpcore.privacy.randomness import RandomSource, SecureRandom, SeededRandom
from dpcore.released.parameters import parameters_of
from dpcore.released.plan import RunPlan
from dpcore.released.release import Release, make_release
from tests.support.learning.configurations import MOST, ONE_WAY_EACH, WAYS, beyond_bounds, choices, counts
from tests.support.tables import toy_people
from tests.support.workspaces.fake_learner import real_learners

SCHEMA = toy_people.schema(
    columns=[*toy_people.COLUMNS, {"name": "single", "type": "categorical", "categories": ["x"]}]
)
PEOPLE = toy_people.frame(600).assign(single="x")
TABLE = toy_people.table(SCHEMA, PEOPLE)
EVERY = pytest.mark.parametrize("learner", real_learners().values(), ids=real_learners())
EVERY_WAY = pytest.mark.parametrize(("family", "way"), WAYS)
ONE_WAY = pytest.mark.parametrize(("family", "way"), ONE_WAY_EACH)
SIDES = {"left": ("age", "smoker"), "right": ("region", "ill")}


def plan_of(family: str, way: dict[str, Any], epsilon: str = "2", schema: Schema = SCHEMA, **more: Any) -> RunPlan:
    """Plan of a short run."""
    learner = LEARNERS[family]
    known = parameters_of(learner.parameters)
    short = {name: value for name, value in MOST.items() if name in known and name != "pairs"}
    short = {name: value for name, value in short.items() if counts(known, way | more, name)}
    short |= {**SIDES, "starts": 1, "rounds": 1} if learner.family.views else {}
    target = SCHEMA.targets[0] if learner.targeted else ""
    return learner.plan(schema, target, Decimal(epsilon), {**short, **way, **more})


def run(family: str, plan: RunPlan, source: RandomSource, table: Any = TABLE) -> BaseModel:
    return LEARNERS[family].run(Run(table, plan, source))


# Refusals


def refusal(learner: Learner, target: str, schema: Schema = SCHEMA, **asked: Any) -> str:
    """The sentence with which a request is refused."""
    with pytest.raises((RequestError, SchemaError)) as caught:
        learner.plan(schema, target, Decimal(1), asked)
    sentence = str(caught.value)
    assert isinstance(caught.value, FrostglassError)
    assert sentence.endswith(".")
    assert "pydantic" not in sentence
    assert "\n" not in sentence
    return sentence


@EVERY
def test_targets_that_cannot_be_predicted_are_refused(learner: Learner) -> None:
    if not learner.targeted:
        assert "leave the target out" in refusal(learner, "ill", **(SIDES if learner.family.views else {}))
        return
    assert "no column 'nothing'" in refusal(learner, "nothing")
    assert "Choose a column" in refusal(learner, "")
    assert "has a single class" in refusal(learner, "single")


@EVERY
def test_parameters_that_there_are_not_are_refused_by_name(learner: Learner) -> None:
    target = SCHEMA.targets[0] if learner.targeted else ""
    for name in ("unheard_of", *choices(learner.parameters)):
        assert name in refusal(learner, target, **{name: "magic"})
    for name, value in beyond_bounds(learner.parameters):
        assert name in refusal(learner, target, **{name: value})


@EVERY_WAY
def test_one_billionth_is_refused_for_a_person_with_many_rows(family: str, way: Any) -> None:
    schema = SCHEMA.model_copy(update={"privacy_unit": toy_people.schema(100).privacy_unit})
    with pytest.raises(BudgetError, match="too small") as caught:
        plan_of(family, way, "0.000000001", schema)
    assert str(caught.value).endswith(".")


# Plans


@EVERY_WAY
@pytest.mark.parametrize("epsilon", ["0.5", "2.000000001"])
def test_a_plan_costs_its_epsilon_and_follows_from_what_is_public(family: str, way: Any, epsilon: str) -> None:
    plan = plan_of(family, way, epsilon)
    assert sum(plan.split.parts.values()) == plan.epsilon == Decimal(epsilon)
    assert set(plan.parallel.values()) <= {Decimal(epsilon)}
    assert plan == plan_of(family, way, epsilon)
    assert LEARNERS[family].plan(SCHEMA, plan.target, plan.epsilon, plan.parameters) == plan


@ONE_WAY
def test_without_a_hold_out_part_there_is_no_evaluation(family: str, way: Any) -> None:
    schema = SCHEMA.model_copy(update={"holdout_percent": 0})
    plan = plan_of(family, way, schema=schema)
    assert not plan.parallel
    model = run(family, plan, SecureRandom(), toy_people.table(schema, PEOPLE))
    assert getattr(model, "evaluation", None) is None


# Releases


@ONE_WAY
def test_a_release_can_be_read_back_and_planned_again(family: str, way: Any) -> None:
    plan = plan_of(family, way)
    model = run(family, plan, SecureRandom())
    again = Release.from_json(make_release(family, plan, model, secure=True).to_json())
    assert parse_model(again) == model
    assert again.target == plan.target
    certificate = again.certificate
    assert certificate.private
    assert (certificate.epsilon, certificate.delta) == (2, plan.delta)
    assert certificate.guarantee == plan.guarantee
    assert sum(certificate.budget_split.values()) == 2
    assert certificate.parallel_split == dict(plan.parallel)
    replanned = LEARNERS[family].plan(again.domain, again.target, certificate.epsilon, again.parameters)
    assert replanned == plan


@ONE_WAY
def test_seeded_runs_repeat_themselves_and_others_do_not(family: str, way: Any) -> None:
    plan = plan_of(family, way)
    first = run(family, plan, SeededRandom(9))
    assert run(family, plan, SeededRandom(9)) == first
    assert run(family, plan, SeededRandom(10)) != first
    assert run(family, plan, SecureRandom()) != run(family, plan, SecureRandom())


CANARY = "zanzibar-4711"
#: A number whose digits no noise brings forth by chance.
CANARY_NUMBER = 827_194_711_463.5


@EVERY_WAY
def test_a_release_holds_no_value_of_a_record(family: str, way: Any) -> None:
    people = PEOPLE.assign(region=CANARY, smoker=CANARY, age=CANARY_NUMBER)
    people["person"] = [f"{CANARY}-{number}" for number in people["person"]]
    people["stage"] = people["stage"].where(people.index % 2 == 0, CANARY)
    plan, told = plan_of(family, way), []
    table = toy_people.table(SCHEMA, pd.DataFrame(people))
    model = LEARNERS[family].run(Run(table, plan, SecureRandom(), lambda *call: told.append(call)))
    release = make_release(family, plan, model, secure=True)
    for text in (release.to_json(), repr(model), repr(plan), repr(told), repr(table)):
        assert "zanzibar" not in text
        assert "827194711" not in text
        assert f"{CANARY_NUMBER:e}"[:8] not in text


@pytest.mark.parametrize(
    ("family", "chosen", "steps"),
    [
        ("rule_list", {"sampler": "mcmc"}, "mcmc_steps"),
        ("redescriptions", {**SIDES, "method": "alt_mcmc"}, "steps"),
        ("redescriptions", {**SIDES, "method": "mcmc_tree_pair"}, "steps"),
    ],
)
def test_a_walk_of_fewer_steps_is_refused_and_stored_ones_stay_readable(
    family: str, chosen: dict[str, Any], steps: str
) -> None:
    learner = LEARNERS[family]
    target = SCHEMA.targets[0] if learner.targeted else ""
    for few in (1, 999):
        with pytest.raises(RequestError, match=f"'{steps}' must be at least 1,000"):
            learner.plan(SCHEMA, target, Decimal(1), chosen | {steps: few})
    stored = learner.parameters.model_validate(chosen | {steps: 1})
    assert getattr(stored, steps) == 1
    plan = learner.plan(SCHEMA, target, Decimal(1), chosen | {steps: 1000})
    assert plan.guarantee == "conditional on convergence"
    assert parameters_of(learner.parameters)[steps].limits["ge"] == 1000
