"""Descriptions in JSON that others have written: Frictionless and CSVW with privacy terms."""

from __future__ import annotations

import json

from dpcore.domain.schemas.origins import DICTIONARY, STANDARD
from dpcore.domain.schemas.schema import Schema
from dpcore.intake.dictionaries.reading import read_dictionary
from tests.support.rows import for_each

PACKAGE = {
    "name": "clinic",
    "title": "A clinic",
    "resources": [
        {
            "name": "patients",
            "path": "patients.csv",
            "schema": {
                "primaryKey": "pid",
                "missingValues": ["", "-9"],
                "fields": [
                    {"name": "pid", "type": "string"},
                    {"name": "age", "type": "integer", "constraints": {"minimum": 18, "maximum": 100}},
                    {"name": "ward", "type": "string", "title": "Ward", "constraints": {"enum": ["A", "B", "-9"]}},
                    {
                        "name": "stage",
                        "type": "integer",
                        "categories": [{"value": 1, "label": "early"}, {"value": 2, "label": "late"}],
                        "categoriesOrdered": True,
                        "missingValues": ["", "9"],
                    },
                    {"name": "dead", "type": "boolean"},
                    {"name": "consent", "type": "boolean", "trueValues": ["J"], "falseValues": ["N"]},
                    {"name": "sodium", "type": "number"},
                    {
                        "name": "admitted",
                        "type": "date",
                        "format": "%d.%m.%Y",
                        "constraints": {"minimum": "2020-01-01", "maximum": "2023-12-31"},
                    },
                    {"name": "scan", "type": "object"},
                    {"name": "comment", "type": "string"},
                ],
            },
        },
        {
            "name": "visits",
            "schema": {
                "fields": [
                    {"name": "patient", "type": "string"},
                    {"name": "kind", "type": "string", "constraints": {"enum": ["planned", "urgent"]}},
                ],
                "foreignKeys": [{"fields": ["patient"], "reference": {"resource": "patients", "fields": ["pid"]}}],
            },
        },
        {"name": "beds", "schema": {"fields": [{"name": "bed", "type": "string"}]}},
    ],
}


def _draft(tmp_path, content):
    path = tmp_path / "dictionary.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return read_dictionary(path)


def test_a_data_package_gives_a_schema_of_several_tables(tmp_path):
    draft = _draft(tmp_path, PACKAGE)
    assert draft.unknown == ["How many rows of a person are kept is not said of the table 'visits'."]
    draft.content["children"][0]["max_rows_per_person"] = 5
    draft.limit(1000)
    schema = Schema.from_mapping(draft.content)
    assert (schema.name, schema.entity, schema.privacy_unit.column) == ("A clinic", "patients", "pid")
    known = {column.name: column for column in schema}
    assert (known["age"].upper, known["age"].origin, known["age"].missing_codes) == (100, DICTIONARY, ("-9",))
    assert (known["ward"].categories, known["ward"].label) == (("A", "B"), "Ward")
    assert (known["stage"].type, known["stage"].labels[0].label, known["stage"].missing_codes) == (
        "ordinal",
        "early",
        ("9",),
    )
    assert (known["dead"].type, known["consent"].categories) == ("boolean", ("J", "N"))
    assert known["sodium"].origin == STANDARD
    assert known["admitted year"].derive.format == "%d.%m.%Y"
    assert draft.left_out == {
        "scan": "of the type 'object'",
        "comment": "by its name, identifies something or holds free text",
    }
    assert schema.key_of(schema.children[0]) == "patient"
    assert any("'beds'" in sentence for sentence in draft.sentences)


@for_each(
    ("kind", "low", "high", "shape"),
    [
        ("number", 0, 1_000_000, {"edges": [320, 1_000, 3_200, 10_000, 32_000, 100_000, 320_000]}),
        ("integer", 1, 1_000, {"edges": [2, 5, 13, 32, 75, 180, 420]}),
        ("number", 0, 100, {"bins": 8}),
        ("integer", 1, 100, {"bins": 8}),
        ("number", -1_000, 1_000_000, {"bins": 8}),
        ("integer", 1_900, 2_030, {"bins": 8}),
    ],
)
def test_ranges_over_many_powers_of_ten_have_bins_that_grow(tmp_path, kind, low, high, shape):
    field = {"name": "amount", "type": kind, "constraints": {"minimum": low, "maximum": high}}
    draft = _draft(tmp_path, {"name": "c", "resources": [{"name": "c", "schema": {"fields": [field]}}]})
    [column] = draft.content["columns"]
    assert {name: column[name] for name in ("edges", "bins") if name in column} == shape


CSVW_EO = {
    "@context": ["http://www.w3.org/ns/csvw", "csvw-eo-context.jsonld"],
    "@type": "Table",
    "privacyUnit": "penguin_id",
    "maxContributions": 3,
    "maxLength": 344,
    "tableSchema": {
        "columns": [
            {"name": "penguin_id", "datatype": "positiveInteger", "privacyId": True, "minimum": 1, "maximum": 341},
            {"name": "species", "datatype": "string", "keyValues": ["Adelie", "Gentoo"], "exhaustiveKeys": True},
            {
                "name": "bill_mm",
                "datatype": "double",
                "minimum": 32.1,
                "maximum": 59.6,
                "partitions": [
                    {"predicate": {"lowerBound": 30.0, "upperBound": 40.0}, "maxLength": 74},
                    {"predicate": {"lowerBound": 40.0, "upperBound": 60.0}, "maxLength": 128},
                ],
            },
            {"name": "island", "datatype": "string", "partitions": [{"predicate": {"partitionValue": "Dream"}}]},
            {"name": "female", "datatype": "boolean", "keyValues": [False, True]},
            {"name": "day", "datatype": "date", "minimum": "2025-01-02", "maximum": "2025-12-30"},
        ]
    },
}


def test_a_csvw_eo_file_gives_a_complete_schema(tmp_path):
    draft = _draft(tmp_path, CSVW_EO)
    assert not draft.unknown
    schema = Schema.from_mapping(draft.content)
    assert (schema.max_rows, schema.privacy_unit.column, schema.privacy_unit.max_rows_per_person) == (
        344,
        "penguin_id",
        3,
    )
    species, bill, island, female, month = schema
    assert (species.categories, island.categories) == (("Adelie", "Gentoo"), ("Dream",))
    assert (bill.lower, bill.upper, bill.edges) == (32.1, 59.6, (40,))
    assert female.type == "boolean"
    assert (month.name, month.derive.part, len(month.categories)) == ("day month", "month", 12)


def test_earlier_names_of_the_privacy_terms_are_known(tmp_path):
    terms = {"csvw-safe:public.privacyUnit": "penguin_id", "bounds": {"maxContributions": 2}, "public": {"length": 99}}
    table = {
        name: value for name, value in CSVW_EO.items() if name not in {"privacyUnit", "maxContributions", "maxLength"}
    }
    schema = Schema.from_mapping(_draft(tmp_path, table | terms).content)
    assert (schema.max_rows, schema.privacy_unit.column, schema.privacy_unit.max_rows_per_person) == (
        99,
        "penguin_id",
        2,
    )
