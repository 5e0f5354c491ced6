"""The scikit-learn side of relational rules, beside what holds for every estimator."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError, RequestError, SchemaError
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.learning.ilp_estimator import DPILPClassifier
from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.privacy.accountant import BudgetAccountant
from tests.support.rows import for_each

SCHEMA = Schema.from_text(
    """
name: ward
entity: patient
max_rows: 1000
privacy_unit: {column: patient_id}
columns:
  - {name: age, type: integer, lower: 20, upper: 100, edges: [60]}
  - {name: sex, type: categorical, categories: [f, m]}
  - {name: ill, type: boolean, target: true}
children:
  - name: drug
    max_rows_per_person: 4
    columns:
      - {name: code, type: categorical, categories: [a, b, c]}
      - {name: dose, type: categorical, categories: [low, high]}
"""
)
PEOPLE = 600
#: Numbers of conditions, variables and clauses that are enough for :func:`ward`.
SMALL = {"max_literals": 2, "max_variables": 1, "clauses": 1}


def ward(people: int = PEOPLE, seed: int = 1) -> tuple[dict[str, pd.DataFrame], pd.Series]:
    """Patients and their drugs; ill are those with a high dose of drug a."""
    draw = np.random.default_rng(seed)
    keys = draw.permutation(people) + 100
    patients = pd.DataFrame(
        {"patient_id": keys, "age": draw.integers(20, 101, people), "sex": draw.choice(["f", "m"], people)}
    )
    owners = np.repeat(keys, draw.integers(0, 4, people))
    drugs = pd.DataFrame(
        {
            "patient_id": owners,
            "code": draw.choice(["a", "b", "c"], len(owners), p=[0.5, 0.25, 0.25]),
            "dose": draw.choice(["low", "high"], len(owners)),
        }
    ).sample(frac=1, random_state=seed)
    return {"patient": patients, "drug": drugs}, truth(patients, drugs).rename("ill")


def truth(patients: pd.DataFrame, drugs: pd.DataFrame) -> pd.Series:
    chosen = drugs[(drugs["code"] == "a") & (drugs["dose"] == "high")]
    return patients["patient_id"].isin(chosen["patient_id"])


def make(**changes: Any) -> DPILPClassifier:
    return DPILPClassifier(**{"epsilon": 20, "schema": SCHEMA, **SMALL, **changes})


def one_table() -> tuple[pd.DataFrame, pd.Series, Schema]:
    """A schema without child tables, and patients who are ill if old."""
    content = SCHEMA.model_dump(mode="json")
    schema = Schema.from_mapping({**content, "children": [], "privacy_unit": {}})
    frame = ward()[0]["patient"].drop(columns="patient_id")
    return frame, (frame["age"] > 60).rename("ill"), schema


@for_each(
    "settings",
    [
        {},
        {"negative_weight": 2, "length_prior": False},
        {"negation": True, "max_literals": 3, "max_variables": 2},
        {"method": "relevance_aware"},
        {"method": "relevance_aware", "criterion": "share", "min_share": 0.1},
        {"method": "naive"},
        {"literals": ("drug: code = a", "drug: dose = high"), "count_share": Decimal("0.5")},
    ],
)
def test_fit_finds_what_is_planted_and_carries_its_release(settings: dict[str, Any]) -> None:
    tables, ill = ward()
    model = make(epsilon=500, random_state=2, **settings).fit(tables, ill)
    assert isinstance(model.model_, ILPModel)
    assert model.predict(tables).tolist() == ill.tolist()
    assert model.score(tables, ill) == 1
    assert "has_drug(P, A), code(A, a), dose(A, high)." in model.theory()
    assert model.theory().startswith("ill(P, yes) :-")
    proba = model.predict_proba(tables)
    assert proba.shape == (PEOPLE, 2)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert (proba.argmax(axis=1) == ill).all()
    assert model.classes_.tolist() == [False, True]
    assert model.n_features_in_ == 3
    assert model.schema_ == SCHEMA
    released = ILPParameters.model_validate(model.release_.parameters)
    for name, value in settings.items():
        assert getattr(released, name) == value


@for_each(
    ("changes", "error"),
    [
        ({"positive": "maybe"}, RequestError),
        ({"literals": ("drug: code = z",)}, RequestError),
        ({"literals": ()}, RequestError),
        ({"target": "fate"}, (IngestError, RequestError, SchemaError)),
        ({"target": "age"}, (RequestError, SchemaError)),
    ],
)
def test_what_cannot_be_asked_for_costs_nothing(changes: dict[str, Any], error: Any) -> None:
    budget = BudgetAccountant(50)
    with pytest.raises(error):
        make(accountant=budget, **changes).fit(*ward())
    assert budget.spent == 0


@for_each(
    ("change", "sentence"),
    [
        (lambda t: {"patient": t["patient"]}, "drug"),
        (lambda t: {**t, "drog": t["drug"]}, "drog"),
        (lambda t: {**t, "drug": t["drug"].drop(columns="dose")}, "dose"),
        (lambda t: {**t, "drug": t["drug"].drop(columns="patient_id")}, "patient_id"),
        (lambda t: {**t, "patient": t["patient"].drop(columns="patient_id")}, "patient_id"),
    ],
)
def test_what_a_table_lacks_is_said_and_costs_nothing(change: Any, sentence: str) -> None:
    tables, ill = ward()
    budget = BudgetAccountant(50)
    with pytest.raises((IngestError, RequestError), match=sentence):
        make(accountant=budget).fit(change(tables), ill)
    assert budget.spent == 0


@pytest.mark.parametrize("people", [PEOPLE, 40])
def test_the_order_of_rows_and_their_index_do_not_matter(people: int) -> None:
    tables, ill = ward()
    model = make(random_state=1).fit(tables, ill)
    order = np.random.default_rng(5).permutation(PEOPLE)[:people]
    index = pd.Index([f"row {i}" for i in range(people)])
    shuffled = {
        "patient": tables["patient"].iloc[order].set_index(index),
        "drug": tables["drug"]
        .sample(frac=1, random_state=9)
        .set_index(pd.Index(np.zeros(len(tables["drug"]), dtype=int))),
    }
    assert model.predict(shuffled).tolist() == model.predict(tables)[order].tolist()
    again = make(random_state=1, epsilon=200).fit(shuffled, ill.iloc[order].set_axis(index))
    assert again.predict(shuffled).tolist() == ill.iloc[order].tolist()


def test_people_without_rows_of_a_table_are_predicted() -> None:
    tables, ill = ward()
    model = make(random_state=1).fit(tables, ill)
    assert not model.predict({"patient": tables["patient"]}).any()
    assert not model.predict({**tables, "drug": tables["drug"].iloc[:0]}).any()
    strangers = tables["drug"].assign(patient_id=-1)
    assert not model.predict({**tables, "drug": strangers}).any()
    with pytest.raises(RequestError, match="'patient'"):
        model.predict({"drug": tables["drug"]})
    with pytest.raises(RequestError, match="patient_id"):
        model.predict({**tables, "patient": tables["patient"].drop(columns="patient_id")})


def test_numbers_as_classes_of_more_than_two() -> None:
    tables, ill = ward()
    grade = np.where(ill, 3, np.where(tables["patient"]["sex"] == "m", 1, 2))
    content = SCHEMA.model_dump(mode="json")
    content["columns"][2] = {"name": "grade", "type": "categorical", "categories": ["1", "2", "3"], "target": True}
    model = make(schema=Schema.from_mapping(content), epsilon=200, random_state=1)
    model.fit(tables, grade)
    assert model.classes_.tolist() == [1, 2, 3]
    assert model.predict(tables).dtype.kind == "i"
    assert ((model.predict(tables) == 3) == ill).all()
    assert model.predict_proba(tables).shape == (PEOPLE, 3)


def test_a_single_table_is_a_frame() -> None:
    frame, ill, schema = one_table()
    model = make(schema=schema, random_state=1).fit(frame, ill)
    assert model.predict(frame).tolist() == ill.tolist()
    assert "age_above(P, 60)." in model.theory()
    named = make(schema=schema, random_state=1).fit({"patient": frame}, ill)
    assert named.model_ == model.model_
    scores = cross_val_score(make(schema=schema), frame, ill, cv=3)
    assert scores.mean() > 0.9
