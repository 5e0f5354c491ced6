"""The scikit-learn side of rule lists: what it charges, promises and returns."""

from __future__ import annotations

import copy
import pickle
import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dpcore.domain.columns import COLUMN_ADAPTER
from dpcore.domain.schema import Schema
from dpcore.errors import BudgetError, IngestError, InputError, PrivacyLeakWarning, RequestError
from dpcore.learning.sklearn_base import class_labels
from dpcore.models.rules.learning.estimator import DPRuleListClassifier
from dpcore.models.trees.learning.estimator import DPTreeClassifier
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


def ward(rows: int = 600) -> tuple[pd.DataFrame, pd.Series]:
    draw = np.random.default_rng(1)
    age = draw.integers(20, 101, rows)
    frame = pd.DataFrame({"age": age, "sex": draw.choice(["f", "m"], rows)})
    died = draw.random(rows) < np.where(age > 60, 0.95, 0.05)
    return frame, pd.Series(died, name="died")


def estimator(**changes: Any) -> DPRuleListClassifier:
    settings = {"epsilon": 2, "schema": SCHEMA, "pool_size": 2000, **changes}
    return DPRuleListClassifier(**settings)


def test_fit_predicts_and_carries_its_release():
    frame, died = ward()
    model = estimator().fit(frame, died)
    assert model.score(frame, died) > 0.85
    proba = model.predict_proba(frame)
    assert proba.shape == (600, 2)
    assert np.allclose(proba.sum(axis=1), 1)
    assert model.classes_.tolist() == [False, True]
    assert model.release_.certificate.epsilon == 2
    assert model.release_.certificate.private
    assert model.n_features_in_ == 2


def test_a_seed_is_reproducible_and_marked():
    frame, died = ward()
    first, second = (estimator(random_state=3).fit(frame, died) for _ in range(2))
    assert first.model_ == second.model_
    assert first.release_.certificate.randomness == "not private: seeded"


def test_cross_validation_charges_every_fold():
    frame, died = ward()
    budget = BudgetAccountant(11)
    scores = cross_val_score(estimator(accountant=budget), frame, died, cv=5)
    assert len(scores) == 5
    assert scores.mean() > 0.8
    assert budget.spent == 10
    assert [entry.epsilon for entry in budget.entries] == [Decimal(2)] * 5


def test_copies_share_the_budget():
    budget = BudgetAccountant(3)
    model = estimator(accountant=budget)
    assert clone(model).accountant is budget
    assert copy.deepcopy(model).accountant is budget
    with pytest.raises(TypeError, match="n_jobs=1"):
        pickle.dumps(model)


def test_too_little_budget_stops_before_anything_is_charged():
    frame, died = ward()
    budget = BudgetAccountant(3)
    estimator(accountant=budget).fit(frame, died)
    with pytest.raises(BudgetError, match="is left"):
        estimator(accountant=budget).fit(frame, died)
    assert budget.spent == 2


@pytest.mark.parametrize(
    ("changes", "columns", "error"),
    [
        ({"epsilon": 0}, ["age", "sex"], BudgetError),
        ({"epsilon": float("nan")}, ["age", "sex"], BudgetError),
        ({"sampler": "guess"}, ["age", "sex"], RequestError),
        ({"max_rules": 0}, ["age", "sex"], RequestError),
        ({}, ["age"], InputError),
    ],
)
def test_what_cannot_be_fitted_costs_nothing(changes, columns, error):
    frame, died = ward()
    budget = BudgetAccountant(5)
    with pytest.raises(error):
        estimator(accountant=budget, **changes).fit(frame[columns], died)
    assert budget.spent == 0


def test_rows_of_x_and_y_must_match():
    frame, died = ward()
    with pytest.raises(RequestError, match="600 rows and y has 10"):
        estimator().fit(frame, died[:10])


def test_works_in_a_pipeline_and_on_arrays():
    frame, died = ward()
    pipeline = make_pipeline(FunctionTransformer(), estimator()).fit(frame, died)
    assert pipeline.score(frame, died) > 0.85
    as_array = frame.to_numpy(dtype=object)
    model = estimator().fit(as_array, died.to_numpy())
    assert model.score(as_array, died.to_numpy()) > 0.85
    with pytest.raises(RequestError, match="3 features, but Frostglass is expecting 2"):
        estimator().fit(np.zeros((600, 3)), died)


@pytest.mark.parametrize(
    ("fields", "labels", "dtype"),
    [
        ({"type": "boolean"}, [False, True], "bool"),
        ({"type": "categorical", "categories": ["0", "1", "-2"]}, [0, 1, -2], "int64"),
        ({"type": "ordinal", "categories": ["1", "2"]}, [1, 2], "int64"),
        ({"type": "categorical", "categories": ["01", "2"]}, ["01", "2"], "object"),
        ({"type": "categorical", "categories": ["1.0", "2"]}, ["1.0", "2"], "object"),
        ({"type": "categorical", "categories": ["a", "1"]}, ["a", "1"], "object"),
        ({"type": "ordinal", "categories": ["1", "9" * 20]}, ["1", "9" * 20], "object"),
    ],
)
def test_labels_are_those_of_the_schema(fields, labels, dtype):
    column = COLUMN_ADAPTER.validate_python({"name": "y", **fields})
    found = class_labels(column)
    assert found.tolist() == labels
    assert found.dtype == dtype


SPELLINGS = {
    "bool": lambda died: died,
    "int": lambda died: died.astype(int),
    "words": lambda died: died.map({True: "yes", False: "no"}).astype(object),
    "list": lambda died: died.tolist(),
    "frame": lambda died: died.to_frame(),
    "column": lambda died: died.to_numpy()[:, None],
}


@pytest.mark.parametrize("spelling", SPELLINGS)
def test_every_spelling_of_a_label_gives_the_same_labels_and_score(spelling):
    frame, died = ward()
    given = SPELLINGS[spelling](died)
    model = estimator(random_state=1, target="died").fit(frame, given)
    assert model.predict(frame).dtype == bool
    assert model.score(frame, given) == (model.predict(frame) == died).mean() > 0.85
    weights = np.arange(len(died))
    expected = np.average(model.predict(frame) == died, weights=weights)
    assert model.score(frame, given, sample_weight=weights) == pytest.approx(expected)


def test_a_target_has_one_value_for_each_row():
    frame, died = ward()
    with pytest.raises(RequestError, match="y must have one dimension"):
        estimator(target="died").fit(frame, pd.concat([died, died], axis=1))


def test_without_a_schema_it_warns_that_nothing_is_promised():
    frame, died = ward()
    with pytest.warns(PrivacyLeakWarning, match="not differentially private"):
        model = estimator(schema=None).fit(frame, died)
    assert model.score(frame, died) > 0.8
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator().fit(frame, died)


def test_evaluation_on_the_hold_out_part_is_an_option():
    frame, died = ward()
    assert estimator().fit(frame, died).model_.evaluation is None
    checked = estimator(evaluate=True).fit(frame, died)
    assert checked.model_.evaluation is not None
    assert checked.release_.certificate.parallel_split == {"evaluation": Decimal(2)}


def test_several_rows_of_a_person():
    frame, died = ward()
    schema = Schema.from_mapping(
        {
            **SCHEMA.model_dump(),
            "privacy_unit": {"column": "person", "max_rows_per_person": 2},
        }
    )
    with pytest.raises(IngestError, match="no column 'person'"):
        estimator(schema=schema).fit(frame, died)
    people = frame.assign(person=[f"p{i // 3}" for i in range(len(frame))])
    model = estimator(schema=schema).fit(people, died)
    assert model.release_.certificate.max_rows_per_person == 2
    assert model.score(people, died) > 0.8


def test_a_release_becomes_an_estimator_without_any_data():
    frame, died = ward()
    made = estimator(epsilon="0.5", max_rules=7, given=("age <= 60",), antecedents="given")
    made.fit(frame, died.map({True: "yes", False: "no"}).astype(object))
    again = DPRuleListClassifier.from_release(Release.from_json(made.release_.to_json()))
    assert again.classes_.tolist() == made.classes_.tolist() == [False, True]
    assert again.predict(frame).tolist() == made.predict(frame).tolist()
    assert np.array_equal(again.predict_proba(frame), made.predict_proba(frame))
    assert again.get_params()["max_rules"] == 7
    assert again.get_params()["given"] == ("age <= 60",)
    assert again.epsilon == Decimal("0.5")
    assert again.n_features_in_ == 2
    assert again.release_ == made.release_
    assert clone(again).fit(frame, died).model_.rules


def test_a_release_of_another_family_is_refused():
    frame, died = ward()
    release = estimator().fit(frame, died).release_
    with pytest.raises(RequestError, match="'rule_list'"):
        DPTreeClassifier.from_release(release)
