"""The scikit-learn side of boosting machines, beside what holds for every estimator."""

from __future__ import annotations

from decimal import Decimal

import numpy as np
import pytest

from dpcore.errors import BudgetError, PrivacyLeakWarning, RequestError
from dpcore.models.ebm.learning.ebm_estimator import DPEBMClassifier, DPEBMRegressor
from dpcore.privacy.accountant import BudgetAccountant
from tests.support.learning.estimators import CASES, ROWS, ward

CLASSIFIER, REGRESSOR = (CASES[f"DPEBM{kind}"] for kind in ("Classifier", "Regressor"))


@pytest.mark.parametrize("case", [CLASSIFIER, REGRESSOR])
def test_both_parts_of_the_guarantee_are_charged(case):
    budget = BudgetAccountant(30, delta_cap="0.0001")
    case.fit(accountant=budget, delta="0.00001")
    assert budget.spent <= 20
    assert budget.total.delta == Decimal("0.00001")
    tight = BudgetAccountant(20, delta_cap="0.00000001")
    with pytest.raises(BudgetError, match="delta"):
        case.fit(accountant=tight, delta="0.01")
    assert tight.spent == 0
    pure = BudgetAccountant(30, delta_cap=0)
    with pytest.raises(BudgetError, match="pure only"):
        case.fit(accountant=pure)


@pytest.mark.parametrize("case", [CLASSIFIER, REGRESSOR])
def test_a_budget_gives_a_fit_its_part_of_delta(case):
    """So a fit of the whole epsilon is accepted, as adding epsilons would."""
    budget = BudgetAccountant(20)
    assert case.fit(accountant=budget).release_.certificate.delta == budget.filter.run_delta
    assert 19 < budget.spent <= 20


@pytest.mark.parametrize(
    ("kind", "case", "sentence"),
    [
        (DPEBMClassifier, REGRESSOR, "use DPEBMRegressor"),
        (DPEBMRegressor, CLASSIFIER, "use a classifier"),
    ],
)
def test_the_kind_of_the_target_must_fit(kind, case, sentence):
    budget = BudgetAccountant(100)
    model = kind(schema=case.schema, target=case.target, accountant=budget)
    with pytest.raises(RequestError, match=sentence):
        model.fit(case.rows, case.truth)
    assert budget.spent == 0


def test_without_a_schema_bounds_and_classes_are_those_of_the_target():
    people = ward()
    rows, stay = people[["age", "sex"]], people["stay"]
    with pytest.warns(PrivacyLeakWarning):
        column = REGRESSOR.make(schema=None).fit(rows, stay).schema_.column("stay")
    assert (column.lower, column.upper) == (stay.min(), stay.max())
    with pytest.warns(PrivacyLeakWarning):
        classes = CLASSIFIER.make(schema=None).fit(rows, people["died"].astype(int))
    assert set(classes.predict(rows)) <= {0, 1}


def test_a_target_without_numbers_is_no_number():
    with (
        pytest.warns(PrivacyLeakWarning),
        pytest.raises(RequestError, match="y holds no numbers"),
    ):
        DPEBMRegressor().fit(REGRESSOR.rows, np.array(["a"] * ROWS))
