"""The guide for the first visit: once per session, closed for good, open again on demand."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.support.page_tools import ROOT, add_ward, checked, fit, open_page, words

TITLE = "New here? Five steps."


def press(app, key):
    app.button(key=key).click()
    return checked(app.run())


def keys(app):
    return {button.key for button in app.button}


def test_the_first_page_shows_it_until_it_is_hidden():
    add_ward()
    app = open_page()
    assert TITLE in words(app)
    assert "tour-show" not in keys(app)
    assert TITLE in words(checked(app.run()))
    press(app, "tour-hide")
    assert TITLE not in words(app)
    assert TITLE not in words(checked(app.run()))


def test_it_opens_again_from_the_sidebar():
    app = press(open_page(), "tour-hide")
    assert "tour-hide" not in keys(app)
    press(app, "tour-show")
    assert TITLE in words(app)
    assert "tour-show" not in keys(app)


def test_other_pages_leave_it_where_it_is():
    add_ward()
    app = open_page("custodian")
    assert TITLE not in words(app)
    press(app, "tour-show")
    assert TITLE in words(app)
    app.switch_page("data_sets.py")
    assert TITLE not in words(checked(app.run()))


def test_who_comes_for_a_result_is_not_held_up():
    run_id = fit(add_ward())
    app = AppTest.from_file(str(ROOT / "pages" / "navigation.py"), default_timeout=60)
    app.query_params["run"] = run_id
    assert TITLE not in words(checked(app.run()))
    press(app, "tour-show")
    assert TITLE in words(app)
