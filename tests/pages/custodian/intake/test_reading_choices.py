"""What a custodian says about her files on the page, and tables of a data base instead of one."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pandas as pd
import pyreadstat
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.errors import RequestError
from pages.components.custodian.intake.data_base import entry_of, tables_in
from pages.components.visitor import access
from tests.support.pages.page_tools import bring, button, checked, errors, open_page, press, words
from tests.support.texts import lacking

ROWS = "größe;ort\n1,75;Zürich\n1,80;Köln\n"


def by_label(items, label: str):
    return next(item for item in items if item.label.startswith(label))


def columns(app: AppTest) -> list[str]:
    return app.session_state["intake"].tables[0].columns


def test_an_encoding_is_asked_for_and_said_back():
    app = bring(open_page("custodian"), "Data file", "orte.csv", ROWS.encode("cp1252"))
    assert "Windows-1252" in errors(app)
    by_label(app.selectbox, "Encoding").set_value("cp1252")
    by_label(app.checkbox, "Decimal comma").check()
    app = checked(app.run())
    assert columns(app) == ["größe", "ort"]
    assert not lacking(words(app), "Windows-1252", "decimal commas")
    again = checked(open_page("custodian"))
    assert columns(again) == ["größe", "ort"]


def test_the_encoding_of_a_statistics_file_is_asked_for(tmp_path: Path):
    path = tmp_path / "orte.sav"
    pyreadstat.write_sav(pd.DataFrame({"size": [1.75]}), path, column_labels={"size": "Größe"})
    path.write_bytes(path.read_bytes().replace("ö".encode(), b"\xf6 "))
    app = bring(open_page("custodian"), "Data file", "orte.sav", path.read_bytes())
    assert "Say its encoding (--encoding, on the page 'Encoding')" in errors(app)
    choice = by_label(app.selectbox, "Encoding")
    assert "UTF-16" not in choice.options
    choice.set_value("cp1252")
    app = checked(app.run())
    assert columns(app) == ["size"]
    assert "SPSS file, letters as Windows-1252" in words(app)


@pytest.fixture
def clinic(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(tmp_path / "clinic.db")) as made:
        made.execute("CREATE TABLE patients (patient_id INTEGER, age INTEGER)")
        made.execute("CREATE TABLE visits (patient_id INTEGER, ward TEXT)")
        made.executemany("INSERT INTO patients VALUES (?, ?)", [(1, 40), (2, 50)])
        made.commit()
    monkeypatch.setenv("FROSTGLASS_SOURCE_CLINIC", f"sqlite:///{tmp_path / 'clinic.db'}")


@pytest.mark.usefixtures("clinic")
def test_tables_of_a_data_base_are_described_like_those_of_a_file():
    app = checked(open_page("custodian"))
    entry = by_label(app.text_area, "Tables or queries")
    entry.input("patient = patients\n\nvisit = SELECT *\nFROM visits\nWHERE ward = 'a'")
    app = press(app, "Read the tables")
    tables = {table.name: table.columns for table in app.session_state["intake"].tables}
    assert tables == {"patient": ["patient_id", "age"], "visit": ["patient_id", "ward"]}
    assert by_label(app.selectbox, "Main table").value == "patient"


@pytest.mark.usefixtures("clinic")
def test_what_cannot_be_understood_or_read_is_said():
    app = checked(open_page("custodian"))
    by_label(app.text_area, "Tables or queries").input("patients")
    button(app, "Read the tables").click()
    app = app.run()
    assert "a paragraph of its own" in errors(app)
    by_label(app.text_area, "Tables or queries").input("patient = nowhere")
    app = press(app, "Read the tables")
    assert "has no table" in errors(app)
    again = checked(open_page("custodian"))  # What was typed is there, in another session, too.
    for session in (app, again):
        assert by_label(session.text_area, "Tables or queries").value == "patient = nowhere"
    by_label(again.text_area, "Tables or queries").input("patient = patients")
    assert columns(press(again, "Read the tables")) == ["patient_id", "age"]
    assert [file.name for file in access.service().staging_area().files()] == ["clinic.source"]


def test_tables_as_people_type_them():
    tables = {"a": "b", "c": "SELECT x\nFROM y\nWHERE z = 1"}
    assert tables_in("a = b\n\n\n c=SELECT x\nFROM y\nWHERE z = 1 \n") == tables
    assert tables_in(entry_of(tables)) == tables
    for wrong in ("a", "= b", "a = b\n\na = c", "a =\n\n"):
        with pytest.raises(RequestError):
            tables_in(wrong)
