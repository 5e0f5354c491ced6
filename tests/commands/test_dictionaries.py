"""Schemas from data dictionaries, and for others, on the command line."""

from __future__ import annotations

import csv
import json

import pandas as pd
import pyreadstat
import pytest

from dpcore.domain.schemas.schema import Schema
from tests.support.workspaces.command_line import refuse, run

PEOPLE = pd.DataFrame(
    {
        "pid": [f"p{number}" for number in range(60)],
        "age": [20 + number for number in range(60)],
        "ward": ["1", "2", "2"] * 20,
        "smoker": ["1", "0"] * 30,
    }
)
REDCAP = [
    ("field_name", "field_type", "field_label", "select_choices_or_calculations", "validation", "min", "max"),
    ("pid", "text", "Record", "", "", "", ""),
    ("age", "text", "Age", "", "integer", "18", "100"),
    ("ward", "radio", "Ward", "1, stroke unit | 2, other", "", "", ""),
    ("smoker", "yesno", "Smoker", "", "", "", ""),
]
PACKAGE = {
    "name": "clinic",
    "resources": [
        {
            "name": "people",
            "schema": {
                "primaryKey": "pid",
                "fields": [
                    {"name": "pid", "type": "string"},
                    {"name": "age", "type": "integer", "constraints": {"minimum": 18, "maximum": 100}},
                    {"name": "ward", "type": "string", "constraints": {"enum": ["1", "2"]}},
                    {"name": "smoker", "type": "boolean"},
                ],
            },
        }
    ],
}
CSVW = {
    "@context": ["http://www.w3.org/ns/csvw", "https://w3id.org/csvw-eo"],
    "@type": "Table",
    "url": "people.csv",
    "privacyUnit": "pid",
    "maxContributions": 1,
    "maxLength": 500,
    "tableSchema": {
        "columns": [
            {"name": "pid", "datatype": "string", "privacyId": True},
            {"name": "age", "datatype": "integer", "minimum": 18, "maximum": 100},
            {"name": "ward", "datatype": "string", "keyValues": ["1", "2"], "exhaustiveKeys": True},
            {"name": "smoker", "datatype": "boolean"},
        ]
    },
}


@pytest.fixture(autouse=True)
def home(home):
    PEOPLE.to_csv(home / "people.csv", index=False)
    return home


def _redcap(folder):
    path = folder / "clinic_dictionary.csv"
    headers = dict.fromkeys(REDCAP[0]) | {
        "validation": "text_validation_type_or_show_slider_number",
        "min": "text_validation_min",
        "max": "text_validation_max",
    }
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([[headers[name] or name for name in REDCAP[0]], *REDCAP[1:]])
    return path


def _json(folder, content):
    path = folder / "dictionary.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def _spss(folder):
    path = folder / "people.sav"
    rows = PEOPLE.assign(ward=PEOPLE["ward"].astype(float), smoker=PEOPLE["smoker"].astype(float))
    labels = {"ward": {1.0: "stroke unit", 2.0: "other"}, "smoker": {0.0: "no", 1.0: "yes"}}
    pyreadstat.write_sav(rows, path, variable_value_labels=labels)
    return path


DICTIONARIES = {
    "redcap": _redcap,
    "data package": lambda folder: _json(folder, PACKAGE),
    "csvw": lambda folder: _json(folder, CSVW),
    "spss": _spss,
}


def _template(written, dictionary, *more):
    """A schema from a dictionary, with the row limit that most dictionaries do not tell."""
    run("schema", "template", "--dictionary", dictionary, "-o", written, *more)
    text = written.read_text(encoding="utf-8")
    written.write_text(text.replace("max_rows:  # required: ", "max_rows: 100  # "), encoding="utf-8")


@pytest.mark.parametrize("kind", DICTIONARIES)
def test_a_dictionary_and_a_budget_store_a_data_set(home, kind):
    dictionary = DICTIONARIES[kind](home)
    data = dictionary if kind == "spss" else home / "people.csv"
    limit = () if kind == "csvw" else ("--max-rows", "100")
    assert run("data", "check", data, "--dictionary", dictionary, *limit).endswith(
        "3 columns: 3 fit, 0 would lose values or tell nothing\n"
    )
    assert run("data", "add", data, "--dictionary", dictionary, *limit, "--budget", "2").startswith("stored: ")


def test_a_row_limit_is_asked_for_and_never_made_up(home):
    asked = ("data", "add", "people.csv", "--dictionary", _redcap(home), "--budget", "2")
    told = refuse(*asked)
    assert "how many rows there may be" in told
    assert "--max-rows" in told
    assert run(*asked, "--max-rows", "100").startswith("stored: ")
    schema = home / "schema.yaml"
    _template(schema, _redcap(home))
    assert "leave --max-rows out" in refuse("data", "check", "people.csv", "--schema", schema, "--max-rows", "9")


@pytest.mark.parametrize("form", ["frostglass", "csvw", "frictionless", "croissant"])
def test_a_schema_is_exported(home, form):
    schema = home / "schema.yaml"
    _template(schema, _redcap(home))
    if form == "frostglass":
        assert "frictionless, csvw, croissant" in refuse("schema", "export", schema, "--format", form)
        return
    written = home / "exported.json"
    run("schema", "export", schema, "--format", form, "-o", written)
    assert json.loads(run("schema", "export", schema, "--format", form)) == json.loads(written.read_text())
    if form != "croissant":
        again = run("schema", "template", "--dictionary", written)
        assert Schema.from_text(again) == Schema.from_file(schema)
