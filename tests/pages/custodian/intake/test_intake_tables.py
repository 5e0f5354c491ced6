"""The custodian's form with several tables: files of their own, or one database."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

from dpcore.domain.schemas.learnable_schema import LearnableSchema
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import SchemaError
from dpcore.intake.columns import category_text, schema_columns, schema_rows
from pages.components.custodian.intake import intake_yaml
from pages.components.custodian.intake.intake_draft import Draft
from pages.components.custodian.intake.intake_tables import TableDraft
from pages.components.visitor import access
from tests.support.pages.page_tools import (
    bring,
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
from tests.support.rows import for_each
from tests.support.tables.database_files import database_file
from tests.support.texts import lacking

TRAINS = "train_id,direction\n1,west\n2,east\n3,west\n"
CARS = "train_id,length,wheels\n1,short,2\n1,long,3\n2,long,2\n9,long,2\n"
SCHEMA = Schema.from_text(
    """
name: trains
entity: train
max_rows: 100
privacy_unit: {column: train_id}
columns:
  - {name: direction, type: categorical, categories: [west, east], target: true}
children:
  - name: car
    max_rows_per_person: 3
    columns:
      - {name: length, type: categorical, categories: [short, long],
         groups: {"any: size": [short, long]}}
      - {name: wheels, type: integer, lower: 2, upper: 3, edges: [2]}
"""
)


def upload(main: str = TRAINS, *further: tuple[str, str]) -> AppTest:
    app = open_page("custodian")
    bring(app, "Data file", "train.csv", main.encode())
    for name, content in further or (("car.csv", CARS),):
        bring(app, "Further tables", name, content.encode())
    return checked(app.run())


def database(folder: Path, kind: str, **tables: str) -> bytes:
    """The bytes of a database with these tables, given as CSV."""
    frames = {name: pd.read_csv(io.StringIO(content)) for name, content in tables.items()}
    return database_file(folder / f"records.{kind}", frames).read_bytes()


def upload_database(content: bytes, name: str) -> AppTest:
    app = open_page("custodian")
    return bring(app, "Data file", name, content)


def tables(app: AppTest) -> dict[str, pd.DataFrame]:
    return {table.name: table.rows for table in app.session_state["intake"].tables}


def by_label(items, label: str):
    return next(item for item in items if item.label.startswith(label))


def fill_in(app: AppTest, kept: int | None = 3) -> AppTest:
    """Answer the form as the schema would, by way of the drafts behind it."""
    described = {"train": SCHEMA, "car": SCHEMA.children[0]}
    for table in app.session_state["intake"].tables:
        if table.name not in described:
            continue
        rows = table.rows
        for column in described[table.name].columns:
            draft = column.model_dump(mode="json")
            rows = schema_rows.replaced(rows, [draft])
            place = rows.index[rows[schema_rows.NAME] == column.name][0]
            rows.at[place, schema_rows.TARGET] = column.target
            rows.at[place, schema_rows.GROUPS] = category_text.join_groups(draft.get("groups", ()))
        table.show(rows)
    checked(app.run())
    app.text_input(key="intake-name").set_value("trains")
    app.number_input(key="intake-max-rows").set_value(100)
    by_label(app.number_input, "Rows kept").set_value(kept)
    return app


def store(app: AppTest) -> AppTest:
    return press(app, "Check and store")


def test_further_files_get_names_keys_and_forms_of_their_own():
    app = upload()
    assert not errors(app)
    assert {name: list(rows[schema_rows.NAME]) for name, rows in tables(app).items()} == {
        "train": ["train_id", "direction"],
        "car": ["train_id", "length", "wheels"],
    }
    names = [item.value for item in app.text_input if "table" in item.key]
    assert names == ["train", "car"]
    assert by_label(app.selectbox, "Column that identifies people").value == "train_id"
    assert by_label(app.selectbox, "Column that says whose row").value == "train_id"
    assert [tab.label for tab in app.tabs] == ["train", "car"]


def test_several_files_are_stored_as_the_form_describes_them():
    app = store(fill_in(upload()))
    assert "who is not in the main table" in words(app)
    assert "is stored" in words(store_all_the_same(app))
    [info] = access.service().datasets()
    assert info.schema == SCHEMA


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_database_is_stored_as_the_form_describes_it(tmp_path, kind):
    content = database(tmp_path, kind, car=CARS, train=TRAINS, notes="x\n1\n")
    app = upload_database(content, f"records.{kind}")
    assert [item.label.split(" (")[0] for item in app.file_uploader] == ["Data dictionary"]
    main = by_label(app.selectbox, "Main table")
    assert main.value == "train"
    assert by_label(app.multiselect, "Further tables").value == ["car"]
    assert "is stored" in words(store_all_the_same(store(fill_in(app))))
    assert [info.schema for info in access.service().datasets()] == [SCHEMA]


def test_what_is_missing_is_listed_with_its_table_and_nothing_is_lost():
    app = upload()
    app.text_input(key="intake-name").set_value("Half done")
    by_label(app.text_input, "What one row").set_value("engine")
    store(app)
    for part in (
        "Table 'engine', column 'direction': list its categories",
        "Table 'car', column 'length': list its categories",
        "Table 'car': give the rows kept per person",
        "Give the row limit",
    ):
        assert part in errors(app), part
    assert app.text_input(key="intake-name").value == "Half done"
    assert by_label(app.text_input, "What one row").value == "engine"
    assert not access.service().datasets()


def test_tables_that_cannot_be_stored_give_a_sentence():
    app = store(fill_in(upload(TRAINS, ("car.csv", CARS + "1,2,3,4\n"))))
    assert not lacking(errors(app), "In the table 'car': Line 6", "Nothing was stored")
    assert not access.service().datasets()
    assert by_label(app.number_input, "Rows kept").value == 3
    assert not list(access.service()._store._folders.incoming.iterdir())


def test_values_of_a_further_table_are_looked_at_only_when_asked_for():
    app = upload(TRAINS, ("car.csv", CARS.replace("short", "rubella")))
    assert "rubella" not in words(app) + str(app.session_state.to_dict())
    look_at(app, "length")
    shown = tables(app)["car"].set_index(schema_rows.NAME)
    assert shown.loc["length", schema_rows.CATEGORIES] == "long; rubella"
    assert shown.loc["wheels", schema_rows.CATEGORIES] == ""
    assert (tables(app)["train"][schema_rows.CATEGORIES] == "").all()


def test_what_was_filled_in_outlives_a_further_file():
    app = open_page("custodian")
    bring(app, "Data file", "train.csv", TRAINS.encode())
    look_at(app, "direction")
    bring(app, "Further tables", "broken.csv", b"a,a\n")
    assert "Column names must be distinct" in errors(app)
    remove(app, "broken.csv")
    bring(app, "Further tables", "car.csv", CARS.encode())
    assert list(tables(app)) == ["train", "car"]
    shown = tables(app)["train"].set_index(schema_rows.NAME)
    assert shown.loc["direction", schema_rows.CATEGORIES] == "east; west"


@for_each(
    ("text", "groups"),
    [
        ("heart: I21; I22 | lung: J44", {"heart": ["I21", "I22"], "lung": ["J44"]}),
        ('"a: b": "x; y"; "p|q"; z:1', {"a: b": ["x; y", "p|q", "z:1"]}),
        ('size: "5"" pipe"', {"size": ['5" pipe']}),
    ],
)
def test_groups_are_split_outside_quotes(text, groups):
    found = category_text.split_groups(text)
    assert {group["name"]: group["members"] for group in found} == groups
    assert category_text.split_groups(category_text.join_groups(groups)) == found


@for_each(
    ("kind", "text", "sentence"),
    [
        ("categorical", "heart", "write groups as"),
        ("categorical", "heart:", "write groups as"),
        ("categorical", ": a", "write groups as"),
        ("categorical", '"heart: a', "write groups as"),
        ("categorical", "heart: c", "holds 'c', no category"),
        ("categorical", "a: b", "a name of its own"),
        ("categorical", "x: a | x: b", "a name of its own"),
        ("boolean", "x: yes", "only categorical and ordinal"),
    ],
)
def test_faults_of_groups_are_named(kind, text, sentence):
    rows = schema_rows.rows_of([{"name": "code", "type": kind, "categories": ["a", "b"]}])
    rows = rows.astype(object)
    rows.at[0, schema_rows.GROUPS] = text
    _, [fault] = schema_columns.columns_of(rows, "visit")
    assert fault.startswith("Table 'visit', column 'code': ")
    assert sentence in fault


LOADS = "train_id,car_no,shape\n1,1,circle\n1,2,square\n2,1,circle\n2,9,circle\n"
NUMBERED = "train_id,car_no,length,wheels\n1,1,short,2\n1,2,long,3\n2,1,long,2\n"
NESTED = SCHEMA.to_mapping() | {
    "children": [
        SCHEMA.to_mapping()["children"][0] | {"row_key": "car_no"},
        {
            "name": "load",
            "parent": "car",
            "parent_key": "car_no",
            "max_rows_per_person": 4,
            "columns": [{"name": "shape", "type": "categorical", "categories": ["circle", "square"]}],
        },
    ]
}


def with_loads() -> AppTest:
    """Three tables, and the form as a schema says in which each belongs to the train alone."""
    app = upload(TRAINS, ("car.csv", NUMBERED), ("load.csv", LOADS))
    alone = [
        {name: value for name, value in child.items() if name not in {"parent", "parent_key", "row_key"}}
        for child in NESTED["children"]
    ]
    return taken_over(app, Schema.from_mapping(NESTED | {"children": alone}))


def taken_over(app: AppTest, schema: Schema) -> AppTest:
    by_text(app, schema.to_yaml())
    return press(app, "Take it over")


def test_rows_may_belong_to_rows_of_another_further_table():
    app = with_loads()
    _, load = [item for item in app.selectbox if item.label == "Rows belong to"]
    assert load.options == ["the person alone", "car"]
    load.select_index(1)
    store(app)
    assert "Table 'load': choose the columns that link it to rows of 'car'." in errors(app)
    by_label(app.selectbox, "Column that names the row of car").set_value("car_no")
    by_label(app.selectbox, "Column of car with the same values").set_value("car_no")
    assert "is stored" in words(store_all_the_same(store(app)))
    assert [info.schema for info in access.service().datasets()] == [Schema.from_mapping(NESTED)]


def test_a_schema_in_which_rows_belong_to_rows_goes_through_the_form_and_outlives_another_name():
    app = taken_over(upload(TRAINS, ("car.csv", NUMBERED), ("load.csv", LOADS)), Schema.from_mapping(NESTED))
    assert [item.index for item in app.selectbox if item.label == "Rows belong to"] == [0, 1]
    by_label(app.text_input, "Name of the table in car").set_value("waggon")
    content = json.loads(json.dumps(NESTED).replace('"car"', '"waggon"'))
    assert "is stored" in words(store_all_the_same(store(app)))
    assert [info.schema for info in access.service().datasets()] == [Schema.from_mapping(content)]


def test_what_the_form_has_no_field_for_outlives_the_way_through_it():
    told = {"description": "One row per car.", "keep": "last", "order_by": "wheels", "row_key": "car_no"}
    content = SCHEMA.to_mapping()
    content["children"] = [content["children"][0] | told]
    content["privacy_unit"] |= {"keep": "first", "order_by": "direction", "order_format": "%d.%m.%Y"}
    schema = Schema.from_mapping(content)
    app = taken_over(upload(TRAINS, ("car.csv", NUMBERED)), schema)
    assert Schema.from_text(app.session_state["intake"].text) == schema
    assert "keep last, order_by wheels" in words(app)


@for_each(
    ("change", "sentence"),
    [
        ({"from_rows": True}, "The form cannot say 'from_rows' of the table 'car'"),
        ({"name": "waggon"}, "are 'waggon', and those here 'car'"),
    ],
)
def test_a_schema_that_the_form_cannot_say_is_refused_and_changes_nothing(change, sentence):
    content = SCHEMA.to_mapping()
    content["children"] = [content["children"][0] | change]
    main, car = (TableDraft(name, name, name, ["a"], schema_rows.rows_of([{"name": "a"}])) for name in ("train", "car"))
    draft = Draft(["train", "car"])
    with pytest.raises(SchemaError, match=sentence):
        intake_yaml.take_over(LearnableSchema.from_mapping(content), draft, [main, car])
    assert not draft.fresh
    assert main.typed is car.typed is None
