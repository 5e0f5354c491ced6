"""Home folder and database belong together: both hold the identifier of their installation.

A ledger that forgets gives away what was spent before. So a database that was lost, emptied,
exchanged or brought back from a backup is refused, before anything is made or changed in it, and
so is a home folder that was exchanged or copied. What tells an older database is the mark: the
home remembers the newest line of the ledger that was committed, and its fingerprint. What cannot
be seen is a machine that was set back as a whole, with every file where it was.

Every writing transaction checks both again, so a database that is exchanged under a running
program is refused too. The one way to go on with what is there is :func:`accept`, by hand.
"""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Callable
from dataclasses import astuple, dataclass
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError

from dpcore.database import installation, is_away, open_database, read, watch, write
from dpcore.engines import connect, sqlite_file
from dpcore.errors import InstallationError
from dpcore.home import NO_LINE, Binding, Home, Line
from dpcore.turns import turn

_LOG = logging.getLogger("frostglass.installation")

_NOTHING = "Nothing was started, changed or removed."
_WAY_OUT = (
    f"{_NOTHING} Put back what belongs here: the newest copy of the database, or the right "
    "FROSTGLASS_DATABASE_URL and FROSTGLASS_HOME. If there is nothing to put back, "
    "'python -m dpcore installation show' says how to go on with what is there, and what that "
    "forgets. See 'Restore' in docs/deployment.md."
)
LOST = (
    "The database is empty or missing, but this home folder holds data sets: what was spent on "
    f"them would be forgotten. {_WAY_OUT}"
)
OTHER = (
    "Home folder and database belong to different installations: the ledger of one says nothing "
    f"about the data sets of the other. {_WAY_OUT}"
)
OLDER = (
    "The database is older than this home folder, as after a restore from a backup: its ledger "
    f"lacks lines that were written, and with them what they spent. {_WAY_OUT}"
)
COPIED = (
    "This home folder is a copy, or came back from a backup: what was spent elsewhere, or since "
    f"then, is not in its ledger. {_WAY_OUT}"
)
DAMAGED = (
    "The file installation.json of this home folder cannot be read, so nobody can tell whether "
    f"the database has forgotten anything. {_WAY_OUT}"
)
EXCHANGED = (
    "The file of the database was removed or replaced while the application was running. Stop the "
    "application everywhere, put the right file back, and start it again."
)
_AWAY = (
    "The database does not answer. Start it, or correct FROSTGLASS_DATABASE_URL; then try again. "
    "Nothing is lost."
)
_BROKEN = f"The database cannot be read. {_WAY_OUT}"

#: Columns of a line that its fingerprint covers: those that every version of the tables has.
_COLUMNS = (
    "sequence, kind, time, dataset_id, analyst, run_id, epsilon, delta, nonce, request_hash, "
    "release_id, note"
)
_NEWEST = sa.text(f"SELECT {_COLUMNS} FROM ledger_entries ORDER BY sequence DESC LIMIT 1")
_NUMBERED = sa.text(f"SELECT {_COLUMNS} FROM ledger_entries WHERE sequence = :number")
_DATASETS = sa.text("SELECT id FROM datasets")


@dataclass(frozen=True)
class Facts:
    """What home and database say, before either is changed.

    Attributes
    ----------
    place : str
        Where they are.
    binding : Binding or None
        The home's file.
    copied, damaged : bool
        Whether that file is a copy; whether it cannot be read.
    stored : frozenset of str
        Data sets whose folders are in the home.
    database : str or None
        Identifier in the database.
    known : frozenset of str
        Data sets that the database knows.
    newest : Line
        Newest line of the ledger.
    marked : Line
        The line of the ledger with the number of the home's mark.
    """

    place: str
    binding: Binding | None
    copied: bool
    damaged: bool
    stored: frozenset[str]
    database: str | None
    known: frozenset[str]
    newest: Line
    marked: Line

    @property
    def mark(self) -> Line:
        """The newest line that the home has seen committed."""
        return NO_LINE if self.binding is None else self.binding.mark

    @property
    def follows(self) -> bool:
        """Whether the ledger is the one that the home has seen, perhaps with further lines."""
        return self.marked == self.mark

    @property
    def blank(self) -> bool:
        """Whether the database has never held anything."""
        return not self.known and self.newest == NO_LINE

    @property
    def fault(self) -> str | None:
        """Why the two must not be used together, if so: a sentence that says what to do."""
        if self.damaged:
            return DAMAGED
        if self.copied:
            return COPIED
        if self.database is None and self.blank:
            return LOST if self.stored or self.mark != NO_LINE else None
        if self.binding is None:
            return self._fault_of_strangers()
        # A database of an early version has no identifier: its lines must be those seen here.
        if self.database != self.binding.installation and (
            self.database is not None or self.mark == NO_LINE
        ):
            return OTHER
        return None if self.follows else OLDER

    def _fault_of_strangers(self) -> str | None:
        """The home was never bound. Both may come from a version that did not bind."""
        if self.database is not None:
            return OTHER
        return None if self.stored & self.known else OTHER

    @property
    def code(self) -> str:
        """A short word for exactly this state, typed by who wants to go on with it."""
        return hashlib.sha256(repr(_plain(self)).encode()).hexdigest()[:8]


def _plain(facts: Facts) -> list[object]:
    return [sorted(x) if isinstance(x, frozenset) else x for x in astuple(facts)]


def open_installation(folder: Path, url: str) -> Engine:
    """Open the database of a home folder, bound to it; bind the two if both are new.

    Raises
    ------
    InstallationError
        If the two do not belong together, one of them is missing, older than the other or
        copied, or the database does not answer.
    """
    home = Home(folder)
    with turn(home.queue):
        facts = look(home, url)
        if facts.fault is not None:
            raise InstallationError(facts.fault)
        engine = open_database(url)
        identifier = facts.database or (
            facts.binding.installation if facts.binding is not None else uuid.uuid4().hex
        )
        # The home first: a database that is bound alone would be taken for another home's.
        if facts.binding is None:
            home.bind(identifier, facts.newest)
        if facts.database is None:
            write(engine, lambda connection: name_database(connection, identifier))
        home.advance(facts.newest)
    watch(engine, _Watch(home, identifier, sqlite_file(url)))
    return engine


def look(home: Home, url: str) -> Facts:
    """What home and database say, without making or changing anything.

    Raises
    ------
    InstallationError
        If the database cannot be read.
    """
    binding, damaged = None, False
    try:
        binding = home.binding()
    except InstallationError:
        damaged = True
    copied = binding is not None and home.copied(binding)
    number = 0 if binding is None else binding.mark.number
    database, known, newest, marked = _look_into(url, number)
    place = f"{home.folder} {url}"
    return Facts(place, binding, copied, damaged, home.stored(), database, known, newest, marked)


_Seen = tuple[str | None, frozenset[str], Line, Line]
_BLANK: _Seen = (None, frozenset(), NO_LINE, NO_LINE)


def _look_into(url: str, number: int) -> _Seen:
    file = sqlite_file(url)
    if file is not None and (not file.exists() or file.stat().st_size == 0):
        return _BLANK  # To connect would make it.
    engine = connect(url)
    try:
        return read(engine, lambda connection: _seen(connection, number))
    except DBAPIError as error:
        raise InstallationError(_AWAY if is_away(error) else _BROKEN) from None
    finally:
        engine.dispose()


def _seen(connection: Connection, number: int) -> _Seen:
    tables = set(sa.inspect(connection).get_table_names())
    if "ledger_entries" not in tables:
        return _BLANK
    if connection.dialect.name == "sqlite":
        _check_whole(connection)
    found = name_of(connection) if installation.name in tables else None
    known = frozenset(connection.execute(_DATASETS).scalars())
    return found, known, newest_line(connection), _numbered(connection, number)


def _check_whole(connection: Connection) -> None:
    """See that a file is no mixture of two, as one restored beside another's ``-wal`` is."""
    said = connection.exec_driver_sql("PRAGMA integrity_check(ledger_entries)").scalar()
    if said != "ok":
        raise InstallationError(_BROKEN)


def name_of(connection: Connection) -> str | None:
    """Identifier in a database, if it has been bound."""
    return connection.execute(sa.select(installation.c.id)).scalar()


def name_database(connection: Connection, identifier: str) -> None:
    """Write the identifier into the database, in place of an earlier one."""
    connection.execute(installation.delete())
    connection.execute(installation.insert().values(number=1, id=identifier))


def newest_line(connection: Connection) -> Line:
    """Newest line of the ledger."""
    return _line(connection.execute(_NEWEST).first())


def _numbered(connection: Connection, number: int) -> Line:
    return _line(connection.execute(_NUMBERED, {"number": number}).first()) if number else NO_LINE


def _line(row: sa.Row[tuple[object, ...]] | None) -> Line:
    if row is None:
        return NO_LINE
    said = "\x1f".join("" if value is None else str(value) for value in row)
    return Line(int(str(row[0])), hashlib.sha256(said.encode()).hexdigest())


class _Watch:
    """Sees that database and home still belong together whenever something is written."""

    def __init__(self, home: Home, identifier: str, file: Path | None) -> None:
        self._home, self._identifier, self._file = home, identifier, file
        self._number = _file_number(file)

    def before(self, connection: Connection) -> None:
        if _file_number(self._file) != self._number:
            raise InstallationError(EXCHANGED)
        binding = self._home.binding()
        names = {name_of(connection), None if binding is None else binding.installation}
        if binding is None or names != {self._identifier}:
            raise InstallationError(OTHER)
        if _numbered(connection, binding.mark.number) != binding.mark:
            raise InstallationError(OLDER)

    def after(self, connection: Connection) -> Callable[[], None]:
        line = newest_line(connection)
        return lambda: self._note(line)

    def _note(self, line: Line) -> None:
        try:
            self._home.advance(line)
        except (OSError, InstallationError):  # What was written is committed all the same.
            _LOG.warning("the mark in the home folder could not be moved on")


def _file_number(file: Path | None) -> int | None:
    """Number of a file; ``None`` if there is none."""
    try:
        return None if file is None else file.stat().st_ino
    except FileNotFoundError:
        return None
