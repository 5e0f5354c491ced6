"""Results that stay: a table to choose from, and the latest ones on the page of each family."""

from __future__ import annotations

import json
from types import SimpleNamespace

import streamlit as st

from dpcore.privacy.budgets import plain_epsilon
from dpcore.workspace.database.database_tables import imported_releases
from dpcore.workspace.database.transactions import write
from dpcore.workspace.results.imports import keep_import
from pages.components.releases import library, release_names
from pages.components.visitor import access
from tests.support.pages.page_tools import checked, open_page, press, words
from tests.support.pages.ward_runs import add_ward, fit, submit
from tests.support.results.small_theories import BOTH, release_of


def test_results_stand_in_a_table_with_what_tells_them_apart() -> None:
    dataset_id = add_ward(budget="90")
    fit(dataset_id, "0.5")
    submit(dataset_id, "ebm", "20", "age", epochs=2)
    releases = access.service().releases()
    access.service().note_release(releases[0].id, "first draft", "")
    table = library.frame(releases, access.service().release_notes(), {})
    assert table["Kind"].tolist() == ["Shape functions", "Rule list"]
    assert table["Predicts"].tolist() == ["age", "died"]
    assert table["ε"].tolist() == [float(release.certificate.epsilon) for release in releases]
    assert table["Name"].tolist() == ["first draft", ""]
    assert table[library.AUC].notna().tolist() == [False, True]
    assert table[library.ERROR].notna().tolist() == [True, False]
    assert "By" not in table
    assert "Data set" not in table, "all are of one"
    other = [releases[0], releases[1].model_copy(update={"dataset_name": "another"})]
    assert library.frame(other, {}, {})["Data set"].tolist() == [releases[0].dataset_name, "another"]
    [shown] = [item for item in open_page("releases").dataframe if "Kind" in item.value]
    assert shown.value["Kind"].tolist() == table["Kind"].tolist()
    digits = max(len(plain_epsilon(release.certificate.epsilon).partition(".")[2]) for release in releases)
    assert json.loads(shown.proto.columns)["ε"]["type_config"]["format"] == f"%.{digits}f", "all are written alike"


def test_chosen_rows_are_read_and_compared(monkeypatch) -> None:
    dataset_id = add_ward()
    for epsilon in ("0.3", "0.4", "0.5"):
        fit(dataset_id, epsilon)
    releases = access.service().releases()
    state: dict[str, object] = {}
    monkeypatch.setattr(st, "session_state", state)
    key = f"library-3-{releases[0].id[:6]}"
    state[key] = SimpleNamespace(selection=SimpleNamespace(rows=[2]))
    library.chosen(releases)
    assert state[release_names.OPEN] == releases[2].id
    assert not set(release_names.SIDES) & set(state)
    state[key] = SimpleNamespace(selection=SimpleNamespace(rows=[2, 0]))
    library.chosen(releases)
    assert [state[box] for box in release_names.SIDES] == [releases[2].id, releases[0].id]
    assert state[release_names.OPEN] == releases[0].id, "what was added last"
    state[key] = SimpleNamespace(selection=SimpleNamespace(rows=[0, 1, 2]))
    library.chosen(releases)
    assert state[release_names.OPEN] == releases[1].id
    state[key] = SimpleNamespace(selection=SimpleNamespace(rows=[]))
    library.chosen(releases)
    assert state[release_names.OPEN] == releases[1].id, "what is read stays open"


def test_an_import_that_cannot_be_read_leaves_the_page_as_it_is_and_can_be_removed() -> None:
    add_ward()
    service, release = access.service(), release_of(*BOTH)
    keep_import(service._engine, service.user.name, release)
    spoilt = imported_releases.update().values(content="{}")
    write(service._engine, lambda connection: connection.execute(spoilt))
    app = checked(open_page("releases"))
    assert "An imported result can no longer be read" in words(app)
    app = press(app, "Remove what cannot be read")
    assert "can no longer be read" not in words(app)
    assert service.imported_releases() == ([], [])


def test_a_name_or_a_note_that_was_not_typed_over_stays_as_it_is_by_now() -> None:
    fit(add_ward())
    [release] = access.service().releases()
    app = open_page("releases")
    for name, note in (("Old people", "First."), ("Old people", "Second.")):
        access.service().note_release(release.id, "Another name", note)
        app.text_input(key=f"note-name-{release.id}").set_value(name)
        press(app, "Save name and note")
        found = access.service().release_notes()[release.id]
        assert found.note == note
    assert found.name == "Another name", "typed before, and changed elsewhere since"


def test_a_page_begins_with_its_latest_results() -> None:
    dataset_id = add_ward(budget="9")
    assert "Latest results" not in words(open_page("rule_list"))
    for epsilon in ("0.3", "0.4", "0.5", "0.6"):
        fit(dataset_id, epsilon)
    app = open_page("rule_list")
    text = words(app).replace("\\", "")
    assert "**Latest results**" in text
    assert text.count("died · AUC") == 3, "the oldest is among all"
    assert "Latest results" not in words(open_page("tree")), "those of another family stand there"
    box = app.selectbox(key=f"latest-rule_list-{dataset_id}")
    assert len(box.options) == 4
    assert "Rules, from the top" not in text
    box.select_index(3).run()
    assert "Rules, from the top" in words(checked(app))
