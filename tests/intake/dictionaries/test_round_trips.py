"""A schema that is written for others and read again is the same."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.domain.schemas.origins import DICTIONARY, KNOWN
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import SchemaError
from dpcore.intake.dictionaries import csvw, frictionless
from dpcore.intake.dictionaries.extension import KEY
from dpcore.intake.dictionaries.reading import read_dictionary
from tests.support.strategies import columns, plain_names

FORMATS = [frictionless, csvw]
TEXT = st.text(max_size=30)


@st.composite
def _column(draw, name):
    column = draw(columns(name))
    column |= draw(
        st.fixed_dictionaries(
            {},
            optional={
                "label": TEXT,
                "description": TEXT,
                "target": st.booleans(),
                "view": st.sampled_from(["left", "right"]),
                "missing_codes": st.lists(plain_names(), max_size=3),
                "origin": st.sampled_from([KNOWN, DICTIONARY]),
                "modes": st.just([]),
                "derive": st.just({"column": f"{name} of file"}),
            },
        )
    )
    if "categories" in column:
        column["labels"] = draw(st.dictionaries(st.sampled_from(column["categories"]), plain_names(), max_size=3))
        column["matching"] = draw(st.sampled_from(["exact", "loose"]))
        if len(column["categories"]) > 1:
            column["groups"] = draw(st.sampled_from([[], [{"name": "all of them", "members": column["categories"]}]]))
    if "lower" in column:
        column["unit"] = draw(st.sampled_from(["", "kg", "°C"]))
    return column


@st.composite
def schemas(draw):
    names = draw(st.lists(plain_names(), min_size=2, max_size=6, unique=True))
    places = draw(st.integers(1, len(names) - 1))
    person = draw(st.sampled_from([None, "person: id", "pid"]))
    content = {
        "name": draw(plain_names()),
        "description": draw(TEXT),
        "max_rows": draw(st.integers(1, 3000)),
        "origin": draw(st.sampled_from(["declared", KNOWN, DICTIONARY, "inferred from records"])),
        "columns": [draw(_column(name)) for name in names[:places]],
    }
    if person is None:
        return content
    content["privacy_unit"] = {"column": person, "max_rows_per_person": draw(st.integers(1, 3))}
    if draw(st.booleans()):
        content["privacy_unit"] |= {"keep": "last", "order_by": "day"}
    if content["privacy_unit"]["max_rows_per_person"] == 1 and draw(st.booleans()):
        content["entity"] = draw(st.sampled_from(["patient", "a patient/guest"]))
        child = {"name": draw(plain_names()), "max_rows_per_person": draw(st.integers(1, 9))}
        child["key"] = draw(st.sampled_from([None, "pid", "of whom"]))
        child["description"] = draw(TEXT)
        child["columns"] = [
            {**draw(_column(name)), "target": False, "view": None} for name in names[places:] if name != child["key"]
        ]
        content["children"] = [child]
    return content


def _there_and_back(module, schema, path):
    path.write_text(json.dumps(module.written(schema), ensure_ascii=False), encoding="utf-8")
    return Schema.from_mapping(read_dictionary(path).content)


@pytest.mark.parametrize("examples", [25, pytest.param(150, marks=pytest.mark.slow)])
@pytest.mark.parametrize("module", FORMATS)
def test_any_schema_survives(module, examples, tmp_path):
    @given(schemas())
    @settings(max_examples=examples)
    def check(content):
        try:
            schema = Schema.from_mapping(content)
        except SchemaError:
            return
        assert _there_and_back(module, schema, tmp_path / "schema.json") == schema

    check()


SCHEMA = Schema.from_mapping(
    {
        "name": "Stroke unit",
        "description": "Patients of one clinic",
        "max_rows": 5000,
        "privacy_unit": {"column": "patient", "max_rows_per_person": 3},
        "columns": [
            {"name": "age", "type": "integer", "lower": 18, "upper": 100, "edges": [40, 60], "label": "Age"},
            {"name": "sex", "type": "categorical", "categories": ["1", "2"], "labels": {"1": "male", "2": "female"}},
            {"name": "NIHSS", "type": "ordinal", "categories": ["low", "high"], "missing_codes": ["-9"]},
            {"name": "weight kg", "type": "real", "lower": 30.5, "upper": 200, "bins": 5, "unit": "kg"},
            {"name": "died", "type": "boolean", "target": True},
        ],
    }
)


def _of(module, name):
    content = module.written(SCHEMA)
    fields = (
        content["resources"][0]["schema"]["fields"] if module is frictionless else content["tableSchema"]["columns"]
    )
    return next(field for field in fields if name in [field["name"], *field.get("titles", [])])


def test_a_data_package_says_what_it_can_in_its_own_words():
    package = frictionless.written(SCHEMA)
    assert (package["name"], package["title"]) == ("stroke-unit", "Stroke unit")
    assert _of(frictionless, "patient") == {"name": "patient", "type": "any"}
    age, sex = _of(frictionless, "age"), _of(frictionless, "sex")
    assert (age["type"], age["constraints"], age["title"]) == ("integer", {"minimum": 18, "maximum": 100}, "Age")
    assert sex["categories"] == [{"value": "1", "label": "male"}, {"value": "2", "label": "female"}]
    assert sex[KEY] == {}
    assert age[KEY] == {"edges": [40, 60]}
    assert _of(frictionless, "NIHSS")["missingValues"] == ["", "-9"]
    assert _of(frictionless, "died")[KEY] == {"target": True}


def test_csvw_says_the_privacy_terms_in_its_own_words():
    table = csvw.written(SCHEMA)
    terms = {name: table[name] for name in ("@type", "privacyUnit", "maxContributions", "maxLength", "url")}
    assert terms == {
        "@type": "Table",
        "privacyUnit": "patient",
        "maxContributions": 3,
        "maxLength": 5000,
        "url": "person.csv",
    }
    assert _of(csvw, "patient")["privacyId"] is True
    age, weight = _of(csvw, "age"), _of(csvw, "weight kg")
    assert [part["predicate"] for part in age["partitions"]] == [
        {"lowerBound": 18, "upperBound": 40},
        {"lowerBound": 40, "upperBound": 60},
        {"lowerBound": 60, "upperBound": 100},
    ]
    assert age["frostglass:schema"] == {}
    assert (weight["name"], weight["titles"], weight["minimum"]) == ("weight%20kg", ["weight kg"], 30.5)
    assert weight["frostglass:schema"] == {"bins": 5, "unit": "kg"}
    assert (_of(csvw, "sex")["keyValues"], _of(csvw, "NIHSS")["null"]) == (["1", "2"], ["", "-9"])
    assert _of(csvw, "died")["keyValues"] == [False, True]


@pytest.mark.parametrize("module", FORMATS)
def test_what_others_change_in_their_words_counts(module, tmp_path):
    path = tmp_path / "schema.json"
    text = json.dumps(module.written(SCHEMA)).replace("200", "180")
    path.write_text(text, encoding="utf-8")
    changed = Schema.from_mapping(read_dictionary(path).content)
    assert changed.column("weight kg").upper == 180
    assert changed.column("weight kg").bins == 5
