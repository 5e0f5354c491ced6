"""The scikit-learn side of trees and forests."""

from __future__ import annotations

import copy
import inspect
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dpcore.domain.schema import Schema
from dpcore.errors import BudgetError, IngestError, InputError, PrivacyLeakWarning, RequestError
from dpcore.learning import sklearn_base
from dpcore.models.trees.learning.estimator import DPForestClassifier, DPTreeClassifier
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.model import TreeModel
from dpcore.models.trees.released.parameters import ForestParameters, TreeParameters
from dpcore.privacy.accountant import BudgetAccountant
from dpcore.released.release import Release

SCHEMA = Schema.from_text(
    """
name: ward
max_rows: 1000
columns:
  - {name: age, type: integer, lower: 20, upper: 100, bins: 8}
  - {name: sex, type: categorical, categories: [f, m]}
  - {name: died, type: boolean, target: true}
"""
)
BOTH = [(DPTreeClassifier, TreeParameters), (DPForestClassifier, ForestParameters)]
CLASSES = [DPTreeClassifier, DPForestClassifier]
#: A cheap setting of every way to learn.
SETTINGS = [
    *[(DPTreeClassifier, {"method": m}) for m in ("adiffp", "diffp_id3", "diffp_c45", "sulq_id3")],
    (DPTreeClassifier, {"blocks": (2,)}),
    (DPTreeClassifier, {"blocks": (1, 1), "criterion": "gini"}),
    (DPForestClassifier, {"trees": 5}),
    (DPForestClassifier, {"method": "random_trees", "sharing": "split", "trees": 5}),
]


def ward(rows: int = 600) -> tuple[pd.DataFrame, pd.Series]:
    draw = np.random.default_rng(1)
    age = draw.integers(20, 101, rows)
    frame = pd.DataFrame({"age": age, "sex": draw.choice(["f", "m"], rows)})
    died = draw.random(rows) < np.where(age > 60, 0.95, 0.05)
    return frame, pd.Series(died, name="died")


def make(kind: Any, **changes: Any) -> Any:
    return kind(**{"epsilon": 4, "schema": SCHEMA, **changes})


@pytest.mark.parametrize(("kind", "parameters"), BOTH)
def test_every_parameter_is_a_keyword_with_its_default(kind, parameters):
    shared = {"self", "epsilon", "schema", "target", "accountant", "random_state"}
    keywords = inspect.signature(kind.__init__).parameters
    assert set(keywords) - shared == set(parameters.model_fields)
    for name, field in parameters.model_fields.items():
        expected = False if name == "evaluate" else field.default
        assert keywords[name].default == expected, name
        assert keywords[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert name in kind.__doc__


@pytest.mark.parametrize("kind", CLASSES)
def test_clones_carry_all_settings(kind):
    budget = BudgetAccountant(3)
    model = make(kind, accountant=budget, depth=3, threshold=0.5, random_state=4)
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert again.accountant is budget
    assert copy.deepcopy(model).accountant is budget
    assert clone(model.set_params(depth=2)).depth == 2


@pytest.mark.parametrize(("kind", "settings"), SETTINGS)
def test_fit_predicts_and_carries_its_release(kind, settings):
    frame, died = ward()
    model = make(kind, epsilon=100, random_state=2, **settings).fit(frame, died)
    assert model.score(frame, died) > 0.7
    assert isinstance(model.model_, TreeModel if kind is DPTreeClassifier else ForestModel)
    proba = model.predict_proba(frame)
    assert proba.shape == (600, 2)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert model.classes_.tolist() == [False, True]
    assert model.n_features_in_ == 2
    codes = model.model_.predict(frame, SCHEMA)
    assert model.predict(frame).tolist() == model.classes_[codes].tolist()
    for name, value in settings.items():
        released = model.release_.parameters[name]
        assert (tuple(released) if isinstance(released, list) else released) == value


@pytest.mark.parametrize("kind", CLASSES)
def test_only_the_secure_source_makes_a_private_release(kind):
    frame, died = ward()
    first, second = (make(kind, random_state=3).fit(frame, died) for _ in range(2))
    assert first.model_ == second.model_
    assert first.release_.certificate.randomness == "not private: seeded"
    assert make(kind, random_state=4).fit(frame, died).model_ != first.model_
    secure = make(kind).fit(frame, died)
    assert secure.release_.certificate.private
    assert secure.release_.certificate.epsilon == 4


@pytest.mark.parametrize("kind", CLASSES)
def test_cross_validation_charges_every_fold(kind):
    frame, died = ward()
    budget = BudgetAccountant(100)
    scores = cross_val_score(make(kind, epsilon=20, accountant=budget), frame, died, cv=5)
    assert scores.mean() > 0.7
    assert [entry.epsilon for entry in budget.entries] == [Decimal(20)] * 5
    assert {entry.label for entry in budget.entries} == {kind._learner.title}
    with pytest.raises(BudgetError, match="is left"):
        make(kind, epsilon=1, accountant=budget).fit(frame, died)
    assert budget.spent == 100


@pytest.mark.parametrize("kind", CLASSES)
def test_the_charge_comes_before_the_records(kind, monkeypatch):
    """Should the run fail after a record was touched, the budget is spent."""
    budget, seen = BudgetAccountant(4), []

    def broken(*_):
        seen.append(budget.spent)
        raise IngestError("The disk is full.")

    monkeypatch.setattr(sklearn_base, "ingest", broken)
    with pytest.raises(IngestError):
        make(kind, accountant=budget).fit(*ward())
    assert seen == [4]
    assert budget.spent == 4


@pytest.mark.parametrize("kind", CLASSES)
@pytest.mark.parametrize(
    ("changes", "columns", "error"),
    [
        ({"epsilon": 0}, ["age", "sex"], BudgetError),
        ({"epsilon": float("nan")}, ["age", "sex"], BudgetError),
        ({"method": "guess"}, ["age", "sex"], RequestError),
        ({"criterion": "guess"}, ["age", "sex"], RequestError),
        ({"depth": 0}, ["age", "sex"], RequestError),
        ({}, ["age"], InputError),
    ],
)
def test_what_cannot_be_fitted_costs_nothing(kind, changes, columns, error):
    frame, died = ward()
    budget = BudgetAccountant(5)
    with pytest.raises(error):
        make(kind, accountant=budget, **changes).fit(frame[columns], died)
    assert budget.spent == 0


@pytest.mark.parametrize("kind", CLASSES)
def test_works_in_a_pipeline_and_on_arrays(kind):
    frame, died = ward()
    pipeline = make_pipeline(FunctionTransformer(), make(kind, epsilon=50)).fit(frame, died)
    assert pipeline.score(frame, died) > 0.7
    as_array = frame.to_numpy(dtype=object)
    model = make(kind, random_state=1).fit(as_array, died.to_numpy())
    same = make(kind, random_state=1).fit(frame, died)
    assert model.model_ == same.model_
    assert model.predict(as_array).tolist() == same.predict(frame).tolist()
    with pytest.raises(RequestError, match="3 features, but Frostglass is expecting 2"):
        make(kind).fit(np.zeros((600, 3)), died)


@pytest.mark.parametrize("kind", CLASSES)
def test_labels_are_those_of_the_schema_however_y_spells_them(kind):
    frame, died = ward()
    forms = {"b": died, "i": died.astype(int), "f": died.astype(float),
             "O": died.map({True: "yes", False: "no"}).astype(object)}  # fmt: skip
    models = {
        form: make(kind, epsilon=50, random_state=1).fit(frame, y) for form, y in forms.items()
    }
    for form, model in models.items():
        predicted = model.predict(frame)
        assert predicted.dtype == bool
        assert model.model_ == models["b"].model_
        assert model.score(frame, forms[form]) > 0.7


@pytest.mark.parametrize("kind", CLASSES)
def test_a_target_of_three_words_and_a_column_named_by_the_caller(kind):
    frame, _ = ward()
    grade = pd.Series(
        np.where(frame["age"] > 70, "high", np.where(frame["age"] > 40, "mid", "low"))
    )
    columns = [
        *SCHEMA.model_dump()["columns"][:2],
        {"name": "grade", "type": "ordinal", "categories": ["low", "mid", "high"]},
    ]
    schema = Schema.from_mapping({"name": "grades", "max_rows": 1000, "columns": columns})
    model = make(kind, schema=schema, target="grade", epsilon=200, random_state=1)
    model.fit(frame, grade)
    assert model.classes_.tolist() == ["low", "mid", "high"]
    assert model.predict_proba(frame).shape == (600, 3)
    assert model.score(frame, grade) > 0.7


@pytest.mark.parametrize("kind", CLASSES)
def test_without_a_schema_it_warns_that_nothing_is_promised(kind):
    frame, died = ward()
    with pytest.warns(PrivacyLeakWarning, match="not differentially private"):
        model = make(kind, schema=None, epsilon=50).fit(frame, died)
    assert model.score(frame, died) > 0.7


@pytest.mark.parametrize("kind", CLASSES)
def test_evaluation_on_the_hold_out_part_is_an_option(kind):
    frame, died = ward()
    assert make(kind).fit(frame, died).model_.evaluation is None
    checked = make(kind, evaluate=True).fit(frame, died)
    assert checked.model_.evaluation is not None
    assert checked.release_.certificate.parallel_split == {"evaluation": Decimal(4)}


@pytest.mark.parametrize(("kind", "settings"), SETTINGS[4:])
def test_a_release_becomes_an_estimator_without_any_data(kind, settings):
    frame, died = ward()
    made = make(kind, random_state=1, **settings).fit(frame, died)
    again = kind.from_release(Release.from_json(made.release_.to_json()))
    assert np.array_equal(again.predict_proba(frame), made.predict_proba(frame))
    assert again.predict(frame).tolist() == made.predict(frame).tolist()
    for name, value in settings.items():
        assert again.get_params()[name] == value
