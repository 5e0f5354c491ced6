"""The scikit-learn side of explainable boosting machines."""

from __future__ import annotations

import inspect
import warnings
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.model_selection import cross_val_score

from dpcore.domain.schema import Schema
from dpcore.errors import BudgetError, PrivacyLeakWarning, RequestError
from dpcore.models.ebm.learning.estimator import DPEBMClassifier, DPEBMRegressor
from dpcore.models.ebm.released.model import EBMModel
from dpcore.models.ebm.released.parameters import EBMParameters
from dpcore.privacy.accountant import BudgetAccountant
from dpcore.released.release import Release

SCHEMA = Schema.from_text(
    """
name: ward
max_rows: 1000
columns:
  - {name: age, type: integer, lower: 20, upper: 100, bins: 8}
  - {name: sex, type: categorical, categories: [f, m]}
  - {name: died, type: boolean}
  - {name: stay, type: real, lower: 0, upper: 60, bins: 6}
"""
)
KINDS = [DPEBMClassifier, DPEBMRegressor]
ROWS = 800


def ward() -> tuple[pd.DataFrame, pd.Series, pd.Series]:
    draw = np.random.default_rng(1)
    age = draw.integers(20, 101, ROWS)
    frame = pd.DataFrame({"age": age, "sex": draw.choice(["f", "m"], ROWS)})
    died = draw.random(ROWS) < np.where(age > 60, 0.9, 0.1)
    stay = np.clip(age / 3 + 2 * draw.normal(size=ROWS), 0, 60)
    return frame, pd.Series(died, name="died"), pd.Series(stay, name="stay")


def only(target: str) -> Schema:
    """The schema with one of the two targets."""
    other = "stay" if target == "died" else "died"
    columns = [column for column in SCHEMA.columns if column.name != other]
    return SCHEMA.model_copy(update={"columns": tuple(columns)})


def make(kind: Any, **changes: Any) -> Any:
    target = "stay" if kind is DPEBMRegressor else "died"
    return kind(**{"epsilon": 8, "schema": only(target), "target": target, **changes})


def fitted(kind: Any, **changes: Any) -> Any:
    frame, died, stay = ward()
    return make(kind, **changes).fit(frame, stay if kind is DPEBMRegressor else died)


@pytest.mark.parametrize("kind", KINDS)
def test_every_parameter_is_a_keyword_with_its_default(kind):
    shared = {"self", "epsilon", "schema", "target", "accountant", "random_state"}
    keywords = inspect.signature(kind.__init__).parameters
    assert set(keywords) - shared == set(EBMParameters.model_fields)
    for name, field in EBMParameters.model_fields.items():
        expected = False if name == "evaluate" else field.default
        assert keywords[name].default == expected, name
        assert keywords[name].kind is inspect.Parameter.KEYWORD_ONLY
        assert name in kind.__doc__


def test_a_classifier_fits_predicts_and_carries_its_release():
    frame, died, _ = ward()
    model = fitted(DPEBMClassifier)
    assert is_classifier(model)
    assert not is_regressor(model)
    assert model.score(frame, died) > 0.85
    proba = model.predict_proba(frame)
    assert proba.shape == (ROWS, 2)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert model.classes_.tolist() == [False, True]
    assert isinstance(model.model_, EBMModel)
    assert model.n_features_in_ == 2
    card = model.release_.certificate
    assert (card.definition, card.epsilon, card.delta) == ("approximate", 8, Decimal("0.00001"))
    assert card.private


def test_a_regressor_fits_predicts_and_carries_its_release():
    frame, _, stay = ward()
    model = fitted(DPEBMRegressor)
    assert is_regressor(model)
    assert model.score(frame, stay) > 0.7  # R squared
    predicted = model.predict(frame)
    assert predicted.shape == (ROWS,)
    assert predicted.min() >= 0
    assert predicted.max() <= 60
    assert not hasattr(model, "classes_")
    assert model.model_.task == "regression"


@pytest.mark.parametrize("kind", KINDS)
def test_both_parts_of_the_guarantee_are_charged(kind):
    budget = BudgetAccountant(10, delta_cap="0.0001")
    fitted(kind, accountant=budget, delta="0.00001")
    assert budget.spent == 8
    assert budget.delta_spent == Decimal("0.00001")
    tight = BudgetAccountant(10, delta_cap="0.000001")
    with pytest.raises(BudgetError, match="delta"):
        fitted(kind, accountant=tight)
    assert tight.spent == 0


def test_cross_validation_charges_every_fold():
    frame, _, stay = ward()
    budget = BudgetAccountant(50)
    scores = cross_val_score(make(DPEBMRegressor, accountant=budget), frame, stay, cv=4)
    assert scores.mean() > 0.6
    assert [entry.epsilon for entry in budget.entries] == [Decimal(8)] * 4
    assert budget.delta_spent == Decimal("0.00004")


@pytest.mark.parametrize("kind", KINDS)
def test_a_seed_is_reproducible_and_marked(kind):
    first, second = (fitted(kind, random_state=3) for _ in range(2))
    assert first.model_ == second.model_
    assert not first.release_.certificate.private
    assert clone(first).get_params() == first.get_params()


@pytest.mark.parametrize("kind", KINDS)
def test_a_release_becomes_an_estimator_without_any_data(kind):
    frame, _, _ = ward()
    made = fitted(kind, max_bins=12, evaluate=True)
    again = kind.from_release(Release.from_json(made.release_.to_json()))
    if kind is DPEBMClassifier:
        assert again.classes_.tolist() == [False, True]
        assert np.array_equal(again.predict_proba(frame), made.predict_proba(frame))
    else:
        assert np.array_equal(again.predict(frame), made.predict(frame))
    assert again.max_bins == 12
    assert again.model_.evaluation is not None
    assert again.n_features_in_ == 2


def test_a_release_of_the_other_kind_of_target_is_refused():
    with pytest.raises(RequestError, match="not a number"):
        DPEBMRegressor.from_release(fitted(DPEBMClassifier).release_)
    with pytest.raises(RequestError, match="DPEBMRegressor"):
        DPEBMClassifier.from_release(fitted(DPEBMRegressor).release_)


def test_the_kind_of_the_target_must_fit():
    frame, died, stay = ward()
    budget = BudgetAccountant(100)
    with pytest.raises(RequestError, match="use DPEBMRegressor"):
        DPEBMClassifier(schema=only("stay"), target="stay", accountant=budget).fit(frame, stay)
    with pytest.raises(RequestError, match="use a classifier"):
        DPEBMRegressor(schema=only("died"), target="died", accountant=budget).fit(frame, died)
    assert budget.spent == 0


def test_without_a_schema_it_warns_that_nothing_is_promised():
    frame, died, stay = ward()
    with pytest.warns(PrivacyLeakWarning, match="not differentially private") as caught:
        model = DPEBMRegressor(epsilon=8).fit(frame, stay)
    assert caught[0].filename == __file__
    column = model.schema_.column("stay")
    assert (column.lower, column.upper) == (stay.min(), stay.max())
    assert model.score(frame, stay) > 0.7
    with pytest.warns(PrivacyLeakWarning):
        classes = DPEBMClassifier(epsilon=8).fit(frame, died.astype(int))
    assert set(classes.predict(frame)) <= {0, 1}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted(DPEBMRegressor)


def test_a_target_without_numbers_is_no_number():
    frame, _, _ = ward()
    with (
        pytest.warns(PrivacyLeakWarning),
        pytest.raises(RequestError, match="y holds no numbers"),
    ):
        DPEBMRegressor().fit(frame, np.array(["a"] * ROWS))
