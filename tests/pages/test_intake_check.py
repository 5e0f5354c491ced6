"""Before it is stored, the custodian is told what would be lost, and corrects it with one press."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from pages.components.custodian import schema_rows
from pages.components.visitor import access
from tests.support.page_tools import bring, button, checked, open_page, words

DATA = b"gender,answer,age\n" + b"Female,NO,44\nMale,<30,51\nMale,>30,61\n" * 30
YAML = "Write or bring a schema (YAML or JSON)"


def described(data: bytes = DATA) -> AppTest:
    app = bring(open_page("custodian"), "Data file", "ward.csv", data)
    table = app.session_state["intake"].tables[0]
    drafts = [
        {"name": "gender", "type": "categorical", "categories": ["female", "male"], "matching": "exact"},
        {"name": "answer", "type": "boolean"},
        {"name": "age", "type": "integer", "lower": 0, "upper": 110, "bins": 11},
    ]
    table.show(schema_rows.replaced(table.now, drafts))
    app = checked(app.run())
    app.text_input(key="intake-name").set_value("Wards")
    app.number_input(key="intake-max-rows").set_value(200)
    return checked(app.run())


def store(app: AppTest, label: str = "Check and store") -> AppTest:
    button(app, label).click()
    return checked(app.run())


def stored() -> list[str]:
    return [info.name for info in access.service().datasets()]


def test_a_wrong_guess_is_a_question_and_is_answered_with_one_press():
    app = store(described())
    said = words(app)
    assert "2 columns would lose values" in said
    assert "'gender': 90 of 90 values fit nowhere: 'Male' 60, 'Female' 30" in said
    assert not stored()
    button(app, "Take the first suggestion for all 2").click()
    app = checked(app.run())
    rows = {row["Column"]: row for row in schema_rows.written(app.session_state["intake"].tables[0].now)}
    assert rows["gender"]["Any spelling"]
    assert rows["answer"]["Type"] == "categorical"
    assert rows["answer"]["Origin"] == "looked up"
    assert "fit nowhere" not in words(app)
    assert "is stored" in words(store(app))
    [info] = access.service().datasets()
    assert info.schema.column("answer").categories == ("<30", ">30", "NO")


def test_a_loss_is_accepted_column_by_column():
    app = store(described())
    app.checkbox(key="intake-accept-gender").set_value(True)
    app = store(checked(app.run()), "Check again and store")
    assert not stored(), "the other column has no yes yet"
    app.button(key="press-leave-answer").click()
    app = store(checked(app.run()))
    assert "is stored" in words(app)
    [info] = access.service().datasets()
    assert [column.name for column in info.schema] == ["gender", "age"]


def test_all_losses_are_accepted_and_stored_with_one_press():
    app = store(described())
    button(app, "Store all 2 all the same").click()
    assert "is stored" in words(checked(app.run()))
    [info] = access.service().datasets()
    assert [column.name for column in info.schema] == ["gender", "answer", "age"]


def test_the_text_of_a_schema_is_corrected_too():
    app = described()
    app.segmented_control(key="intake-way").set_value(YAML)
    app = store(checked(app.run()))
    assert "2 columns would lose values" in words(app)
    button(app, "Take the first suggestion for all 2").click()
    app = checked(app.run())
    assert "matching: loose" in app.text_area(key="intake-yaml").value
    assert "is stored" in words(store(app))


def test_what_was_read_off_the_records_is_not_written_down():
    app = store(described())
    assert "fit nowhere" in words(app)
    assert "Female" not in access.service().desk().notes()
