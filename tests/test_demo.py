"""The demonstration data are reproducible, fit their schemas and hold what was planted."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpcore.demo import DEMOS, Demo
from dpcore.demo.stroke import DISCHARGE, PATIENTS, STROKE
from dpcore.demo.truth import Condition, PlantedList
from dpcore.encoding import encode
from dpcore.ingest import frame_chunks, ingest
from dpcore.literals import parse_literal
from dpcore.randomness import SeededRandom
from dpcore.schema import OTHER, NumericColumn

#: Six standard errors: a correct generator leaves this band with probability below 1e-8.
STANDARD_ERRORS = 6


@pytest.fixture(scope="module")
def stroke() -> Demo:
    return DEMOS["stroke"]()


@pytest.mark.parametrize("name", DEMOS)
def test_every_call_makes_the_same_data(name: str) -> None:
    first, second = DEMOS[name](), DEMOS[name]()
    pd.testing.assert_frame_equal(first.frame, second.frame)
    assert first.schema == second.schema
    assert first.truth == second.truth
    assert first.name == first.schema.name == name


@pytest.mark.parametrize("name", DEMOS)
def test_schema_knows_every_value(name: str) -> None:
    demo = DEMOS[name]()
    unit = demo.schema.privacy_unit.column
    columns = [column.name for column in demo.schema]
    assert list(demo.frame.columns) == ([unit] if unit else []) + columns
    for column in demo.schema:
        values = demo.frame[column.name].dropna()
        if isinstance(column, NumericColumn):
            assert values.between(column.lower, column.upper).all(), column.name
        else:
            codes, _ = encode(column, values)
            assert codes.max() < column.cells.index(OTHER), column.name


@pytest.mark.parametrize("name", DEMOS)
def test_demo_becomes_a_table(name: str) -> None:
    demo = DEMOS[name]()
    table = ingest(frame_chunks(demo.frame), demo.schema, SeededRandom(1))
    assert 0.5 * demo.schema.max_rows < len(table.public_frame()) <= demo.schema.max_rows


def test_stroke_has_repeated_admissions_of_all_patients(stroke: Demo) -> None:
    admissions = stroke.frame["patient_id"].value_counts()
    assert len(admissions) == PATIENTS == 20_000
    assert set(admissions) == {1, 2, 3}
    limit = stroke.schema.privacy_unit.max_rows_per_person
    assert limit == 2
    assert PATIENTS * limit <= stroke.schema.max_rows
    assert stroke.frame.groupby("patient_id")["sex"].nunique().max() == 1


def test_stroke_has_several_types_and_patterns_of_missing_values(stroke: Demo) -> None:
    kinds = {column.type for column in stroke.schema}
    assert kinds == {"boolean", "categorical", "ordinal", "integer", "real"}
    assert set(stroke.schema.targets) == {"stroke_within_year", "discharge"}
    absent = stroke.frame.isna()
    assert absent["bmi"][stroke.frame["admission"] == "planned"].mean() < 0.05
    assert absent["bmi"][stroke.frame["admission"] != "planned"].mean() > 0.10
    assert absent["smoking"][stroke.frame["nihss"] > 15].mean() > 0.30
    assert not absent[list(stroke.schema.targets)].any(axis=None)


@pytest.mark.parametrize("planted", [STROKE, DISCHARGE], ids=lambda planted: planted.target)
def test_planted_rules_hold_in_the_records(stroke: Demo, planted: PlantedList) -> None:
    labels = stroke.frame[planted.target].replace({True: "yes", False: "no"}).to_numpy()
    captured = planted.captures(stroke.frame)
    for position, rule in enumerate(planted.rules):
        reached = labels[captured == position]
        assert len(reached) > 200
        assert sum(rule.probabilities) == pytest.approx(1)
        for label, chance in zip(planted.classes, rule.probabilities, strict=True):
            error = np.sqrt(chance * (1 - chance) / len(reached))
            assert abs(np.mean(reached == label) - chance) < STANDARD_ERRORS * error
        assert rule.text in stroke.truth
        assert f"| {len(reached):,} |" in stroke.truth


@pytest.mark.parametrize("planted", [STROKE, DISCHARGE], ids=lambda planted: planted.target)
def test_engine_reads_planted_conditions_alike(stroke: Demo, planted: PlantedList) -> None:
    for condition in {c for rule in planted.rules for c in rule.conditions}:
        literal = parse_literal(str(condition), stroke.schema)
        codes, _ = encode(stroke.schema.column(literal.column), stroke.frame[literal.column])
        engine = (codes >= literal.first) & (codes <= literal.last)
        np.testing.assert_array_equal(condition.holds(stroke.frame), engine)


def test_missing_values_satisfy_no_condition() -> None:
    frame = pd.DataFrame({"pressure": pd.array([100, None, 200], dtype="Int64")})
    assert Condition("pressure", ">", 120).holds(frame).tolist() == [False, False, True]
    assert Condition("pressure", "<=", 120).holds(frame).tolist() == [True, False, False]


def test_breast_cancer_states_its_classes() -> None:
    demo = DEMOS["breast_cancer"]()
    assert demo.frame["diagnosis"].value_counts().to_dict() == {"benign": 357, "malignant": 212}
    assert "569 samples, 212 of them malignant" in demo.truth
