"""The database under ledger, data sets, runs and releases: SQLite, or PostgreSQL by URL.

Writers take turns: every writing transaction first takes a lock that other writers wait for
(``BEGIN IMMEDIATE`` on SQLite, a table lock on PostgreSQL), so what it reads cannot change
before it writes. That is what makes a reservation atomic. SQLite's own waiting is unfair: who
waits long polls ever more rarely. So its writers first queue for a lock of the operating system.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any, Final, NoReturn, Protocol, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Dialect, Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, InternalError, OperationalError
from typing_extensions import override

from dpcore.errors import AwayError, InstallationError
from dpcore.workspace.engines import connect
from dpcore.workspace.turns import turn
from dpcore.workspace.unchanged import answers

#: Revision that this code reads and writes; the newest script in ``migrations/versions``.
HEAD: Final = "0010"
_ATTEMPTS = 10
#: SQLSTATEs after which PostgreSQL asks for the transaction to be repeated.
_REPEAT = frozenset({"40001", "40P01"})
#: SQLSTATE of a lock that did not come in time.
_LOCKED = "55P03"
#: Beginnings of SQLSTATEs of a server that is away, full, restarting or locked.
_AWAY = ("08", "53", "57P", "25006", _LOCKED)
#: The same of SQLite: its disk is full, or cannot be read or written.
_SQLITE_AWAY = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})
_FILES_AWAY = (
    "A file of the home folder cannot be used. Check that its disk is there and has room, and that "
    "its files belong to the user who runs the application; then try again. Nothing is lost."
)
_HELD_UP = (
    "Somebody else has locked the tables of the database. Nothing was changed. Try again; if it "
    "stays like this, end the session that holds them (see pg_stat_activity)."
)
#: Longest pause between two attempts to reach such a server, in seconds.
_LONGEST_PAUSE = 5.0
_MIGRATION_LOCK = 7_316_452_001

T = TypeVar("T")
#: Work done inside somebody else's transaction; receives an identifier.
Hook = Callable[[Connection, str], None]


class Watch(Protocol):
    """Looks at every writing transaction of an engine: see :func:`watch`."""

    def before(self, connection: Connection) -> None:
        """Refuse the transaction by raising, before anything is written."""

    def after(self, connection: Connection) -> Callable[[], object]:
        """What is to be done once the transaction is committed. May raise to undo it."""


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
    # Always there, and never changed; SQLite adds no column that must be filled.
    sa.Column("population", _ID),
    sa.Column("version", sa.Integer),
    sa.Column("replaces", _ID),
    sa.Column("described", sa.Text),
    sqlite_autoincrement=True,
)

# Two that replace the same one cannot both succeed.
sa.Index("datasets_one_successor", datasets.c.replaces, unique=True)
sa.Index("datasets_by_population", datasets.c.population)

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
    sa.Column("rho", ExactDecimal(12)),  # Checked, since SQLite adds no column that must be filled.
    sa.Column("nonce", sa.String(128)),
    sa.Column("request_hash", sa.String(64)),
    sa.Column("cap", ExactDecimal(9)),
    sa.Column("delta_cap", ExactDecimal(15)),
    sa.Column("analyst_cap", ExactDecimal(9)),
    sa.Column("run_cap", ExactDecimal(9)),
    sa.Column("release_id", _ID),
    sa.Column("note", sa.String(500), nullable=False),
    sa.Column("actor", sa.String(128)),
    sa.Column("answers", sa.BigInteger),
    sa.Column("account", _ID),  # Of which population; checked, as rho is.
    sa.CheckConstraint("epsilon >= 0 AND delta >= 0", name="ledger_not_negative"),
    # A commit costs nothing more, so that a worker of an earlier version may still finish its run.
    sa.CheckConstraint("CASE WHEN rho IS NULL THEN kind = 'commit' ELSE rho >= 0 END", name="ledger_rho"),
    sa.CheckConstraint("account IS NOT NULL OR kind = 'commit'", name="ledger_account"),
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
sa.Index("ledger_by_account", ledger_entries.c.account, ledger_entries.c.kind)
sa.Index("ledger_by_analyst", ledger_entries.c.account, ledger_entries.c.analyst)
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
    sa.Column("ready", UtcTime),
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

# What programs show in place of a login: hashes, until a second since 1970.
tokens = sa.Table(
    "tokens",
    metadata,
    sa.Column("hash", sa.String(64), primary_key=True),
    sa.Column("owner", sa.String(128), nullable=False),
    sa.Column("roles", sa.String(128), nullable=False),
    sa.Column("ends", sa.BigInteger, nullable=False),
)
sa.Index("tokens_by_owner", tokens.c.owner)

# What each visitor has seen already, such as the guide for the first visit.
visitor_marks = sa.Table(
    "visitor_marks",
    metadata,
    sa.Column("visitor", sa.String(128), primary_key=True),
    sa.Column("mark", sa.String(32), primary_key=True),
    sa.Column("time", UtcTime, nullable=False),
)

# Results that somebody brought as files: nothing here was charged, and nobody else reads them.
imported_releases = sa.Table(
    "imported_releases",
    metadata,
    sa.Column("owner", sa.String(128), primary_key=True),
    sa.Column("id", _ID, primary_key=True),
    sa.Column("content", sa.Text, nullable=False),
    sa.Column("time", UtcTime, nullable=False),
)

# Classrooms, swept after a day: public numbers and toy budgets, apart from data sets and ledger.
class_rooms = sa.Table(
    "class_rooms",
    metadata,
    sa.Column("code", sa.String(16), primary_key=True),
    sa.Column("key", sa.String(64), nullable=False),
    sa.Column("teacher", sa.String(128), nullable=False),
    sa.Column("cap", ExactDecimal(9), nullable=False),
    sa.Column("revealed", sa.Boolean, nullable=False),
    sa.Column("full", sa.Boolean, nullable=False),
    sa.Column("closed", sa.Boolean, nullable=False),
    sa.Column("created", UtcTime, nullable=False),
    sa.Column("used", UtcTime, nullable=False),
)

class_seats = sa.Table(
    "class_seats",
    metadata,
    sa.Column("key", sa.String(64), primary_key=True),
    sa.Column("code", sa.String(16), sa.ForeignKey("class_rooms.code"), nullable=False, index=True),
    sa.Column("student", sa.Integer, nullable=False),
    sa.Column("name", sa.String(64), nullable=False),
)

class_answers = sa.Table(
    "class_answers",
    metadata,
    sa.Column("number", _Key, primary_key=True, autoincrement=True),
    sa.Column("seat", sa.String(64), sa.ForeignKey("class_seats.key"), nullable=False, index=True),
    sa.Column("question", sa.Integer, nullable=False),
    sa.Column("epsilon", ExactDecimal(9), nullable=False),
    sa.Column("noisy", sa.BigInteger, nullable=False),
    sqlite_autoincrement=True,
)

# Which home folder this database belongs to; at most one row.
installation = sa.Table(
    "installation",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("id", _ID, nullable=False),
    sa.CheckConstraint("number = 1", name="installation_one"),
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
        If a newer version of the program made the tables.
    """
    engine = connect(url)
    revision = read(engine, _revision)
    if revision is not None and revision > HEAD:
        raise InstallationError("A newer version of Frostglass made this database: install that.")
    if revision != HEAD:
        _upgrade_alone(engine)
    return engine


def be_patient(engine: Engine, seconds: float) -> None:
    """Have every later transaction wait for a server that is away, unless it says otherwise."""
    engine.update_execution_options(frostglass_patience=seconds)


def watch(engine: Engine, by: Watch) -> None:
    """Have every later writing transaction looked at."""
    engine.update_execution_options(frostglass_watch=by)


def read(engine: Engine, work: Callable[[Connection], T], *, question: Hashable = None) -> T:
    """Run ``work`` in one transaction that writes nothing and sees one state of the database.

    Parameters
    ----------
    question : hashable, optional
        What ``work`` finds out, in full. If the database has not changed since this was asked, the answer of that
        time is given again: it must be immutable, and depend on nothing but question and database.
    """
    return _repeat(lambda: _reading(engine, work, question), _patience(engine))


def write(engine: Engine, work: Callable[[Connection], T], *, patience: float | None = None) -> T:
    """Run ``work`` as the only writer, in one transaction: all of it happens, or none.

    ``work`` may run more than once, so it must have no effect outside the database.

    Parameters
    ----------
    patience : float, optional
        Seconds for which a database server that is away, or a disk that is full, is tried again. A transaction whose
        acknowledgement was lost may then have happened already: see :func:`write_once`.
        Default: that of the engine, which is 0 unless :func:`be_patient` was called.
    """
    waiting = _patience(engine) if patience is None else patience
    return _repeat(lambda: _writing(engine, work), waiting)


def write_once(engine: Engine, work: Callable[[Connection], None], done: Callable[[Connection], bool]) -> None:
    """Like :func:`write`, for what must not happen twice.

    ``done`` says whether an earlier attempt, whose acknowledgement was lost, has happened.
    """
    attempts = 0

    def again(connection: Connection) -> None:
        nonlocal attempts
        attempts += 1
        if attempts == 1 or not done(connection):
            work(connection)

    write(engine, again)


def _patience(engine: Engine) -> float:
    return float(engine.get_execution_options().get("frostglass_patience", 0.0))


def _reading(engine: Engine, work: Callable[[Connection], T], question: Hashable) -> T:
    with engine.connect() as connection:
        known = None if question is None else answers(connection)
        if known is not None and question in known:
            found: T = known[question]
            return found
        with connection.begin():
            found = work(connection)
        if known is not None:
            known[question] = found
        return found


def _writing(engine: Engine, work: Callable[[Connection], T]) -> T:
    watched: Watch | None = engine.get_execution_options().get("frostglass_watch")
    with _turn(engine), engine.connect() as plain:
        connection = plain.execution_options(frostglass_write=True)
        then: Callable[[], object] | None = None
        with connection.begin():
            if watched is not None:
                watched.before(connection)
            done = work(connection)
            if watched is not None:
                then = watched.after(connection)
        if then is not None:
            then()
        return done


def _turn(engine: Engine) -> AbstractContextManager[None]:
    queue = engine.get_execution_options().get("frostglass_queue")
    return nullcontext() if queue is None else turn(queue)


def _repeat(once: Callable[[], T], patience: float) -> T:
    """Try again while others are in the way, a few times, and while no server or room is there, for ``patience``."""
    contested, absent, end = 0, 0, time.monotonic() + patience
    while True:
        try:
            return once()
        except (DBAPIError, OSError, AwayError) as error:
            if contested < _ATTEMPTS - 1 and _repeatable(error):
                contested += 1
                tried = contested
            elif (is_away(error) or _is_disk_away(error)) and time.monotonic() < end:
                absent += 1
                tried = absent
            else:
                _give_up(error)
        time.sleep(min(_LONGEST_PAUSE, 0.01 * 2 ** (tried - 1)))


def _give_up(error: Exception) -> NoReturn:
    """Raise an error, in a sentence if it is about files or locks."""
    if isinstance(error, OSError):
        raise AwayError(_FILES_AWAY) from None
    if _state(error) == _LOCKED:
        raise AwayError(_HELD_UP) from None
    raise error


def _state(error: Exception) -> str | None:
    """SQLSTATE that a server sent; empty if it is none that sends any."""
    return getattr(getattr(error, "orig", None), "sqlstate", "")


def _repeatable(error: Exception) -> bool:
    if not isinstance(error, DBAPIError):
        return False
    return _state(error) in _REPEAT or "database is locked" in str(error.orig)


def is_away(error: Exception) -> bool:
    """Whether database or home folder cannot be reached now, but perhaps later."""
    if isinstance(error, OSError | AwayError):
        return True
    if not isinstance(error, OperationalError | InterfaceError | InternalError):
        return False
    # A server that is not there sends no state; errors of SQLite have no such attribute.
    state = _state(error)
    return error.connection_invalidated or state is None or state.startswith(_AWAY)


def _is_disk_away(error: Exception) -> bool:
    """Whether SQLite lacks room on its disk, or the disk itself."""
    code = getattr(getattr(error, "orig", None), "sqlite_errorcode", None)
    return code is not None and code & 0xFF in _SQLITE_AWAY  # What is above tells which reading or writing it was.


def _revision(connection: Connection) -> str | None:
    if not sa.inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar()


def _upgrade_alone(engine: Engine) -> None:
    """Upgrade while other processes that want to do the same wait."""
    if engine.dialect.name == "sqlite":
        write(engine, _upgrade)
        return
    _repeat(lambda: _upgrade_in_turn(engine), _patience(engine))


def _upgrade_in_turn(engine: Engine) -> None:
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
