"""What holds for every scikit-learn estimator of the package: charges, promises, releases."""

from __future__ import annotations

import copy
import pickle
import warnings
from decimal import Decimal
from functools import cache
from inspect import signature
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.ensemble import BaggingClassifier
from sklearn.metrics import accuracy_score, get_scorer, roc_auc_score
from sklearn.model_selection import cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, IngestError, InputError, PrivacyLeakWarning, RequestError
from dpcore.learning import sklearn_base
from dpcore.privacy.accountant import BudgetAccountant
from dpcore.released.release import Release
from tests.support.learning import estimators
from tests.support.learning.configurations import beyond_bounds, choices
from tests.support.learning.estimators import CASES, ROWS, TELLING, Case
from tests.support.workspaces.fake_learner import real_learners

EVERY = pytest.mark.parametrize("case", CASES.values(), ids=CASES)
PREDICTING = {name: case for name, case in CASES.items() if case.target}
CLASSIFIERS = {name: case for name, case in PREDICTING.items() if not case.numeric}
PREDICTS = pytest.mark.parametrize("case", PREDICTING.values(), ids=PREDICTING)
CLASSIFIES = pytest.mark.parametrize("case", CLASSIFIERS.values(), ids=CLASSIFIERS)


@cache
def fitted(kind: Any, **changes: Any) -> Any:
    """A fit that is only read."""
    return CASES[kind.__name__].fit(**changes)


def test_every_family_has_an_estimator() -> None:
    assert {case.kind._learner.name for case in CASES.values()} == set(real_learners())


@EVERY
def test_the_written_init_has_the_parameters_of_the_family_with_their_defaults(case: Case) -> None:
    written = signature(case.kind).parameters
    fields = case.kind._learner.parameters.model_fields
    target = ["target"] if case.target else []
    assert list(written) == ["epsilon", "schema", *target, *fields, "accountant", "random_state"]
    assert {name for name, one in written.items() if one.kind is not one.KEYWORD_ONLY} == {"epsilon"}
    given = {name: written[name].default for name in fields}
    usual = {name: False if name == "evaluate" else field.default for name, field in fields.items()}
    assert given == {name: float(one) if isinstance(one, Decimal) else one for name, one in usual.items()}


# A fit


@EVERY
def test_a_fit_carries_its_release(case: Case) -> None:
    model = fitted(case.kind)
    assert isinstance(model.model_, case.kind._learner.family.model)
    assert model.n_features_in_ == len(case.features)
    assert model.schema_ == case.schema
    assert model.release_.kind == case.kind._learner.name
    assert model.release_.target == case.target
    certificate = model.release_.certificate
    assert certificate.private
    assert certificate.epsilon == 20


@EVERY
def test_a_fit_finds_what_there_is(case: Case) -> None:
    assert case.finds(fitted(case.kind, random_state=2))


@PREDICTS
def test_a_prediction_is_a_class_or_a_number_within_its_bounds(case: Case) -> None:
    model = fitted(case.kind, random_state=2)
    assert (is_classifier(model), is_regressor(model)) == (not case.numeric, case.numeric)
    assert hasattr(model, "classes_") != case.numeric
    predicted = model.predict(case.rows)
    assert predicted.shape == (ROWS,)
    if case.numeric:
        assert 0 <= predicted.min() <= predicted.max() <= 40


@CLASSIFIES
def test_chances_of_all_classes_sum_to_one(case: Case) -> None:
    model = fitted(case.kind, random_state=2)
    proba = model.predict_proba(case.rows)
    assert proba.shape == (ROWS, 2)
    np.testing.assert_allclose(proba.sum(axis=1), 1)
    assert model.classes_.tolist() == [False, True]
    assert model.predict(case.rows).dtype == bool


@EVERY
def test_a_seed_repeats_itself_and_is_marked(case: Case) -> None:
    first, second = (case.fit(epsilon=1, random_state=3) for _ in range(2))
    assert first.model_ == second.model_
    assert case.fit(epsilon=1, random_state=4).model_ != first.model_
    assert first.release_.certificate.randomness == "not private: seeded"
    assert not first.release_.certificate.private


@EVERY
def test_a_seed_warns_the_caller_before_anything_is_charged(case: Case) -> None:
    budget = BudgetAccountant(50)
    with pytest.warns(PrivacyLeakWarning, match="not differentially private.*repeatable") as caught:
        release = case.fit(random_state=3).release_
    assert caught[0].filename == estimators.__file__
    with pytest.warns(PrivacyLeakWarning, match="repeatable"):
        case.kind.from_release(release)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(PrivacyLeakWarning, match="repeatable"):
            case.fit(random_state=3, accountant=budget)
    assert budget.entries == []


def test_seeds_that_an_ensemble_gives_its_members_are_warned_of() -> None:
    case = CASES["DPTreeClassifier"]
    ensemble = BaggingClassifier(case.make(epsilon=1), n_estimators=1, bootstrap=False)
    with pytest.warns(PrivacyLeakWarning, match="repeatable"):
        ensemble.fit(case.rows, case.truth)
    assert not ensemble.estimators_[0].release_.certificate.private


@PREDICTS
def test_evaluation_on_the_hold_out_part_is_an_option(case: Case) -> None:
    assert fitted(case.kind).model_.evaluation is None
    checked = case.fit(evaluate=True)
    assert checked.model_.evaluation is not None
    assert checked.release_.certificate.parallel_split == {"evaluation": Decimal(20)}


# Budgets


@EVERY
def test_clones_carry_all_settings_and_share_the_budget(case: Case) -> None:
    budget = BudgetAccountant(3)
    model = case.make(accountant=budget, random_state=4, **TELLING[case.kind.__name__])
    again = clone(model)
    assert again.get_params() == model.get_params()
    assert again.accountant is budget
    assert copy.deepcopy(model).accountant is budget
    assert clone(model.set_params(epsilon=2)).epsilon == 2
    with pytest.raises(TypeError, match="n_jobs=1; to save an estimator, save its release"):
        pickle.dumps(model)
    pickle.dumps(model.set_params(accountant=None))


@EVERY
def test_every_fit_is_charged_until_nothing_is_left(case: Case) -> None:
    budget = BudgetAccountant(50)
    first = case.fit(accountant=budget)
    clone(first).fit(case.rows, case.truth)
    assert {entry.label for entry in budget.entries} == {case.kind._learner.title}
    card = first.release_.certificate
    assert [entry.loss.epsilon for entry in budget.entries] == [card.epsilon] * 2
    assert budget.total.delta == 2 * card.delta
    assert budget.share < 1
    if not card.delta:  # Gaussian noise composes, so that more than two such fits are accepted.
        with pytest.raises(BudgetError, match="above the cap"):
            clone(first).fit(case.rows, case.truth)


@PREDICTS
def test_cross_validation_charges_every_fold(case: Case) -> None:
    budget = BudgetAccountant(100)
    scores = cross_val_score(case.make(accountant=budget), case.rows, case.truth, cv=5)
    assert len(scores) == 5
    assert scores.mean() > 0.85  # Forests of so little privacy vary most: about .92, with a deviation of .013.
    assert [entry.loss.epsilon for entry in budget.entries] == [Decimal(20)] * 5


@pytest.mark.parametrize("order", [("0", "1"), ("1", "0")], ids=str)
def test_cross_validated_chances_are_of_the_classes_in_ascending_order(order: tuple[str, str]) -> None:
    """Scikit-learn numbers the labels from 0 before it fits: a schema must list them so."""
    case = CLASSIFIERS["DPTreeClassifier"]
    column = {"name": "end", "type": "categorical", "categories": order}
    features = [case.schema.column(name).model_dump() for name in case.features]
    schema = Schema.from_mapping({"name": "e", "max_rows": 1000, "columns": [*features, column]})
    model = case.make(schema=schema, target="end", random_state=1)
    chances = cross_val_predict(model, case.rows, case.truth.astype(int), cv=2, method="predict_proba")
    assert roc_auc_score(case.truth, chances[:, 1]) > 0.9


@EVERY
@pytest.mark.parametrize(("cap", "error"), [(20, IngestError), (19, BudgetError)])
def test_the_charge_comes_before_the_records(
    case: Case, monkeypatch: pytest.MonkeyPatch, cap: int, error: type[Exception]
) -> None:
    """Should the run fail after a record was touched, the budget is spent; else none was."""
    budget, seen = BudgetAccountant(cap), []

    def broken(*_: Any) -> None:
        seen.append(len(budget.entries))
        raise IngestError("The disk is full.")

    monkeypatch.setattr(sklearn_base, "ingest", broken)
    with pytest.raises(error):
        case.fit(accountant=budget)
    assert seen == ([1] if error is IngestError else [])
    assert len(budget.entries) == len(seen)


@EVERY
def test_what_is_no_epsilon_no_choice_or_beyond_its_bounds_costs_nothing(case: Case) -> None:
    budget, known = BudgetAccountant(50), case.kind._learner.parameters
    words, numbers = [(name, "guess") for name in choices(known)], beyond_bounds(known)
    assert words
    assert numbers
    for name, value in (*words, *numbers):
        with pytest.raises(RequestError, match=name):
            case.fit(accountant=budget, **{name: value})
    for epsilon in (0, float("nan")):
        with pytest.raises(BudgetError):
            case.fit(accountant=budget, epsilon=epsilon)
    assert budget.entries == []


@pytest.mark.crossed
@EVERY
@pytest.mark.parametrize("seed", [np.random.RandomState(0), np.random.default_rng(0), 1.5, "a", -1], ids=str)
def test_a_random_state_that_is_no_seed_costs_nothing(case: Case, seed: object) -> None:
    budget = BudgetAccountant(50)
    with pytest.raises(InputError, match="random_state must be None"):
        case.fit(accountant=budget, random_state=seed)
    assert budget.entries == []


@EVERY
def test_an_absent_table_costs_nothing(case: Case) -> None:
    child = {"name": "visit", "max_rows_per_person": 2, "columns": [{"name": "urgent", "type": "boolean"}]}
    more = {"privacy_unit": {"column": "person"}, "children": [child]}
    schema = Schema.from_mapping({**case.schema.model_dump(mode="json"), **more})
    budget = BudgetAccountant(50)
    with pytest.raises(IngestError, match="visit"):
        case.make(schema=schema, accountant=budget).fit(case.rows.assign(person=range(ROWS)), case.truth)
    assert budget.entries == []


@EVERY
def test_an_absent_column_costs_nothing(case: Case) -> None:
    budget = BudgetAccountant(50)
    with pytest.raises(InputError):
        case.make(accountant=budget).fit(case.rows.drop(columns="sex"), case.truth)
    assert budget.spent == 0


@pytest.mark.parametrize("name", ["DPRuleListClassifier", "DPTreeClassifier"])
def test_a_small_fit_within_a_budget_is_made_to_compose(name: str) -> None:
    case = next(own for own in CASES.values() if own.kind.__name__ == name)
    alone = case.fit(epsilon="0.1").release_.certificate
    pure, composing = BudgetAccountant(3, delta_cap=0), BudgetAccountant(3)
    assert case.fit(epsilon="0.1", accountant=pure).release_.certificate.definition == alone.definition == "pure"
    made = case.fit(epsilon="0.1", accountant=composing).release_
    card = made.certificate
    assert (card.definition, card.epsilon, card.delta) == ("approximate", alone.epsilon, composing.filter.run_delta)
    assert "shares of rho" in card.composition
    assert case.kind.from_release(Release.from_json(made.to_json())).epsilon == card.epsilon
    assert composing.total.rho == card.rho


# Forms of records


@PREDICTS
def test_arrays_and_pipelines_are_fitted_like_frames(case: Case) -> None:
    model = case.make(random_state=1)
    pipeline = make_pipeline(FunctionTransformer(), clone(model)).fit(case.rows, case.truth)
    assert case.finds(pipeline[-1])
    values = case.rows.to_numpy(dtype=object)
    target = {"target": case.target}
    unnamed = clone(model).set_params(**target).fit(values, case.truth.to_numpy())
    assert unnamed.model_ == pipeline[-1].model_
    assert case.told(unnamed, values) == case.told(pipeline[-1])
    with pytest.raises(RequestError, match="3 features, but Frostglass is expecting 2"):
        case.make().fit(np.zeros((ROWS, 3)), case.truth)


SPELLINGS = {
    "bool": lambda died: died,
    "int": lambda died: died.astype(int),
    "float": lambda died: died.astype(float),
    "words": lambda died: died.map({True: "yes", False: "no"}).astype(object),
    "list": lambda died: died.tolist(),
    "frame": lambda died: died.to_frame(),
    "column": lambda died: died.to_numpy()[:, None],
}


@CLASSIFIES
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.DataConversionWarning")
def test_every_spelling_of_a_label_gives_the_same_labels_and_score(case: Case) -> None:
    plain = case.fit(random_state=1)
    predicted, weights = plain.predict(case.rows), np.arange(ROWS)
    for spell in SPELLINGS.values():
        given = spell(case.truth)
        model = case.make(random_state=1, target="died").fit(case.rows, given)
        assert model.model_ == plain.model_
        assert model.predict(case.rows).dtype == bool
        assert model.score(case.rows, given) == (predicted == case.truth).mean()
        weighted = np.average(predicted == case.truth, weights=weights)
        assert model.score(case.rows, given, sample_weight=weights) == pytest.approx(weighted)


@CLASSIFIES
def test_a_target_of_three_words_and_a_column_named_by_the_caller(case: Case) -> None:
    age = case.frame["age"]
    grade = pd.Series(np.where(age > 70, "high", np.where(age > 40, "mid", "low")))
    column = {"name": "grade", "type": "ordinal", "categories": ["low", "mid", "high"]}
    features = [case.schema.column(name).model_dump() for name in case.features]
    schema = Schema.from_mapping({"name": "g", "max_rows": 1000, "columns": [*features, column]})
    model = case.make(schema=schema, target="grade", epsilon=200, random_state=1)
    model.fit(case.rows, grade)
    assert model.classes_.tolist() == ["high", "low", "mid"]
    assert model.predict_proba(case.rows).shape == (ROWS, 3)
    assert set(model.predict(case.rows)) <= {"low", "mid", "high"}
    assert accuracy_score(grade, model.predict(case.rows)) == model.score(case.rows, grade)
    assert model.score(case.rows, grade) > 0.7


@pytest.mark.crossed
@CLASSIFIES
@pytest.mark.parametrize("labels", [("survived", "died"), (1, 0)], ids=str)
def test_scorers_of_scikit_learn_agree_however_a_schema_lists_its_classes(
    case: Case, labels: tuple[str | int, str | int]
) -> None:
    column = {"name": "end", "type": "categorical", "categories": [str(label) for label in labels]}
    features = [case.schema.column(name).model_dump() for name in case.features]
    schema = Schema.from_mapping({"name": "e", "max_rows": 1000, "columns": [*features, column]})
    end = case.truth.map({False: labels[0], True: labels[1]})
    model = case.make(schema=schema, target="end", random_state=1).fit(case.rows, end)
    assert model.classes_.tolist() == sorted(labels)
    chances = model.predict_proba(case.rows)
    by_hand = roc_auc_score(case.truth, chances[:, sorted(labels).index(labels[1])])
    assert get_scorer("roc_auc")(model, case.rows, end) == pytest.approx(by_hand)
    assert by_hand > 0.9
    assert get_scorer("accuracy")(model, case.rows, end) == model.score(case.rows, end) > 0.85


@PREDICTS
def test_predictions_read_the_same_columns_as_fits(case: Case) -> None:
    """A column may stand under its own name, or be made of others of the file."""
    columns = {name: case.schema.column(name).model_dump(mode="json") for name in [*case.features, case.target]}
    columns["age"] = {"name": "year", "type": "integer", "lower": 1920, "upper": 2000, "bins": 8}
    columns["age"]["derive"] = {"part": "year", "of": "born"}
    columns["sex"]["derive"] = {"column": "Geschlecht"}
    schema = Schema.from_mapping({"name": "raw", "max_rows": 1000, "columns": list(columns.values())})
    years = 2020 - case.frame["age"]
    raw = pd.DataFrame({"born": [f"{year}-05-01" for year in years], "Geschlecht": case.frame["sex"]})
    made = pd.DataFrame({"year": years, "sex": case.frame["sex"]})
    model = case.make(schema=schema, random_state=2).fit(raw, case.truth)
    predicted = model.predict(raw)
    assert len(set(predicted)) > 1
    assert predicted.tolist() == model.predict(made).tolist()
    if hasattr(model.model_, "explain"):
        known = [part.label for part in model.model_.explain(raw.iloc[0].to_dict(), schema)]
        assert known == [part.label for part in model.model_.explain(made.iloc[0].to_dict(), schema)]


@PREDICTS
def test_several_rows_of_a_person(case: Case) -> None:
    unit = {"column": "person", "max_rows_per_person": 2}
    schema = Schema.from_mapping({**case.schema.model_dump(mode="json"), "privacy_unit": unit})
    with pytest.raises(IngestError, match="no column 'person'"):
        case.fit(schema=schema)
    people = case.rows.assign(person=[f"p{i // 3}" for i in range(ROWS)])
    model = case.make(schema=schema, epsilon=200, random_state=2).fit(people, case.truth)
    assert model.release_.certificate.max_rows_per_person == 2
    assert model.score(people, case.truth) > 0.8


@EVERY
def test_without_a_schema_it_warns_the_caller_that_nothing_is_promised(case: Case) -> None:
    sides = (case.rows[["age", "sex"]], case.frame[["died"]])
    given = (case.rows, case.truth) if case.target else sides
    with pytest.warns(PrivacyLeakWarning, match="not differentially private") as caught:
        model = case.make(schema=None).fit(*given)
    assert caught[0].filename == __file__
    assert not model.release_.certificate.private
    if case.target:
        assert case.finds(model)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        case.fit()


# Releases


@EVERY
def test_a_release_becomes_an_estimator_without_any_data(case: Case) -> None:
    settings = TELLING[case.kind.__name__]
    made = case.fit(epsilon="20.5", **settings)
    again = case.kind.from_release(Release.from_json(made.release_.to_json()))
    assert case.told(again) == case.told(made)
    assert again.release_ == made.release_
    assert again.model_ == made.model_
    assert again.epsilon == Decimal("20.5")
    assert again.n_features_in_ == len(case.features)
    for name, value in settings.items():
        assert again.get_params()[name] == value
    if hasattr(made, "classes_"):
        assert again.classes_.tolist() == made.classes_.tolist()
    assert clone(again).fit(case.rows, case.truth).model_


@EVERY
def test_a_release_of_another_family_is_refused(case: Case) -> None:
    release = fitted(case.kind).release_
    other = release.model_copy(update={"kind": "fake"})
    with pytest.raises(RequestError, match=f"'fake'.* reads a '{release.kind}'"):
        case.kind.from_release(other)
