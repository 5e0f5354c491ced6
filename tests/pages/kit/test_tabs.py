"""Of the tabs of a result only the open one is made; what was asked in another one stays."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.support.pages.page_tools import at_run, button, checked, words
from tests.support.pages.ward_runs import add_ward, submit

pytestmark = pytest.mark.usefixtures("one_by_one")


@pytest.fixture
def opened() -> tuple[AppTest, str]:
    """A page with a rule list, and the key that says which of its tabs is open."""
    app = at_run("rule_list", submit(add_ward(), "rule_list", "3", "died", sampler="pool", pool_size=500))
    [key] = (str(key) for key in app.session_state.to_dict() if str(key).endswith("-tabs"))
    return app, key


def turn(app: AppTest, key: str, name: str) -> AppTest:
    app.session_state[key] = name
    return checked(app.run())


def downloads(app: AppTest) -> list[str]:
    return [one.label for one in app.get("download_button")]


def test_only_the_open_tab_is_made(opened: tuple[AppTest, str]) -> None:
    app, key = opened
    assert "For everyone else: the chance" in words(app)
    assert not downloads(app)
    assert "Which rule fits?" not in [one.label for one in app.button]
    turn(app, key, "Download")
    assert "Download JSON" in downloads(app)
    assert "For everyone else: the chance" not in words(app)


def test_what_was_asked_in_a_tab_stays_while_another_one_is_read(opened: tuple[AppTest, str]) -> None:
    app, key = opened
    turn(app, key, "Predict a case")
    [age] = [one for one in app.number_input if one.label == "age"]
    age.set_value(90)
    button(app, "Which rule fits?").click().run()
    told = "Noisy chance of died = yes"
    assert told in words(app)
    turn(app, key, "Certificate")
    turn(app, key, "Predict a case")
    [age] = [one for one in app.number_input if one.label == "age"]
    assert age.value == 90
    assert told in words(app)
