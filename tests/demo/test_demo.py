"""The demonstration data are reproducible, fit their schemas and hold what was planted."""

from __future__ import annotations

from functools import cache

import numpy as np
import pandas as pd
import pytest

from dpcore.demo import DEMOS, Demo
from dpcore.demo.checkups import ADMITTED, PEOPLE, PLANTED
from dpcore.demo.stroke import DISCHARGE, PATIENTS, STROKE
from dpcore.demo.truth import PlantedCondition, PlantedList, PlantedRedescription
from dpcore.domain.columns import OTHER, NumericColumn
from dpcore.domain.conditions import parse_condition
from dpcore.domain.encoding import encode
from dpcore.domain.schemas.schema import ChildTable, Schema
from tests.support.rows import for_each

#: Six standard errors: a correct generator leaves this band with probability below 1e-8.
STANDARD_ERRORS = 6


@cache
def made(name: str) -> Demo:
    """A demonstration that is only read."""
    return DEMOS[name]()


@pytest.fixture(scope="module")
def stroke() -> Demo:
    return made("stroke")


@pytest.fixture(scope="module")
def checkups() -> Demo:
    return made("checkups")


@for_each("name", DEMOS)
def test_every_call_makes_the_same_data(name: str) -> None:
    first, second = made(name), DEMOS[name]()
    pd.testing.assert_frame_equal(first.frame, second.frame)
    assert first.schema == second.schema
    assert first.truth == second.truth
    assert first.name == first.schema.name == name
    assert list(first.children) == list(second.children)
    for table, rows in first.children.items():
        pd.testing.assert_frame_equal(rows, second.children[table])


def fits(frame: pd.DataFrame, table: Schema | ChildTable, key: str | None) -> None:
    """Every value that is there has a cell of its own."""
    columns = [column.name for column in table.columns]
    assert list(frame.columns) == ([key] if key else []) + columns
    for column in table.columns:
        values = frame[column.name].dropna()
        if isinstance(column, NumericColumn):
            assert values.between(column.lower, column.upper).all(), column.name
        else:
            codes, _ = encode(column, values)
            assert codes.max() < column.cells.index(OTHER), column.name


@for_each("name", DEMOS)
def test_schema_knows_every_value(name: str) -> None:
    demo = made(name)
    fits(demo.frame, demo.schema, demo.schema.privacy_unit.column)
    assert list(demo.children) == [child.name for child in demo.schema.children]
    for child in demo.schema.children:
        key = demo.schema.key_of(child)
        fits(demo.children[child.name], child, key)
        assert demo.children[child.name][key].isin(demo.frame[key]).all()


def test_stroke_has_repeated_admissions_of_all_patients(stroke: Demo) -> None:
    admissions = stroke.frame["patient_id"].value_counts()
    assert len(admissions) == PATIENTS == 20_000
    assert set(admissions) == {1, 2, 3}
    limit = stroke.schema.privacy_unit.max_rows_per_person
    assert limit == 2
    assert PATIENTS * limit <= stroke.schema.max_rows
    assert stroke.frame.groupby("patient_id")["sex"].nunique().max() == 1


LISTS = {"stroke": (STROKE, DISCHARGE), "checkups": (ADMITTED,)}
EVERY_LIST = [pytest.param(name, planted, id=planted.target) for name, lists in LISTS.items() for planted in lists]


@pytest.mark.parametrize(("name", "planted"), EVERY_LIST)
def test_planted_rules_hold_in_the_records(name: str, planted: PlantedList, request: pytest.FixtureRequest) -> None:
    demo: Demo = request.getfixturevalue(name)
    labels = demo.frame[planted.target].replace({True: "yes", False: "no"}).to_numpy()
    captured = planted.captures(demo.frame)
    for position, rule in enumerate(planted.rules):
        reached = labels[captured == position]
        assert len(reached) > (200 if name == "stroke" else 50)
        assert sum(rule.probabilities) == pytest.approx(1)
        for label, chance in zip(planted.classes, rule.probabilities, strict=True):
            error = np.sqrt(chance * (1 - chance) / len(reached))
            assert abs(np.mean(reached == label) - chance) < STANDARD_ERRORS * error
        assert rule.text in demo.truth
        assert f"| {len(reached):,} |" in demo.truth


@pytest.mark.parametrize(("name", "planted"), EVERY_LIST)
def test_engine_reads_planted_conditions_alike(name: str, planted: PlantedList, request: pytest.FixtureRequest) -> None:
    demo: Demo = request.getfixturevalue(name)
    for condition in {c for rule in planted.rules for c in rule.conditions}:
        read_alike(demo, condition)


def read_alike(demo: Demo, condition: PlantedCondition) -> None:
    literal = parse_condition(str(condition), demo.schema)
    codes, _ = encode(demo.schema.column(literal.column), demo.frame[literal.column])
    engine = (codes >= literal.first) & (codes <= literal.last)
    np.testing.assert_array_equal(condition.holds(demo.frame), engine)


@for_each("planted", PLANTED)
def test_planted_redescriptions_hold_in_the_records(checkups: Demo, planted: PlantedRedescription) -> None:
    frame = checkups.frame
    first, second = (eval_query(frame, str(query)).to_numpy() for query in (planted.left, planted.right))
    both, either = int((first & second).sum()), int((first | second).sum())
    counts = (both, int((first & ~second).sum()), int((second & ~first).sum()))
    assert planted.counts(frame) == counts
    assert planted.jaccard_in(frame) == both / either
    error = np.sqrt(planted.jaccard * (1 - planted.jaccard) / either)
    assert abs(both / either - planted.jaccard) < STANDARD_ERRORS * error
    assert 0.08 < both / len(frame) < 0.4
    assert f"| {planted.jaccard:.2f} | {both / either:.3f} | {both:,} (" in checkups.truth
    assert f"| {planted.left} | {planted.right} |" in checkups.truth


def eval_query(frame: pd.DataFrame, text: str) -> pd.Series:
    """Which rows satisfy ``a = yes or b > 3 and c <= 4``, by pandas alone."""
    signs = {"=": "eq", ">": "gt", "<=": "le"}
    held = pd.Series(False, index=frame.index)
    for group in text.split(" or "):
        together = pd.Series(True, index=frame.index)
        for condition in group.split(" and "):
            name, sign, value = condition.split()
            wanted = {"yes": True, "no": False}.get(value) if sign == "=" else float(value)
            compared = getattr(frame[name], signs[sign])(wanted).fillna(False)
            together &= compared.astype(bool) & frame[name].notna()
        held |= together
    return held


def test_checkups_have_two_views_and_a_target_on_neither(checkups: Demo) -> None:
    schema = checkups.schema
    assert checkups.planted == PLANTED
    assert len(checkups.frame) == PEOPLE <= schema.max_rows
    assert checkups.frame["person_id"].is_unique
    assert len(schema.view("left")) == 20
    assert len(schema.view("right")) == 15
    assert schema.targets == ("admitted_within_year",)
    assert {*schema.view("left"), *schema.view("right"), *schema.targets} == {column.name for column in schema}
    shapes = {(len(item.left.groups), len(item.right.groups)) for item in PLANTED}
    assert {(1, 1), (2, 1), (2, 2)} <= shapes
    assert any(len(group) > 1 for item in PLANTED for group in item.left.groups)
