"""What a visitor has seen already: kept by name, where there is a login."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from dpcore.workspace.database.database_tables import utc_now, visitor_marks
from dpcore.workspace.database.transactions import read, write

_M = visitor_marks.c


def has_mark(engine: Engine, visitor: str, mark: str) -> bool:
    """Whether a visitor has this mark."""
    chosen = sa.select(_M.mark).where(_M.visitor == visitor, _M.mark == mark)
    return read(engine, lambda connection: connection.execute(chosen).first()) is not None


def set_mark(engine: Engine, visitor: str, mark: str) -> None:
    """Give a visitor a mark, if they do not have it."""
    chosen = sa.select(_M.mark).where(_M.visitor == visitor, _M.mark == mark)

    def transaction(connection: Connection) -> None:
        if connection.execute(chosen).first() is None:
            connection.execute(visitor_marks.insert().values(visitor=visitor, mark=mark, time=utc_now()))

    write(engine, transaction)
