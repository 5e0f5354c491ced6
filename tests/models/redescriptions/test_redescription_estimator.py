"""The scikit-learn side of redescriptions, beside what holds for every estimator."""

import numpy as np
import pandas as pd
import pytest

from dpcore.demo import DEMOS
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import (
    RequestError,
)
from dpcore.models.redescriptions.learning.redescription_estimator import RedescriptionMiner

SCHEMA = Schema.from_text(
    """
name: two sides
max_rows: 1000
columns:
  - {name: diabetes, type: boolean, view: left}
  - {name: age, type: integer, lower: 20, upper: 100, bins: 4, view: left}
  - {name: sugar, type: real, lower: 0, upper: 20, edges: [5, 7], view: right}
  - {name: insulin, type: boolean, view: right}
  - {name: ward, type: categorical, categories: [a, b]}
"""
)


def people(rows=900):
    draw = np.random.default_rng(2)
    ill = draw.random(rows) < 0.4
    return pd.DataFrame(
        {
            "diabetes": ill,
            "age": draw.integers(20, 100, rows),
            "sugar": np.where(ill ^ (draw.random(rows) < 0.05), 9.0, 4.0),
            "insulin": draw.random(rows) < 0.5,
            "ward": draw.choice(["a", "b"], rows),
        }
    )


def miner(**changes):
    return RedescriptionMiner(**{"epsilon": 4, "schema": SCHEMA, "random_state": 1, **changes})


def test_what_goes_together_is_found_and_told():
    fitted = miner().fit(people())
    best = fitted.redescriptions_.found[0]
    assert best.columns == {"diabetes", "sugar"}
    assert best.jaccard > 0.8
    assert fitted.n_features_in_ == 5
    assert fitted.release_.target == ""
    assert fitted.release_.certificate.epsilon == 4


def test_rows_are_told_by_both_sides():
    frame = people()
    fitted = miner().fit(frame)
    rows = fitted.transform(frame)
    assert rows.shape == (900, len(fitted.redescriptions_.found))
    ill = frame["diabetes"] & (frame["sugar"] > 7)
    well = ~frame["diabetes"] & (frame["sugar"] <= 7)
    first = rows[:, 0]
    assert (first == ill).all() or (first == well).all()


def test_two_frames_are_the_two_views():
    frame = people()
    bare = Schema.from_mapping(
        SCHEMA.model_dump(mode="json")
        | {"columns": [c.model_dump(mode="json") | {"view": None} for c in SCHEMA.columns]}
    )
    fitted = miner(schema=bare).fit(frame[["diabetes", "age", "ward"]], frame[["sugar", "insulin"]])
    assert fitted.model_.left_columns == ("diabetes", "age", "ward")
    assert fitted.model_.right_columns == ("sugar", "insulin")
    with pytest.raises(RequestError, match="left side"):
        miner(schema=bare).fit(frame)


def test_planted_redescriptions_come_back():
    """All five, at epsilon 1 with 12,000 people; seeded, so chance plays no part."""
    demo = DEMOS["checkups"]()
    fitted = RedescriptionMiner(epsilon=1, schema=demo.schema, random_state=0).fit(demo.frame)
    found = fitted.redescriptions_
    kept = found.pruned(found.suggested_support)
    masks = []
    for item in kept:
        pair = fitted.model_.pairs[item.pair]
        masks.append(
            (
                np.isin(pair.left.apply(demo.frame, demo.schema), item.left_leaves),
                np.isin(pair.right.apply(demo.frame, demo.schema), item.right_leaves),
            )
        )
    for planted in demo.planted:
        assert max(planted.agreement(demo.frame, *sides) for sides in masks) >= 0.8, planted.name
