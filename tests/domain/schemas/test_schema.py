from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.domain.columns import COLUMN_ADAPTER, format_number
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import SchemaError
from tests.support.rows import for_each
from tests.support.strategies import schemas

AGE = {"name": "age", "type": "integer", "lower": 0, "upper": 100, "bins": 5}
SEX = {"name": "sex", "type": "categorical", "categories": ["f", "m"]}
DIED = {"name": "died", "type": "boolean", "target": True}


def column(**fields):
    return COLUMN_ADAPTER.validate_python(fields)


def schema(*columns, **fields) -> Schema:
    content = {"name": "ward", "max_rows": 1000, "columns": list(columns) or [AGE, SEX, DIED]}
    return Schema.from_mapping({**content, **fields})


def refusal(*columns, **fields) -> str:
    with pytest.raises(SchemaError) as caught:
        schema(*columns, **fields)
    return str(caught.value)


def test_cells_of_each_type():
    assert column(**DIED).cells == ("no", "yes", "(other)", "(missing)")
    assert column(**SEX).cells == ("f", "m", "(other)", "(missing)")
    steps = column(name="s", type="ordinal", categories=["low", "mid", "high"])
    assert steps.cells == ("low", "mid", "high", "(other)", "(missing)")
    expected = ("[0, 20]", "(20, 40]", "(40, 60]", "(60, 80]", "(80, 100]", "(missing)")
    assert column(**AGE).cells == expected


def test_edges_of_integer_bins_are_whole_and_distinct():
    narrow = column(name="a", type="integer", lower=0, upper=3, bins=256)
    assert narrow.inner_edges == (0.0, 1.0, 2.0)
    assert narrow.cells == ("[0, 0]", "(0, 1]", "(1, 2]", "(2, 3]", "(missing)")


@for_each(
    ("fields", "sentence"),
    [
        ({"lower": 5, "upper": 5, "bins": 2}, "lower must be below upper"),
        ({"lower": 0, "upper": float("inf"), "bins": 2}, "must be finite"),
        ({"lower": float("nan"), "upper": 1, "bins": 2}, "must be finite"),
        ({"lower": -1.7e308, "upper": 1.7e308, "bins": 2}, "must be finite"),
        ({"lower": 0, "upper": 1}, "give a number of equal-width bins"),
        ({"lower": 0, "upper": 1, "bins": 2, "edges": [0.5]}, "either edges or a number"),
        ({"lower": 0, "upper": 1, "edges": [1.0]}, "between lower and upper"),
        ({"lower": 0, "upper": 1, "edges": [-0.1]}, "between lower and upper"),
        ({"lower": 0, "upper": 1, "edges": [float("nan")]}, "between lower and upper"),
        ({"lower": 0, "upper": 1, "edges": [0.5, 0.5]}, "edges must increase"),
        ({"lower": 0, "upper": 1, "edges": [0.6, 0.5]}, "edges must increase"),
        ({"lower": 0, "upper": 1, "bins": 0}, "greater than or equal to 1"),
        ({"lower": 0, "upper": 1, "bins": 257}, "less than or equal to 256"),
        ({"lower": 1e6, "upper": 1e6 + 1e-6, "bins": 4}, "too close together"),
    ],
)
def test_bad_numeric_columns(fields, sentence):
    assert sentence in refusal({"name": "a", "type": "real", **fields})


@pytest.mark.parametrize("bounds", [(0.5, 3), (0, 3.5)])
def test_integer_bounds_must_be_whole(bounds):
    lower, upper = bounds
    message = refusal({"name": "a", "type": "integer", "lower": lower, "upper": upper, "bins": 8})
    assert "must be whole numbers" in message


@pytest.mark.parametrize("bound", [float("inf"), float("nan")])
def test_integer_bounds_must_be_finite(bound):
    fields = {"name": "a", "type": "integer", "lower": 0, "upper": bound, "bins": 8}
    assert "must be finite" in refusal(fields)


@for_each(
    ("categories", "sentence"),
    [
        ([], "at least one entry"),
        (["a", "a"], "must be distinct"),
        (["a", " a "], "must be distinct"),
        (["a", "(other)"], "need no listing"),
        (["(missing)"], "need no listing"),
        (["a\nb"], "control characters"),
        (["a\x85b"], "control characters"),
        ([""], "at least 1 character"),
        ([str(i) for i in range(1001)], "at most 1000"),
        ([True, False], "put yes, no"),
    ],
)
def test_bad_categories(categories, sentence):
    assert sentence in refusal({"name": "a", "type": "categorical", "categories": categories})


@for_each(
    ("columns", "fields", "sentence"),
    [
        ([SEX, SEX], {}, "column names must be distinct"),
        ([SEX, {**AGE, "name": " sex"}], {}, "column names must be distinct"),
        ([{**SEX, "name": ""}], {}, "at least 1 character"),
        ([{**SEX, "name": "a\tb"}], {}, "control characters"),
        ([{**SEX, "type": "colour"}], {}, "does not match any of the expected tags"),
        ([{**SEX, "typo": 1}], {}, "is not known here"),
        ([SEX], {"max_rows": 0}, "max_rows: Input should be greater than or equal to 1"),
        ([SEX], {"max_rows": 100_000_001}, "less than or equal to 100000000"),
        ([SEX], {"holdout_percent": 51}, "less than or equal to 50"),
        ([SEX], {"holdout_percent": -1}, "greater than or equal to 0"),
        ([SEX], {"version": 2}, "version: Input should be 1"),
        ([SEX], {"privacy_unit": {"column": "sex"}}, "cannot also be a stored column"),
        ([SEX], {"privacy_unit": {"max_rows_per_person": 2}}, "each row is one person"),
        ([SEX], {"privacy_unit": {"column": "p", "max_rows_per_person": 0}}, "greater than"),
        ([SEX], {"columns": []}, "at least one entry"),
    ],
)
def test_bad_schemas_name_the_field(columns, fields, sentence):
    assert sentence in refusal(*columns, **fields)


@for_each(
    "text",
    [
        "",
        "[1]",
        "just text",
        "a: [",
        "a: 2020-13-45",
        "a: " + "1" * 5000,
        "[" * 5000,
        "a\0",
        "!!python/object/apply:os.system [ls]",
        "columns: !!set {a, b}",
    ],
)
def test_text_that_is_no_schema(text):
    with pytest.raises(SchemaError):
        Schema.from_text(text)


def test_unreadable_files(tmp_path):
    with pytest.raises(SchemaError, match="cannot be read as UTF-8 text"):
        Schema.from_file(tmp_path / "absent.yaml")
    (tmp_path / "latin.yaml").write_bytes("name: Zürich".encode("latin-1"))
    with pytest.raises(SchemaError, match="cannot be read as UTF-8 text"):
        Schema.from_file(tmp_path / "latin.yaml")


@given(schemas())
def test_yaml_and_json_round_trips(made):
    assert Schema.from_text(made.to_json()) == made
    assert Schema.from_text(made.to_yaml()) == made
    assert Schema.from_text(made.to_yaml()).hash == made.hash
    assert pickle.loads(pickle.dumps(made)) == made


@for_each("character", ["\u2028", "\ufffe", "😀", "é", "\xa0", "'", '"', "#", ": "])
def test_awkward_characters_survive_storage(character):
    made = schema({**SEX, "categories": [f"a{character}b"]})
    assert Schema.from_text(made.to_json()).hash == made.hash
    assert Schema.from_text(made.to_yaml()).hash == made.hash


def test_hash_tells_every_field_apart():
    variants = [
        schema(),
        schema(max_rows=1001),
        schema(holdout_percent=21),
        schema(name="other ward"),
        schema(privacy_unit={"column": "p"}),
        schema(privacy_unit={"column": "p", "max_rows_per_person": 2}),
        schema(AGE, {**SEX, "categories": ["m", "f"]}, DIED),
        schema({**AGE, "upper": 101}, SEX, DIED),
        schema({**AGE, "bins": 6}, SEX, DIED),
        schema(SEX, AGE, DIED),
    ]
    assert len({variant.hash for variant in variants}) == len(variants)
    assert schema().hash == schema().hash
    assert len(schema().hash) == 64


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_format_number_is_exact(value):
    assert float(format_number(value)) == value


def test_what_columns_say_of_themselves_is_written_and_read_again():
    column = {
        "name": "b",
        "type": "categorical",
        "categories": ["1", "2"],
        "labels": {"1": "home"},
        "matching": "loose",
    }
    column |= {"label": "Discharge", "missing_codes": ["9"], "origin": "dictionary"}
    schema = Schema.from_mapping({"name": "a", "max_rows": 9, "columns": [column]})
    assert "labels:\n    '1': home" in schema.to_yaml()
    assert Schema.from_text(schema.to_yaml()) == schema == Schema.from_text(schema.to_json())
    assert schema.origins == ("declared", "dictionary")
    assert schema.problem == ""
