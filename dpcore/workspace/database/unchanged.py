"""Answers that hold as long as a database does not change.

A page asks for the same few things many times, and the next page again. A connection to SQLite counts the commits of
all others, in this process and elsewhere, and the rows that it has changed itself. While both numbers stay what they
were before a question was asked, the answer is what it would be now. A server has no such numbers: it is asked.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Hashable
from typing import Any, Final

from sqlalchemy.engine import Connection

#: Answers that one connection keeps.
_MOST: Final = 1000
_KEY: Final = "frostglass_answers"


def asked_of(datasets: Collection[str] | None) -> frozenset[str] | None:
    """Some data sets, or all, as part of a question: in any order it is the same one."""
    return None if datasets is None else frozenset(datasets)


def answers(connection: Connection) -> dict[Hashable, Any] | None:
    """What is known of the database as it is now, by question, to be added to; ``None`` for a server.

    To be called before a transaction: what that sees is as new, or newer, and then nobody finds these answers again.
    """
    driver = connection.connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):
        return None
    try:
        [seen] = driver.execute("PRAGMA data_version").fetchone()
    except sqlite3.Error:  # The transaction will say what is wrong.
        return None
    moment = seen, driver.total_changes
    kept = connection.info.get(_KEY)
    if kept is None or kept[0] != moment or len(kept[1]) >= _MOST:
        connection.info[_KEY] = kept = (moment, {})
    return kept[1]
