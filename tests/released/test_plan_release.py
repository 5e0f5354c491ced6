from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from dpcore.commands.text import certificate_text
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, RequestError, SchemaError
from dpcore.learning.learner import PlanRequest
from dpcore.models.trees.released.tree_parameters import TreeParameters
from dpcore.privacy.budgets import BudgetSplit
from dpcore.privacy.losses import pure_rho
from dpcore.released.plan import CountNoise, RunPlan, check_classes, guarantee_sentence, target_column
from dpcore.released.release import Release, make_release
from dpcore.report.certificate import certificate_lines
from dpcore.version import __version__
from tests.oracles import privacy_oracle
from tests.support.rows import for_each
from tests.support.strategies import schemas
from tests.support.tables.small_tables import ward


class Parameters(BaseModel):
    depth: int = 3
    share: Decimal = Decimal("0.1")


class Model(BaseModel):
    counts: tuple[int, ...] = (-3, 12)
    estimates: tuple[float, ...] = (0.1, 0.9)


def schema(rows_per_person: int = 1) -> Schema:
    return ward(
        {"name": "died", "type": "boolean", "target": True},
        max_rows=500,
        privacy_unit={"column": "who", "max_rows_per_person": rows_per_person},
    )


def plan(epsilon: str = "1", rows_per_person: int = 1, **changes) -> RunPlan:
    total = Decimal(epsilon)
    fields = {
        "schema": schema(rows_per_person),
        "target": "died",
        "epsilon": total,
        "split": BudgetSplit.by_weights(total, {"list": 1, "estimates": 3}),
        "parameters": Parameters(),
        "guarantee": "unconditional",
        "sampler": "pool",
        "estimates_step": "estimates",
        "parallel": {"evaluation": total},
    }
    return RunPlan(**{**fields, **changes})


def release(**changes) -> Release:
    return make_release("rule_list", plan(**changes), Model(), secure=True)


def test_a_plan_spends_exactly_its_epsilon():
    for other in ("0.999999999", "1.000000001", "2"):
        with pytest.raises(BudgetError, match="exactly its epsilon"):
            plan("1", split=BudgetSplit(Decimal(other), {"all": Decimal(other)}))
    with pytest.raises(BudgetError, match="exactly its epsilon"):
        replace(plan("1"), epsilon=Decimal("0.5"))


def test_every_step_is_worth_something_for_each_row_of_a_person():
    """Of the people set aside as well; a step without weight asks for nothing."""
    tiny, total = Decimal("0.000000001"), Decimal("0.000000100")
    parts = {"idle": Decimal(0), "list": total - 4 * tiny, "estimates": 4 * tiny}
    split = BudgetSplit(total, parts)
    assert plan(str(total), 4, split=split).row_epsilon("estimates") == tiny
    with pytest.raises(BudgetError, match="too small for the rows"):
        plan(str(total), 5, split=split)
    with pytest.raises(BudgetError, match="too small for the rows"):
        plan(str(total), 4, split=split, parallel={"evaluation": 3 * tiny})
    shares = {"definition": "approximate", "delta": Decimal("0.001"), "parallel": {}}
    assert plan(str(total), 5, split=split, **shares).split == split, "shares of mu squared"


@given(st.integers(1, 1000), st.integers(1, 50))
def test_row_epsilon_and_noise_follow_the_split(milli, rows):
    made = plan(str(Decimal(milli) / 1000), rows)
    share = made.row_epsilon("estimates")
    assert share * rows <= made.split["estimates"]
    assert share * rows > made.split["estimates"] - rows * Decimal("1e-9")
    assert made.count_noise[0].scale == pytest.approx(1 / float(share))


@for_each("confidence", [0.5, 0.95, 0.99])
def test_count_margin_is_the_tail_of_the_printed_noise(confidence):
    made = plan("1", 3)
    assert made.count_margin(confidence) == privacy_oracle.geometric_tail(4.0, confidence)


def test_gaussian_noise_has_a_deviation_and_a_margin():
    noise = CountNoise("a count of a bin", deviation=12.5)
    assert noise.scale == 12.5
    assert noise.margin() == 25  # 1.96 x 12.5 = 24.5
    assert noise.margin(0.99) == 33  # 2.576 x 12.5 = 32.2
    made = plan("1", noise=(noise, CountNoise("a class count", Decimal("0.5"))))
    assert made.count_noise[0].scale == 12.5
    assert made.count_margin() == 25
    assert [kind.scale for kind in made.count_noise] == [12.5, 2.0]


def test_training_leaves_out_those_set_aside_only_if_they_are_used():
    def part(domain: Schema, parameters: BaseModel) -> str:
        plan_request = PlanRequest(domain, "died", Decimal(1), parameters)
        split = BudgetSplit.by_weights(Decimal(1), {"tree": 1})
        return plan_request.plan(split, sampler="none", estimates_step="tree").part

    nobody = schema().model_copy(update={"holdout_percent": 0})
    assert part(schema(), TreeParameters(evaluate=True)) == "train"
    assert part(schema(), TreeParameters(evaluate=False)) == "all"
    assert part(schema(), Parameters()) == "all"
    assert part(nobody, TreeParameters(evaluate=True)) == "all"


def test_without_a_target_there_are_no_classes():
    assert plan(target="").classes == ()
    made = release(target="")
    assert Release.from_json(made.to_json()) == made


def test_a_target_must_be_named_and_known():
    assert target_column(schema(), "died") == schema().columns[0]
    for check in (target_column, check_classes):
        with pytest.raises(RequestError, match="Choose a column to predict"):
            check(schema(), "")
        with pytest.raises(SchemaError, match="no column 'fate'"):
            check(schema(), "fate")


def test_release_round_trip():
    made = release()
    again = Release.from_json(made.to_json())
    assert again == made
    assert again.to_json() == made.to_json()
    assert isinstance(again.certificate.epsilon, Decimal)
    assert again.domain.hash == made.certificate.schema_hash


@given(schemas(), st.integers(4, 10**12))
def test_release_round_trip_over_schemas_and_budgets(made, steps):
    target = made.columns[0].name
    text = release(epsilon=str(steps * Decimal("1e-9")), schema=made, target=target).to_json()
    again = Release.from_json(text)
    assert again.to_json() == text
    assert again.domain == made
    assert again.certificate.schema_hash == made.hash
    assert again.certificate.epsilon == steps * Decimal("1e-9")
    assert sum(again.certificate.budget_split.values()) == again.certificate.epsilon


def test_no_run_is_planned_that_promises_nothing_or_composes_on_a_condition():
    for facts in ({"guarantee": "none"}, {"guarantee": "conditional on convergence", "rho": Decimal("0.01")}):
        with pytest.raises(ValueError, match=r"promises nothing|states no rho"):
            plan("2", 1, **facts)


def test_epsilon_is_written_as_exact_text():
    content = json.loads(release(epsilon="0.1").to_json())
    assert content["certificate"]["epsilon"] in {"0.1", "0.100000000"}
    assert content["parameters"]["share"] == "0.1"


def test_certificate_repeats_the_plan():
    made = plan("2", 3, guarantee="conditional on convergence", sampler="mcmc")
    card = make_release("rule_list", made, Model(), secure=True).certificate
    assert card.definition == "pure"
    assert card.epsilon == 2
    assert card.delta == 0
    assert card.neighboring_relation == "one person added or removed"
    assert card.privacy_unit == "a person"
    assert card.max_rows_per_person == 3
    assert card.max_rows == 500
    assert card.budget_split == {"list": Decimal("0.5"), "estimates": Decimal("1.5")}
    assert card.parallel_split == {"evaluation": Decimal(2)}
    assert card.composition == ""
    assert card.sampler == "mcmc"
    assert card.guarantee == "conditional on convergence"
    assert card.rho is None, "none is stated where a condition may fail"
    assert card.schema_hash == made.schema.hash
    assert card.engine_version == __version__
    assert abs(datetime.now(UTC) - card.created) < timedelta(minutes=5)


def gaussian_release() -> Release:
    words = "Gaussian DP: the shares are of mu squared, mu = 0.27"
    return release(definition="approximate", delta=Decimal("1E-7"), composition=words)


def test_certificate_says_how_parts_compose():
    made = gaussian_release()
    assert made.certificate.composition.startswith("Gaussian DP")
    assert Release.from_json(made.to_json()) == made
    shown = certificate_text(made)
    assert "delta = 10⁻⁷" in shown
    assert made.certificate.composition in shown
    assert certificate_lines(made)["How the parts add up"] == made.certificate.composition
    assert "How the parts add up" not in certificate_lines(release())


def test_releases_made_before_there_was_a_composition_still_read():
    content = json.loads(release().to_json())
    del content["certificate"]["composition"]
    assert Release.from_json(json.dumps(content)).certificate.composition == ""


def test_a_certificate_says_by_what_it_is_composed():
    assert release().certificate.rho == pure_rho(release().certificate.epsilon)
    assert gaussian_release().certificate.rho is None, "its plan does not say"
    content = json.loads(release().to_json())
    del content["certificate"]["rho"], content["certificate"]["asked"]
    read = Release.from_json(json.dumps(content)).certificate
    assert read.rho is read.asked is None


def test_certificate_has_public_fields_only():
    """Whoever adds a field must say here that it is public: by the schema, plan or clock."""
    assert set(release().certificate.model_dump()) == {
        "definition",
        "epsilon",
        "delta",
        "rho",
        "neighboring_relation",
        "privacy_unit",
        "max_rows_per_person",
        "max_rows",
        "budget_split",
        "parallel_split",
        "composition",
        "sampler",
        "guarantee",
        "randomness",
        "schema_hash",
        "origins",
        "asked",
        "conditional_allowed",
        "cuts_from",
        "engine_version",
        "created",
    }


def test_certificate_does_not_depend_on_the_model():
    first = make_release("rule_list", plan(), Model(counts=(1, 2)), secure=True)
    second = make_release("rule_list", plan(), Model(counts=(7, 7731)), secure=True)
    drop = {"created"}
    assert first.certificate.model_dump(exclude=drop) == second.certificate.model_dump(exclude=drop)
    assert "7731" not in second.certificate.model_dump_json(exclude=drop)
    assert first.id != second.id


def test_seeded_noise_is_marked():
    seeded = make_release("rule_list", plan(), Model(), secure=False)
    assert seeded.certificate.randomness == "not private: seeded"
    assert not seeded.certificate.private
    assert release().certificate.private
    assert not Release.from_json(seeded.to_json()).certificate.private


@pytest.mark.parametrize(("said", "thing"), [({}, "person"), ({"entity": "train"}, "train")])
def test_a_row_unit_is_named_with_what_a_row_is(said: dict, thing: str):
    columns = [{"name": "died", "type": "boolean"}]
    rows = Schema.from_mapping({"name": "d", "max_rows": 5, "columns": columns, **said})
    made = release(schema=rows)
    assert made.certificate.privacy_unit == f"a row (each row is one {thing})"
    assert f"for each row (each row is one {thing})" in guarantee_sentence(plan(schema=rows))


def test_a_release_that_names_its_unit_in_other_words_is_still_read():
    rows = Schema.from_mapping(
        {"name": "d", "max_rows": 5, "entity": "train", "columns": [{"name": "died", "type": "boolean"}]}
    )
    content = json.loads(release(schema=rows).to_json())
    content["certificate"]["privacy_unit"] = earlier = "a row (each row is one person)"
    assert Release.from_json(json.dumps(content)).certificate.privacy_unit == earlier


@for_each(
    "change",
    [
        {"format": 2},
        {"id": "short"},
        {"extra": 1},
        {"certificate": {}},
        {"domain": {"name": "d"}},
    ],
)
def test_a_text_that_is_no_release(change):
    content = {**json.loads(release().to_json()), **change}
    with pytest.raises(RequestError, match="not a release"):
        Release.from_json(json.dumps(content))


def test_a_release_whose_schema_is_not_the_certified_one():
    content = json.loads(release().to_json())
    content["domain"]["max_rows"] += 1
    with pytest.raises(RequestError, match="not a release"):
        Release.from_json(json.dumps(content))
