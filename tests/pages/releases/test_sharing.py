"""Releases of several people: whose they are, and that what is not shared stays shut."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.errors import NotFoundError
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunStatus
from dpcore.workspace.people.users import ROLES, User
from dpcore.workspace.results.dossier import Application
from pages.components.families.shared import downloads
from pages.components.releases.release_filter import Wanted
from pages.components.visitor import access
from tests.support.pages.page_tools import at_run, checked, errors, open_page, options, words
from tests.support.pages.page_visitors import ANN, BOB, OFFICE, TEACHER, as_, person, result_of_visitor, run_of_visitor
from tests.support.pages.ward_runs import SCHEMA, add_ward, ward
from tests.support.results import reports
from tests.support.rows import for_each
from tests.support.texts import lacking

Visit = Callable[[User], None]
TOGGLE = "Share with everybody who may see this data set"


def house(visit: Visit) -> tuple[str, str, str]:
    """A private data set, a result of Ann's and a later one of Bob's on it."""
    visit(OFFICE)
    dataset_id = add_ward()
    made = []
    for analyst in (ANN, BOB):
        visit(analyst)
        made.append(result_of_visitor(dataset_id))
    return dataset_id, *made


def share(app: AppTest, release_id: str, wanted: bool) -> AppTest:
    return checked(app.toggle(key=f"share-{release_id}").set_value(wanted).run())


def labels(app: AppTest) -> list[str]:
    return [item.label for kind in ("toggle", "expander", "selectbox") for item in app.get(kind)]


def test_a_result_is_shared_and_taken_back_by_its_owner(visit: Visit):
    _, hers, his = house(visit)
    visit(ANN)
    app = open_page("releases")
    assert not lacking(words(app), "**Yours.** Only you and custodians can read it.", "Sharing is free")
    assert [line for line in options(app, "Result") if his[:6] in line] == []
    app = share(app, hers, True)
    assert "**Yours.** Everybody who may see this data set can read it." in words(app)
    visit(BOB)
    [of_ann] = [line for line in options(open_page("releases"), "Result") if hers[:6] in line]
    assert " · by ann@x.org · " in of_ann
    visit(ANN)
    assert app.toggle(key=f"share-{hers}").value is True
    share(app, hers, False)
    visit(BOB)
    assert len(options(open_page("releases"), "Result")) == 1


def test_a_share_that_is_refused_gives_a_sentence_and_shows_what_is_so(visit: Visit, monkeypatch):
    _, hers, _ = house(visit)
    visit(ANN)
    app = open_page("releases")

    def refuse(*_: object) -> None:
        raise NotFoundError("There is no such release.")

    monkeypatch.setattr(Service, "share", refuse)
    app = share(app, hers, True)
    assert "There is no such release." in errors(app)
    assert app.toggle(key=f"share-{hers}").value is False
    assert not errors(checked(app.run())), "it is said once"


def test_an_import_that_is_shared_later_is_one_result(visit: Visit):
    _, hers, his = house(visit)
    content = as_(ANN).release(hers).to_json().encode()
    access.service().import_release(content)
    assert sorted(line[-6:] for line in options(open_page("releases"), "Result")) == sorted([hers[:6], his[:6]])
    as_(ANN).share(hers)
    app = open_page("releases")
    [of_ann] = [line for line in options(app, "Result") if hers[:6] in line]
    assert " · by ann@x.org · " in of_ann
    assert "(imported)" not in words(app)


def test_others_read_name_and_note_but_have_no_form(visit: Visit):
    _, hers, _ = house(visit)
    as_(ANN).note_release(hers, "Old people", "Ask again.")
    as_(ANN).share(hers)
    app = open_page("releases")
    app = checked(app.selectbox(key="release").set_value(hers).run())
    text = words(app)
    assert not lacking(text, "**By** `ann@x.org`. Everybody who may see this data set can read it.", "Old people")
    assert "Ask again." in text
    assert not {TOGGLE, "Name and note (free)"} & set(labels(app))


def test_the_filter_asks_whose(visit: Visit):
    _, hers, his = house(visit)
    as_(ANN).share(hers)
    app = open_page("releases")
    for whose, found in (("Mine", [his]), ("Shared with me", [hers]), ("All", [his, hers])):
        app.selectbox(key="filter-whose").set_value(whose).run()
        assert [line[-6:] for line in options(checked(app), "Result")] == [i[:6] for i in found]
    app.selectbox(key="filter-whose").set_value("Mine").run()
    next(button for button in app.button if button.label == "Clear the filter").click().run()
    assert len(options(checked(app), "Result")) == 2


@for_each(
    ("wanted", "by", "fits"),
    [
        (Wanted(whose="Mine"), "", True),
        (Wanted(whose="Mine"), "ann@x.org", False),
        (Wanted(whose="Shared with me"), "", False),
        (Wanted(whose="By others"), "ann@x.org", True),
        (Wanted(words="ANN@x"), "ann@x.org", True),
        (Wanted(words="ANN@x"), "", False),
    ],
)
def test_every_part_of_the_filter(wanted, by, fits):
    assert wanted.fits(reports.release("tree"), None, by) == fits


# What is no longer shared


def test_what_was_open_is_shut_once_it_is_shared_no_longer(visit: Visit):
    _, hers, his = house(visit)
    as_(ANN).share(hers)
    as_(ANN).note_release(hers, "Secret name", "")
    app = open_page("releases")
    app.selectbox(key="release").set_value(hers).run()
    assert "Secret name" in words(checked(app.selectbox(key="compare-0").set_value(hers).run()))
    as_(ANN).share(hers, False)
    app = checked(app.run())
    assert "Secret name" not in words(app)
    assert app.selectbox(key="release").value == his
    assert "Comparing needs two results." in words(app)


def test_both_sides_of_a_comparison_stay_ones_that_may_be_read(visit: Visit):
    dataset_id, hers, his = house(visit)
    as_(ANN).share(hers)
    mine = {his, result_of_visitor(dataset_id)}
    app = open_page("releases")
    for side in (0, 1):
        app.selectbox(key=f"compare-{side}").set_value(hers).run()
    as_(ANN).share(hers, False)
    app = checked(app.run())
    assert {app.selectbox(key=f"compare-{side}").value for side in (0, 1)} <= mine


def test_files_of_what_may_not_be_read_any_more_say_so_instead(visit: Visit):
    dataset_id, hers, _ = house(visit)
    as_(ANN).share(hers)
    service = access.service()
    release = service.release(hers)
    make = downloads.page_maker(release)
    assert "IF" in make()
    visit(ANN)
    access.service().share(hers, False)
    refused = make()
    assert "There is no such release." in reports.read(refused).text
    assert "died" not in refused
    with pytest.raises(NotFoundError, match="no such release"):
        service.dossier(dataset_id, [hers], Application(), "html")


def test_a_sentence_in_a_file_is_escaped():
    def refuse() -> str:
        raise NotFoundError(reports.SCRIPT)

    read = reports.read(downloads.or_sentence(refuse))
    assert read.scripts == []
    assert reports.SCRIPT in read.text


# Runs


def status_of(visit: Visit, who: User, dataset_id: str, **changes: object) -> RunStatus:
    visit(who)
    return replace(access.service().run(run_of_visitor(dataset_id)), **changes)


def test_the_run_of_somebody_else_in_the_address_gives_a_sentence(visit: Visit):
    dataset_id, *_ = house(visit)
    visit(ANN)
    run = run_of_visitor(dataset_id)
    visit(BOB)
    app = at_run("rule_list", run)
    assert "There is no such run." in [item.value for item in app.warning]
    assert "**Set up a run**" in labels(app)
    assert "Finished." not in words(app)


def test_a_run_on_data_that_may_not_be_seen_any_more_gives_a_sentence(visit: Visit):
    dataset_id, *_ = house(visit)
    other = SCHEMA.model_copy(update={"name": "open"})
    access.installation().add_dataset(ward(), other, budget=Decimal(1), public=True)
    visit(ANN)
    run = run_of_visitor(dataset_id)
    visit(person("ann", "teacher"))
    app = at_run("rule_list", run)
    assert "There is no such run." in [item.value for item in app.warning]


def test_a_custodian_who_is_analyst_follows_their_own_runs(visit: Visit, monkeypatch):
    dataset_id, *_ = house(visit)
    both = person("both", *ROLES)
    active = {"state": "running", "step": "choosing a list", "done": 1, "total": 2}
    theirs = status_of(visit, ANN, dataset_id, id="theirs", **active)
    own = status_of(visit, both, dataset_id, id="own", **active)
    found = {status.id: status for status in (theirs, own)}
    monkeypatch.setattr(Service, "runs", lambda *_, active=False: list(found.values()))
    monkeypatch.setattr(Service, "run", lambda _, run_id: found[run_id])
    for page in ("rule_list", "releases"):
        app = open_page(page)
        assert [b.key for b in app.button if b.label == "Stop run …"] == ["stop-own"], page
        assert "This is a run by" not in words(app)
    app = at_run("rule_list", "theirs")
    assert [b.key for b in app.button if b.label == "Stop run …"] == ["stop-own"]
    assert words(app).count("This is a run by `ann@x.org`.") == 1


def test_a_run_that_cannot_be_followed_any_more_gives_a_sentence(visit: Visit, monkeypatch):
    dataset_id, *_ = house(visit)
    own = status_of(visit, ANN, dataset_id, id="own", state="running")

    def gone(*_: object) -> None:
        raise NotFoundError("There is no such run.")

    monkeypatch.setattr(Service, "runs", lambda *_, active=False: [own])
    monkeypatch.setattr(Service, "run", gone)
    assert "There is no such run." in [item.value for item in open_page("rule_list").warning]


def test_custodians_see_whose_runs_gave_no_result(visit: Visit, monkeypatch):
    dataset_id, *_ = house(visit)
    failed = status_of(visit, ANN, dataset_id, state="failed", message="A fixed sentence.")
    monkeypatch.setattr(Service, "runs", lambda *_, active=False: [] if active else [failed])
    for visitor, named in ((OFFICE, True), (ANN, False)):
        visit(visitor)
        text = words(open_page("releases"))
        assert "A fixed sentence." in text
        assert ("<td>ann@x.org</td>" in text) == named
        assert (">Analyst</th>" in text) == named


def test_a_teacher_reads_what_is_shared_of_public_data(visit: Visit):
    visit(OFFICE)
    dataset_id = add_ward(public=True)
    visit(ANN)
    hers = result_of_visitor(dataset_id)
    visit(TEACHER)
    assert "No results yet" in words(open_page("releases"))
    visit(ANN)
    access.service().share(hers)
    visit(TEACHER)
    [line] = options(open_page("releases"), "Result")
    assert " · by ann@x.org · " in line
