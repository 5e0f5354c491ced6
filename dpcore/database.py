"""The database under ledger, data sets, runs and releases: SQLite, or PostgreSQL by URL.

Writers take turns: every writing transaction first takes a lock that other writers wait for
(``BEGIN IMMEDIATE`` on SQLite, a table lock on PostgreSQL), so what it reads cannot change
before it writes. That is what makes a reservation atomic.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Dialect, Engine
from sqlalchemy.exc import DBAPIError
from typing_extensions import override

#: Revision that this code reads and writes; the newest script in ``migrations/versions``.
HEAD: Final = "0003"
#: How long a writer waits for its turn, in milliseconds.
BUSY_TIMEOUT: Final = 60_000
_ATTEMPTS = 10
#: SQLSTATEs after which PostgreSQL asks for the transaction to be repeated.
_REPEAT = frozenset({"40001", "40P01"})
_MIGRATION_LOCK = 7_316_452_001

T = TypeVar("T")
#: Work done inside somebody else's transaction; receives an identifier.
Hook = Callable[[Connection, str], None]


class ExactDecimal(sa.TypeDecorator[Decimal]):
    """A decimal kept as a whole number of ``10**-places``: no rounding, on any database."""

    impl = sa.BigInteger
    cache_ok = True

    def __init__(self, places: int = 9) -> None:
        super().__init__()
        self.places = places

    @override
    def process_bind_param(self, value: Decimal | None, dialect: Dialect) -> int | None:
        """Turn a decimal into whole steps. Raises ``ValueError`` if it is finer than a step."""
        if value is None:
            return None
        if not isinstance(value, Decimal) or not value.is_finite():
            raise ValueError("an exact amount must be a finite Decimal")
        steps = value.scaleb(self.places)
        if steps != steps.to_integral_value():
            raise ValueError("an amount is finer than the ledger's step")
        return int(steps)

    @override
    def process_result_value(self, value: Any, dialect: Dialect) -> Decimal | None:
        """Turn whole steps into a decimal."""
        return None if value is None else Decimal(int(value)).scaleb(-self.places)


class UtcTime(sa.TypeDecorator[datetime]):
    """A time with zone, kept as ISO text in UTC: the same on every database, for display only."""

    impl = sa.String(32)
    cache_ok = True

    @override
    def process_bind_param(self, value: datetime | None, dialect: Dialect) -> str | None:
        """Turn a time into text."""
        return None if value is None else value.astimezone(UTC).isoformat(timespec="seconds")

    @override
    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        """Turn text into a time."""
        return None if value is None else datetime.fromisoformat(value)


def utc_now() -> datetime:
    """The present time; for people to read, never for a decision."""
    return datetime.now(UTC)


metadata = sa.MetaData()
_ID = sa.String(64)
_Key = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

datasets = sa.Table(
    "datasets",
    metadata,
    sa.Column("number", _Key, primary_key=True, autoincrement=True),
    sa.Column("id", _ID, nullable=False, unique=True),
    sa.Column("name", sa.String(128), nullable=False, unique=True),
    sa.Column("schema", sa.Text, nullable=False),
    sa.Column("schema_hash", sa.String(64), nullable=False),
    sa.Column("public", sa.Boolean, nullable=False),
    sa.Column("truth", sa.Text, nullable=False),
    sa.Column("created", UtcTime, nullable=False),
    sqlite_autoincrement=True,
)

ledger_entries = sa.Table(
    "ledger_entries",
    metadata,
    sa.Column("sequence", _Key, primary_key=True, autoincrement=True),
    sa.Column("kind", sa.String(16), nullable=False),
    sa.Column("time", UtcTime, nullable=False),
    sa.Column("dataset_id", _ID, sa.ForeignKey("datasets.id"), nullable=False),
    sa.Column("analyst", sa.String(128)),
    sa.Column("run_id", _ID),
    sa.Column("epsilon", ExactDecimal(9), nullable=False),
    sa.Column("delta", ExactDecimal(15), nullable=False),
    sa.Column("nonce", sa.String(128)),
    sa.Column("request_hash", sa.String(64)),
    sa.Column("cap", ExactDecimal(9)),
    sa.Column("analyst_cap", ExactDecimal(9)),
    sa.Column("run_cap", ExactDecimal(9)),
    sa.Column("release_id", _ID),
    sa.Column("note", sa.String(500), nullable=False),
    sa.Column("actor", sa.String(128)),
    sa.Column("answers", sa.BigInteger),
    sa.CheckConstraint("epsilon >= 0 AND delta >= 0", name="ledger_not_negative"),
    sqlite_autoincrement=True,
)


def _one_of(name: str, column: str, kinds: str) -> None:
    where = sa.text(f"kind IN ({kinds})")
    sa.Index(
        name,
        ledger_entries.c[column],
        unique=True,
        sqlite_where=where,
        postgresql_where=where,
    )


# The database itself refuses a second reservation under one nonce, a second end of a run, a
# refund after a touch and a touch after a refund.
_one_of("ledger_one_account", "dataset_id", "'open'")
_one_of("ledger_one_nonce", "nonce", "'reserve'")
_one_of("ledger_one_reserve", "run_id", "'reserve'")
_one_of("ledger_one_end", "run_id", "'commit', 'refund'")
_one_of("ledger_touch_or_refund", "run_id", "'touch', 'refund'")
_one_of("ledger_one_answer", "answers", "'grant', 'decline'")
sa.Index("ledger_by_dataset", ledger_entries.c.dataset_id, ledger_entries.c.kind)
sa.Index("ledger_by_analyst", ledger_entries.c.dataset_id, ledger_entries.c.analyst)
sa.Index("ledger_by_release", ledger_entries.c.release_id)

jobs = sa.Table(
    "jobs",
    metadata,
    sa.Column("number", _Key, primary_key=True, autoincrement=True),
    sa.Column("run_id", _ID, nullable=False, unique=True),
    sa.Column("dataset_id", _ID, sa.ForeignKey("datasets.id"), nullable=False),
    sa.Column("analyst", sa.String(128), nullable=False),
    sa.Column("request", sa.Text, nullable=False),
    sa.Column("state", sa.String(16), nullable=False, index=True),
    sa.Column("step", sa.String(64), nullable=False),
    sa.Column("done", sa.BigInteger, nullable=False),
    sa.Column("total", sa.BigInteger, nullable=False),
    sa.Column("message", sa.String(1000), nullable=False),
    sa.Column("stop_asked", sa.Boolean, nullable=False),
    sa.Column("worker", sa.String(300)),
    sa.Column("release_id", _ID),
    sa.Column("created", UtcTime, nullable=False),
    sqlite_autoincrement=True,
)

releases = sa.Table(
    "releases",
    metadata,
    sa.Column("number", _Key, primary_key=True, autoincrement=True),
    sa.Column("id", _ID, nullable=False, unique=True),
    sa.Column("run_id", _ID, nullable=False, unique=True),
    sa.Column("dataset_id", _ID, sa.ForeignKey("datasets.id"), nullable=False, index=True),
    sa.Column("analyst", sa.String(128), nullable=False),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("created", UtcTime, nullable=False),
    sqlite_autoincrement=True,
)

# What people write beside a release. Not append-only: it is theirs to change.
release_notes = sa.Table(
    "release_notes",
    metadata,
    sa.Column("release_id", _ID, sa.ForeignKey("releases.id"), primary_key=True),
    sa.Column("name", sa.Text, nullable=False),
    sa.Column("note", sa.Text, nullable=False),
    sa.Column("author", sa.String(128), nullable=False),
    sa.Column("time", UtcTime, nullable=False),
)

# What somebody is writing for a report on a data set; theirs to change.
report_drafts = sa.Table(
    "report_drafts",
    metadata,
    sa.Column("dataset_id", _ID, sa.ForeignKey("datasets.id"), primary_key=True),
    sa.Column("author", sa.String(128), primary_key=True),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("time", UtcTime, nullable=False),
)


def default_home() -> Path:
    """``FROSTGLASS_HOME``, or the platform's own place for data of applications."""
    chosen = os.environ.get("FROSTGLASS_HOME")
    if chosen:
        return Path(chosen).expanduser()
    import platformdirs

    return Path(platformdirs.user_data_dir("frostglass", appauthor=False))


def default_url(home: Path) -> str:
    """``FROSTGLASS_DATABASE_URL``, or a SQLite file in ``home``."""
    return os.environ.get("FROSTGLASS_DATABASE_URL") or f"sqlite:///{home / 'frostglass.db'}"


def open_database(url: str) -> Engine:
    """Connect, and bring the tables to the present form if they are older or absent."""
    engine = _sqlite(url) if url.startswith("sqlite") else _postgresql(url)
    if read(engine, _revision) != HEAD:
        _upgrade_alone(engine)
    return engine


def read(engine: Engine, work: Callable[[Connection], T]) -> T:
    """Run ``work`` in one transaction that writes nothing and sees one state of the database."""
    return _repeat(engine, work, writing=False)


def write(engine: Engine, work: Callable[[Connection], T]) -> T:
    """Run ``work`` as the only writer, in one transaction: all of it happens, or none.

    ``work`` may run more than once, so it must have no effect outside the database.
    """
    return _repeat(engine, work, writing=True)


def _repeat(engine: Engine, work: Callable[[Connection], T], *, writing: bool) -> T:
    for attempt in range(_ATTEMPTS):
        try:
            with engine.connect() as plain:
                connection = plain.execution_options(frostglass_write=writing)
                with connection.begin():
                    return work(connection)
        except DBAPIError as error:
            if attempt == _ATTEMPTS - 1 or not _repeatable(error):
                raise
            time.sleep(0.01 * 2**attempt)
    raise AssertionError("unreachable")


def _repeatable(error: DBAPIError) -> bool:
    state = getattr(error.orig, "sqlstate", None)
    return state in _REPEAT or "database is locked" in str(error.orig)


def _sqlite(url: str) -> Engine:
    database = sa.make_url(url).database
    if database and database != ":memory:":
        private_folder(Path(database).parent)
        _private_file(Path(database))
    # Values are never part of an error's text: it may reach a log.
    engine = sa.create_engine(url, hide_parameters=True)

    def on_connect(connection: Any, _: object) -> None:
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
    parsed = sa.make_url(url)
    if parsed.drivername in ("postgres", "postgresql"):
        parsed = parsed.set(drivername="postgresql+psycopg")
    engine = sa.create_engine(
        parsed, hide_parameters=True, isolation_level="SERIALIZABLE", pool_pre_ping=True
    )

    def on_begin(connection: Connection) -> None:
        # LOCK TABLE takes no snapshot, so the transaction sees what the last writer left.
        if connection.get_execution_options().get("frostglass_write"):
            connection.exec_driver_sql("LOCK TABLE ledger_entries IN SHARE ROW EXCLUSIVE MODE")

    sa.event.listen(engine, "begin", on_begin)
    return engine


def private_folder(path: Path) -> Path:
    """Make a folder, and missing parents, that only its owner may enter."""
    for folder in [*reversed(path.parents), path]:
        if not folder.exists():
            folder.mkdir(mode=0o700, exist_ok=True)
    return path


def _private_file(path: Path) -> None:
    os.close(os.open(path, os.O_RDWR | os.O_CREAT, 0o600))


def _revision(connection: Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade_alone(engine: Engine) -> None:
    """Upgrade while other processes that want to do the same wait."""
    if engine.dialect.name == "sqlite":
        write(engine, _upgrade)
        return
    # Each statement sees what others committed, so the loser of the race sees their tables.
    waiting = engine.execution_options(isolation_level="READ COMMITTED")
    with waiting.begin() as connection:
        connection.exec_driver_sql(f"SELECT pg_advisory_xact_lock({_MIGRATION_LOCK})")
        _upgrade(connection)


def _upgrade(connection: Connection) -> None:
    if _revision(connection) == HEAD:
        return  # Another process was faster.
    from alembic import command
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(Path(__file__).with_name("migrations")))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
