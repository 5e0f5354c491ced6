"""Cut points of a first look, chosen on the pages of those that cut numbers."""

from __future__ import annotations

import pytest

from dpcore.service import Service
from pages.components.visitor import access
from tests.support.page_tools import add_ward, button, checked, open_page, submit, words

PAGES = {"tree": "tree", "forest": "forest", "rule_list": "rule_list"}


def boxes(app) -> list:
    return [box for box in app.selectbox if box.label == "Cut points from a first look"]


@pytest.mark.parametrize("page", PAGES)
def test_nobody_is_asked_before_there_is_a_first_look_of_numbers(page: str) -> None:
    dataset_id = add_ward()
    submit(dataset_id, "summaries", "0.5", "", columns=("died",))
    assert not boxes(open_page(page))


@pytest.mark.parametrize("page", PAGES)
def test_a_run_takes_the_cut_points_that_were_chosen(page: str) -> None:
    dataset_id = add_ward()
    submit(dataset_id, "summaries", "0.5", "")
    look = access.service().releases(dataset_id)[0]
    app = open_page(page)
    (box,) = boxes(app)
    assert box.value == ""
    box.set_value(look.id).run()
    assert "Cut points: " in words(checked(app))
    button(app, "Rehearse").click().run()
    rehearsed = app.session_state[access.REHEARSAL_KEY][1]
    assert rehearsed.certificate.cuts_from == look.id
    assert rehearsed.parameters["cut_points"]
    assert f"told by the first look {look.id}" in words(checked(app))


def test_the_review_says_where_numbers_may_be_cut() -> None:
    dataset_id = add_ward()
    submit(dataset_id, "summaries", "0.5", "")
    look = access.service().releases(dataset_id)[0]
    app = open_page("tree")
    boxes(app)[0].set_value(look.id).run()
    button(app, "Review and spend").click().run()
    assert f"those of the first look {look.id[:6]}" in words(checked(app))


def test_conditions_of_ones_own_name_their_cut_points() -> None:
    dataset_id = add_ward()
    submit(dataset_id, "summaries", "0.5", "")
    app = open_page("rule_list")
    assert boxes(app)
    app.radio(key="antecedents").set_value("given").run()
    assert not boxes(checked(app))


@pytest.mark.parametrize("page", PAGES)
def test_a_drawing_reads_the_results_of_the_data_set_once(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset_id = add_ward()
    submit(dataset_id, "summaries", "0.5", "")
    app, asked, read = open_page(page), [], Service.releases
    monkeypatch.setattr(Service, "releases", lambda self, *wanted: asked.append(wanted) or read(self, *wanted))
    assert boxes(checked(app.run()))
    assert asked == [(dataset_id,)]
