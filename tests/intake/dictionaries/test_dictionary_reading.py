"""Dictionaries are told apart by their content; what is none is refused in a sentence."""

from __future__ import annotations

import csv
import json
import random
from dataclasses import asdict

import pytest

from dpcore.errors import IngestError
from dpcore.intake.dictionaries.reading import read_dictionary
from dpcore.intake.process.uploads import ask
from tests.support.rows import for_each

FIELDS = [{"name": "age", "type": "integer", "constraints": {"minimum": 0, "maximum": 110}}]
PACKAGE = {"name": "people", "resources": [{"name": "people", "schema": {"fields": FIELDS}}]}
CSVW = {"@context": "http://www.w3.org/ns/csvw", "url": "p.csv", "tableSchema": {"columns": [{"name": "smoker"}]}}
REDCAP = "field_name,field_type,field_label\nrecord_id,text,Record\nsmoker,yesno,Smoker\n"


def _file(tmp_path, content, name="dictionary"):
    path = tmp_path / name
    raw = (
        content
        if isinstance(content, bytes)
        else (content if isinstance(content, str) else json.dumps(content)).encode()
    )
    path.write_bytes(raw)
    return path


@for_each(
    ("content", "form"),
    [
        (PACKAGE, "Data Package"),
        ({"fields": FIELDS}, "Frictionless Table Schema"),
        (PACKAGE["resources"][0], "Frictionless Table Schema"),
        (CSVW, "CSVW metadata"),
        ({"tables": [CSVW]}, "CSVW metadata"),
        (REDCAP, "REDCap data dictionary"),
        (REDCAP.encode("utf-8-sig"), "REDCap data dictionary"),
        (REDCAP.encode("utf-16"), "REDCap data dictionary"),
    ],
)
def test_its_content_tells_what_it_is(tmp_path, content, form):
    assert read_dictionary(_file(tmp_path, content)).form == form


def test_an_upload_is_read_by_the_reader(tmp_path):
    path = _file(tmp_path, PACKAGE)
    assert ask("dictionary", [path], path=path, title="mine") == asdict(read_dictionary(path))


@for_each(
    ("content", "told"),
    [
        (b"", "no data dictionary that can be read here"),
        ("age,sex\n1,2\n", "no data dictionary that can be read here"),
        ("[1, 2]", "no data dictionary that can be read here"),
        ({"@type": "sc:Dataset"}, "no data dictionary that can be read here"),
        ({"name": "x", "max_rows": 10, "columns": []}, "a schema already"),
        (json.dumps(PACKAGE)[:-7], "not valid JSON"),
        ("[" * 100_000, "not valid JSON"),
        ('{"fields": ' * 50_000, "not valid JSON"),
        ('{"fields": [' + '{"a":' * 400 + "1" + "}" * 400 + "]}", "empty, too long"),
        (json.dumps({"fields": [{"name": "x" * 4_000_000}]}), "too long"),
        (json.dumps({"fields": [{"name": "x" * 10_000_000}]}), "larger than 5 MB"),
        (REDCAP.encode() + b"a,yesno,\xff\xfe\xfa\n", "may be|UTF-8"),
        ({"fields": [1]}, "something else stands"),
        ({"fields": FIELDS * 2}, "twice"),
        ({"fields": [{"name": f"is_{place}", "type": "boolean"} for place in range(5001)]}, "more than 5,000 columns"),
        ({"resources": [{"name": "a", "schema": "a.json"}]}, "no schema in this file"),
        ({"tableSchema": "a.json"}, "no columns in this file"),
        ({"resources": []}, "no table"),
        ({"fields": [{**FIELDS[0], "frostglass": 3}]}, "not as it was written"),
    ],
)
def test_what_is_none_is_refused_in_a_sentence(tmp_path, content, told):
    with pytest.raises(IngestError, match=told):
        read_dictionary(_file(tmp_path, content))


def _spoilt(value, chance):
    """A description in which something is of another type than it should be."""
    if chance.random() < 0.15:
        return chance.choice([None, 3, -1.5, "x", True, [], {}, [None], {"a": [1]}, "\0", float("inf"), 10**400])
    if isinstance(value, dict):
        return {name: _spoilt(each, chance) for name, each in value.items()}
    return [_spoilt(each, chance) for each in value] if isinstance(value, list) else value


RICH = {
    **PACKAGE,
    "frostglass": {"max_rows": 10, "privacy_unit": {"column": "id"}},
    "resources": [
        {
            "name": "people",
            "schema": {
                "primaryKey": ["id"],
                "missingValues": ["", "-9"],
                "fields": [
                    {"name": "id", "type": "any"},
                    {**FIELDS[0], "frostglass": {"bins": 4}},
                    {"name": "sex", "categories": [{"value": 1, "label": "male"}], "constraints": {"enum": [1]}},
                    {"name": "born", "type": "date", "constraints": {"minimum": "1900-01-01", "maximum": "2020-01-01"}},
                    {"name": "dead", "type": "boolean", "trueValues": ["y"], "falseValues": ["n"]},
                ],
            },
        },
        {
            "name": "visits",
            "schema": {
                "fields": [{"name": "id"}, {"name": "ward", "constraints": {"enum": ["a"]}}],
                "foreignKeys": [{"fields": "id", "reference": {"resource": "people", "fields": "id"}}],
            },
        },
    ],
}
RICH_CSVW = {
    "@context": ["http://www.w3.org/ns/csvw"],
    "dc:title": {"en": ["people"]},
    "url": "p.csv",
    "csvw-eo:privacyUnit": "id",
    "csvw-eo:bounds.maxContributions": 2,
    "bounds": {"maxLength": 99},
    "tableSchema": {
        "primaryKey": "id",
        "columns": [
            {"name": "id", "privacyId": True, "titles": {"en": ["id"]}},
            {"name": "ward", "keyValues": ["a", "b"], "null": ["-9"]},
            {"name": "age", "datatype": {"base": "integer", "minInclusive": 0, "maximum": 9}},
            {"name": "x", "datatype": "double", "partitions": [{"predicate": {"lowerBound": 0, "upperBound": 4}}]},
            {"name": "day", "datatype": {"base": "date", "format": "dd.MM.yyyy"}, "minimum": "2020-01-01"},
        ],
    },
}


@pytest.mark.parametrize("content", [RICH, RICH_CSVW])
def test_a_spoilt_description_gives_a_draft_or_a_sentence(tmp_path, content):
    chance = random.Random(7)
    read = 0
    for _ in range(500):
        try:
            draft = read_dictionary(_file(tmp_path, _spoilt(content, chance)))
        except IngestError:
            continue
        assert all(isinstance(sentence, str) for sentence in draft.sentences)
        json.dumps(asdict(draft))
        read += 1
    assert read


def test_a_field_without_end_is_refused_in_a_sentence(tmp_path):
    before = csv.field_size_limit(131_072)
    try:
        with pytest.raises(IngestError, match="not a CSV file"):
            read_dictionary(_file(tmp_path, REDCAP + f"a,yesno,{'x' * 200_000}\n"))
    finally:
        csv.field_size_limit(before)


def test_signs_that_end_lines_elsewhere_end_none_here(tmp_path):
    draft = read_dictionary(_file(tmp_path, REDCAP + "a,yesno,one\u2028two\x0cthree\n"))
    assert [column.get("label") for column in draft.content["columns"]] == ["Smoker", "one two three"]
