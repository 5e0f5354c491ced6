"""Where the database is, and opening it in its present form: SQLite, or PostgreSQL by URL."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from dpcore.errors import InstallationError
from dpcore.workspace.database.database_tables import metadata
from dpcore.workspace.database.engines import connect
from dpcore.workspace.database.transactions import patiently, read, write

#: The newest script in ``migrations/versions``, which this code reads and writes, and the oldest that it can upgrade.
HEAD: Final = "0011"
_FIRST: Final = "0011"
_MIGRATION_LOCK = 7_316_452_001
_TOO_OLD = (
    "A version of Frostglass from before the first release made this database, and this version cannot read it. "
    "Nothing was changed. Go on with the version that made it, or name another database in FROSTGLASS_DATABASE_URL."
)


def default_home() -> Path:
    """``FROSTGLASS_HOME``, or the platform's own place for data of applications."""
    chosen = os.environ.get("FROSTGLASS_HOME")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("frostglass", appauthor=False))


def chosen_home(home: str | Path | None) -> Path:
    """The folder that was named, or :func:`default_home`. ``~`` is the user's own folder."""
    return Path(home).expanduser() if home else default_home()


def default_url(home: Path) -> str:
    """``FROSTGLASS_DATABASE_URL``, or a SQLite file in ``home``."""
    return os.environ.get("FROSTGLASS_DATABASE_URL") or f"sqlite:///{home / 'frostglass.db'}"


def open_database(url: str) -> Engine:
    """Connect, and bring the tables to the present form if they are older or absent.

    Raises
    ------
    InstallationError
        If a newer version of the program made the tables, or one from before the first release.
    """
    engine = connect(url)
    revision = read(engine, _revision)
    if revision is not None and revision > HEAD:
        raise InstallationError("A newer version of Frostglass made this database: install that.")
    if revision is not None and revision < _FIRST:
        raise InstallationError(_TOO_OLD)
    if revision != HEAD:
        _upgrade_alone(engine)
    return engine


def _revision(connection: Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade_alone(engine: Engine) -> None:
    """Upgrade while other processes that want to do the same wait."""
    if engine.dialect.name == "sqlite":
        write(engine, _upgrade)
        return
    patiently(engine, lambda: _upgrade_in_turn(engine))


def _upgrade_in_turn(engine: Engine) -> None:
    # Each statement sees what others committed, so the loser of the race sees their tables.
    waiting = engine.execution_options(isolation_level="READ COMMITTED")
    with waiting.begin() as connection:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
        _upgrade(connection)


def _upgrade(connection: Connection) -> None:
    revision = _revision(connection)
    if revision == HEAD:
        return  # Another process was faster.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    if revision is None:
        metadata.create_all(connection)
        command.stamp(config, "head")
    else:
        command.upgrade(config, "head")
