"""Releases as a place to work, and the page that makes a dossier of them."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.report.forms.forms import FORMS
from pages.components.releases.release_filter import Wanted
from pages.components.visitor import access
from tests.support.pages.page_tools import button, checked, entry, errors, open_page, options, press, words
from tests.support.pages.ward_runs import add_ward, fit, release_of, submit
from tests.support.results import reports
from tests.support.rows import for_each
from tests.support.texts import lacking


def two_results() -> tuple[str, str, str]:
    """A data set with a rule list and a tree, the tree being newer."""
    dataset_id = add_ward(delta="0")
    first = release_of(fit(dataset_id, "0.5"))
    return dataset_id, first, release_of(submit(dataset_id, "tree", "0.7", "died"))


def number(app: AppTest, label: str):
    return next(item for item in app.number_input if item.label == label)


# Names and notes


def test_a_result_can_be_named_and_stays_chosen():
    dataset_id, first, _ = two_results()
    before = access.service().balance(dataset_id)
    app = open_page("releases")
    app.selectbox(key="release").set_value(first).run()
    entry(app, "Name").set_value("The *old* die")
    entry(app, "Note").set_value("Ask <again>.")
    checked(button(app, "Save name and note").click().run())
    assert "Saved." in words(app)
    assert app.selectbox(key="release").value == first
    named = [line for line in options(app, "Result") if line.startswith("The *old* die · ")]
    assert len(named) == 1
    assert named[0] in options(app, "Second result"), "also where results are compared"
    assert not lacking(words(app), r"The \*old\* die", "Ask <again>.")
    assert access.service().balance(dataset_id) == before
    assert "Saved." not in words(checked(app.run())), "it is said once"


def test_a_name_that_cannot_be_kept_gives_a_sentence(monkeypatch):
    _, first, _ = two_results()
    with pytest.raises(Exception, match="at most 100"):
        access.service().note_release(first, "n" * 101, "")
    monkeypatch.setattr("dpcore.workspace.results.notes.NAME_LIMIT", 5)
    app = open_page("releases")
    entry(app, "Name").set_value("too long")
    checked(button(app, "Save name and note").click().run())
    assert "use at most 5 characters" in errors(app)
    assert "Saved." not in words(app)
    assert access.service().release_notes() == {}


# Filter


def test_the_filter_finds_results_and_says_how_many():
    two_results()
    app = open_page("releases")
    assert len(options(app, "Result")) == 2
    app.multiselect(key="filter-families").set_value(["tree"]).run()
    [line] = options(app, "Result")
    assert line.startswith("Tree for died")
    assert "1 of 2 results fit" in words(app)
    number(app, "ε to").set_value(0.6).run()
    assert "No result fits" in words(checked(app))
    assert len(options(press(app, "Clear the filter"), "Result")) == 2


@for_each(
    ("wanted", "fits"),
    [
        (Wanted(), True),
        (Wanted(families=["tree"]), True),
        (Wanted(families=["forest"]), False),
        (Wanted(targets=["grade"]), False),
        (Wanted(targets=[reports.TARGET]), True),
        (Wanted(low=Decimal(2), high=Decimal(2)), True),
        (Wanted(low=Decimal("2.000000001")), False),
        (Wanted(high=Decimal("1.999999999")), False),
        (Wanted(first=datetime(2000, 1, 1).date()), True),
        (Wanted(first=datetime(2999, 1, 1).date()), False),
        (Wanted(last=datetime(2000, 1, 1).date()), False),
        (Wanted(words="NAME https://evil"), True),
        (Wanted(words="nowhere"), False),
    ],
)
def test_every_part_of_the_filter(wanted, fits):
    release = reports.release("tree")
    assert wanted.fits(release, reports.note(release)) == fits


# The dossier


def chosen_app(dataset_id: str, *ids: str) -> AppTest:
    app = open_page("report")
    return checked(app.multiselect(key=f"report-{dataset_id}-results").set_value(list(ids)).run())


def test_the_report_says_what_was_spent_and_costs_nothing():
    dataset_id, first, _ = two_results()
    before = access.service().balance(dataset_id)
    app = chosen_app(dataset_id, first)
    text = words(app)
    assert not lacking(text, "<td>0.50</td>", "<td>1.20</td>")
    labels = [item.proto.label for item in app.get("download_button")]
    assert labels[:4] == ["Download as PDF", "Word", "Web page", "Markdown"]
    assert len(labels) == len(FORMS)
    assert not any(item.proto.disabled for item in app.get("download_button")), "both results have a guarantee"
    assert access.service().balance(dataset_id) == before


def test_what_was_written_is_kept_while_other_pages_are_visited():
    dataset_id, first, _ = two_results()
    app = chosen_app(dataset_id, first)
    entry(app, "Findings").set_value("The old die.").run()
    app.switch_page("releases.py").run()
    app.switch_page("report.py").run()
    assert entry(checked(app), "Findings").value == "The old die."
    assert app.multiselect(key=f"report-{dataset_id}-results").value == [first]
