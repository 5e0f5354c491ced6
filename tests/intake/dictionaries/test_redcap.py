"""Data dictionaries of REDCap."""

from __future__ import annotations

import csv

import pytest

from dpcore.domain.schemas.origins import DICTIONARY, STANDARD
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.intake.dictionaries.reading import read_dictionary
from tests.support.rows import for_each

DESIGNER = (
    "Variable / Field Name,Form Name,Section Header,Field Type,Field Label,"
    '"Choices, Calculations, OR Slider Labels",Field Note,Text Validation Type OR Show Slider Number,'
    "Text Validation Min,Text Validation Max,Identifier?,Branching Logic (Show field only if...),Required Field?"
).replace('"Choices, Calculations, OR Slider Labels"', "Choices# Calculations# OR Slider Labels")
HEADERS = [header.replace("#", ",") for header in DESIGNER.split(",")]
PROGRAM = [
    *("field_name", "form_name", "section_header", "field_type", "field_label", "select_choices_or_calculations"),
    *("field_note", "text_validation_type_or_show_slider_number", "text_validation_min", "text_validation_max"),
    *("identifier", "branching_logic", "required_field"),
]
NAME, TYPE, LABEL, CHOICES, NOTE, VALIDATION, LOWER, UPPER, IDENTIFIER = 0, 3, 4, 5, 6, 7, 8, 9, 10
FIELDS = [
    {NAME: "record_id", TYPE: "text", LABEL: "Record ID"},
    {NAME: "age", TYPE: "text", LABEL: "Age <b>today</b>", VALIDATION: "integer", LOWER: "18", UPPER: "100"},
    {NAME: "sbp", TYPE: "text", LABEL: "Systolic", VALIDATION: "number_1dp"},
    {NAME: "sex", TYPE: "radio", LABEL: "Sex", CHOICES: "1, Male | 2, Female, or other"},
    {NAME: "smoker", TYPE: "yesno", LABEL: "Smoker"},
    {NAME: "race", TYPE: "checkbox", LABEL: "Race", CHOICES: "1, White | -2, Other"},
    {NAME: "pain", TYPE: "slider", LABEL: "Pain", CHOICES: "none | | much"},
    {NAME: "weight", TYPE: "text", LABEL: "Weight", VALIDATION: "number_comma_decimal", LOWER: "30,5", UPPER: "200"},
    {
        NAME: "admitted",
        TYPE: "text",
        LABEL: "Admitted",
        VALIDATION: "date_dmy",
        LOWER: "2020-01-01",
        UPPER: "2024-12-31",
    },
    {NAME: "surname", TYPE: "text", LABEL: "Surname", IDENTIFIER: "y"},
    {NAME: "mail", TYPE: "text", VALIDATION: "email"},
    {NAME: "remarks", TYPE: "notes", LABEL: "Remarks"},
    {NAME: "intro", TYPE: "descriptive", LABEL: "Welcome"},
]


def _file(tmp_path, fields=FIELDS, headers=HEADERS, delimiter=","):
    path = tmp_path / "stroke_dictionary.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file, delimiter=delimiter)
        rows.writerow(headers)
        rows.writerows([field.get(place, "") for place in range(len(headers))] for field in fields)
    return path


@for_each(("headers", "delimiter"), [(HEADERS, ","), (PROGRAM, ","), (HEADERS, ";")])
def test_a_project_gives_a_complete_schema(tmp_path, headers, delimiter):
    draft = read_dictionary(_file(tmp_path, headers=headers, delimiter=delimiter))
    assert not draft.unknown
    draft.limit(1000)
    schema = Schema.from_mapping(draft.content)
    assert schema.privacy_unit.column == "record_id"
    assert [(column.name, column.type) for column in schema] == [
        ("age", "integer"),
        ("sbp", "real"),
        ("sex", "categorical"),
        ("smoker", "boolean"),
        ("race___1", "boolean"),
        ("race____2", "boolean"),
        ("pain", "integer"),
        ("weight", "real"),
        ("admitted year", "integer"),
    ]
    age, sbp, sex, *_ = schema
    assert (age.lower, age.upper, age.label, age.origin) == (18, 100, "Age today", DICTIONARY)
    assert (sbp.unit, sbp.origin) == ("mmHg", STANDARD)
    assert [(label.category, label.label) for label in sex.labels] == [("1", "Male"), ("2", "Female, or other")]
    assert schema.column("race____2").label == "Race: Other"
    assert (schema.column("weight").lower, schema.column("admitted year").upper) == (30.5, 2024)


def test_what_is_left_out_has_a_reason(tmp_path):
    draft = read_dictionary(_file(tmp_path))
    assert draft.left_out == {
        "surname": "marked as an identifier",
        "mail": "marked as an identifier",
        "remarks": "free text",
        "intro": "no field: text of the form",
    }
    assert any("'surname', 'mail'" in sentence for sentence in draft.sentences)


def test_what_is_not_told_is_asked(tmp_path):
    fields = [
        *FIELDS[:2],
        {NAME: "score", TYPE: "calc", LABEL: "Score"},
        {NAME: "ward", TYPE: "dropdown"},
        {NAME: "odd", TYPE: "text", VALIDATION: "integer", LOWER: "9", UPPER: "1"},
    ]
    draft = read_dictionary(_file(tmp_path, fields))
    assert draft.unknown == [
        "The lowest and the highest plausible value is not said of 'score', 'odd'.",
        "The categories are not listed of 'ward'.",
    ]
    assert draft.sentences[:2] == draft.unknown


@for_each(
    ("fields", "told"),
    [
        ([], "has no fields"),
        (FIELDS[:1], "no column that can be kept"),
        ([*FIELDS, FIELDS[1]], "'age' twice"),
        ([*FIELDS, {NAME: "x", TYPE: "hologram"}], "'hologram'"),
        ([*FIELDS, {NAME: "x" * 200, TYPE: "yesno"}], "too long"),
    ],
)
def test_faults_are_told(tmp_path, fields, told):
    with pytest.raises(IngestError, match=told):
        read_dictionary(_file(tmp_path, fields))
