"""A token for programs, on the page Data sets: shown once, ended at a press."""

from __future__ import annotations

from pages.components.visitor import access
from tests.support.page_tools import add_ward, button, checked, open_page, words


def test_a_token_is_shown_once_and_can_be_ended():
    add_ward()
    app = open_page()
    assert "You have no token that is good now." in words(app)
    button(app, "Get a token").click().run()
    [token] = [item.value for item in checked(app).code if item.value.startswith("fgt_")]
    assert "It is shown this once" in words(app)
    assert access.installation().acting_by(token).datasets()
    [ends] = access.installation().tokens()
    assert f"You have 1 token that is good, until {ends:%Y-%m-%d %H:%M} UTC." in words(app)
    app.run()
    assert not [item for item in checked(app).code if item.value.startswith("fgt_")]
    button(app, "Get a token").click().run()
    assert "You have 2 tokens that are good: the first until" in words(checked(app))
    button(app, "End all my tokens").click().run()
    assert "2 tokens ended" in words(checked(app))
    assert access.installation().tokens() == []
