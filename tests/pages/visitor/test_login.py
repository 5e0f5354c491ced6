"""What visitors with and without a login see, and what is not there for them at all."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from dpcore.errors import RequestError
from pages.components.visitor import access, login, menu
from tests.support.pages.page_tools import ROOT, checked, open_page, words
from tests.support.pages.ward_runs import add_ward, fit

RULES = """
[custodian]
emails = ["office@hospital.example"]
[analyst]
emails = ["ann@hospital.example", "both@hospital.example"]
[teacher]
claims.groups = ["teachers"]
"""
AUTH = {"auth": {"client_id": "frostglass", "cookie_secret": "0123456789abcdef" * 2}}
HOUR = 3600


@pytest.fixture
def rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "roles.toml"
    path.write_text(RULES, encoding="utf-8")
    monkeypatch.setenv("FROSTGLASS_ROLES", str(path))
    login.forget()
    return path


def token(email: str, seconds: float = HOUR, **more: object) -> dict[str, Any]:
    return {
        "is_logged_in": True,
        "sub": email,
        "email": email,
        "email_verified": True,
        "exp": int(time.time() + seconds),
        **more,
    }


def visit(user: dict[str, Any], secrets: dict[str, Any] | None = None) -> AppTest:
    app = AppTest.from_file(str(ROOT / "pages" / "navigation.py"), default_timeout=60)
    app.secrets.update(AUTH if secrets is None else secrets)
    app.user = user
    return checked(app.run())


def titles(app: AppTest) -> list[str]:
    return [item.value for item in app.title]


def test_without_a_login_there_is_one_local_user_and_the_page_says_so() -> None:
    app = open_page()
    assert titles(app) == ["Data sets"]
    assert "no login" in words(app)
    assert access.service().user.roles == {"custodian", "analyst", "teacher"}


def test_a_stranger_is_asked_to_log_in_and_sees_nothing_else(rules: Path) -> None:
    app = visit({"is_logged_in": False})
    assert titles(app) == ["Please log in"]
    assert [item.label for item in app.button] == ["Log in"]
    assert not app.sidebar.selectbox


@pytest.mark.parametrize(
    ("user", "title"),
    [
        (token("ann@hospital.example", seconds=-1), "Your login has ended"),
        ({"is_logged_in": True, "email": "ann@hospital.example"}, "Your login cannot be used"),
        ({"is_logged_in": "yes", **token("ann@hospital.example")} | {"is_logged_in": 1}, "Please log in"),
        ({}, "Please log in"),
    ],
)
def test_who_is_kept_out(rules: Path, user: dict[str, Any], title: str) -> None:
    app = visit(user)
    assert titles(app) == [title]
    assert not app.sidebar.selectbox


@pytest.mark.parametrize(
    "user", [token("stranger@elsewhere.example"), token("office@hospital.example", email_verified=False)]
)
def test_somebody_without_a_role_finds_lessons_and_class_rooms_and_nothing_else(
    rules: Path, user: dict[str, Any]
) -> None:
    add_ward()
    app = visit(user)
    assert titles(app) == ["Learn"]
    assert "You have no role here." in words(app)
    assert "no role" in words(app.sidebar)
    assert not app.sidebar.selectbox
    for entry in menu.MENU:
        if not entry.free:
            with pytest.raises(ValueError, match="Could not find"):
                app.switch_page(entry.path)
    assert titles(checked(app.switch_page("class_room.py").run())) == ["Classroom"]
    assert [one.key for one in app.button if one.key in {"class-join", "class-open"}] == ["class-join"]


@pytest.mark.parametrize(
    ("user", "kept_out"),
    [
        (token("office@hospital.example"), "Rule list"),
        (token("ann@hospital.example"), "Custodian"),
        (token("t@school.example", groups=["teachers"]), "Custodian"),
    ],
)
def test_pages_of_other_roles_do_not_exist(rules: Path, user: dict[str, Any], kept_out: str) -> None:
    from streamlit.errors import StreamlitAPIException

    app = visit(user)
    assert titles(app) == ["Data sets"]
    path = next(entry.path for entry in menu.MENU if entry.title == kept_out)
    try:
        opened = app.switch_page(path).run()
    except (ValueError, StreamlitAPIException):
        return
    assert kept_out not in titles(opened)


def test_a_custodian_and_an_analyst_see_their_own(rules: Path) -> None:
    fit(add_ward(), "0.5")
    office = visit(token("office@hospital.example"))
    assert "office@hospital.example" in words(office).replace("\\", "")
    assert "Continue to Rule list" not in words(office)
    assert "Answer requests" in words(office)  # The tour of a custodian.
    ann = visit(token("ann@hospital.example"))
    shown = checked(ann.switch_page("releases.py").run())
    assert "No results yet" in words(shown)
    assert "Answer requests" not in words(ann)
    found = checked(office.switch_page("releases.py").run())
    assert "No results yet" not in words(found)


def test_a_login_that_ends_while_a_page_is_open(rules: Path) -> None:
    add_ward()
    app = visit(token("ann@hospital.example"))
    assert titles(app) == ["Data sets"]
    app.user = token("ann@hospital.example", seconds=-1)
    assert titles(checked(app.run())) == ["Your login has ended"]


def test_roles_without_a_provider_and_a_provider_without_roles_let_nobody_in(
    rules: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = visit({}, secrets={"else": {"a": 1}})
    assert titles(app) == ["This installation is not set up yet"]
    monkeypatch.delenv("FROSTGLASS_ROLES")
    login.forget()
    app = visit(token("ann@hospital.example"))
    assert titles(app) == ["This installation is not set up yet"]


def test_a_faulty_file_of_roles_lets_nobody_in(rules: Path, caplog: pytest.LogCaptureFixture) -> None:
    rules.write_text("[custodian\n", encoding="utf-8")
    login.forget()
    app = visit(token("office@hospital.example"))
    assert titles(app) == ["This installation is not set up yet"]
    assert "not TOML" not in words(app)  # A stranger may be reading.
    assert "not TOML" in caplog.text


@pytest.mark.parametrize("secret", ["", "…", "short", None, 7])
def test_a_secret_that_can_be_guessed_lets_nobody_in(rules: Path, secret: object) -> None:
    auth = {"client_id": "frostglass"} | ({} if secret is None else {"cookie_secret": secret})
    app = visit(token("office@hospital.example"), secrets={"auth": auth})
    assert titles(app) == ["This installation is not set up yet"]


def test_a_visitor_cannot_change_whether_there_is_a_login(rules: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Anybody may send the message that empties Streamlit's caches."""
    import streamlit as st

    assert titles(visit(token("office@hospital.example"))) == ["Data sets"]
    engine = access.installation()
    rules.write_text("[custodian\n", encoding="utf-8")
    st.cache_resource.clear()
    assert titles(visit(token("office@hospital.example"))) == ["Data sets"]
    assert access.installation() is engine


def test_secrets_that_cannot_be_read_are_not_an_open_door(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = tmp_path / "secrets.toml"
    broken.write_text("[auth\n", encoding="utf-8")
    monkeypatch.setattr(login, "_secret_files", lambda: [broken])
    login.forget()
    with pytest.raises(RequestError, match="names no file of roles"):
        login.user()
    broken.write_text("[other]\na = 1\n", encoding="utf-8")
    assert login.user().name == "local"
