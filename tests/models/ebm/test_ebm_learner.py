"""The learner end to end: refusals, shapes, noise and nothing but noise."""

from __future__ import annotations

from decimal import Decimal
from random import Random

import numpy as np
import pandas as pd
import pytest

from dpcore.errors import BudgetError, PrivacyLeakWarning, RequestError, SchemaError
from dpcore.models.ebm.learning.ebm_estimator import DPEBMClassifier, DPEBMRegressor
from dpcore.privacy.accountant import BudgetAccountant
from tests.support.learning import ebm_cases as cases
from tests.support.learning.configurations import draw_person, table_of
from tests.support.learning.estimators import CASES, ROWS, ward
from tests.support.rows import for_each
from tests.support.tables import toy_people
from tests.support.tables.small_tables import schema_of

LEARNER = cases.LEARNER
SCHEMA = toy_people.schema()
TABLE = toy_people.table(SCHEMA)
TARGETS = ["ill", "stage", "age"]
#: Quick, and all that a run can do.
QUICK = [{}, {"pairs": 2}, {"method": "random_splits", "epochs": 30}]


# Plans


def one_column(**target):
    return schema_of([{"name": "y", **target}])


def number_between(lower, upper, **more):
    number = {"name": "y", "type": "real", "lower": lower, "upper": upper, "bins": 4}
    return schema_of([number, {"name": "x", "type": "boolean"}], **more)


@for_each(
    ("domain", "target", "chosen", "words"),
    [
        (one_column(type="boolean"), "y", {}, "no column to learn from"),
        (number_between(-8e307, 8e307), "y", {}, "bounds of 'y' are too far apart"),
        (number_between(0, 1e-31), "y", {}, "bounds of 'y' are too far apart or too close"),
        (SCHEMA, "ill", {"pairs": 7}, "4 columns make fewer than 7 pairs"),
        (SCHEMA, "ill", {"pairs": 4, "decreasing": ["age"]}, r"only falls \(1\), make fewer than 4 pairs"),
        (SCHEMA, "ill", {"pairs": 1, "method": "random_splits"}, "no pairwise terms"),
        (SCHEMA, "ill", {"delta": "0.02"}, "delta"),
        (SCHEMA, "ill", {"delta": "nan"}, "delta"),
        (SCHEMA, "ill", {"bin_share": 1}, "bin_share"),
        (SCHEMA, "ill", {"increasing": ["smoker"]}, "in no order"),
        (SCHEMA, "ill", {"increasing": ["ill"]}, "has no shape"),
        (SCHEMA, "stage", {"decreasing": ["age"]}, "two classes"),
        (SCHEMA, "ill", {"increasing": ["age"], "decreasing": ["age"]}, "cannot both"),
        (SCHEMA, "ill", {"increasing": ["age"], "method": "random_splits"}, "only rise"),
    ],
)
def test_what_cannot_be_done_is_refused_in_a_sentence(domain, target, chosen, words):
    with pytest.raises((RequestError, SchemaError), match=words) as caught:
        LEARNER.plan(domain, target, Decimal(1), chosen)
    sentence = str(caught.value)
    assert sentence.endswith("."), "a sentence"
    assert "pydantic" not in sentence


@pytest.mark.parametrize("classes", [1, 51])
def test_a_target_of_one_class_or_too_many_is_refused(classes):
    names = [f"c{i}" for i in range(classes)]
    domain = schema_of([{"name": "x", "type": "boolean"}, {"name": "y", "type": "categorical", "categories": names}])
    with pytest.raises(RequestError, match="choose"):
        LEARNER.plan(domain, "y", Decimal(1), {})


def test_too_much_work_is_refused():
    huge = toy_people.schema(max_rows=100_000_000)
    with pytest.raises(RequestError, match="hours"):
        LEARNER.plan(huge, "ill", Decimal(1), {"epochs": 1000, "replicates": 10})
    LEARNER.plan(huge, "ill", Decimal(1), {})


def test_expected_noise_is_the_noise_on_a_category():
    for epsilon in ("0.1", "1", "10"):
        plan, model = cases.fit(TABLE, "ill", epsilon, evaluate=True, epochs=2)
        smoker = next(term for term in model.terms if term.name == "smoker")
        assert plan.count_noise[0].scale == pytest.approx(smoker.count_errors[0])
        assert plan.count_margin() <= model.count_margin <= plan.count_noise[-1].margin()


# Runs


@pytest.mark.parametrize("target", ["ill", "stay"])
def test_shapes_may_be_held_to_rise_or_fall(target):
    """x2 tells nothing, so its shape goes both ways unless it is held; x0 rises and is held to fall."""
    private = cases.table(cases.frame(1000, seed=5), cases.schema(target=target))
    _, held = cases.fit(private, target, "2", increasing=["x2"], decreasing=["x0"])
    _, free = cases.fit(private, target, "2")
    x0, _, x2, _ = (np.diff([score for (score,) in term.scores[:-1]]) for term in held.terms)
    assert (x2 >= -1e-12).all()
    assert (x0 <= 1e-12).all()
    assert (np.diff([score for (score,) in free.terms[0].scores[:-1]]) > 0).any()


def test_missing_and_other_values_have_bins_of_their_own():
    data = cases.frame(3000, seed=2)
    data.loc[data["ill"] == "yes", "x0"] = np.where(
        np.random.default_rng(0).random((data["ill"] == "yes").sum()) < 0.6, np.nan, 0.5
    )
    data.loc[data["ill"] == "no", "c"] = "elsewhere"
    private = cases.table(data, cases.schema(max_rows=3000))
    _, model = cases.fit(private, "ill", "20")
    x0, c = model.terms[0], model.terms[3]
    assert x0.labels[-1] == "(missing)"
    assert x0.scores[-1][0] == max(score for (score,) in x0.scores)
    assert x0.noisy_counts[-1] == pytest.approx(data["x0"].isna().sum(), abs=30)
    assert c.labels == ("a", "b", "d", "(other)", "(missing)")
    assert c.scores[3][0] == min(score for (score,) in c.scores)
    raw = pd.DataFrame({"x0": [None, "abc"], "c": ["never seen", None]})
    assert x0.bins(raw, private.schema).tolist() == [len(x0.labels) - 1] * 2
    assert c.bins(raw, private.schema).tolist() == [3, 4]


@for_each(("lower", "upper"), [(0, 1e-30), (-5e29, 5e29), (1e9, 1e9 + 2)])
def test_targets_of_any_size_give_numbers(lower, upper):
    """Nothing that is squared and squared again leaves the range of numbers."""
    domain = number_between(lower, upper, holdout_percent=50)
    table = table_of(domain, [draw_person(Random(seed), domain) for seed in range(12)])
    with np.errstate(all="raise", under="ignore"):
        for chosen in ({"epochs": 2}, {"method": "random_splits", "epochs": 2}):
            for epsilon in ("0.1", "1000"):
                _, model = cases.fit(table, "y", epsilon, evaluate=True, **chosen)
                cases.check_finite(model)


# What a release may depend on


def bins_of(model):
    return [[len(axis) for axis in term.axes] for term in model.terms]


def test_shapes_of_a_release_depend_on_public_inputs_and_noisy_bins_only():
    domain = cases.schema()
    models = [
        cases.fit(cases.table(cases.frame(rows, seed=rows), domain), "ill", source=rows, pairs=2)[1]
        for rows in (0, 100, 1000)
    ]
    for model in models:
        assert [term.name for term in model.terms[:4]] == ["x0", "x1", "x2", "c"]
        assert bins_of(model)[3] == [5]
        assert len(model.terms) == 6
        assert all(2 <= bins[0] <= 33 for bins in bins_of(model)[:3])
        assert all(max(bins) <= 8 for bins in bins_of(model)[4:])
    # Bins come from noisy histograms: fewer where all is noise.
    assert sum(map(sum, bins_of(models[0])[:3])) < sum(map(sum, bins_of(models[2])[:3]))


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
    [(DPEBMClassifier, REGRESSOR, "use DPEBMRegressor"), (DPEBMRegressor, CLASSIFIER, "use a classifier")],
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
    with pytest.warns(PrivacyLeakWarning), pytest.raises(RequestError, match="y holds no numbers"):
        DPEBMRegressor().fit(REGRESSOR.rows, np.array(["a"] * ROWS))
