"""A token for programs, on the page Data sets: shown once, ended at a press."""

from __future__ import annotations

from pages.components.visitor import access
from tests.support.page_tools import add_ward, button, checked, open_page, words


def test_a_token_is_shown_once_and_can_be_ended():
    add_ward()
    app = open_page()
    button(app, "Get a token").click().run()
    [token] = [item.value for item in checked(app).code if item.value.startswith("fgt_")]
    assert "It is shown this once" in words(app)
    assert access.installation().acting_by(token).datasets()
    app.run()
    assert not [item for item in checked(app).code if item.value.startswith("fgt_")]
    button(app, "End all my tokens").click().run()
    assert "1 token ended" in words(checked(app))
    assert access.installation().tokens() == 0
