"""Many columns described at once: search, changes to several, undo, the same draft as text."""

from __future__ import annotations

import json

import pytest
import yaml
from streamlit.testing.v1 import AppTest

from dpcore.domain.schemas.learnable_schema import LearnableSchema
from dpcore.domain.schemas.schema import Schema
from dpcore.intake.columns import category_text, schema_columns, schema_rows
from pages.components.custodian import column_changes
from pages.components.custodian.intake import intake_yaml
from pages.components.custodian.intake.intake_draft import Draft
from pages.components.custodian.intake.intake_tables import TableDraft
from pages.components.visitor import access
from tests.support.pages.page_tools import bring, by_text, checked, errors, look_at, open_page, press, words

DATA = b"ward,age,died,sex\n" + b"north,44,yes,F\nsouth,50,no,M\n" * 20


def upload() -> AppTest:
    return bring(open_page("custodian"), "Data file", "ward.csv", DATA)


def table(app: AppTest) -> TableDraft:
    return app.session_state["intake"].tables[0]


def ident(app: AppTest) -> str:
    return table(app).ident


def act(app: AppTest, what: str) -> AppTest:
    return press(app, key=f"press-{what}-{ident(app)}")


def change(app: AppTest, what: str, value: object = None) -> AppTest:
    checked(app.selectbox(key=f"intake-change-{ident(app)}").set_value(what).run())
    if value is not None:
        key = f"intake-change-{ident(app)}-{what}"
        kinds = (app.text_input, app.selectbox, app.number_input)
        next(found for kind in kinds for found in kind if found.key == key).set_value(value)
    return act(app, "apply")


def column(app: AppTest, name: str) -> dict[str, object]:
    return next(row for row in schema_rows.written(table(app).now) if row["Column"] == name)


def find(app: AppTest, query: str) -> AppTest:
    return checked(app.text_input(key=f"intake-find-{ident(app)}").set_value(query).run())


def draft(names: list[str]) -> TableDraft:
    rows = schema_rows.rows_of([{"name": name, "type": "categorical"} for name in names])
    return TableDraft("t", "t.csv", "t", names, rows)


def test_all_columns_in_sight_are_changed_at_once():
    app = change(find(upload(), "categorical"), "Codes for missing values", "?; 99")
    assert [column(app, name)["Missing codes"] for name in ("ward", "age", "died", "sex")] == ["?; 99", "", "", "?; 99"]


def test_ticked_columns_are_changed_and_no_others():
    app = upload()
    rows = table(app).now.copy()
    rows.loc[rows["Column"].isin(["ward", "sex"]), "Select"] = True
    table(app).show(rows)
    app = checked(app.run())
    app = change(app, "Type", "ordinal")
    assert [column(app, name)["Type"] for name in ("ward", "age", "died", "sex")] == [
        "ordinal",
        "integer",
        "boolean",
        "ordinal",
    ]
    assert not any(row["Select"] for row in schema_rows.written(table(app).now))


def test_changes_are_taken_back_and_made_again():
    app = change(find(upload(), "ward"), "Categories", "north; south")
    assert column(app, "ward")["Categories"] == "north; south"
    app = act(app, "undo")
    assert column(app, "ward")["Categories"] == ""
    assert app.button(key=f"press-undo-{ident(app)}").disabled
    app = act(app, "redo")
    assert column(app, "ward")["Categories"] == "north; south"


def test_what_is_looked_up_says_so():
    app = look_at(upload(), "ward")
    assert column(app, "ward")["Categories"] == "north; south"
    assert column(app, "ward")["Origin"] == "looked up"
    assert column(app, "age")["Origin"] in {"", None, "standard table"}


def test_values_are_looked_at_again_when_a_column_was_made_of_a_date():
    rows = b"admitted,ward\n" + b"2019-03-31,north\n2023-05-09,south\n" * 20
    app = act(bring(open_page("custodian"), "Data file", "stays.csv", rows), "look")
    assert column(app, "admitted year")["Type"] == "integer"
    app = act(app, "look")
    assert not errors(app)
    assert column(app, "admitted year")[schema_rows.LOWER] == 2019
    assert list(table(app).now[schema_rows.NAME]) == ["admitted", "ward", "admitted year"]
    find(app, "admitted year")
    assert app.button(key=f"press-look-{ident(app)}").label == "Look at the values of the 0 columns shown"


def test_only_columns_with_a_question_are_shown():
    app = upload()
    checked(app.segmented_control(key=f"intake-show-{ident(app)}").set_value("To answer").run())
    assert table(app).seen[3] == ["ward"]
    checked(find(app, "nothing is called so").run())
    assert "No column is like that" in words(app)


def test_one_column_in_full():
    app = upload()
    checked(app.selectbox(key=f"intake-one-{ident(app)}").set_value("ward").run())
    entry = next(item for item in app.text_area if item.label.startswith("Categories, one a line"))
    entry.set_value("north = North wing\nsouth\tSouth wing\n\nwest\n")
    next(item for item in app.text_input if item.label == "Label").set_value("Ward")
    app = press(app, "Take over for 'ward'")
    [found], faults = schema_columns.columns_of(table(app).now.query("Column == 'ward'"))
    assert not faults
    assert found["categories"] == ["north", "south", "west"]
    assert found["labels"] == {"north": "North wing", "south": "South wing"}
    assert found["label"] == "Ward"


@pytest.mark.parametrize("between", ["\t", " = "])
def test_categories_are_read_back_as_they_are_listed(between):
    categories = ["a", "dose = 0", "x =", "=", '"quoted" = y', 'a "b"', "c; d", "<= 5", "tab\there"]
    labels = {"dose = 0": "none given", "x =": "an = sign", '"quoted" = y': '"', "=": "equal", "c; d": "both"}
    [row] = schema_rows.written(
        schema_rows.rows_of([{"name": "a", "type": "categorical", "categories": categories, "labels": labels}])
    )
    assert category_text.listed(schema_rows.lines_of(row, between)) == {"categories": categories, "labels": labels}


def test_a_label_leaves_categories_as_they_are():
    app = change(find(upload(), "ward"), "Categories", '"dose = 0"; "open')
    checked(app.selectbox(key=f"intake-one-{ident(app)}").set_value("ward").run())
    next(box for box in app.text_input if box.key.startswith("intake-full-") and box.label == "Label").set_value("Ward")
    app = press(app, "Take over for")
    assert column(app, "ward")["Categories"] == '"dose = 0"; "open'
    assert column(app, "ward")["Label"] == "Ward"


def test_the_form_as_text_and_back():
    app = change(find(upload(), "ward"), "Categories", "north; south")
    app.text_input(key="intake-name").set_value("Wards")
    checked(app.number_input(key="intake-max-rows").set_value(200).run())
    by_text(app)
    text = app.text_area(key="intake-yaml").value
    assert Schema.from_text(text).column("ward").categories == ("north", "south")
    changed = yaml.safe_load(text)
    changed["columns"] = [each | {"label": "Ward"} for each in changed["columns"] if each["name"] == "ward"]
    changed["name"] = "Other wards"
    checked(app.text_area(key="intake-yaml").set_value(yaml.safe_dump(changed)).run())
    app = press(app, "Take it over into the form")
    app = checked(app.run())
    assert app.text_input(key="intake-name").value == "Other wards"
    assert column(app, "ward")["Label"] == "Ward"
    assert [row["Column"] for row in schema_rows.written(table(app).now) if row["Keep"]] == ["ward"]
    assert "is stored" in words(press(app, "Check and store"))
    [info] = access.service().datasets()
    assert info.schema.column("ward").label == "Ward"


def test_a_text_with_a_fault_stays_and_the_form_too():
    app = upload()
    by_text(app)
    assert "# to answer: list its categories" in app.text_area(key="intake-yaml").value
    app.text_area(key="intake-yaml").set_value("name: [")
    checked(app.run())
    app = press(app, "Take it over into the form")
    assert "not valid YAML" in errors(app)
    assert app.text_area(key="intake-yaml").value == "name: ["
    checked(app.segmented_control(key="intake-way").set_value("Fill in a form").run())
    assert "Nothing of it is lost" in words(app)
    assert column(app, "age")["Highest"] == 110


@pytest.mark.parametrize("field", ["Bins", "Cut points"])
def test_bins_and_cut_points_take_each_other_s_place(field):
    rows = schema_rows.rows_of([{"name": "age", "type": "integer", "lower": 0, "upper": 90, "bins": 9}])
    rows = column_changes.changed(rows, ["age"], "Cut points", "30 60")
    rows = column_changes.changed(rows, ["age"], field, 3 if field == "Bins" else "40")
    [found], faults = schema_columns.columns_of(rows)
    assert not faults
    assert ("bins" in found) is (field == "Bins")
    assert ("edges" in found) is (field == "Cut points")


def test_what_the_form_has_no_field_for_stays():
    column = {"name": "a", "type": "categorical", "categories": ["1", "2"], "labels": {"1": "one", "2": "two"}}
    column |= {"modes": ["equal"], "missing_codes": ["9"], "matching": "loose", "origin": "dictionary"}
    rows = schema_rows.rows_of([column])
    [found], faults = schema_columns.columns_of(rows)
    assert not faults
    assert {name: found[name] for name in column} == column
    again = schema_rows.read(json.loads(json.dumps(schema_rows.written(rows))))
    assert schema_columns.columns_of(again) == ([found], [])
    fewer = column_changes.changed(rows, ["a"], "Categories", "2; 3")
    assert schema_columns.columns_of(fewer)[0][0]["labels"] == {"2": "two"}


INFERRED = """
name: s
max_rows: 9
origin: inferred from records
columns:
  - {name: ward, type: categorical, categories: [north, south]}
"""


def test_a_schema_read_off_the_records_does_not_become_a_declared_one_in_the_form():
    app = upload()
    by_text(app, INFERRED)
    for what in ("Take it over into the form", "Check and store"):
        app = press(app, what)
        assert "No result on this data set would be private" in errors(app)
        assert app.text_area(key="intake-yaml").value == INFERRED
    assert not access.service().datasets()


def test_where_facts_come_from_goes_through_the_form():
    content = yaml.safe_load(INFERRED) | {"origin": "dictionary", "entity": "patient"}
    content["columns"].append({"name": "age", "type": "integer", "lower": 0, "upper": 90, "bins": 9, "origin": "known"})
    main, taken = draft(["ward", "age", "sex"]), Draft(["f"])
    intake_yaml.take_over(LearnableSchema.from_mapping(content), taken, [main])
    again = Draft.read(json.dumps(vars(taken) | {"tables": [main.written()]}))
    assert again is not None
    typed = schema_rows.replaced(again.tables[0].now, [{"name": "sex", "type": "boolean"}])
    columns, faults = schema_columns.columns_of(typed)
    assert not faults
    said = intake_yaml.completed({"name": "s", "max_rows": 9, "columns": columns}, again.rest)
    schema = LearnableSchema.from_mapping(said).schema
    assert schema.origin == "dictionary"
    assert schema.entity == "patient"
    assert {column.name: column.origin for column in schema.columns} == {
        "ward": "dictionary",
        "age": "known",
        "sex": "declared",
    }
