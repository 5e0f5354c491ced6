"""Cut points of a first look, chosen on the pages of those that cut numbers."""

from __future__ import annotations

import pytest

from dpcore.service import Service
from pages.components.visitor import access
from tests.support.pages.page_tools import button, checked, open_page, words
from tests.support.pages.ward_runs import add_ward, submit

PAGES = {"tree": "tree", "forest": "forest", "rule_list": "rule_list"}


def boxes(app) -> list:
    return [box for box in app.selectbox if box.label == "Cut points from a first look"]


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


@pytest.mark.parametrize("page", PAGES)
def test_a_drawing_reads_the_results_of_the_data_set_once(page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset_id = add_ward()
    submit(dataset_id, "summaries", "0.5", "")
    app, asked, read = open_page(page), [], Service.releases
    monkeypatch.setattr(Service, "releases", lambda self, *wanted: asked.append(wanted) or read(self, *wanted))
    assert boxes(checked(app.run()))
    assert asked == [(dataset_id,)]
