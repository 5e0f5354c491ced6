"""Results that somebody brought as a file: their own, beside the ledger, and gone when they say so."""

from __future__ import annotations

from datetime import datetime
from functools import lru_cache
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from dpcore.errors import FrostglassError, RequestError
from dpcore.released.release import Imported, Release, imported
from dpcore.workspace.database.database_tables import imported_releases, utc_now
from dpcore.workspace.database.transactions import read, write

#: Most results that one person may bring, and most letters of all of them.
MOST: Final = 200
MOST_LETTERS: Final = 64 << 20
#: Letters of a result that is kept in memory as it was read: most are far smaller.
_SMALL: Final = 1 << 20
_R = imported_releases.c
_FULL = "You have imported {most}: remove some that you no longer need."


def keep_import(engine: Engine, owner: str, release: Release) -> None:
    """Keep a result for somebody; the same one again takes the place of the first.

    Raises
    ------
    RequestError
        If the owner has brought as many, or as much, as one may.
    """
    content = release.to_json()
    row = {"owner": owner, "id": release.id, "content": content, "time": utc_now()}

    def transaction(connection: Connection) -> None:
        connection.execute(imported_releases.delete().where(_R.owner == owner, _R.id == release.id))
        there = sa.select(sa.func.count(), sa.func.sum(sa.func.length(_R.content))).where(_R.owner == owner)
        count, letters = connection.execute(there).one()
        if count >= MOST:
            raise RequestError(_FULL.format(most=f"{MOST} results"))
        if (letters or 0) + len(content) > MOST_LETTERS:
            raise RequestError(_FULL.format(most=f"results of nearly {MOST_LETTERS >> 20} MB"))
        connection.execute(imported_releases.insert().values(**row))

    write(engine, transaction)


def read_imports(engine: Engine, owner: str) -> tuple[list[Imported], list[str]]:
    """What somebody has brought, newest first; and the identifiers of what this version cannot read."""
    listed = sa.select(_R.id, _R.time, sa.func.length(_R.content).label("letters")).where(_R.owner == owner)
    found: list[Imported] = []
    lost: list[str] = []
    for row in read(engine, lambda c: c.execute(listed.order_by(_R.time.desc(), _R.id)).all()):
        reading = _kept if row.letters <= _SMALL else _read
        try:
            release = reading(engine, owner, row.id, row.time, row.letters)
        except (FrostglassError, ValueError):
            lost.append(row.id)
        else:
            found += [] if release is None else [release]
    return found, lost


def _read(engine: Engine, owner: str, release_id: str, _time: datetime, _letters: int) -> Imported | None:
    """One of them; ``None`` if it was removed meanwhile. Time and length tell it from others of the same name."""
    from dpcore.models.readable import readable  # Families are loaded only here: whoever stores data needs none.
    from dpcore.models.released import parse_model

    chosen = sa.select(_R.content).where(_R.owner == owner, _R.id == release_id)
    content = read(engine, lambda connection: connection.execute(chosen).scalar())
    if content is None:
        return None
    release = imported(content)
    parse_model(readable(release))
    return release


_kept = lru_cache(maxsize=64)(_read)


def forget_import(engine: Engine, owner: str, release_id: str) -> None:
    """Remove a result that somebody brought; nothing, if there is none."""
    gone = imported_releases.delete().where(_R.owner == owner, _R.id == release_id)
    write(engine, lambda connection: connection.execute(gone))
