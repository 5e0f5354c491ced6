"""Data sets that share a budget, follow each other, are renamed and retired, on the page."""

from __future__ import annotations

from decimal import Decimal

from streamlit.testing.v1 import AppTest

from dpcore.domain.schemas.schema import Schema
from pages.components.custodian.related_datasets import NEW
from pages.components.visitor import access
from tests.support.pages.page_tools import bring, button, by_text, checked, errors, open_page, press, view
from tests.support.pages.page_tools import plain_words as words
from tests.support.pages.ward_runs import SCHEMA, add_ward, ward


def described(name: str = "ward") -> AppTest:
    """The form for a file, with a schema typed in."""
    app = open_page("custodian")
    bring(app, "Data file", "data.csv", ward(60).to_csv(index=False).encode())
    return by_text(app, SCHEMA.model_copy(update={"name": name}).to_yaml())


def stored(app: AppTest) -> AppTest:
    press(app, "Check and store")
    assert not errors(app)
    return app


def kin_of(app: AppTest, dataset: str) -> AppTest:
    return checked(app.selectbox(key="intake-kin").set_value(dataset).run())


def test_a_second_data_set_about_the_same_people_shares_their_budget() -> None:
    first = add_ward(budget="3")
    app = described("later")
    assert app.selectbox(key="intake-kin").value == NEW
    kin_of(app, first)
    assert "intake-budget" not in {box.key for box in app.text_input}
    assert "100 % is left for both together" in words(app)
    stored(app)
    later = access.service().dataset("later")
    assert (later.population, later.replaces) == (first, None)
    told = "Shares its budget with 'ward': about the same people."
    assert told in "".join(item.value for item in app.get("html") if "fg-meter" in item.value).replace("&#x27;", "'")
    assert told in words(open_page())
    assert access.service().total_balance(later.id).cap == Decimal(3)


def test_other_people_are_said_and_stored_on_a_yes() -> None:
    first = add_visits()
    app = kin_of(described("later"), first)
    app = press(app, "Check and store")
    assert "'visits' and this data set define a person differently: there, the column 'who'" in words(app)
    assert "person with several rows than the shared budget allows" in words(app)
    assert [info.name for info in access.service().datasets()] == ["visits"]
    [asked] = [box for box in app.checkbox if "different-people" in str(box.key)]
    asked.check().run()
    assert not errors(press(app, "Check again and store"))
    assert access.service().dataset("later").population == first
    assert "Accepted: there" in access.service().ledger_entries(first)[-1].note


def test_a_next_version_is_selected_and_named_as_such() -> None:
    first = add_ward()
    app = kin_of(described("whatever"), first)
    app.checkbox(key="intake-replaces").check().run()
    stored(app)
    newest = access.service().dataset("ward")
    assert (newest.version, newest.replaces) == (2, first)
    assert kin_of(described(), newest.id).selectbox(key="intake-kin").options == [
        "In no data set yet",
        "The same people as in 'ward'",
    ], "who is replaced is not on offer"


def add_visits(name: str = "visits", *, keep_keys: bool = True) -> str:
    unit = {"column": "who", "max_rows_per_person": 1}
    schema = Schema.from_mapping(SCHEMA.model_dump(mode="json") | {"name": name, "privacy_unit": unit})
    rows = ward(60).assign(who=range(60))
    return access.installation().add_dataset(rows, schema, budget=Decimal(3), keep_keys=keep_keys).id


def test_further_rows_are_appended() -> None:
    first = add_visits()
    app = open_page("custodian")
    rows = ward(60).assign(who=range(57, 117))
    bring(app, "Data file", "data.csv", rows.to_csv(index=False).encode())
    checked(app.selectbox(key="intake-append").set_value(first).run())
    assert "new rows only" in words(app)
    app.number_input(key=f"intake-append-limit-{first}").set_value(3000)
    press(app, "Append the rows")
    assert not errors(app)
    newest = access.service().dataset("visits")
    assert (newest.version, newest.replaces, newest.schema.max_rows) == (2, first, 3000)
    assert access.service().staging_area().files() == []
    assert "3 of 60 rows name somebody in 'who' who was stored before" in words(app)


def test_rows_that_do_not_fit_give_a_sentence_and_store_nothing() -> None:
    first = add_visits()
    app = open_page("custodian")
    bring(app, "Data file", "data.csv", ward(60).to_csv(index=False).encode())
    checked(app.selectbox(key="intake-append").set_value(first).run())
    press(app, "Append the rows")
    assert "who" in errors(app)
    assert [info.version for info in access.service().datasets()] == [1]


def test_a_data_set_gets_another_name_and_description() -> None:
    first, app = add_ward(), view("Data set")
    app.text_input(key=f"upkeep-name-{first}-ward").set_value("clinic")
    app.text_area(key=f"upkeep-description-{first}").set_value("People of one clinic.")
    press(app, "Change them")
    assert "Changed." in words(app)
    found = access.service().dataset(first)
    assert (found.name, found.description) == ("clinic", "People of one clinic.")
    app.text_input(key=f"upkeep-name-{first}-clinic").set_value("")
    button(app, "Change them").click()
    assert errors(app.run())
    assert access.service().dataset(first).name == "clinic"


def test_what_was_not_typed_over_stays_as_another_custodian_left_it() -> None:
    first, app = add_ward(), view("Data set")
    access.service().describe_dataset(first, "Written in another tab.")
    app.text_input(key=f"upkeep-name-{first}-ward").set_value("clinic")
    press(app, "Change them")
    found = access.service().dataset(first)
    assert (found.name, found.description) == ("clinic", "Written in another tab.")


def test_markov_chains_are_allowed_with_a_reason_and_disallowed_again() -> None:
    first, app = add_ward(), view("Data set")
    assert "reveal whether one person is in the data" in words(app)
    button(app, "Allow Markov chains").click()
    assert "Say in the note why" in errors(app.run())
    app.text_input(key=f"upkeep-chains-{first}-False-note").set_value("a trial")
    press(app, "Allow Markov chains")
    assert access.service().dataset(first).conditional
    press(app, "Disallow Markov chains")
    assert not access.service().dataset(first).conditional
    kinds = [line.kind for line in access.service().ledger_entries(first)]
    assert kinds == ["open", "allow", "forbid"]


def test_a_data_set_is_retired_and_its_records_removed() -> None:
    first, app = add_ward(), view("Data set")
    assert button(app, "Retire").disabled
    app.text_input(key=f"upkeep-note-{first}").set_value("the study has ended")
    app.checkbox(key=f"upkeep-sure-{first}").check().run()
    press(app, "Retire")
    assert access.service().dataset(first).retired
    assert "Retired" in words(open_page())
    press(app, "Remove the records")
    assert "Ledger and results stay" in words(app)
    [orphan] = access.service().orphans()
    assert (orphan.id, orphan.state) == (first, "removed")
