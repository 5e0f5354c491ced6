"""Connections to SQLite and PostgreSQL, set up so that writers take turns and commits last."""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy.engine import URL, Connection, Engine
from sqlalchemy.exc import ArgumentError

from dpcore.errors import InstallationError, RequestError
from dpcore.validation import storable
from dpcore.workspace.database.owners import hand_over, open_private

#: How long SQLite waits for a lock by itself, in milliseconds.
BUSY_TIMEOUT: Final = 60_000
#: How long a session of PostgreSQL waits for a lock, in milliseconds.
LOCK_TIMEOUT: Final = 60_000
#: A server that does not answer is given up after this many seconds, however it vanished.
_LIVENESS = {
    "connect_timeout": "10",
    "keepalives_idle": "30",
    "keepalives_interval": "10",
    "keepalives_count": "3",
}
_NO_TEXT = "This text holds a character that cannot be stored, such as a null: type it anew, rather than pasting it."
_NO_NUMBER = "This number is larger than any that can be stored."
_LARGEST: Final = 2**63 - 1
_BAD_URL = (
    "FROSTGLASS_DATABASE_URL is not an address of a database. It must look like "
    "sqlite:////folder/frostglass.db or postgresql+psycopg://user:password@host/name."
)
_URI_FILE = (
    "The address of the database must name its file itself: write "
    "sqlite:////folder/frostglass.db, without 'file:' and without 'uri=true'."
)


def connect(url: str) -> Engine:
    """Connect to a database as it is.

    What is sent to it is looked at first: whatever the database, a text that not each of them can store is refused
    with a ``RequestError``.
    """
    engine = _sqlite(url) if url.startswith("sqlite") else _postgresql(url)
    sa.event.listen(engine, "before_cursor_execute", _look_at)
    return engine


def _look_at(_: Connection, __: object, ___: str, values: Any, *____: object) -> None:
    """Refuse values that no table holds."""
    for row in values if isinstance(values, list) else [values]:
        for value in row.values() if isinstance(row, dict) else row or ():
            if isinstance(value, str) and not _can_be_stored(value):
                raise RequestError(_NO_TEXT)
            if isinstance(value, int) and abs(value) > _LARGEST:
                raise RequestError(_NO_NUMBER)


def _can_be_stored(text: str) -> bool:
    return "\0" not in text and (text.isascii() or storable(text) == text)


def _sqlite(url: str) -> Engine:
    file = sqlite_file(url)
    # Values are never part of an error's text: it may reach a log. The connection of the last reader has answers.
    more = {} if file is None else {"pool_use_lifo": True}
    engine = sa.create_engine(url, hide_parameters=True, **more)
    if file is not None:
        private_folder(file.parent)
        _private_file(file)
        engine.update_execution_options(frostglass_queue=file.with_name(f"{file.name}-queue"))

    def on_connect(connection: sqlite3.Connection, _: object) -> None:
        connection.isolation_level = None  # The driver must not begin transactions by itself.
        cursor = connection.cursor()
        cursor.execute(f"PRAGMA busy_timeout = {BUSY_TIMEOUT}")
        cursor.execute("PRAGMA journal_mode = WAL")
        cursor.execute("PRAGMA synchronous = FULL")  # A commit survives a loss of power.
        cursor.execute("PRAGMA foreign_keys = ON")
        cursor.close()

    def on_begin(connection: Connection) -> None:
        writing = connection.get_execution_options().get("frostglass_write")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writing else "BEGIN")

    sa.event.listen(engine, "connect", on_connect)
    sa.event.listen(engine, "begin", on_begin)
    return engine


def _postgresql(url: str) -> Engine:
    parsed = _parsed(url)
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    liveness = {name: value for name, value in _LIVENESS.items() if name not in parsed.query}
    engine = sa.create_engine(
        parsed.update_query_dict(liveness),
        hide_parameters=True,
        isolation_level="SERIALIZABLE",
        pool_pre_ping=True,
    )

    def on_connect(connection: Any, _: object) -> None:
        connection.execute(f"SET lock_timeout = {LOCK_TIMEOUT}")
        connection.commit()

    def on_begin(connection: Connection) -> None:
        # LOCK TABLE takes no snapshot, so the transaction sees what the last writer left.
        if connection.get_execution_options().get("frostglass_write"):
            connection.exec_driver_sql("LOCK TABLE ledger_entries IN SHARE ROW EXCLUSIVE MODE")

    sa.event.listen(engine, "connect", on_connect)
    sa.event.listen(engine, "begin", on_begin)
    return engine


def sqlite_file(url: str) -> Path | None:
    """File of a SQLite database; ``None`` for a server, or one in memory.

    Raises
    ------
    InstallationError
        If the address cannot be read, or hides its file in a URI.
    """
    parsed = _parsed(url)
    in_file = parsed.drivername.startswith("sqlite") and parsed.database not in (
        None,
        "",
        ":memory:",
    )
    if in_file and str(parsed.database).startswith("file:"):
        raise InstallationError(_URI_FILE)
    return Path(str(parsed.database)).absolute() if in_file else None


def _parsed(url: str) -> URL:
    try:
        return sa.make_url(url)
    except (ArgumentError, ValueError):
        raise InstallationError(_BAD_URL) from None


def private_folder(path: Path, *, inherit: bool = True) -> Path:
    """Make a folder, and missing parents, that only its owner may enter.

    If root makes them, they belong to the owner of the folder around them, or else to root.
    """
    for folder in [*reversed(path.parents), path]:
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
            if inherit:
                hand_over(folder)
    return path


def _private_file(path: Path) -> None:
    """Make the file of a database, unless it is there.

    What is there must not be opened beside SQLite: closing it gives up all locks that this process has on it
    (POSIX), those of its other connections too. The next process to close the database would then take itself
    for the last and remove the log in which these go on writing.
    """
    with suppress(FileExistsError):
        os.close(open_private(path, os.O_RDWR | os.O_EXCL))
