"""Reading and writing a database, while others do and while it is away.

Writers take turns: every writing transaction first takes a lock that other writers wait for
(``BEGIN IMMEDIATE`` on SQLite, a table lock on PostgreSQL), so what it reads cannot change
before it writes. That is what makes a reservation atomic. SQLite's own waiting is unfair: who
waits long polls ever more rarely. So its writers first queue for a lock of the operating system.

What a database refuses leaves here as a sentence.

A page asks for the same few things many times, and the next page again. A connection to SQLite counts the commits of
all others, in this process and elsewhere, and the rows that it has changed itself. While both numbers stay what they
were before a question was asked, the answer is what it would be now. A server has no such numbers: it is asked.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Collection, Hashable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Final, NoReturn, Protocol, TypeVar

from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DataError, DBAPIError, InterfaceError, InternalError, OperationalError

from dpcore.errors import AwayError, FullError, InstallationError, RequestError, UncertainError
from dpcore.workspace.database.file_locks import file_lock

_ATTEMPTS = 10
#: SQLSTATEs after which PostgreSQL asks for the transaction to be repeated.
_REPEAT = frozenset({"40001", "40P01"})
#: SQLSTATE of a lock that did not come in time.
_LOCKED = "55P03"
#: Beginnings of SQLSTATEs of a server that is away, full, restarting or locked.
_AWAY = ("08", "53", "57P", "25006", _LOCKED)
#: The same of SQLite: its disk is full, or cannot be read or written.
_SQLITE_AWAY = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR})
#: Of a file that only an operator can put right.
_SQLITE_BROKEN = frozenset(
    {
        sqlite3.SQLITE_CORRUPT,
        sqlite3.SQLITE_NOTADB,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
    }
)
#: SQLSTATEs of values that are beyond what a table or an index holds.
_BEYOND = ("22", "54")
_FILES_AWAY = (
    "A file of the home folder cannot be used. Check that its disk is there and has room, and that "
    "its files belong to the user who runs the application; then try again. Nothing is lost."
)
SERVER_AWAY: Final = (
    "The database does not answer. Start it, or correct FROSTGLASS_DATABASE_URL; then try again. Nothing is lost."
)
HOME_FULL: Final = "The disk of the home folder is full. Nothing is lost. Make room on it; then try again."
_BROKEN = (
    "The file of the database cannot be used: it is damaged, or this program may not write to it. Nothing was changed. "
    "Whoever runs this must see whom it belongs to, or put back the newest copy."
)
_REFUSED = (
    "The database cannot store one of these texts: it is too long, or holds characters that are none. Shorten it, or "
    "type it anew."
)
_CONTESTED = "The database is busy with other changes. Nothing was changed. Try again in a minute."
_HELD_UP = (
    "Somebody else has locked the tables of the database. Nothing was changed. Try again; if it "
    "stays like this, end the session that holds them (see pg_stat_activity)."
)
#: Longest pause between two attempts to reach such a server, in seconds.
_LONGEST_PAUSE = 5.0

#: Answers that one connection keeps.
_MOST_ANSWERS: Final = 1000
_ANSWERS: Final = "frostglass_answers"

T = TypeVar("T")
#: Work done inside somebody else's transaction; receives an identifier.
Hook = Callable[[Connection, str], None]


class Watch(Protocol):
    """Looks at every writing transaction of an engine: see :func:`watch`."""

    def before(self, connection: Connection) -> None:
        """Refuse the transaction by raising, before anything is written."""

    def after(self, connection: Connection) -> Callable[[], object]:
        """What is to be done once the transaction is committed. May raise to undo it."""


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
    return patiently(engine, lambda: _reading(engine, work, question))


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


def patiently(engine: Engine, once: Callable[[], T]) -> T:
    """Do what has a transaction of its own, and again where :func:`write` would."""
    return _repeat(once, _patience(engine))


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
    return nullcontext() if queue is None else file_lock(queue)


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
    """Raise an error as a sentence, unless it is a fault of this program."""
    told = _told(error)
    if told is None:
        raise error
    raise told from None


def _told(error: Exception) -> Exception | None:
    state, code = _state(error) or "", _sqlite_code(error)
    if isinstance(error, DataError) or state.startswith(_BEYOND):
        return RequestError(_REFUSED)
    if code == sqlite3.SQLITE_FULL:
        return FullError(HOME_FULL)
    if isinstance(error, OSError):
        return AwayError(_FILES_AWAY)
    if _is_disk_away(error):
        return UncertainError(_FILES_AWAY)
    if code in _SQLITE_BROKEN:
        return InstallationError(_BROKEN)
    if state == _LOCKED:
        return AwayError(_HELD_UP)
    if _repeatable(error):
        return AwayError(_CONTESTED)
    if isinstance(error, DBAPIError) and is_away(error):
        return UncertainError(SERVER_AWAY)  # Of a commit, only the acknowledgement may be lost.
    return None


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
    return _sqlite_code(error) in _SQLITE_AWAY


def _sqlite_code(error: Exception) -> int | None:
    """Kind of an error of SQLite."""
    code: int | None = getattr(getattr(error, "orig", None), "sqlite_errorcode", None)
    return None if code is None else code & 0xFF  # What is above tells which reading or writing it was.


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
    kept = connection.info.get(_ANSWERS)
    if kept is None or kept[0] != moment or len(kept[1]) >= _MOST_ANSWERS:
        connection.info[_ANSWERS] = kept = (moment, {})
    return kept[1]
