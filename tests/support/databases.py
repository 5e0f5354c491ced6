"""A fresh database for each test: SQLite, or PostgreSQL where a server is named.

``FROSTGLASS_TEST_POSTGRES`` is the URL of a server on which databases may be created, for
example ``postgresql+psycopg://postgres@localhost:5433/postgres``.
"""

from __future__ import annotations

import os
import uuid
from pathlib import Path

import sqlalchemy as sa

SERVER = os.environ.get("FROSTGLASS_TEST_POSTGRES")
KINDS = ["sqlite", "postgresql"] if SERVER else ["sqlite"]


def fresh_url(kind: str, folder: Path) -> str:
    if kind == "sqlite":
        return f"sqlite:///{folder / 'frostglass.db'}"
    assert SERVER is not None
    name = f"frostglass_{uuid.uuid4().hex[:12]}"
    server = sa.create_engine(SERVER, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.exec_driver_sql(f"CREATE DATABASE {name}")
    server.dispose()
    return sa.make_url(SERVER).set(database=name).render_as_string(hide_password=False)
