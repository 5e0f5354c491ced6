"""Back to the page on which a login ended; and the cookies that remember it."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.routing import Route
from starlette.testclient import TestClient
from streamlit.testing.v1 import AppTest

from pages.components.visitor import login, remembered
from pages.components.visitor.remembered import answer
from tests.support.pages.page_tools import ROOT, checked, words
from tests.support.pages.page_visitors import ANN
from tests.support.pages.ward_runs import add_ward
from tests.support.rows import for_each
from tests.support.texts import lacking

SITE = TestClient(Starlette(routes=[Route("/remember", answer)]))


def kept(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setattr(remembered, "remembered", lambda name: value if name == remembered.PLACE else "seen")


def test_who_has_to_log_in_is_remembered_where_they_were(visit, monkeypatch) -> None:
    add_ward()
    visit(ANN)
    monkeypatch.setattr(login, "admit", lambda: False)
    app = AppTest.from_file(str(ROOT / "pages" / "navigation.py"), default_timeout=60)
    app.query_params["dataset"] = "ward"
    assert "remember?name=place&value=%3Fdataset%3Dward" in words(checked(app.run())).replace("&amp;", "&")


def test_after_the_login_that_page_opens_once(visit, monkeypatch) -> None:
    add_ward()
    visit(ANN)
    kept(monkeypatch, "tree?dataset=ward")
    app = AppTest.from_file(str(ROOT / "pages" / "navigation.py"), default_timeout=60)
    checked(app.run())
    assert app.title[0].value == "Tree"
    assert "remember?name=place&value=" in words(app), "it is forgotten again"
    assert checked(app.switch_page("releases.py").run()).title[0].value == "Releases"
    assert "remember?name=place" not in words(app)


@pytest.mark.parametrize("place", ["custodian?", "nowhere?", "", "//evil.example?", "../x?"])
def test_other_places_are_left_alone(visit, monkeypatch, place: str) -> None:
    add_ward()
    visit(ANN)
    kept(monkeypatch, place)
    app = AppTest.from_file(str(ROOT / "pages" / "navigation.py"), default_timeout=60)
    assert checked(app.run()).title[0].value == "Data sets"


@pytest.mark.parametrize("value", ["seen", "tree?dataset=a+b&run=0f", "a%2Fb"])
def test_a_cookie_comes_back_as_it_was_sent(value: str, monkeypatch) -> None:
    answer = SITE.get("/remember", params={"name": remembered.PLACE, "value": value})
    assert answer.headers["content-type"].startswith("image/svg+xml")
    sent = answer.headers["set-cookie"]
    assert not lacking(sent.lower(), "httponly", "samesite=lax")
    name, _, content = sent.split(";")[0].partition("=")
    monkeypatch.setattr("streamlit.context", type("Context", (), {"cookies": {name: content}}))
    assert remembered.remembered(remembered.PLACE) == value


@for_each(
    ("params", "headers"),
    [
        ({"name": "other", "value": "a"}, {}),
        ({"name": "tour", "value": "a;b"}, {}),
        ({"name": "tour", "value": "a\nb"}, {}),
        ({"name": "tour", "value": "x" * 401}, {}),
        ({"name": "tour", "value": "seen"}, {"sec-fetch-site": "cross-site"}),
        ({}, {}),
    ],
)
def test_nothing_else_becomes_a_cookie(params, headers) -> None:
    answer = SITE.get("/remember", params=params, headers=headers)
    assert answer.status_code == 200
    assert "set-cookie" not in answer.headers
