"""The page Report keeps what is written and chosen: between visits, browsers and people."""

from __future__ import annotations

import re
from collections.abc import Callable

import sqlalchemy as sa
from streamlit.testing.v1 import AppTest

from dpcore.errors import RequestError
from dpcore.privacy.budgets import plain_epsilon
from dpcore.report.forms.forms import FORMS
from dpcore.service import Service
from dpcore.workspace.database.database import default_home, default_url, open_database
from dpcore.workspace.database.database_tables import report_drafts
from dpcore.workspace.database.transactions import write
from dpcore.workspace.people.users import User
from dpcore.workspace.results.dossier import Application
from pages.components.visitor import access
from tests.support.pages.page_tools import button, checked, entry, errors, open_page, options, words
from tests.support.pages.page_visitors import ANN, BOB, OFFICE, as_, result_of_visitor
from tests.support.pages.ward_runs import add_ward, fit, release_of
from tests.support.results import reports

Visit = Callable[[User], None]


def add_ward_with_result() -> str:
    dataset_id = add_ward()
    fit(dataset_id)
    return dataset_id


def chosen(app: AppTest) -> list[str]:
    return next(box for box in app.multiselect if box.label == "Results").value


def choose(app: AppTest, *ids: str) -> AppTest:
    box = next(box for box in app.multiselect if box.label == "Results")
    return checked(box.set_value(list(ids)).run())


def write_entry(app: AppTest, label: str, text: str) -> AppTest:
    return checked(entry(app, label).set_value(text).run())


def warnings(app: AppTest) -> str:
    return "\n".join(item.value for item in app.warning)


def exchange(content: str) -> None:
    """Put something else in place of every draft."""
    engine = open_database(default_url(default_home()))
    write(engine, lambda connection: connection.execute(sa.update(report_drafts).values(content=content)))
    engine.dispose()


def test_another_browser_shows_what_was_written_and_chosen():
    dataset_id = add_ward()
    first, second = release_of(fit(dataset_id)), release_of(fit(dataset_id))
    app = open_page("report")
    assert "is saved by itself" in words(app)
    assert "Saved " not in words(app)
    choose(app, first, second)
    write_entry(app, "Title", "About the *old*")
    write_entry(app, "Findings", "The old die.\nMen, too.")
    assert re.search("Saved [0-9]{2}:[0-9]{2} UTC.", words(app))
    other = open_page("report")
    assert sorted(chosen(other)) == sorted([first, second])
    assert entry(other, "Title").value == "About the *old*"
    assert entry(other, "Findings").value == "The old die.\nMen, too."
    assert entry(other, "Hypotheses").value == ""
    assert len(other.get("download_button")) == len(FORMS)
    kept = access.service().draft(dataset_id)
    assert kept is not None
    assert kept.draft.application.title == "About the *old*"


def test_two_tabs_do_not_undo_each_other():
    dataset_id = add_ward()
    run = release_of(fit(dataset_id))
    left, right = open_page("report"), open_page("report")
    write_entry(left, "Findings", "From the left.")
    write_entry(right, "Hypotheses", "From the right.")
    choose(left, run)
    write_entry(right, "Title", "Both")
    for app in (left.run(), right, open_page("report")):
        assert entry(checked(app), "Findings").value == "From the left."
        assert entry(app, "Hypotheses").value == "From the right."
        assert (entry(app, "Title").value, chosen(app)) == ("Both", [run])
    write_entry(left, "Findings", "")
    assert entry(checked(right.run()), "Findings").value == "", "what was emptied stays empty"


def test_nobody_sees_another_s_draft(visit: Visit):
    visit(OFFICE)
    dataset_id = add_ward()
    visit(ANN)
    shared = result_of_visitor(dataset_id)
    access.service().share(shared)
    hers = write_entry(choose(open_page("report"), shared), "Findings", "Ann's own words.")
    assert "Nobody else sees it." in words(hers)
    for somebody in (BOB, OFFICE):
        visit(somebody)
        app = open_page("report")
        assert (chosen(app), entry(app, "Findings").value) == ([], "")
        assert "Ann's own words." not in words(app)
    write_entry(app, "Findings", "The office.")
    visit(ANN)
    assert entry(open_page("report"), "Findings").value == "Ann's own words."


def test_a_result_that_is_shared_no_longer_is_left_out(visit: Visit):
    visit(OFFICE)
    dataset_id = add_ward()
    visit(ANN)
    hers = result_of_visitor(dataset_id)
    access.service().share(hers)
    visit(BOB)
    his = result_of_visitor(dataset_id)
    app = choose(open_page("report"), his, hers)
    assert [line for line in options(app, "Results") if "by ann@x.org" in line]
    as_(ANN).share(hers, False)
    for page in (app.run(), open_page("report")):
        assert chosen(checked(page)) == [his]
        assert "A result that you had chosen is gone, or no longer shared" in warnings(page)
        assert "<td>0.50</td>" in words(page), "the sum is that of the one that is left"
    write_entry(app, "Findings", "His.")
    assert warnings(app)
    choose(app)
    assert not warnings(app)
    assert not warnings(open_page("report"))


def test_the_page_says_of_all_that_was_spent_what_the_dossier_says(visit: Visit):
    visit(OFFICE)
    dataset_id = add_ward()
    access.service().allow_conditional(dataset_id, True, note="a trial")
    visit(ANN)
    result_of_visitor(dataset_id, "0.5", sampler="mcmc", mcmc_steps=1_500)
    visit(BOB)
    his = result_of_visitor(dataset_id)
    text = words(choose(open_page("report"), his))
    condition = "conditional on convergence"
    assert text.count(condition) == 1, "of a result that he may not read, its kind counts"
    dossier = access.service().dossier(dataset_id, [his], Application(), "html").decode()
    assert condition in reports.read(dossier).text
    assert f"<td>{plain_epsilon(access.service().total_balance(dataset_id).epsilon)}</td>" in text


def test_a_broken_draft_gives_a_sentence_and_can_be_replaced():
    dataset_id = add_ward()
    first = release_of(fit(dataset_id))
    write_entry(open_page("report"), "Findings", "Once.")
    exchange('{"releases": 7')
    app = open_page("report")
    assert "can no longer be read" in warnings(app)
    assert (entry(app, "Findings").value, chosen(app)) == ("", [])
    choose(write_entry(app, "Findings", "Again."), first)
    assert not warnings(app)
    assert entry(open_page("report"), "Findings").value == "Again."


def test_a_draft_that_breaks_while_it_is_edited_is_written_anew():
    add_ward_with_result()
    app = write_entry(open_page("report"), "Findings", "Mine.")
    exchange("")
    assert "can no longer be read" in warnings(checked(app.run()))
    assert entry(app, "Findings").value == "Mine."
    write_entry(app, "Title", "A title")
    again = open_page("report")
    assert (entry(again, "Findings").value, entry(again, "Title").value) == ("Mine.", "A title")


def test_what_could_not_be_kept_stays_on_the_page_and_is_kept_later(monkeypatch):
    dataset_id = add_ward_with_result()
    app = write_entry(open_page("report"), "Title", "Kept")

    def refuse(*_: object) -> None:
        raise RequestError("Not now.")

    with monkeypatch.context() as broken:
        broken.setattr(Service, "save_draft", refuse)
        write_entry(app, "Findings", "Lost?")
        assert "Your last change is not kept. Not now." in errors(app)
        assert entry(checked(app.run()), "Findings").value == "Lost?"
        assert entry(open_page("report"), "Findings").value == ""
    write_entry(app, "Hypotheses", "Later.")
    assert not errors(app)
    kept = access.service().draft(dataset_id)
    assert kept is not None
    written = kept.draft.application
    assert (written.title, written.findings, written.hypotheses) == ("Kept", "Lost?", "Later.")


def test_starting_over_empties_the_page_and_what_is_kept():
    dataset_id = add_ward()
    first = release_of(fit(dataset_id))
    app = write_entry(choose(open_page("report"), first), "Findings", "Away.")
    assert "It cannot be undone." in words(app)
    checked(button(app, "Remove what I wrote").click().run())
    for page in (app, open_page("report")):
        assert (entry(page, "Findings").value, chosen(page)) == ("", [])
        assert "Saved" not in words(page)
    assert access.service().draft(dataset_id) is None
    assert len(access.service().releases(dataset_id)) == 1
