"""A data dictionary fills in the custodian's form."""

from __future__ import annotations

import json

import pandas as pd
import pyreadstat

from dpcore.intake.columns import schema_rows
from tests.support.pages.page_tools import bring, errors, open_page
from tests.support.texts import lacking

DATA = b"pid,age,ward,smoker,admitted,sodium\n" + b"".join(
    f"p{number},{20 + number},{1 + number % 2},{number % 2},202{number % 4}-03-11,140\n".encode()
    for number in range(60)
)
REDCAP = b"""field_name,field_type,field_label,choices,validation,text_validation_min,text_validation_max
pid,text,Record,,,,
age,text,Age at entry,,integer,18,100
ward,radio,Ward,"1, stroke unit | 2, other",,,
smoker,yesno,Smoker,,,,
admitted,text,Admitted,,date_ymd,2020-01-01,2023-12-31
height,text,Height,,number,100,220
"""
REDCAP = REDCAP.replace(
    b",choices,validation,", b",select_choices_or_calculations,text_validation_type_or_show_slider_number,"
)


def bring_dictionary(content: bytes, name: str = "clinic_dictionary.csv", data: bytes = DATA):
    app = open_page("custodian")
    bring(app, "Data file", "people.csv", data)
    return bring(app, "Data dictionary", name, content)


def rows(app) -> pd.DataFrame:
    return app.session_state["intake"].tables[0].now.set_index(schema_rows.NAME)


def test_it_fills_in_columns_person_and_name_and_leaves_the_limit_to_be_asked():
    app = bring_dictionary(REDCAP)
    shown = rows(app)
    assert list(shown.loc["age", [schema_rows.LOWER, schema_rows.UPPER, schema_rows.LABEL]]) == [
        18,
        100,
        "Age at entry",
    ]
    assert shown.loc["ward", schema_rows.CATEGORIES] == "1; 2"
    assert set(shown.loc[["age", "ward", "smoker", "admitted year"], schema_rows.ORIGIN]) == {"dictionary"}
    assert not shown.loc["admitted", schema_rows.KEEP]
    assert shown.loc["admitted year", schema_rows.KEEP]
    assert app.text_input(key="intake-name").value == "clinic_dictionary"
    assert app.number_input(key="intake-max-rows").value is None
    assert app.selectbox(key="intake-person").value == "pid"
    told = "\n".join(item.value for item in app.info)
    assert not lacking(told, "the first field, is the record", "Not in the data file: 'height'.")


def test_what_is_no_dictionary_of_these_columns_is_told_and_changes_nothing():
    app = bring_dictionary(b"{", "dictionary.json")
    for content, sentence in (
        (b"{", "not valid JSON"),
        (b"a,b\n1,2\n", "no data dictionary that can be read here"),
        (json.dumps({"fields": [{"name": "other", "type": "boolean"}]}).encode(), "none of the columns of these files"),
        (b" " * 5_000_001, "larger than 5 MB"),
        (b"", "empty"),
    ):
        bring(app, "Data dictionary", "dictionary.json", content)
        assert sentence in errors(app), content[:20]
        assert set(rows(app)[schema_rows.ORIGIN].dropna()) <= {"standard table"}


def test_a_file_of_spss_brings_its_labels_itself(tmp_path):
    path = tmp_path / "people.sav"
    people = pd.DataFrame({"pid": ["a", "b", "c"], "ward": [1.0, 2.0, 9.0], "age": [44.0, 50.0, 61.0]})
    labels = {"ward": {1.0: "stroke unit", 2.0: "other", 9.0: "not known"}}
    pyreadstat.write_sav(people, path, variable_value_labels=labels, missing_ranges={"ward": [9.0]})
    app = open_page("custodian")
    bring(app, "Data file", "people.sav", path.read_bytes())
    ward = rows(app).loc["ward"]
    assert ward[schema_rows.CATEGORIES] == "1; 2"
    assert ward[schema_rows.MISSING] == "9"
    assert json.loads(ward[schema_rows.REST])["labels"] == {"1": "stroke unit", "2": "other"}
