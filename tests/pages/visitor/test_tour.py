"""The guide for the first visit: a dialog once, remembered, open again on demand."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from pages.components.visitor import remembered
from tests.support.pages.page_tools import ROOT, checked, open_page, press, words
from tests.support.pages.page_visitors import ANN, BOB
from tests.support.pages.ward_runs import add_ward, fit

TITLE = "Choose a data set</strong>"


def keys(app):
    return {button.key for button in app.button}


def test_the_first_page_shows_it_until_it_is_hidden():
    add_ward()
    app = open_page()
    assert TITLE in words(app)
    assert "tour-show" not in keys(app)
    assert TITLE in words(checked(app.run()))
    press(app, key="tour-hide")
    assert TITLE not in words(app)
    assert TITLE not in words(checked(app.run()))


def test_who_comes_for_a_result_is_not_held_up():
    run_id = fit(add_ward())
    app = AppTest.from_file(str(ROOT / "pages" / "navigation.py"), default_timeout=60)
    app.query_params["run"] = run_id
    assert TITLE not in words(checked(app.run()))
    press(app, key="tour-show")
    assert TITLE in words(app)


def test_a_browser_that_has_seen_it_is_spared(monkeypatch):
    app = press(open_page(), key="tour-hide")
    assert 'src="remember?name=tour&value=seen"' in words(app)
    monkeypatch.setattr(remembered, "remembered", lambda name: "seen" if name == remembered.TOUR else "")
    again = open_page()
    assert TITLE not in words(again)
    assert "tour-show" in keys(again)


def test_with_a_login_it_is_remembered_by_name_and_not_by_browser(visit):
    visit(ANN)
    app = open_page()
    assert TITLE in words(app)
    press(app, key="tour-hide")
    assert "remember?" not in words(app)
    assert TITLE not in words(open_page())
    visit(BOB)
    assert TITLE in words(open_page())


def test_it_does_not_stand_in_the_way_of_a_review():
    add_ward()
    app = press(open_page("rule_list"), key="tour-show")
    assert TITLE in words(app)
    assert TITLE not in words(press(app, "Review and spend"))
    assert "spend" in keys(app)


def test_it_leads_to_the_page_that_proposes_a_method():
    add_ward()
    app = press(open_page(), key="tour-guide")
    assert [item.value for item in app.title] == ["Which method?"]
