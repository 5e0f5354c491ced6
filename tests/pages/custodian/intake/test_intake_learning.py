"""Columns of the form for a new data set of which something is learned privately."""

from __future__ import annotations

import re
from decimal import Decimal

from streamlit.testing.v1 import AppTest

from dpcore.domain.schemas.learnable_schema import LearnableSchema
from dpcore.intake.columns import schema_columns, schema_rows
from pages.components.custodian.intake import intake_yaml
from pages.components.custodian.intake.intake_draft import Draft
from pages.components.custodian.intake.intake_tables import TableDraft
from pages.components.visitor import access
from tests.support.pages.page_tools import bring, by_text, checked, open_page, press, words
from tests.support.texts import lacking

DATA = b"ward,age,died\n" + b"ICU,44,yes\nWard A,51,no\nICU,61,no\n" * 1000


def described() -> AppTest:
    app = bring(open_page("custodian"), "Data file", "ward.csv", DATA)
    table = app.session_state["intake"].tables[0]
    drafts = [
        {"name": "ward", "type": "categorical", "origin": "learned privately"},
        {"name": "age", "type": "integer", "lower": 0, "upper": 110, "learn": {"bins": 3}},
        {"name": "died", "type": "boolean"},
    ]
    table.show(schema_rows.rows_of(drafts))
    app = checked(app.run())
    app.text_input(key="intake-name").set_value("Wards")
    return checked(app.number_input(key="intake-max-rows").set_value(5000).run())


def store(app: AppTest) -> AppTest:
    return press(app, "Check and store")


def test_what_is_learned_is_asked_for_told_and_charged():
    app = described()
    assert "Facts of 'ward', 'age' are read off the records with privacy noise" in words(app)
    app = checked(app.text_input(key="intake-learn").set_value("0.5").run())
    [takes] = re.findall(r"It would take (\S+) % of the budget, of which 100 % is left", words(app))
    assert "is stored" in words(store(app))
    [info] = access.service().datasets()
    assert info.schema.column("ward").categories == ("ICU", "Ward A")
    assert len(info.schema.column("age").edges) <= 2
    assert info.schema.learned.columns == ("ward", "age")
    balance = access.service().total_balance(info.id)
    assert balance.spent * 100 == Decimal(takes)
    assert balance.total.epsilon == Decimal("0.5")


def test_a_schema_that_was_learned_before_says_that_it_is_charged():
    store(described())
    [info] = access.service().datasets()
    text = info.schema.model_copy(update={"name": "again"}).to_yaml()
    app = bring(open_page("custodian"), "Data file", "ward.csv", DATA)
    assert "Facts of this schema were learned privately" not in words(app)
    by_text(app).text_area(key="intake-yaml").set_value(text)
    app = checked(app.run())
    assert "Facts of this schema were learned privately" in words(app)
    app = press(app, "Take it over into the form")
    assert "Facts of this schema were learned privately" in words(app)
    assert "is stored" in words(store(app))
    spent = [access.service().total_balance(info.id).spent for info in access.service().datasets()]
    assert spent[0] == spent[1] > 0


def test_what_does_not_fit_the_budget_stores_nothing():
    app = described()
    app.text_input(key="intake-learn").set_value("6")
    app = store(checked(app.run()))
    assert "Not enough budget: learning the schema would take" in words(app)
    assert not access.service().datasets()


def test_the_text_says_what_is_learned_and_goes_back_into_the_form():
    app = described()
    by_text(app)
    text = app.text_area(key="intake-yaml").value
    assert not lacking(text, "learn: true", "learn:\n    bins: 3")
    app = checked(app.text_area(key="intake-yaml").set_value(text.replace("bins: 3", "bins: 2")).run())
    assert "the columns marked 'learn'" in words(app)
    app = press(app, "Take it over into the form")
    columns, faults = schema_columns.columns_of(app.session_state["intake"].tables[0].now)
    assert not faults
    assert [column.get("learn") for column in columns] == [True, {"bins": 2}, None]


def test_marks_of_a_text_reach_a_form_that_has_none():
    wanted = LearnableSchema.from_mapping(
        {
            "name": "s",
            "max_rows": 9,
            "columns": [
                {"name": "a", "type": "categorical", "learn": True},
                {"name": "b", "type": "real", "lower": 0, "upper": 5, "learn": {"bins": 7, "bounds": True}},
                {"name": "c", "type": "real", "lower": 0, "upper": 5, "bins": 7},
            ],
        }
    )
    table = TableDraft("f", "f", "f", ["a", "b", "c"], schema_rows.rows_of([{"name": each} for each in "abc"]))
    intake_yaml.take_over(wanted, Draft(["f"]), [table])
    columns, faults = schema_columns.columns_of(table.now)
    assert not faults
    assert [column.get("learn") for column in columns] == [True, {"bins": 7, "bounds": True}, None]
