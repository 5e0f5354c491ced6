from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dpcore.data.packing import unpack
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import RESERVED, NumericColumn
from dpcore.domain.conditions import (
    Condition,
    cell_conditions,
    parse_condition,
    schema_conditions,
    threshold_conditions,
)
from dpcore.domain.encoding import encode
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import FrostglassError, RequestError, SchemaError
from tests.oracles import encoding_oracle
from tests.support.rows import for_each
from tests.support.strategies import schemas, simple_names
from tests.support.tables.small_tables import ward

SCHEMA = ward(
    {"name": "age", "type": "integer", "lower": 0, "upper": 100, "edges": [18, 60]},
    {"name": "mass kg", "type": "real", "lower": 0, "upper": 1, "bins": 1},
    {"name": "sex", "type": "categorical", "categories": ["f", "m", "non = binary"]},
    {"name": "stage", "type": "ordinal", "categories": ["low", "mid", "high"]},
    {"name": "x < y", "type": "real", "lower": -1, "upper": 1, "edges": [0, 0.5]},
    {"name": "died", "type": "boolean", "target": True},
)


def texts(column: str, literals) -> list[str]:
    return [literal.text(SCHEMA) for literal in literals if literal.column == column]


def every_literal(schema: Schema) -> list[Condition]:
    return [
        literal
        for thresholds in (True, False)
        for literal in schema_conditions(schema, "", thresholds=thresholds, reserved=True)
    ]


def test_texts_of_thresholds():
    found = schema_conditions(SCHEMA, "died", thresholds=True, reserved=True)
    assert texts("age", found) == ["age <= 18", "age > 18", "age <= 60", "age > 60", "age = (missing)"]
    assert texts("mass kg", found) == ["mass kg = (missing)"]
    assert texts("stage", found) == [
        "stage = low",
        "stage > low",
        "stage <= mid",
        "stage = high",
        "stage = (other)",
        "stage = (missing)",
    ]
    assert texts("sex", found)[:3] == ["sex = f", "sex = m", "sex = non = binary"]
    assert texts("died", found) == []


@given(schemas())
def test_every_text_reads_back(schema):
    names = [column.name for column in schema]
    # A name that starts another one can make a text ambiguous.
    assume(not any(a != b and b.startswith(a) for a in names for b in names))
    for literal in every_literal(schema):
        assert parse_condition(literal.text(schema), schema) == literal
        assert parse_condition(f"  {literal.text(schema)} ", schema) == literal


@given(schemas(max_columns=2))
def test_texts_read_back_where_a_label_is_the_name(plain):
    """Only texts in the words of people are for people; a custodian may write any label."""
    columns = [column.model_dump(mode="json") | {"label": column.name} for column in plain]
    for column in columns:
        column |= {"unit": "years"} if "lower" in column else {}
    schema = Schema.from_mapping({"name": "d", "max_rows": 9, "columns": columns})
    assert [literal.text(schema) for literal in every_literal(schema)] == [
        literal.text(plain) for literal in every_literal(plain)
    ]


@given(schemas())
def test_texts_tell_literals_apart(schema):
    literals = set(every_literal(schema))
    found = {}
    for literal in literals:
        found.setdefault((literal.column, literal.text(schema)), set()).add(literal)
    assert all(len(same) == 1 for same in found.values())


@pytest.mark.parametrize("classes", [["I", "II", "III", "IV"], ["< 5", "5 to < 10", "10 < 15", "15 on"]])
def test_every_range_of_an_order_has_a_text_of_its_own_that_names_both_ends(classes):
    columns = [
        {"name": "stage", "type": "ordinal", "categories": classes},
        {"name": "age", "type": "integer", "lower": 0, "upper": 100, "edges": [18, 60]},
    ]
    own = Schema.from_mapping({"name": "ward", "max_rows": 100, "columns": columns})
    for column in own:
        known = range(len(column.classes))
        ranges = [Condition(column=column.name, first=a, last=b) for a in known for b in known if a <= b]
        assert len({one.text(own) for one in ranges}) == len(ranges)
        assert [parse_condition(one.text(own), own) for one in ranges] == ranges
    assert Condition(column="stage", first=1, last=2).text(own) == f"{classes[0]} < stage <= {classes[2]}"


@given(schemas())
def test_each_record_satisfies_one_interval_per_column(schema):
    for column in schema:
        for code in range(len(column.cells)):
            assert sum(item.holds(code) for item in cell_conditions(column, reserved=True)) == 1
        known = range(len(column.classes))
        for code in range(len(column.cells)):
            held = sum(item.holds(code) for item in threshold_conditions(column, reserved=False))
            # One of each pair "<=", ">" holds of a known cell, none of a reserved one.
            assert held == (len(known) - 1 if code in known else 0)


def test_the_target_is_never_a_literal():
    for thresholds in (True, False):
        found = schema_conditions(SCHEMA, "age", thresholds=thresholds, reserved=True)
        assert "age" not in {literal.column for literal in found}
        assert {literal.column for literal in found} == {c.name for c in SCHEMA} - {"age"}


def raw_values(column, draw):
    if isinstance(column, NumericColumn):
        inside = st.floats(column.lower - 5, column.upper + 5)
        number = st.one_of(inside, st.sampled_from((column.lower, *column.inner_edges)))
        if column.type == "integer":
            number = number.map(round)
        return st.one_of(st.none(), number)
    return st.sampled_from([*column.classes, "no such category", None])


def public_value(column, value):
    """What the record is in the public domain, as the oracle wants it."""
    if value is None:
        return None
    if isinstance(column, NumericColumn):
        return min(max(value, column.lower), column.upper)
    return value if value in column.classes else "(other)"


@given(schemas(names=simple_names(), categories=simple_names()), st.data())
def test_bits_equal_naive_evaluation_of_raw_values(schema, data):
    # Words that mean "missing" or case variants are the business of the encoder's own tests.
    words = {category for c in schema for category in c.classes if category not in RESERVED}
    assume(not words & {"na", "nan", "null", "none", "nat"})
    count = data.draw(st.integers(1, min(10, schema.max_rows)))
    raw = {
        column.name: data.draw(st.lists(raw_values(column, data.draw), min_size=count, max_size=count))
        for column in schema
    }
    coded = [encode(c, pd.Series(raw[c.name], dtype=object)) for c in schema]
    numbers = [n for _, n in coded if n is not None]
    table = PrivateTable.build(schema, [c for c, _ in coded], numbers, np.zeros(count, dtype=bool))
    literals = every_literal(schema)
    for literal, words in zip(literals, table.partitions[0].literals(literals), strict=True):
        column = schema.column(literal.column)
        order = column.classes if column.ordered else ()
        expected = [
            encoding_oracle.satisfies(literal.text(schema), column.name, public_value(column, value), order)
            for value in raw[column.name]
        ]
        assert unpack(words, count).tolist() == expected, literal.text(schema)


@for_each(
    ("text", "same"),
    [
        ("age>60", "age > 60"),
        ("age <= 60.0", "age <= 60"),
        ("age  >  6e1", "age > 60"),
        ("18 < age <= 60", "18 < age <= 60"),
        ("18.0 < age <= 60.0", "18 < age <= 60"),
        ("age <= 100", "age <= 100"),
        ("died = TRUE", "died = yes"),
        ("died = 0", "died = no"),
        ("died = (other)", "died = (other)"),
        ("sex = non = binary", "sex = non = binary"),
        ("stage <= low", "stage = low"),
        ("stage > mid", "stage = high"),
        ("x < y <= 0.5", "x < y <= 0.5"),
        ("0 < x < y <= 0.5", "0 < x < y <= 0.5"),
        ("age ≤ 60", "age <= 60"),
        ("18 < age ≤ 60", "18 < age <= 60"),
        ("stage≤low", "stage = low"),
    ],
)
def test_spellings(text, same):
    assert parse_condition(text, SCHEMA).text(SCHEMA) == same


@for_each(
    ("text", "sentence"),
    [
        ("", "is not a condition"),
        ("age", "is not a condition"),
        ("age >", "is not a condition"),
        ("age is 5", "is not a condition"),
        ("age = 5", "'age' is a number: compare it"),
        ("age = (other)", "'age' is a number: compare it"),
        ("age < 60", "Use '<=' or '>'"),
        ("age >= 60", "Use '<=' or '>'"),
        ("age ≥ 60", "Use '<=' or '>'"),
        ("age > 61", "'61' is not a public edge of 'age'. Edges: 18, 60"),
        ("age > 100", "not a public edge"),
        ("age > 0", "not a public edge"),
        ("age <= 0", "not a public edge"),
        ("age <= many", "not a public edge"),
        ("age <= nan", "not a public edge"),
        ("age <= inf", "not a public edge"),
        ("0 < age <= 60", "not a public edge"),
        ("18 < age <= 61", "not a public edge"),
        ("sex = F", "'F' is not a category of 'sex'"),
        ("sex > f", "'sex' has no order"),
        ("18 < sex <= 60", "'sex' has no order"),
        ("died = maybe", "'maybe' is not a category of 'died'"),
        ("died = ?", "not a category"),
        ("died <= no", "has no order"),
        ("stage > high", "'high' is not a public edge of 'stage'. Edges: low, mid"),
        ("stage > (other)", "not a public edge"),
        ("stage = highest", "not a category"),
    ],
)
def test_bad_conditions_get_a_sentence(text, sentence):
    with pytest.raises(RequestError) as caught:
        parse_condition(text, SCHEMA)
    assert sentence in str(caught.value)


@for_each("text", ["height > 5", "Age > 60", "18 < height <= 60", "> 5", "= yes"])
def test_unknown_columns_get_a_sentence(text):
    with pytest.raises(SchemaError, match="There is no column"):
        parse_condition(text, SCHEMA)


@given(st.text(max_size=20), st.sampled_from(["", "age <= ", "age = ", "died = ", "1 < age <= "]))
def test_no_text_causes_another_error(text, start):
    try:
        literal = parse_condition(start + text, SCHEMA)
    except FrostglassError:
        return
    column = SCHEMA.column(literal.column)
    assert 0 <= literal.first <= literal.last < len(column.cells)
