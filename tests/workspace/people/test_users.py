"""Which roles a login gives, by the claims of an identity token."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from dpcore.errors import LoginError, RequestError
from dpcore.workspace.people.users import LOCAL_USER, ROLES, RoleRules, User
from tests.support.rows import for_each

RULES = """
[custodian]
emails = ["Data.Office@hospital.example"]

[analyst]
emails = ["*@hospital.example"]

[teacher]
claims.groups = ["teachers", "lecturers"]
"""
END = 2_000_000_000


@pytest.fixture
def rules(tmp_path: Path) -> RoleRules:
    path = tmp_path / "roles.toml"
    path.write_text(RULES, encoding="utf-8")
    return RoleRules.from_file(path)


def claims(email: str = "", **more: Any) -> dict[str, Any]:
    return {"sub": "s-1", "exp": END, "email": email, "email_verified": True, **more}


def roles(rules: RoleRules, **given: Any) -> list[str]:
    return sorted(rules.user(claims(**given)).roles)


def test_roles_by_address(rules: RoleRules) -> None:
    assert roles(rules, email="data.office@HOSPITAL.example") == ["analyst", "custodian"]
    assert roles(rules, email="anna@hospital.example") == ["analyst"]
    assert roles(rules, email="anna@elsewhere.example") == []


@for_each(
    "email",
    [
        "anna@nothospital.example",
        "anna@hospital.example.evil.example",
        "anna@hospital.example@evil.example",
        "*@hospital.example@",
        "data.office@hospital.example ",
        "data.office@hosp\u0131tal.example",
        "hospital.example",
        "",
    ],
)
def test_an_address_that_only_looks_alike_gives_nothing(rules: RoleRules, email: str) -> None:
    assert roles(rules, email=email) == []


@for_each("verified", [False, None, "true", 1, "no"])
def test_an_address_counts_only_if_the_provider_verified_it(rules: RoleRules, verified: object) -> None:
    user = rules.user(claims("data.office@hospital.example", email_verified=verified))
    assert (user.name, user.roles) == ("sub:s-1", frozenset())


def test_a_provider_whose_addresses_are_always_verified() -> None:
    rules = RoleRules.model_validate({"analyst": {"emails": ["*@h.example"]}, "emails_are_verified": True})
    token = {"sub": "s", "exp": END, "email": "Anna@H.example"}
    assert rules.user(token) == User("anna@h.example", frozenset({"analyst"}), datetime.fromtimestamp(END, UTC))


@for_each("groups", ["teachers", ["others", "lecturers"], ("teachers",)])
def test_roles_by_claim(rules: RoleRules, groups: object) -> None:
    assert roles(rules, email="t@school.example", groups=groups) == ["teacher"]


@for_each("groups", [None, [], "teacherss", {"teachers": 1}, [["teachers"]], 7])
def test_a_claim_of_another_form_gives_nothing(rules: RoleRules, groups: object) -> None:
    assert roles(rules, email="t@school.example", groups=groups) == []


@for_each("end", [None, "2000000000", True, float("nan"), float("inf"), 10**30])
def test_a_login_without_an_end_is_refused(rules: RoleRules, end: object) -> None:
    with pytest.raises(LoginError):
        rules.user(claims("anna@hospital.example", exp=end))


@for_each("subject", [None, "", 7, "x" * 200])
def test_a_login_without_a_name_is_refused(rules: RoleRules, subject: object) -> None:
    with pytest.raises(LoginError):
        rules.user(claims(sub=subject))


def test_a_login_ends() -> None:
    past = datetime(2020, 1, 1, tzinfo=UTC)
    assert User("a", frozenset(), past).expired()
    assert not User("a", frozenset(), datetime(2999, 1, 1, tzinfo=UTC)).expired()
    assert not LOCAL_USER.expired()
    assert LOCAL_USER.roles == set(ROLES)


@for_each(
    ("text", "told"),
    [
        ("[custodian", "not TOML"),
        ("[doctor]\nemails = []", "doctor"),
        ("[analyst]\nemails = ['*']", "neither an address"),
        ("[analyst]\nemails = ['a*@h.example']", "neither an address"),
        ("[analyst]\nemails = 'a@h.example'", "analyst"),
        ("emails_are_verified = 'perhaps'", "emails_are_verified"),
    ],
)
def test_a_faulty_file_of_roles_is_explained(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "roles.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(RequestError, match="file of roles") as caught:
        RoleRules.from_file(path)
    assert told in str(caught.value)


def test_rules_of_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FROSTGLASS_ROLES", raising=False)
    assert RoleRules.from_environment() is None
    monkeypatch.setenv("FROSTGLASS_ROLES", "")
    with pytest.raises(RequestError, match="is empty"):
        RoleRules.from_environment()
    monkeypatch.setenv("FROSTGLASS_ROLES", str(tmp_path / "missing.toml"))
    with pytest.raises(RequestError, match="FROSTGLASS_ROLES names cannot be read") as caught:
        RoleRules.from_environment()
    assert str(tmp_path) not in str(caught.value), "whoever opens the application reads this"


def test_letters_of_another_script_make_nobody_somebody_else() -> None:
    """The Kelvin sign becomes a plain k when it is made small."""
    rules = RoleRules.model_validate({"custodian": {"emails": ["mark@x.org"]}})
    user = rules.user(claims("mar\u212a@x.org"))
    assert (user.name, user.roles) == ("sub:s-1", frozenset())
    with pytest.raises(ValidationError):
        RoleRules.model_validate({"custodian": {"emails": ["mar\u212a@x.org"]}})


@for_each("email", ["sub:abc@x.org", "a\u200b@x.org", "a@x.org\0", "@", "a b@x.org"])
def test_an_address_that_could_be_mistaken_is_none(rules: RoleRules, email: str) -> None:
    assert rules.user(claims(email)).name == "sub:s-1"


@for_each("subject", ["abc ", "ab\nc", "a\u200b", "\0"])
def test_an_identifier_that_the_ledger_would_keep_otherwise_is_refused(rules: RoleRules, subject: str) -> None:
    with pytest.raises(LoginError):
        rules.user(claims(sub=subject))
