from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from dpcore import __version__
from dpcore.errors import BudgetError, RequestError
from dpcore.plan import RunPlan, no_progress
from dpcore.privacy import BudgetSplit
from dpcore.release import Release, make_release
from dpcore.schema import Schema
from tests.oracles import privacy_oracle
from tests.strategies import schemas


class Parameters(BaseModel):
    depth: int = 3
    share: Decimal = Decimal("0.1")


class Model(BaseModel):
    counts: tuple[int, ...] = (-3, 12)
    estimates: tuple[float, ...] = (0.1, 0.9)


def schema(rows_per_person: int = 1) -> Schema:
    return Schema.from_mapping(
        {
            "name": "ward",
            "max_rows": 500,
            "privacy_unit": {"column": "who", "max_rows_per_person": rows_per_person},
            "columns": [{"name": "died", "type": "boolean", "target": True}],
        }
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


def test_a_parallel_step_spends_at_most_the_run():
    with pytest.raises(BudgetError, match="parallel step"):
        plan("1", parallel={"evaluation": Decimal("1.000000001")})
    assert plan("1", parallel={}).parallel == {}


@given(st.integers(1, 1000), st.integers(1, 50))
def test_row_epsilon_and_noise_follow_the_split(milli, rows):
    made = plan(str(Decimal(milli) / 1000), rows)
    share = made.row_epsilon("estimates")
    assert share * rows <= made.split["estimates"]
    assert share * rows > made.split["estimates"] - rows * Decimal("1e-9")
    assert made.noise_scale == pytest.approx(1 / float(share))


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.99])
def test_count_margin_is_the_tail_of_the_printed_noise(confidence):
    made = plan("1", 3)
    assert made.count_margin(confidence) == privacy_oracle.geometric_tail(4.0, confidence)


def test_the_largest_epsilon_has_a_margin():
    assert plan("1000").count_margin() == 0


def test_classes_are_those_of_the_target():
    assert plan().classes == ("no", "yes")


def test_a_plan_is_frozen():
    with pytest.raises(AttributeError):
        plan().epsilon = Decimal(2)


def test_no_progress_is_silent(capsys):
    assert no_progress("list", 1, 2) is None
    assert capsys.readouterr().out == ""


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


def test_epsilon_is_written_as_exact_text():
    content = json.loads(release(epsilon="0.1").to_json())
    assert content["certificate"]["epsilon"] in {"0.1", "0.100000000"}
    assert content["parameters"]["share"] == "0.1"


def test_certificate_repeats_the_plan():
    made = plan("2", 3, guarantee="conditional on convergence", sampler="mcmc")
    certificate = make_release("rule_list", made, Model(), secure=True).certificate
    assert certificate.definition == "pure"
    assert certificate.epsilon == 2
    assert certificate.delta == 0
    assert certificate.neighboring_relation == "one person added or removed"
    assert certificate.privacy_unit == "a person"
    assert certificate.max_rows_per_person == 3
    assert certificate.max_rows == 500
    assert certificate.budget_split == {"list": Decimal("0.5"), "estimates": Decimal("1.5")}
    assert certificate.parallel_split == {"evaluation": Decimal(2)}
    assert certificate.sampler == "mcmc"
    assert certificate.guarantee == "conditional on convergence"
    assert certificate.schema_hash == made.schema.hash
    assert certificate.engine_version == __version__
    assert abs(datetime.now(UTC) - certificate.created) < timedelta(minutes=5)


def test_certificate_has_public_fields_only():
    """Whoever adds a field must say here that it is public: by the schema, plan or clock."""
    assert set(release().certificate.model_dump()) == {
        "definition",
        "epsilon",
        "delta",
        "neighboring_relation",
        "privacy_unit",
        "max_rows_per_person",
        "max_rows",
        "budget_split",
        "parallel_split",
        "sampler",
        "guarantee",
        "randomness",
        "schema_hash",
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


def test_a_row_unit_is_named():
    rows = Schema.from_mapping(
        {"name": "d", "max_rows": 5, "columns": [{"name": "died", "type": "boolean"}]}
    )
    assert release(schema=rows).certificate.privacy_unit == "a row (each row is one person)"


@pytest.mark.parametrize(
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


def test_a_release_is_frozen():
    made = release()
    with pytest.raises(ValidationError):
        made.target = "age"
    with pytest.raises(ValidationError):
        made.certificate.epsilon = Decimal(0)
