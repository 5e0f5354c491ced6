"""On neighbouring data an estimator is of the same form: types follow from the schema."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array, dok_array
from sklearn.exceptions import DataConversionWarning, NotFittedError

from dpcore.domain.columns import COLUMN_ADAPTER
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError, InputError, PrivacyLeakWarning
from dpcore.learning.sklearn_frames import class_labels, class_places, prepare_fit
from dpcore.models.ebm.learning.ebm_estimator import DPEBMClassifier, DPEBMRegressor
from dpcore.models.ilp.learning.ilp_estimator import DPILPClassifier
from dpcore.models.redescriptions.learning.redescription_estimator import RedescriptionMiner
from dpcore.models.rules.learning.rule_list_estimator import DPRuleListClassifier
from dpcore.models.trees.learning.tree_estimator import DPForestClassifier, DPTreeClassifier
from dpcore.privacy.accountant import BudgetAccountant
from tests.support.rows import for_each

SCHEMA = Schema.from_text(
    """
name: neighbours
max_rows: 500
columns:
  - {name: age, type: integer, lower: 0, upper: 100, bins: 5, view: left}
  - {name: sick, type: boolean, view: left}
  - {name: dose, type: real, lower: 0, upper: 1, bins: 4, view: right}
  - {name: grade, type: categorical, categories: ["1", "2", "3"], view: right}
  - {name: died, type: boolean, target: true, view: right}
"""
)
KINDS: dict[str, tuple[Callable[..., Any], str]] = {
    "rule list": (lambda **given: DPRuleListClassifier(pool_size=200, **given), "died"),
    "tree": (DPTreeClassifier, "died"),
    "tree, three classes": (DPTreeClassifier, "grade"),
    "forest": (partial(DPForestClassifier, trees=3), "died"),
    "ebm": (partial(DPEBMClassifier, epochs=4), "died"),
    "ebm, three classes": (partial(DPEBMClassifier, epochs=4), "grade"),
    "regressor": (partial(DPEBMRegressor, epochs=4), "dose"),
    "relational rules": (DPILPClassifier, "died"),
}
ODD = [None, np.nan, pd.NA, "x", 1 + 2j, 2.5, 10**30, True]


def people(rows: int = 60) -> pd.DataFrame:
    draw = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "age": draw.integers(0, 101, rows),
            "sick": draw.integers(0, 2, rows).astype(bool),
            "dose": draw.random(rows),
            "grade": draw.integers(1, 4, rows),
            "died": draw.integers(0, 2, rows),
        }
    )


def with_value(frame: pd.DataFrame, name: str, value: Any) -> pd.DataFrame:
    """The same people, but for one value of the first; pandas then chooses the type again."""
    values = frame[name].tolist()
    return frame.assign(**{name: pd.Series([value, *values[1:]])})


def fitted(kind: str, frame: pd.DataFrame) -> Any:
    make, target = KINDS[kind]
    model = make(epsilon=5, schema=SCHEMA, target=target, random_state=1)
    return model.fit(frame.drop(columns=target), frame[target])


def shape_of(model: Any, frame: pd.DataFrame) -> dict[str, Any]:
    """Everything about a fitted estimator that its data must not decide."""
    target = model.release_.target
    predicted = model.predict(frame.drop(columns=target))
    labels = getattr(model, "classes_", np.zeros(0))
    return {
        "classes": labels.tolist(),
        "type of classes": labels.dtype,
        "type": predicted.dtype,
        "features": model.n_features_in_,
        "schema": model.schema_,
        "attributes": sorted(vars(model)),
        "certificate": model.release_.certificate.model_dump(exclude={"created"}),
    }


@for_each("kind", KINDS)
def test_one_value_changes_no_type_and_no_label(kind):
    frame, target = people(), KINDS[kind][1]
    fit = fitted(kind, frame)
    expected = shape_of(fit, frame)
    for name in (target, "age"):
        for value in (None, "x"):
            neighbour = with_value(frame, name, value)
            assert value is None or neighbour[name].dtype != frame[name].dtype
            assert shape_of(fitted(kind, neighbour), frame) == expected
            assert shape_of(fit, neighbour) == expected


@pytest.mark.crossed
@pytest.mark.parametrize("value", ODD, ids=repr)
@pytest.mark.parametrize("name", ["age", "sick", "dose", "grade", "died"])
def test_one_value_changes_no_other_record(name, value):
    frame = people()
    names = [column.name for column in SCHEMA]

    def codes(rows: pd.DataFrame, *, listed: bool) -> dict[str, list[int]]:
        features, target = rows.drop(columns="died"), rows["died"]
        if listed:
            prepared = prepare_fit(
                features.to_numpy(dtype=object).tolist(), target.tolist(), SCHEMA, None, numeric_target=False
            )
        else:
            prepared = prepare_fit(features, target, SCHEMA, None, numeric_target=False)
        found = encode_columns(prepared.frame, SCHEMA, names)
        return {column: code[1:].tolist() for column, code in found.items()}

    before = codes(frame, listed=False)
    for listed in (False, True):
        assert codes(with_value(frame, name, value), listed=listed) == before


def test_nested_lists_keep_the_type_of_each_value():
    prepared = prepare_fit(
        [[50, "yes", 0.5, 1], [True, False, "x", 3.0]], [1, "no"], SCHEMA, None, numeric_target=False
    )
    assert prepared.frame.to_numpy().tolist() == [[50, "yes", 0.5, 1, 1], [True, False, "x", 3.0, "no"]]
    with pytest.raises(InputError, match="two dimensions"):
        prepare_fit([1, 2], [0, 1], SCHEMA, None, numeric_target=False)
    with pytest.raises(InputError, match="two dimensions"):
        prepare_fit([[1], [1, 2]], [0, 1], SCHEMA, None, numeric_target=False)


def test_order_of_columns_index_and_further_columns_change_nothing():
    frame = people()
    expected = fitted("tree", frame)
    other = frame[["died", "grade", "dose", "sick", "age"]].assign(unused=object())
    other.index = pd.Index([9] * len(frame))
    model = fitted("tree", other)
    assert model.model_ == expected.model_
    assert model.predict(other).tolist() == expected.predict(frame).tolist()


def test_pairs_of_conditions_have_one_type_too():
    frame = people()
    views = ["age", "sick"], ["dose", "grade", "died"]

    def mined(rows: pd.DataFrame) -> Any:
        miner = RedescriptionMiner(epsilon=5, schema=SCHEMA, random_state=1)
        return miner.fit(rows[views[0]], rows[views[1]])

    expected = mined(frame)
    for value in (None, "x"):
        neighbour = with_value(frame, "grade", value)
        model = mined(neighbour)
        assert sorted(vars(model)) == sorted(vars(expected))
        assert model.transform(neighbour).dtype == expected.transform(frame).dtype == bool
        assert model.n_features_in_ == expected.n_features_in_


#: What is not of the form of records, by what it should be told: X and y of :func:`people`.
FORMS: dict[str, tuple[Callable[[Any, Any], tuple[Any, Any]], str]] = {
    "one dimension": (lambda x, y: (x["age"], y), "Reshape your data"),
    "a list of numbers": (lambda x, y: (x["age"].tolist(), y), "Reshape your data"),
    "too narrow": (lambda x, y: (x.to_numpy()[:, :2], y), "has 2 features.* expecting 4 features"),
    "without a column": (lambda x, y: (x.drop(columns="age"), y), "no column 'age'"),
    "no rows": (lambda x, y: (x.iloc[:0], y.iloc[:0]), "0 sample"),
    "no columns": (lambda x, y: (x[[]], y), "no column 'age'"),
    "sparse": (lambda x, y: (csr_array((len(x), 4)), y), "sparse"),
    "sparse, by keys": (lambda x, y: (dok_array((len(x), 4)), y), "sparse"),
    "no target": (lambda x, y: (x, None), "requires y"),
    "a list of texts": (lambda x, y: (["a" * x.shape[1]] * len(x), y), "Reshape your data"),
    "a text for y": (lambda x, y: (x, "1" * len(x)), "one dimension"),
    "a number for y": (lambda x, y: (x, 1), "one dimension"),
    "two targets": (lambda x, y: (x, np.zeros((len(x), 2))), "one dimension"),
    "a frame of two targets": (lambda x, y: (x, pd.concat([y, y], axis=1)), "one dimension"),
    "a short target": (lambda x, y: (x, y[:-1]), "60 rows and y has 59"),
}


@pytest.mark.crossed
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("form", FORMS)
def test_what_is_not_of_the_form_of_records_is_refused_and_costs_nothing(kind, form):
    make, target = KINDS[kind]
    frame, (change, sentence) = people(), FORMS[form]
    rows, y = change(frame.drop(columns=target), frame[target])
    budget = BudgetAccountant(5)
    with pytest.raises(ValueError, match=sentence) as refusal:
        make(epsilon=5, schema=SCHEMA, target=target, accountant=budget).fit(rows, y)
    assert isinstance(refusal.value, InputError)
    assert budget.spent == 0


@for_each("kind", KINDS)
def test_prediction_asks_for_a_fit_and_for_records_of_its_form(kind):
    make, target = KINDS[kind]
    frame = people()
    rows = frame.drop(columns=target)
    model = fitted(kind, frame)
    for method in ("predict", "predict_proba"):
        if hasattr(model, method):
            with pytest.raises(NotFittedError):
                getattr(make(schema=SCHEMA), method)(rows)
            for narrow in (rows.drop(columns="age"), rows.to_numpy()[:, 1:], rows.to_numpy()[0]):
                with pytest.raises(InputError):
                    getattr(model, method)(narrow)


@for_each("kind", KINDS)
def test_prediction_and_score_refuse_the_forms_that_a_fit_refuses(kind):
    frame, target = people(), KINDS[kind][1]
    model, rows = fitted(kind, frame), frame.drop(columns=target)
    for method in ("predict", "predict_proba"):
        if hasattr(model, method):
            with pytest.raises(IngestError, match="must be distinct"):
                getattr(model, method)(pd.concat([rows, rows[["age"]]], axis=1))
    for few in (1, len(frame) - 1):
        with pytest.raises(ValueError, match="60"):
            model.score(rows, frame[target][:few])


def test_form_is_refused_without_a_word_about_values():
    with pytest.raises(InputError) as refusal:
        fitted("tree", people()).predict([71234567, 81234567])
    assert "71234567" not in str(refusal.value)


@for_each("kind", KINDS)
def test_with_a_schema_no_value_is_refused(kind):
    frame = people()
    frame.loc[0, "dose"] = np.inf
    frame["age"] = np.nan
    frame["sick"] = [1 + 2j, *[True] * (len(frame) - 1)]
    assert len(fitted(kind, frame).predict(frame)) == len(frame)


@pytest.mark.filterwarnings("ignore::dpcore.errors.PrivacyLeakWarning")
@for_each(
    ("values", "sentence"),
    [
        (np.linspace(0, 1, 60), "continuous"),
        (np.linspace(0, 1, 60).tolist(), "continuous"),
        (np.ones(60), "only one class"),
        (np.full(60, np.nan), "only one class"),
        (np.full(60, 1 + 2j), "Complex data not supported"),
    ],
)
def test_without_a_schema_a_target_must_be_classes(values, sentence):
    with pytest.raises(InputError, match=sentence):
        DPTreeClassifier().fit(people()[["age", "sick"]], values)


@pytest.mark.filterwarnings("ignore::dpcore.errors.PrivacyLeakWarning")
def test_without_a_schema_columns_are_described_by_what_they_hold():
    frame = pd.DataFrame(
        {
            "number": np.array([1.5, np.inf, None, 4.0] * 15, dtype=object),
            "text": ["(other)", "(missing)", "a", None] * 15,
            "infinite": np.full(60, np.inf),
        }
    )
    model = DPTreeClassifier(random_state=0).fit(frame, [0, 1] * 30)
    number, text, infinite = (model.schema_.column(name) for name in frame)
    assert (number.type, number.lower, number.upper) == ("real", 1.5, 4.0)
    assert text.categories == ("a",)
    assert infinite.type == "categorical"
    assert len(model.predict(frame)) == 60


@pytest.mark.filterwarnings("ignore::dpcore.errors.PrivacyLeakWarning")
@for_each("y", [pd.date_range("2024-01-01", periods=60), pd.to_timedelta(np.arange(60), unit="D")])
@for_each("form", [pd.Series, np.asarray, list])
def test_without_a_schema_dates_and_spans_are_no_numbers(y, form):
    budget = BudgetAccountant(5)
    with pytest.raises(InputError, match="no numbers"):
        DPEBMRegressor(accountant=budget).fit(people()[["age", "sick"]], form(y))
    assert budget.entries == []


@pytest.mark.filterwarnings("ignore::dpcore.errors.PrivacyLeakWarning")
def test_blanks_at_the_ends_of_names_do_not_count():
    frame = people()[["age", "sick"]].rename(columns={"age": " age", "sick": "is\nsick "})
    died = people()["died"].rename(" died ")
    model = DPTreeClassifier(random_state=1).fit(frame, died)
    assert [column.name for column in model.schema_] == ["age", "is sick", "died"]
    assert model.release_.target == "died"
    assert model.predict(frame).tolist() == model.predict(frame.set_axis(["age", "is sick"], axis=1)).tolist()
    with pytest.raises(IngestError, match="must be distinct"):
        DPTreeClassifier().fit(frame.assign(age=1), died)


def test_columns_of_one_name_are_refused_with_and_without_a_schema():
    frame = people()[["age", "age", "sick"]]
    for schema in (None, SCHEMA.model_copy(update={"columns": SCHEMA.columns[:2]})):
        with pytest.raises(IngestError, match="must be distinct"):
            RedescriptionMiner(schema=schema).fit(frame)


def test_the_values_of_a_target_are_not_taken_for_its_name():
    frame = people().rename(columns={"died": "name"})
    with pytest.warns(DataConversionWarning), pytest.warns(PrivacyLeakWarning):
        model = DPTreeClassifier().fit(frame.drop(columns="name"), frame[["name"]])
    assert model.release_.target == "target"


def test_a_column_vector_is_taken_with_a_warning():
    frame = people()
    with pytest.warns(DataConversionWarning, match="A column-vector y was passed") as caught:
        model = DPTreeClassifier(schema=SCHEMA, target="died").fit(frame.drop(columns="died"), frame[["died"]])
    assert caught[0].filename == __file__
    assert model.classes_.tolist() == [False, True]


@for_each(
    ("fields", "labels", "dtype"),
    [
        ({"type": "boolean"}, [False, True], "bool"),
        ({"type": "categorical", "categories": ["0", "1", "-2"]}, [-2, 0, 1], "int64"),
        ({"type": "ordinal", "categories": ["10", "9", "8"]}, [8, 9, 10], "int64"),
        ({"type": "categorical", "categories": ["survived", "died"]}, ["died", "survived"], "object"),
        ({"type": "ordinal", "categories": ["1", "2"]}, [1, 2], "int64"),
        ({"type": "categorical", "categories": ["01", "2"]}, ["01", "2"], "object"),
        ({"type": "categorical", "categories": ["1.0", "2"]}, ["1.0", "2"], "object"),
        ({"type": "categorical", "categories": ["a", "1"]}, ["1", "a"], "object"),
        ({"type": "ordinal", "categories": ["1", "9" * 20]}, ["1", "9" * 20], "object"),
    ],
)
def test_labels_are_those_of_the_schema_ascending(fields, labels, dtype):
    column = COLUMN_ADAPTER.validate_python({"name": "y", **fields})
    found = class_labels(column)
    assert found.tolist() == labels
    assert found.dtype == dtype
    if fields["type"] != "boolean":
        assert [fields["categories"][place] for place in class_places(column)] == list(map(str, labels))


@pytest.mark.filterwarnings("ignore::dpcore.errors.PrivacyLeakWarning")
def test_classes_that_are_numbers_are_in_their_order():
    frame = pd.DataFrame({"half": np.arange(120) % 12 // 6})
    model = DPTreeClassifier(epsilon=50, random_state=1).fit(frame, np.arange(120) % 12)
    assert model.classes_.tolist() == list(range(12))
    assert model.schema_.column("target").categories == tuple(map(str, range(12)))


def test_a_delta_that_is_large_for_so_many_people_is_warned_of():
    """One in ten people might be given away: the default is for tables of a hundred thousand rows."""
    many = SCHEMA.model_copy(update={"max_rows": 200_000})
    frame, died = people().drop(columns="died"), people()["died"]
    with pytest.warns(UserWarning, match=r"is large for up to 200,000 people.*delta_cap='0\.0000001'") as caught:
        DPTreeClassifier(schema=many, accountant=BudgetAccountant(1)).fit(frame, died)
    assert caught[0].filename == __file__
