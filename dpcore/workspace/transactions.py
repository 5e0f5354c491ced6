"""Reading and writing a database, while others do and while it is away.

Writers take turns: every writing transaction first takes a lock that other writers wait for
(``BEGIN IMMEDIATE`` on SQLite, a table lock on PostgreSQL), so what it reads cannot change
before it writes. That is what makes a reservation atomic. SQLite's own waiting is unfair: who
waits long polls ever more rarely. So its writers first queue for a lock of the operating system.
"""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager, nullcontext
from typing import NoReturn, Protocol, TypeVar

from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError, InterfaceError, InternalError, OperationalError

from dpcore.errors import AwayError
from dpcore.workspace.turns import turn
from dpcore.workspace.unchanged import answers

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
