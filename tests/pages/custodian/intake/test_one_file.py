"""The custodian's form with one file: what it stores, and a sentence for each mistake."""

from __future__ import annotations

from decimal import Decimal

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.intake.columns import category_text, schema_columns, schema_rows
from pages.components.visitor import access
from tests.support.pages.page_tools import bring, by_text, errors, look_at, open_page, press, words
from tests.support.pages.ward_runs import SCHEMA
from tests.support.rows import for_each
from tests.support.texts import lacking

GOOD = "age,sex,died\n" + "\n".join(
    f"{20 + i % 80},{'male' if i % 3 else 'female'},{'yes' if i % 5 == 0 else 'no'}" for i in range(200)
)


def upload(name: str, content: bytes) -> AppTest:
    app = open_page("custodian")
    return bring(app, "Data file", name, content)


def by_schema(content: str, schema: str = SCHEMA.to_yaml(), name: str = "data.csv") -> AppTest:
    app = upload(name, content.encode())
    by_text(app, schema)
    return press(app, "Check and store")


def test_a_good_file_with_a_schema_is_stored_and_selected():
    app = by_schema(GOOD)
    assert "is stored" in words(app)
    [info] = access.service().datasets()
    assert not info.public
    assert app.sidebar.selectbox[0].value == info.id


def test_a_header_that_cannot_be_used_gives_a_sentence():
    assert "must be distinct" in errors(upload("data.csv", b"a,a,b\n1,2,3\n"))


def test_a_file_that_does_not_fit_gives_a_sentence_and_stores_nothing():
    app = by_schema("age,sex\n50,male\n")
    assert "'died'" in errors(app)
    assert not access.service().datasets()
    assert app.text_area(key="intake-yaml").value == SCHEMA.to_yaml()


@pytest.mark.parametrize(("schema", "sentence"), [("", "Paste a schema"), ("a: [", "not valid YAML")])
def test_a_schema_that_cannot_be_used_gives_a_sentence(schema, sentence):
    assert sentence in errors(by_schema(GOOD, schema))


def test_a_schema_file_that_is_not_utf_8_gives_a_sentence():
    app = upload("data.csv", GOOD.encode())
    by_text(app)
    text = SCHEMA.to_yaml().replace("Invented", "Größe:")
    bring(app, "or a schema file", "schema.yaml", text.encode("latin-1"))
    assert "The schema file is not UTF-8 text." in errors(app)
    bring(app, "or a schema file", "schema.yaml", SCHEMA.to_yaml().encode())
    assert not errors(app)
    assert app.text_area(key="intake-yaml").value == SCHEMA.to_yaml()
    assert not access.service().datasets()


def test_a_budget_that_cannot_be_used_gives_a_sentence_and_is_kept():
    app = upload("data.csv", GOOD.encode())
    by_text(app, SCHEMA.to_yaml())
    for key, typed, sentence in (
        ("budget", "0", "Total ε: Epsilon must be above 0"),
        ("budget", "x", "Total ε: Epsilon must be a number"),
        ("delta", "much", "Delta must be a number"),
        ("delta", "1", "at least 0 and below 1"),
        ("delta", "0.1", "too large"),
        ("delta", "1e-16", "15 decimal"),
    ):
        app.text_input(key=f"intake-{key}").set_value(typed)
        assert sentence in errors(press(app, "Check and store"))
        assert app.text_input(key=f"intake-{key}").value == typed
        assert not access.service().datasets()
        app.text_input(key=f"intake-{key}").set_value({"budget": "5", "delta": "1e-7"}[key])
    press(app, "Check and store")
    [info] = access.service().datasets()
    assert access.service().total_balance(info.id).delta == Decimal("1e-7")


def test_the_form_lists_what_is_missing_per_column():
    app = upload("data.csv", b"score,ward,died\n1,a,yes\n")
    text = errors(press(app, "Check and store"))
    assert not lacking(text, "Give the data set a name", "Column 'ward'", "Give the row limit")
    assert not access.service().datasets()


def test_values_are_looked_at_only_when_the_custodian_asks_for_that_column():
    app = upload("data.csv", b"ward,floor\nrubella,1\nmeasles,2\n" * 3)
    assert "rubella" not in words(app) + str(app.session_state.to_dict())
    look_at(app, "ward")
    draft = app.session_state["intake"]
    assert "rubella" in draft.tables[0].rows[schema_rows.CATEGORIES].iloc[0]
    assert draft.tables[0].rows[schema_rows.CATEGORIES].iloc[1] == ""


def test_the_form_stores_a_data_set():
    app = upload("data.csv", b"age,has_diabetes\n" + b"50,yes\n70,no\n" * 30)
    app.text_input(key="intake-name").set_value("Form study")
    app.number_input(key="intake-max-rows").set_value(100)
    assert "is stored" in words(press(app, "Check and store"))
    [info] = access.service().datasets()
    assert [column.type for column in info.schema] == ["integer", "boolean"]


# Parts


@for_each(
    ("change", "sentence"),
    [
        ({schema_rows.LOWER: None}, "lowest and its highest"),
        ({schema_rows.LOWER: 200.0}, "lower must be below upper"),
        ({schema_rows.BINS: None}, "number of bins"),
        ({schema_rows.CUTS: "40 x"}, "write cut points as numbers"),
        ({schema_rows.CUTS: "40 400"}, "edges must lie between"),
        ({schema_rows.TYPE: "ordinal"}, "list its categories"),
        ({schema_rows.TYPE: "ordinal", schema_rows.CATEGORIES: "a; a"}, "must be distinct"),
        ({schema_rows.TYPE: "ordinal", schema_rows.CATEGORIES: 'a; "b'}, "is not closed"),
    ],
)
def test_each_fault_of_a_column_is_named(change, sentence):
    rows = schema_rows.rows_of([{"name": "age", "type": "integer", "lower": 0, "upper": 110, "bins": 11}]).astype(
        object
    )
    for field, value in change.items():
        rows.at[0, field] = value
    _, [fault] = schema_columns.columns_of(rows)
    assert fault.startswith("Column 'age': ")
    assert sentence in fault


@for_each(
    ("text", "categories"),
    [
        ("a; b;c\nd;", ["a", "b", "c", "d"]),
        ('"a; b"; c', ["a; b", "c"]),
        ('say "x"; 5" pipe', ['say "x"', '5" pipe']),
        ('"say ""x"""', ['say "x"']),
    ],
)
def test_categories_are_split_at_semicolons_outside_quotes(text, categories):
    assert category_text.split_categories(text) == categories
    joined = category_text.join_categories(categories)
    assert category_text.split_categories(joined) == categories
