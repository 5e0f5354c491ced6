"""Tokens: good for their owner's roles until the login ends, kept as hashes, ended at once."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine

from dpcore.errors import LoginError, RequestError
from dpcore.workspace.database.transactions import read
from dpcore.workspace.people import tokens
from dpcore.workspace.people.users import LOCAL_USER, User

SOON = datetime.now(UTC) + timedelta(hours=1)
ANN = User("ann@x.org", frozenset({"analyst", "custodian"}), SOON)
ROLES = frozenset({"analyst"})


def test_a_token_stands_for_its_owner_and_for_the_roles_that_it_was_given(engine: Engine) -> None:
    made = tokens.issue(engine, ANN, ROLES)
    found = tokens.owner(engine, made.text)
    assert (found.name, found.roles) == (ANN.name, ROLES)
    assert found.expires is not None
    assert abs(found.expires - SOON) <= timedelta(seconds=1)


def test_a_token_never_outlives_the_login_nor_twelve_hours(engine: Engine) -> None:
    assert tokens.issue(engine, ANN, ROLES).ends == SOON
    late = User(ANN.name, ANN.roles, SOON + timedelta(days=9))
    for user in (late, LOCAL_USER):
        assert tokens.issue(engine, user, ROLES).ends <= datetime.now(UTC) + tokens.LONGEST


def test_what_is_kept_is_no_token(engine: Engine) -> None:
    made = tokens.issue(engine, ANN, ROLES)
    rows = read(engine, lambda c: c.execute(sa.text("SELECT * FROM tokens")).all())
    assert len(rows) == 1
    assert made.text not in str(rows)
    for guess in ("", made.text[:-1], made.text + "x", str(rows[0][0]), "\ud800"):
        with pytest.raises(LoginError, match="not good"):
            tokens.owner(engine, guess)


def test_an_ended_token_is_good_for_nothing_and_makes_room(engine: Engine) -> None:
    over = User(ANN.name, ANN.roles, datetime.now(UTC) - timedelta(seconds=2))
    ended = tokens.issue(engine, over, ROLES)
    with pytest.raises(LoginError, match="no longer"):
        tokens.owner(engine, ended.text)
    made = [tokens.issue(engine, ANN, ROLES) for _ in range(tokens.MOST)]
    assert tokens.ends(engine, ANN.name) == [SOON.replace(microsecond=0)] * tokens.MOST
    with pytest.raises(RequestError, match="the most"):
        tokens.issue(engine, ANN, ROLES)
    other = tokens.issue(engine, LOCAL_USER, ROLES)
    assert tokens.end(engine, ANN.name) == tokens.MOST
    for token in made:
        with pytest.raises(LoginError):
            tokens.owner(engine, token.text)
    assert tokens.owner(engine, other.text).name == LOCAL_USER.name
