"""The custodian's form with two files about the same people."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import UTC, datetime
from threading import Event
from typing import Any

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError, SchemaError, UncertainError
from dpcore.intake.columns import schema_columns, schema_rows
from dpcore.intake.process.readers import Watch
from dpcore.service import Service
from dpcore.workspace.people.users import User
from pages.components.custodian.intake import intake_drafts, upload_reading
from pages.components.custodian.intake.intake_tables import TableDraft
from pages.components.visitor import access, login
from tests.support.pages.page_tools import (
    APART,
    WRITTEN,
    bring,
    button,
    by_text,
    checked,
    errors,
    look_at,
    open_page,
    press,
    remove,
    store_all_the_same,
    words,
)
from tests.support.texts import lacking

LEFT = b"patient_id,has_gout,ward,age\n1,yes,north,44\n2,no,south,50\n3,yes,north,61\n"
RIGHT = b"nr;patient_id;urate;age\n7;2;310;50\n8;3;520;61\n9;4;400;70\n"
SCHEMA = Schema.from_text(
    """
name: two
max_rows: 100
privacy_unit: {column: patient_id}
columns:
  - {name: has_gout, type: boolean, view: left}
  - {name: urate, type: real, lower: 0, upper: 900, edges: [360], view: right}
"""
)


def upload(left: bytes = LEFT, right: bytes = RIGHT) -> AppTest:
    app = open_page("custodian")
    bring(app, "Data file", "left.csv", left)
    return second(app, right)


def second(app: AppTest, right: bytes) -> AppTest:
    return bring(app, "A second file", "right.csv", right)


def rows(app: AppTest) -> pd.DataFrame:
    return app.session_state["intake"].tables[0].rows


def join_key(app: AppTest):
    label = "Column that identifies people, in both files"
    return next(item for item in app.selectbox if item.label == label)


def complete(app: AppTest) -> AppTest:
    """The form as somebody would fill it in, by way of the draft behind it."""
    drafts = [column.model_dump(mode="json") for column in SCHEMA]
    shown = rows(app)
    shown[schema_rows.KEEP] = False
    for draft in drafts:
        shown = schema_rows.replaced(shown, [draft])
    app.session_state["intake"].tables[0].show(shown)
    checked(app.run())
    app.text_input(key="intake-name").set_value("Two views")
    app.number_input(key="intake-max-rows").set_value(100)
    return press(app, "Check and store")


def test_two_headers_make_one_form_with_a_side_for_each_column():
    app = upload()
    assert not errors(app)
    drafted = rows(app).set_index(schema_rows.NAME)[schema_rows.SIDE].to_dict()
    assert drafted == {
        "has_gout": "left",
        "ward": "left",
        "age_left": "left",
        "nr": "right",
        "urate": "right",
        "age_right": "right",
    }
    key = join_key(app)
    assert (key.value, key.options) == ("patient_id", ["patient_id", "age"])
    assert "one row in each file" in words(app)
    assert "intake-person" not in {item.key for item in app.selectbox}


def test_two_files_are_stored_as_one_data_set():
    app = complete(upload())
    assert "1 of 3 people of the first file are not in the second, and 1 of 3 of the second not" in words(app)
    app = store_all_the_same(app)
    assert "is stored" in words(app)
    [info] = access.service().datasets()
    assert info.schema.view("left") == ("has_gout",)
    assert info.schema.view("right") == ("urate",)
    assert info.schema.privacy_unit.column == "patient_id"
    assert info.schema.privacy_unit.max_rows_per_person == 1
    assert len(app.file_uploader) == 1


def test_what_may_be_stored_is_not_said_to_be_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    def add(*_: object, **__: object) -> None:
        raise UncertainError("It may be stored.")

    monkeypatch.setattr(Service, "add_dataset", add)
    app = complete(upload(LEFT, RIGHT))
    assert "It may be stored." in errors(app)
    assert "Nothing was stored" not in errors(app)


def test_files_that_cannot_be_joined_give_a_sentence_and_store_nothing():
    app = complete(upload(LEFT + b"1,no,south,50\n"))
    assert not lacking(errors(app), "In the first file, several rows have the same", "Nothing was stored")
    assert not access.service().datasets()
    assert app.text_input(key="intake-name").value == "Two views"
    incoming = access.service()._store._folders.incoming
    assert not list(incoming.iterdir())


MORE = "Further files of the same table"


def test_several_files_are_stored_as_one_table():
    app = bring(open_page("custodian"), "Data file", "2023.csv", LEFT)
    bring(app, MORE, "2024.csv", b"age,ward,patient_id,has_gout\n61,south,4,yes\n44,north,1,no\n")
    assert not errors(app)
    by_text(app)
    schema = SCHEMA.to_yaml().replace("urate", "age").replace("right", "left").replace("900", "90").replace("360", "50")
    app.text_area(key="intake-yaml").set_value(schema)
    app = press(app, "Check and store")
    assert "1 row of a person is kept, so" in words(app)
    next(box for box in app.checkbox if "rows-dropped" in str(box.key)).set_value(True)
    button(checked(app.run()), "Check again and store").click()
    assert "is stored" in words(checked(app.run()))
    [info] = access.service().datasets()
    assert [column.name for column in info.schema] == ["has_gout", "age"]
    assert not access.service().staging_area().files()


def test_values_of_the_second_file_are_looked_at_when_asked_for():
    app = upload()
    table = app.session_state["intake"].tables[0]
    table.show(schema_rows.replaced(table.now, [{"name": "age_right", "type": "ordinal"}]))
    look_at(checked(app.run()), "age_right", "Keep the types as they are")
    shown = rows(app).set_index(schema_rows.NAME)
    assert shown.loc["age_right", schema_rows.CATEGORIES] == "50; 61; 70"
    assert shown.loc["age_right", schema_rows.SIDE] == "right"
    assert shown.loc["ward", schema_rows.CATEGORIES] == ""


def test_another_key_names_the_columns_anew_and_keeps_what_was_found():
    app = upload()
    look_at(app, "ward")
    join_key(app).set_value("age")
    checked(app.run())
    shown = rows(app).set_index(schema_rows.NAME)
    assert set(shown.index) == {"patient_id_left", "has_gout", "ward", "nr", "patient_id_right", "urate"}
    assert shown.loc["ward", schema_rows.CATEGORIES] == "north; south"


class Joining:
    """Takes the place of the question how two files are joined: what it does of its own, and how often."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, own: Callable[[Watch], object]) -> None:
        self.own: Callable[[Watch], object] | None = own
        self.asked = 0
        self._ask = intake_drafts.ask
        monkeypatch.setattr(intake_drafts, "ask", self)

    def __call__(self, question: str, *files: Any, watch: Watch, **details: Any) -> Any:
        if question == "joint draft" and self.own is not None:
            self.asked += 1
            assert self.asked < 5, "asked again and again"
            self.own(watch)
        return self._ask(question, *files, watch=watch, **details)


def drawn_when_read(app: AppTest) -> AppTest:
    """The page once nothing is being read."""
    for _ in range(600):
        if upload_reading.current() is None:
            break
        time.sleep(0.1)
    return checked(app.run())


def assert_stands_still(app: AppTest, joining: Joining, sentence: str) -> None:
    """What is wrong is told for as long as nobody does anything about it, and nothing is asked anew."""
    asked = joining.asked
    for _ in range(2):
        assert sentence in errors(app)
        assert join_key(app).value == "age"
        assert not [item for item in app.button if item.label.startswith("Check and store")]
        checked(app.run())
    assert joining.asked == asked


def assert_joined_by_age(app: AppTest) -> None:
    assert not errors(app)
    assert {"patient_id_left", "patient_id_right"} <= set(rows(app)[schema_rows.NAME])


FORESEEN = IngestError("They do not fit."), "They do not fit."
UNFORESEEN = ZeroDivisionError(), "This did not work"
AT_ONCE, AFTER_A_WHILE = 120.0, 0.0


@pytest.mark.parametrize(
    ("fault", "sentence", "patience"),
    [
        pytest.param(*FORESEEN, AFTER_A_WHILE, id="foreseen-after a while"),
        pytest.param(*UNFORESEEN, AT_ONCE, id="unforeseen-at once"),
        pytest.param(*FORESEEN, AT_ONCE, id="foreseen-at once", marks=pytest.mark.slow),
        pytest.param(*UNFORESEEN, AFTER_A_WHILE, id="unforeseen-after a while", marks=pytest.mark.slow),
    ],
)
def test_a_key_by_which_files_cannot_be_joined_is_told_and_not_tried_again(monkeypatch, fault, sentence, patience):
    def fail(_watch: Watch) -> None:
        time.sleep(0.3)
        raise fault

    app = upload()
    joining = Joining(monkeypatch, fail)
    monkeypatch.setattr(upload_reading, "PATIENCE", patience)
    join_key(app).set_value("age")
    checked(app.run())
    assert_stands_still(drawn_when_read(app), joining, sentence)
    join_key(app).set_value("patient_id")
    assert not errors(checked(app.run()))
    assert button(app, "Check and store")
    joining.own = None
    join_key(app).set_value("age")
    checked(app.run())
    assert_joined_by_age(drawn_when_read(app))


def test_what_was_filled_in_outlives_a_second_file():
    app = open_page("custodian")
    bring(app, "Data file", "left.csv", LEFT)
    look_at(app, "ward")
    for unusable, sentence in (
        (b"", "The second file is empty"),
        ("größe,age\n".encode("latin-1"), "In the second file: The file is not UTF-8"),
        (b"x,y\n1,2\n", "no column in common"),
    ):
        assert sentence in errors(second(app, unusable))
        assert not [item for item in app.button if item.label.startswith("Check and store")]
    second(app, RIGHT)
    shown = rows(app).set_index(schema_rows.NAME)
    assert shown.loc["ward", schema_rows.CATEGORIES] == "north; south"
    assert shown.loc["ward", schema_rows.SIDE] == "left"
    assert shown.loc["urate", schema_rows.SIDE] == "right"


def test_answers_are_carried_over_by_name():
    new = schema_rows.rows_of(
        [
            {"name": "a", "type": "boolean", "view": "left"},
            {"name": "b", "type": "integer", "lower": 0, "upper": 9, "bins": 3, "view": "right"},
            {"name": "c", "type": "boolean", "view": "right"},
        ]
    )
    typed = schema_rows.rows_of(
        [
            {"name": "c", "type": "ordinal", "categories": ["x", "y"], "view": "left"},
            {"name": "a", "type": "real", "lower": 1, "upper": 2, "edges": [1.5], "unit": "m"},
            {"name": "gone", "type": "boolean"},
        ]
    )
    [a, b, c], faults = schema_columns.columns_of(schema_rows.carry_over(new, typed))
    assert not faults
    assert (a["type"], a["edges"], a["unit"], a["view"]) == ("real", [1.5], "m", "left")
    assert (b["type"], b["bins"], b["view"]) == ("integer", 3, "right")
    assert (c["type"], c["categories"], c["view"]) == ("ordinal", ["x", "y"], "left")


# What was brought and typed is there again


def fill_in_half() -> AppTest:
    app = open_page("custodian")
    bring(app, "Data file", "left.csv", LEFT)
    app.text_input(key="intake-name").set_value("Half done")
    app.number_input(key="intake-max-rows").set_value(700)
    look_at(app, "ward")
    return checked(app.run())


def assert_half_done(app: AppTest) -> None:
    assert app.text_input(key="intake-name").value == "Half done"
    assert app.number_input(key="intake-max-rows").value == 700
    assert app.selectbox(key="intake-person").value == "patient_id"
    shown = rows(app).set_index(schema_rows.NAME)
    assert shown.loc["ward", schema_rows.CATEGORIES] == "north; south"


def test_another_session_goes_on_where_the_first_was():
    fill_in_half()
    again = open_page("custodian")
    assert_half_done(again)
    app = second(checked(again.text_input(key="intake-name").set_value("Two").run()), RIGHT)
    assert app.text_input(key="intake-name").value == "Two"
    assert "Neither" not in errors(app)
    assert rows(open_page("custodian")).shape == rows(app).shape


def test_looking_from_another_session_changes_nothing():
    app = fill_in_half()
    notes = access.service().staging_area().notes()
    other = open_page("custodian")
    assert_half_done(other)
    assert access.service().staging_area().notes() == notes
    drawn = app.session_state["intake"].tables[0].grid
    assert checked(app.run()).session_state["intake"].tables[0].grid == drawn


def test_what_is_typed_beside_another_session_is_laid_over_what_that_one_noted():
    names = ["a", "b", "c"]
    drafts = [{"name": name, "type": "integer", "lower": 0, "upper": 9} for name in names]
    first = TableDraft("f", "f", "f", names, schema_rows.rows_of(drafts))
    noted = json.dumps(first.written())
    first.seen = ("", "All", 0, ["b", "c"])
    first.answer(schema_rows.replaced(first.now, [{"name": "b", "unit": "kg"}]))
    second = TableDraft.read(json.loads(noted))
    second.answer(schema_rows.replaced(second.now, [{"name": "b", "unit": "g"}, {"name": "a", "label": "A"}]))
    read = TableDraft.read(json.loads(json.dumps(second.written())))
    read.take_up(first, {0: {"Unit": "kg", "Highest": 12}, 1: {"Label": "C"}})
    assert read.grid != first.grid
    rows = {row["Column"]: row for row in schema_rows.written(read.now)}
    assert [rows[name]["Label"] for name in names] == ["A", "", "C"]
    assert (rows["b"]["Unit"], rows["b"]["Highest"]) == ("g", 12)
    assert read.rows.equals(read.now)
    read.undo()
    assert schema_rows.written(read.now)[2]["Label"] == ""


def test_a_typed_schema_is_there_again_in_another_session():
    app = open_page("custodian")
    bring(app, "Data file", "left.csv", LEFT)
    by_text(app, "name: begun")
    again = open_page("custodian")
    assert again.segmented_control(key="intake-way").value == WRITTEN
    assert again.text_area(key="intake-yaml").value == "name: begun"


def test_what_is_discarded_is_gone_everywhere():
    app = remove(fill_in_half(), "left.csv")
    for session in (app, open_page("custodian")):
        assert [item.label for item in session.file_uploader] == [
            "Data file (CSV, Excel, Parquet, SPSS, Stata, SAS, SQLite or DuckDB)"
        ]
    bring(app, "Data file", "left.csv", LEFT)
    assert app.text_input(key="intake-name").value == ""
    assert app.number_input(key="intake-max-rows").value is None


def test_the_main_file_is_removed_with_others_only_after_a_question():
    app = remove(upload(), "left.csv")
    staging_area = access.service().staging_area()
    assert "these go with it: **right.csv**" in words(app).replace(APART, "")
    assert len(staging_area.files()) == 2
    app.button(key="remove-nothing").click()
    assert len(staging_area.files()) == 2
    assert not [item for item in checked(app.run()).button if item.key == "remove-all"]
    remove(app, "left.csv").button(key="remove-all").click()
    checked(app.run())
    assert not staging_area.files()


def test_each_custodian_sees_their_own_upload_only(monkeypatch):
    fill_in_half()
    bob = User("bob@x.org", frozenset({"custodian"}), datetime(2999, 1, 1, tzinfo=UTC))
    monkeypatch.setattr(login, "user", lambda: bob)
    monkeypatch.setattr(login, "login_needed", lambda: True)
    app = open_page("custodian")
    assert "left.csv" not in words(app)
    assert len(app.file_uploader) == 1


def test_a_long_reading_shows_how_far_it_is_and_can_be_stopped(monkeypatch):
    begun, stopped = Event(), Event()

    def ask(*_, watch, **__):
        try:
            while True:
                watch("visit", 1_234_567)
                begun.set()
                time.sleep(0.01)
        finally:
            stopped.set()

    monkeypatch.setattr(intake_drafts, "ask", ask)
    monkeypatch.setattr(upload_reading, "PATIENCE", 0.0)
    app = open_page("custodian")
    bring(app, "Data file", "left.csv", LEFT)
    assert begun.wait(60)
    for session in (app, open_page("custodian")):
        checked(session.run())
        assert "1,234,567 rows of 'visit' so far" in words(session)
    press(app, "Cancel")
    assert stopped.wait(60)
    for _ in range(100):
        if "Reading was stopped" in errors(checked(app.run())):
            break
        time.sleep(0.1)
    assert "Remove the file, or upload another one" in errors(app)


def test_a_form_in_sight_stays_while_the_header_of_a_further_file_is_read(monkeypatch):
    """Progress in its place would take what was typed in it and not sent yet."""
    app, ask = fill_in_half(), intake_drafts.ask

    def slow(*question, **more):
        time.sleep(2)
        return ask(*question, **more)

    monkeypatch.setattr(intake_drafts, "ask", slow)
    monkeypatch.setattr(upload_reading, "PATIENCE", 0.1)
    monkeypatch.setattr(upload_reading, "WITH_FORM", 600)
    bring(app, "Further tables", "lab.csv", RIGHT)
    assert "Cancel" not in [item.label for item in app.button]
    assert app.text_input(key="intake-name").value == "Half done"


def controls(app: AppTest) -> list[Any]:
    """What changes which files lie on the desk."""
    removing = [item for item in app.button if item.label == "Remove"]
    assert removing
    assert app.file_uploader
    return [*removing, *app.file_uploader]


def test_nothing_is_removed_or_brought_while_a_data_set_is_stored(monkeypatch):
    app = upload()
    other_tab = open_page("custodian")
    assert not any(item.disabled for item in controls(checked(app.run())))
    begun, go_on = Event(), Event()

    def add(_service: Service, *_: object, **__: object) -> None:
        begun.set()
        go_on.wait(60)
        raise SchemaError("It is over.")

    monkeypatch.setattr(Service, "add_dataset", add)
    monkeypatch.setattr(upload_reading, "PATIENCE", 0.0)
    complete(app)
    assert begun.wait(60)
    checked(app.run())
    assert "Checking and storing" in words(app)
    assert all(item.disabled for item in controls(app))
    files = access.service().staging_area().files()
    remove(other_tab, "left.csv")  # Drawn before, so it could still be pressed.
    assert access.service().staging_area().files() == files
    assert all(item.disabled for item in controls(other_tab))
    thread = upload_reading.current().thread
    go_on.set()
    thread.join(60)
    assert "It is over." in errors(checked(app.run()))
    assert not any(item.disabled for item in controls(app))


def test_what_is_under_way_is_shown_although_its_files_are_gone(monkeypatch):
    app = upload()
    go_on = Event()

    def add(_service: Service, *_: object, **__: object) -> None:
        access.installation().staging_area().clear()
        go_on.wait(60)

    monkeypatch.setattr(Service, "add_dataset", add)
    monkeypatch.setattr(upload_reading, "PATIENCE", 0.0)
    complete(app)
    thread = upload_reading.current().thread
    for _ in range(600):
        if not access.service().staging_area().files():
            break
        time.sleep(0.1)
    checked(app.run())
    assert "Checking and storing" in words(app)
    go_on.set()
    thread.join(60)


def test_a_fault_that_nobody_foresaw_is_not_called_a_stop(monkeypatch):
    def add(_service: Service, *_: object, **__: object) -> None:
        raise ZeroDivisionError

    app = upload()
    monkeypatch.setattr(Service, "add_dataset", add)
    complete(app)
    assert "This did not work, and nothing was stored" in errors(app)
    assert "stopped" not in errors(app)


def test_a_disk_without_room_for_what_is_typed_is_said(monkeypatch):
    app = upload()
    (access.service().staging_area().folder / ".notes.json").symlink_to("/dev/full")
    checked(app.text_input(key="intake-name").set_value("Two views").run())
    assert "could not be written down" in words(app)
    assert app.text_input(key="intake-name").value == "Two views"


def test_nothing_can_be_changed_as_soon_as_reading_takes_long(monkeypatch):
    go_on = Event()
    monkeypatch.setattr(intake_drafts, "ask", lambda *_, **__: go_on.wait(60) and ["a"])
    monkeypatch.setattr(upload_reading, "PATIENCE", 0.0)
    app = open_page("custodian")
    bring(app, "Data file", "left.csv", LEFT)
    assert "Reading the header" in words(app)
    assert all(item.disabled for item in controls(app))
    thread = upload_reading.current().thread
    go_on.set()
    thread.join(60)
