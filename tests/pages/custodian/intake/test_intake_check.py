"""Before it is stored, the custodian is told what would be lost, and corrects it with one press."""

from __future__ import annotations

from typing import Any

from streamlit.testing.v1 import AppTest

from dpcore.intake.columns import schema_rows
from pages.components.visitor import access
from tests.support.pages.page_tools import bring, by_text, checked, errors, open_page, press, words
from tests.support.texts import lacking

DATA = b"gender,answer,age\n" + b"Female,NO,44\nMale,<30,51\nMale,>30,61\n" * 30


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
    return checked(app.number_input(key="intake-max-rows").set_value(200).run())


def store(app: AppTest, label: str = "Check and store") -> AppTest:
    return press(app, label)


def yes_to(app: AppTest, place: str) -> Any:
    """The tick that stores what this column loses."""
    return next(box for box in app.checkbox if box.key.startswith(f"intake-yes-{place} "))


def stored() -> list[str]:
    return [info.name for info in access.service().datasets()]


def test_a_wrong_guess_is_a_question_and_is_answered_with_one_press():
    app = store(described())
    said = words(app)
    assert "2 columns would lose values" in said
    assert "'gender': 90 of 90 values fit nowhere: 'Male' 60, 'Female' 30" in said
    assert not stored()
    app = press(app, "Take the first suggestion for all 2")
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
    yes_to(app, "gender").set_value(True)
    app = store(checked(app.run()), "Check again and store")
    assert not stored(), "the other column has no yes yet"
    app.button(key="press-leave-answer").click()
    app = store(checked(app.run()))
    assert "is stored" in words(app)
    [info] = access.service().datasets()
    assert [column.name for column in info.schema] == ["gender", "age"]


def test_a_yes_is_dropped_when_more_is_lost_than_it_was_given_for():
    app = store(described(DATA.replace(b"51", b"151", 6)))
    assert "6 values are above the highest" in words(app)
    yes_to(app, "age").set_value(True)
    app = store(checked(app.run()), "Check again and store")
    assert yes_to(app, "age").value, "nothing has changed"
    app = press(app, "Take the first suggestion for all 2")
    table = app.session_state["intake"].tables[0]
    table.show(schema_rows.replaced(table.now, [{"name": "age", "upper": 9, "bins": 3}]))
    app = store(checked(app.run()))
    assert not stored()
    assert "90 values are above the highest" in words(app)
    yes_to(app, "age").set_value(True)
    assert "is stored" in words(store(checked(app.run()), "Check again and store"))


def test_neither_a_yes_nor_what_was_read_off_the_records_is_written_down():
    app = store(described())
    assert "fit nowhere" in words(app)
    assert "Female" not in access.service().staging_area().notes()
    yes_to(app, "gender").set_value(True)
    app = store(checked(app.run()), "Check again and store")
    assert "gender" in access.service().staging_area().notes()
    assert "intake-yes" not in access.service().staging_area().notes()


def test_the_text_of_a_schema_is_corrected_too():
    app = described()
    app = store(by_text(app))
    assert "2 columns would lose values" in words(app)
    app = press(app, "Take the first suggestion for all 2")
    assert "matching: loose" in app.text_area(key="intake-yaml").value
    assert "is stored" in words(store(app))


def test_an_order_that_dates_do_not_tell_is_a_question():
    rows = "".join(f"{number},no,31.01.{2000 + number % 20}\n" * (1 + number % 2) for number in range(60))
    app = bring(open_page("custodian"), "Data file", "ward.csv", f"pid,answer,admitted\n{rows}1,yes,\n".encode())
    by_text(app)
    unit = "{column: pid, keep: last, order_by: admitted}"
    text = f"name: Wards\nmax_rows: 200\nprivacy_unit: {unit}\ncolumns:\n  - {{name: answer, type: boolean}}\n"
    app.text_area(key="intake-yaml").set_value(text)
    app = store(checked(app.run()))
    assert "0 columns would lose values, or tell nothing; 1 fit. Findings about people and rows are below" in words(app)
    assert "'admitted' tells no order in 90 of the 90 rows with a value, such as '31.01.2000'" in words(app)
    assert "Leave the column out" not in [press.label for press in app.button]
    yes_to(app, "admitted").set_value(True)
    assert "is stored" in words(store(checked(app.run()), "Check again and store"))


def found_in_text() -> AppTest:
    """What the values say of a schema that is written as text."""
    app = described()
    return store(by_text(app))


def test_a_suggestion_for_a_text_that_is_none_any_more_is_told_and_changes_nothing():
    app = found_in_text()
    app.text_area(key="intake-yaml").set_value("columns: [")
    app = press(app, "Take the first suggestion for all 2")
    assert "Nothing was stored" in errors(app)
    assert app.text_area(key="intake-yaml").value == "columns: ["
    assert "2 columns would lose values" in words(app)


PEOPLE = b"x17,age,sex\n" + b"".join(
    b"P%d,%d,%s\n" % (100_007 + n // 2, 20 + n % 60, (b"f", b"m")[n % 2]) for n in range(200)
)


def of_people(data: bytes = PEOPLE, limit: int = 500) -> AppTest:
    app = bring(open_page("custodian"), "Data file", "people.csv", data)
    table = app.session_state["intake"].tables[0]
    drafts = [
        {"name": "x17", "keep": False},
        {"name": "age", "type": "integer", "lower": 0, "upper": 110, "bins": 11},
        {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
    ]
    table.show(schema_rows.replaced(table.now, [each for each in drafts if each["name"] in table.columns]))
    app = checked(app.run())
    app.text_input(key="intake-name").set_value("People")
    return checked(app.number_input(key="intake-max-rows").set_value(limit).run())


def test_another_column_becomes_the_person_with_one_press():
    app = store(of_people())
    assert "Each row counts as a person, but 'x17' looks like an identifier and repeats: 100" in words(app)
    assert not stored()
    app = press(app, "Name 'x17' as the person")
    assert app.selectbox(key="intake-person").value == "x17"
    app = store(checked(app.run()))
    assert "so 100 of 200 rows (50%) would be left out" in words(app)
    app.number_input(key="intake-rows-each").set_value(2)
    app = store(checked(app.run()))
    assert not lacking(words(app), "is stored", "'x17' names 100 people in 200 rows")
    [info] = access.service().datasets()
    assert info.schema.privacy_unit.column == "x17"
    assert "100 people" not in access.service().staging_area().notes()


def test_identifiers_that_stand_for_nobody_are_taken_for_missing_with_one_press():
    rows = PEOPLE.replace(b"x17", b"mrn") + b"not known,50,f\n" * 9
    app = of_people(rows)
    app.number_input(key="intake-rows-each").set_value(2)
    app = store(checked(app.run()))
    assert "'not known' (9 rows)" in words(app)
    app = press(app, "Treat these as missing identifiers")
    assert "Also said of these rows: missing_codes not known" in words(app)
    assert "is stored" in words(store(app))
    [info] = access.service().datasets()
    assert info.schema.privacy_unit.missing_codes == ("not known",)
