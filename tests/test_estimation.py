"""On neighbouring data an estimator is of the same form: types follow from the schema."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.ebm.estimator import DPEBMClassifier, DPEBMRegressor
from dpcore.encoding import encode_columns
from dpcore.errors import RequestError
from dpcore.estimation import prepare_fit
from dpcore.ilp.estimator import DPILPClassifier
from dpcore.redescriptions.estimator import RedescriptionMiner
from dpcore.rules.estimator import DPRuleListClassifier
from dpcore.schema import Schema
from dpcore.trees.estimator import DPForestClassifier, DPTreeClassifier

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
    "forest": (DPForestClassifier, "died"),
    "ebm": (DPEBMClassifier, "died"),
    "ebm, three classes": (DPEBMClassifier, "grade"),
    "regressor": (DPEBMRegressor, "dose"),
    "relational rules": (DPILPClassifier, "died"),
}
ODD = [None, np.nan, pd.NA, "x", 1 + 2j, 2.5, 10**30, True]


def people(rows: int = 60) -> pd.DataFrame:
    draw = np.random.default_rng(3)
    return pd.DataFrame({
        "age": draw.integers(0, 101, rows),
        "sick": draw.integers(0, 2, rows).astype(bool),
        "dose": draw.random(rows),
        "grade": draw.integers(1, 4, rows),
        "died": draw.integers(0, 2, rows),
    })  # fmt: skip


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
        "classes": labels.tolist(), "type of classes": labels.dtype, "type": predicted.dtype,
        "features": model.n_features_in_, "schema": model.schema_,
        "attributes": sorted(vars(model)),
        "certificate": model.release_.certificate.model_dump(exclude={"created"}),
    }  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_one_value_changes_no_type_and_no_label(kind):
    frame, target = people(), KINDS[kind][1]
    expected = shape_of(fitted(kind, frame), frame)
    for name in (target, "age"):
        for value in (None, "x"):
            neighbour = with_value(frame, name, value)
            assert value is None or neighbour[name].dtype != frame[name].dtype
            assert shape_of(fitted(kind, neighbour), frame) == expected
            assert shape_of(fitted(kind, frame), neighbour) == expected


@pytest.mark.parametrize("value", ODD, ids=repr)
@pytest.mark.parametrize("name", ["age", "sick", "dose", "grade", "died"])
def test_one_value_changes_no_other_record(name, value):
    frame = people()
    names = [column.name for column in SCHEMA]

    def codes(rows: pd.DataFrame, *, listed: bool) -> dict[str, list[int]]:
        features, target = rows.drop(columns="died"), rows["died"]
        if listed:
            prepared = prepare_fit(
                features.to_numpy(dtype=object).tolist(), target.tolist(), SCHEMA, None,
                numeric_target=False,
            )  # fmt: skip
        else:
            prepared = prepare_fit(features, target, SCHEMA, None, numeric_target=False)
        found = encode_columns(prepared.frame, SCHEMA, names)
        return {column: code[1:].tolist() for column, code in found.items()}

    before = codes(frame, listed=False)
    for listed in (False, True):
        assert codes(with_value(frame, name, value), listed=listed) == before


def test_nested_lists_keep_the_type_of_each_value():
    prepared = prepare_fit(
        [[50, "yes", 0.5, 1], [True, False, "x", 3.0]],
        [1, "no"],
        SCHEMA,
        None,
        numeric_target=False,
    )
    assert prepared.frame.to_numpy().tolist() == [
        [50, "yes", 0.5, 1, 1],
        [True, False, "x", 3.0, "no"],
    ]
    with pytest.raises(RequestError, match="two dimensions"):
        prepare_fit([1, 2], [0, 1], SCHEMA, None, numeric_target=False)
    with pytest.raises(RequestError, match="two dimensions"):
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
