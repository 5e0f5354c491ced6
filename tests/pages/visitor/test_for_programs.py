"""A token for programs, on the page Data sets: shown once, ended at a press."""

from __future__ import annotations

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from dpcore.errors import AwayError
from dpcore.service import Service
from dpcore.workspace.people.users import User
from pages.components.server import programs
from pages.components.visitor import access, for_programs, login
from tests.support.pages.page_tools import checked, open_page, press, words
from tests.support.pages.ward_runs import add_ward


def test_a_token_is_shown_once_and_can_be_ended():
    add_ward()
    app = open_page()
    assert "You have no token" not in words(app)  # Nothing of it is made before somebody opens it.
    app = open_page(state={"for-programs": True})
    assert "You have no token that is good now." in words(app)
    [token] = [item.value for item in press(app, "Get a token").code if item.value.startswith("fgt_")]
    assert "It is shown this once" in words(app)
    assert access.installation().acting_by(token).datasets()
    [ends] = access.installation().tokens()
    assert f"You have 1 token that is good, until {ends:%Y-%m-%d %H:%M} UTC." in words(app)
    app.run()
    assert not [item for item in checked(app).code if item.value.startswith("fgt_")]
    assert "You have 2 tokens that are good: the first until" in words(press(app, "Get a token"))
    assert "2 tokens ended" in words(press(app, "End all my tokens"))
    assert access.installation().tokens() == []


@pytest.mark.parametrize("away", [False, True])
def test_tokens_end_with_a_press_of_log_out(monkeypatch: pytest.MonkeyPatch, away: bool) -> None:
    def held_up(_service: Service) -> int:
        raise AwayError("The data base is away.")

    dataset, left = access.installation().dataset(add_ward()).name, []
    ann, bob = (User(f"{name}@x.org", frozenset({"analyst"})) for name in ("ann", "bob"))
    own, other = (access.installation().acting(visitor).issue_token().text for visitor in (ann, bob))
    monkeypatch.setattr(login, "user", lambda: ann)
    monkeypatch.setattr(for_programs.st, "logout", lambda: left.append(login.user().name))
    if away:
        monkeypatch.setattr(Service, "end_tokens", held_up)
    for_programs.log_out()
    assert left == [ann.name]  # Also if the tokens could not be ended.
    assert answer(other, dataset) == 200
    assert answer(own, dataset) == (200 if away else 401)


def answer(token: str, dataset: str) -> int:
    """The status of the answer that a program with a token gets."""
    client = TestClient(Starlette(routes=programs.ROUTES))
    asked = client.get("/api/v1/budget", params={"dataset": dataset}, headers={"Authorization": f"Bearer {token}"})
    return int(asked.status_code)
