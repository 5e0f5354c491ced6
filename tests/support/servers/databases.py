"""A fresh database for each test: SQLite, or PostgreSQL where a server is named.

``FROSTGLASS_TEST_POSTGRES`` is the URL of a server on which databases may be created, for
example ``postgresql+psycopg://postgres@localhost:5433/postgres``.
"""

from __future__ import annotations

import os
import uuid
from functools import cache
from pathlib import Path

import sqlalchemy as sa

from dpcore.workspace.database.database import open_database

SERVER = os.environ.get("FROSTGLASS_TEST_POSTGRES")
KINDS = ["sqlite", "postgresql"] if SERVER else ["sqlite"]


def fresh_url(kind: str, folder: Path) -> str:
    """Address of an empty database."""
    return _sqlite(folder) if kind == "sqlite" else _postgresql("template1")


def ready_url(kind: str, folder: Path) -> str:
    """Address of a database that gets its tables at once, or has them already, and holds nothing."""
    return _sqlite(folder) if kind == "sqlite" else _postgresql(_with_tables())


def _sqlite(folder: Path) -> str:
    return f"sqlite:///{folder / 'frostglass.db'}"


def _postgresql(template: str) -> str:
    assert SERVER is not None
    name = f"frostglass_{uuid.uuid4().hex[:12]}"
    server = sa.create_engine(SERVER, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name} TEMPLATE {template}")
    server.dispose()
    return sa.make_url(SERVER).set(database=name).render_as_string(hide_password=False)


@cache
def _with_tables() -> str:
    """Name of a database with all tables, which nobody is connected to."""
    url = _postgresql("template1")
    open_database(url).dispose()
    return str(sa.make_url(url).database)
