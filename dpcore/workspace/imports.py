"""Results that somebody brought as a file: their own, beside the ledger, and gone when they say so."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from dpcore.errors import FrostglassError, RequestError
from dpcore.released.imported import Imported, imported
from dpcore.released.release import Release
from dpcore.workspace.database import imported_releases, read, utc_now, write

#: Most results that one person may bring.
MOST = 200
_R = imported_releases.c


def keep_import(engine: Engine, owner: str, release: Release) -> None:
    """Keep a result for somebody; the same one again takes the place of the first.

    Raises
    ------
    RequestError
        If the owner has brought as many as one may.
    """
    row = {"owner": owner, "id": release.id, "content": release.to_json(), "time": utc_now()}

    def work(connection: Connection) -> None:
        connection.execute(imported_releases.delete().where(_R.owner == owner, _R.id == release.id))
        counted = sa.select(sa.func.count()).select_from(imported_releases).where(_R.owner == owner)
        if int(connection.execute(counted).scalar() or 0) >= MOST:
            raise RequestError(f"You have imported {MOST} results: remove some that you no longer need.")
        connection.execute(imported_releases.insert().values(**row))

    write(engine, work)


def read_imports(engine: Engine, owner: str) -> tuple[list[Imported], list[str]]:
    """What somebody has brought, newest first; and the identifiers of what this version cannot read."""
    from dpcore.models.readable import readable  # Families are loaded only here: whoever stores data needs none.
    from dpcore.models.released import parse_model

    chosen = sa.select(_R.id, _R.content).where(_R.owner == owner).order_by(_R.time.desc(), _R.id)
    found: list[Imported] = []
    lost: list[str] = []
    for row in read(engine, lambda connection: connection.execute(chosen).all()):
        try:
            release = imported(row.content)
            parse_model(readable(release))
        except (FrostglassError, ValueError):
            lost.append(row.id)
        else:
            found.append(release)
    return found, lost


def forget_import(engine: Engine, owner: str, release_id: str) -> None:
    """Remove a result that somebody brought; nothing, if there is none."""
    gone = imported_releases.delete().where(_R.owner == owner, _R.id == release_id)
    write(engine, lambda connection: connection.execute(gone))
