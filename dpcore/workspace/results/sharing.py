"""Releases in the database, and who may read them.

A release is its owner's until they share it with everybody who sees the data set; the custodian
reads all. Sharing is free, since a release is private in the sense of its certificate whoever
reads it; it is the analyst's work that is kept from others. Each change is a line of the ledger.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, RowMapping

from dpcore.errors import NotFoundError
from dpcore.released.release import Release
from dpcore.workspace.database.database_tables import ledger_entries, releases
from dpcore.workspace.database.transactions import asked_of, read, write
from dpcore.workspace.files.descriptions import Sharing
from dpcore.workspace.ledger.ledger_lines import append

_E, _R = ledger_entries.c, releases.c
_NONE = "There is no such release."
#: Characters up to which a release is kept after it was read: a page may list hundreds, and they never change.
_SMALL = 200_000


class Released:
    """Releases of one database."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def release(self, release_id: str, *, reader: str | None) -> Release:
        """One release, if ``reader`` (``None``: anybody) may read it.

        Raises
        ------
        NotFoundError
            If there is none that this reader may know of.
        """
        chosen = sa.select(_R.content).where(_R.id == release_id, _readable(reader))
        content = read(self._engine, lambda connection: connection.execute(chosen).scalar())
        if content is None:
            raise NotFoundError(_NONE)
        return _parsed(content)

    def releases(self, datasets: Collection[str], *, reader: str | None) -> list[Release]:
        """Releases on data sets that ``reader`` (``None``: anybody) may read, newest first."""
        chosen = sa.select(_R.content).where(_R.dataset_id.in_(datasets), _readable(reader))
        chosen = chosen.order_by(_R.number.desc())
        contents = read(self._engine, lambda connection: connection.execute(chosen).scalars().all())
        return [_parsed(content) for content in contents]

    def sharing(self, datasets: Collection[str], *, reader: str | None) -> dict[str, Sharing]:
        """Owner of each release that ``reader`` may read, and whether it is shared."""

        def transaction(connection: Connection) -> tuple[tuple[str, Sharing], ...]:
            chosen = sa.select(_R.id, _R.analyst, _shared().label("shared"))
            rows = connection.execute(chosen.where(_R.dataset_id.in_(datasets), _readable(reader)))
            return tuple((row.id, Sharing(row.analyst, bool(row.shared))) for row in rows)

        return dict(read(self._engine, transaction, question=("sharing", asked_of(datasets), reader)))

    def share(self, release_id: str, shared: bool, *, owner: str) -> Sharing:
        """Let everybody who sees the data set read a release, or no longer.

        Raises
        ------
        NotFoundError
            If ``owner`` has no such release.
        """
        chosen = sa.select(_R.dataset_id, _shared().label("shared")).where(_R.id == release_id, _R.analyst == owner)

        def transaction(connection: Connection) -> None:
            row: RowMapping | None = connection.execute(chosen).mappings().one_or_none()
            if row is None:
                raise NotFoundError(_NONE)
            if bool(row["shared"]) != shared:
                append(
                    connection,
                    "share" if shared else "unshare",
                    row["dataset_id"],
                    analyst=owner,
                    actor=owner,
                    release_id=release_id,
                )

        write(self._engine, transaction)
        return Sharing(owner, shared)


def _shared() -> sa.ColumnElement[bool]:
    """Whether the last line about a release's readers shares it."""
    changes = ledger_entries.alias()
    last = (
        sa.select(changes.c.kind)
        .where(changes.c.release_id == _R.id, changes.c.kind.in_(("share", "unshare")))
        .order_by(changes.c.sequence.desc())
        .limit(1)
        .scalar_subquery()
    )
    return sa.func.coalesce(last, "unshare") == "share"


def _parsed(content: str) -> Release:
    return _kept(content) if len(content) <= _SMALL else Release.from_json(content)


@lru_cache(maxsize=512)
def _kept(content: str) -> Release:
    return Release.from_json(content)


def _readable(reader: str | None) -> sa.ColumnElement[bool]:
    return sa.true() if reader is None else sa.or_(_R.analyst == reader, _shared())
