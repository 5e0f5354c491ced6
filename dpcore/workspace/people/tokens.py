"""Tokens: what a program shows in place of a login, to act as the person who asked for it.

The database holds a hash of each, so whoever reads it can act as nobody. A token ends with the
login it was asked for in, has its roles, and can be ended before.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from dpcore.errors import LoginError, RequestError
from dpcore.workspace.database.database_tables import tokens, utc_now
from dpcore.workspace.database.transactions import read, write
from dpcore.workspace.people.users import Role, User

_T = tokens.c
#: How long a token is good where there is no login that ends.
LONGEST = timedelta(hours=12)
#: Tokens of one person that may be good at once.
MOST = 20
#: How tokens begin, so that one that lies about is known for what it is.
_PREFIX = "fgt_"
_BYTES = 32
_REFUSED = "This token is not good, or no longer. Get a new one on the page Data sets."


@dataclass(frozen=True)
class Token:
    """A token that was just made; its text is shown once and kept nowhere."""

    text: str
    """What a program sends."""
    ends: datetime
    """From when on it is good for nothing."""


def issue(engine: Engine, user: User, roles: frozenset[Role]) -> Token:
    """Make a token with which a program may act as ``user``, in these of their roles.

    Raises
    ------
    RequestError
        If this person has as many tokens as may be good at once.
    """
    text = _PREFIX + secrets.token_urlsafe(_BYTES)
    now = utc_now()
    ends = (now + LONGEST) if user.expires is None else min(user.expires, now + LONGEST)

    def transaction(connection: Connection) -> None:
        connection.execute(tokens.delete().where(_T.ends <= _second(now)))
        own = sa.select(sa.func.count()).select_from(tokens).where(_T.owner == user.name)
        if connection.execute(own).scalar_one() >= MOST:
            raise RequestError(f"You have {MOST} tokens, which is the most: end them first.")
        row = {"hash": _hash(text), "owner": user.name, "roles": ",".join(sorted(roles)), "ends": _second(ends)}
        connection.execute(tokens.insert().values(**row))

    write(engine, transaction)
    return Token(text, ends)


def owner(engine: Engine, text: str) -> User:
    """Who a program acts as that shows this token.

    Raises
    ------
    LoginError
        If it is none, or no longer good.
    """
    chosen = sa.select(_T.owner, _T.roles, _T.ends).where(_T.hash == _hash(text))
    found = read(engine, lambda connection: connection.execute(chosen).one_or_none())
    if found is None:
        raise LoginError(_REFUSED)
    user = User(found.owner, frozenset(found.roles.split(",")), datetime.fromtimestamp(found.ends, UTC))
    if user.expired():
        raise LoginError(_REFUSED)
    return user


def end(engine: Engine, name: str) -> int:
    """End all tokens of a person; how many there were."""
    return write(engine, lambda connection: connection.execute(tokens.delete().where(_T.owner == name)).rowcount)


def ends(engine: Engine, name: str) -> list[datetime]:
    """When each good token of a person ends, first things first."""
    chosen = sa.select(_T.ends).where(_T.owner == name, _T.ends > _second(utc_now())).order_by(_T.ends)
    found = read(engine, lambda connection: connection.execute(chosen).scalars().all())
    return [datetime.fromtimestamp(second, UTC) for second in found]


def _hash(text: str) -> str:
    """Tokens are long and random, so a plain hash cannot be turned round."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _second(time: datetime) -> int:
    """Seconds since 1970: what decides is compared as a number."""
    return int(time.timestamp())
