"""Home folder and database belong together: both hold the identifier of their installation.

A ledger that forgets gives away what was spent before. So a database that was lost, emptied,
exchanged or brought back from a backup is refused, before anything is made or changed in it, and
so is a home folder that was exchanged or copied. What tells an older database is the mark: the
home remembers the newest line of the ledger that was committed, and its fingerprint. What tells
that both are older is the witness, which remembers it elsewhere. What cannot be seen is a machine
that was set back as a whole, with every file where it was.

Every writing transaction checks both again, so a database that is exchanged under a running
program is refused too. The one way to go on with what is there is :func:`accept`, by hand.
"""

from __future__ import annotations

import hashlib
import logging
import uuid
from collections.abc import Callable, Iterable
from dataclasses import astuple, dataclass, replace
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine
from sqlalchemy.exc import DBAPIError

from dpcore.errors import AwayError, InstallationError
from dpcore.workspace.database.database import open_database
from dpcore.workspace.database.database_tables import installation
from dpcore.workspace.database.engines import connect, sqlite_file
from dpcore.workspace.database.file_locks import file_lock
from dpcore.workspace.database.home import Binding, Home, disk_errors_explained
from dpcore.workspace.database.transactions import read, watch, write
from dpcore.workspace.database.witness import NO_LINE, Line

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
SET_BACK = (
    "This machine has seen lines of the ledger that home folder and database both lack, as after a restore of both "
    "from a backup, or after use of a copy of them: what was spent in those lines would be forgotten, and could be "
    f"spent again. {_WAY_OUT}"
)
DAMAGED = (
    "The file installation.json of this home folder cannot be read, so nobody can tell whether "
    f"the database has forgotten anything. {_WAY_OUT}"
)
EXCHANGED = (
    "The file of the database was removed or replaced while the application was running. Stop the "
    "application everywhere, put the right file back, and start it again."
)
_GONE = (
    "The home folder, or its file installation.json, is not where it was when the application was "
    "started. See that its disk is there, and try again. Nothing was changed."
)
_UNMARKED = (
    "The home folder cannot be written to, so nothing more can be spent: a ledger that forgets "
    "could not be told from this one. Nothing was spent. Whoever runs this must see whether its "
    "disk is full, and whom its files belong to; then try again."
)
#: Said once, as a witness is kept from then on.
_UNWITNESSED = (
    "This machine has no witness of this home folder, as on a new machine. If home folder and "
    "database were restored from a backup, stop, and follow 'Restore' in docs/deployment.md. From now on the newest "
    "line of the ledger is also noted in %s."
)
_BROKEN = f"The database cannot be read. {_WAY_OUT}"

#: Columns of a line that its fingerprint covers: those that every version of the tables has.
_COLUMNS = "sequence, kind, time, dataset_id, analyst, run_id, epsilon, delta, nonce, request_hash, release_id, note"
_NEWEST = sa.text(
    f"SELECT {_COLUMNS}, (SELECT count(*) FROM ledger_entries WHERE sequence > :after) "
    "FROM ledger_entries ORDER BY sequence DESC LIMIT 1"
)
_NUMBERED = sa.text(f"SELECT {_COLUMNS} FROM ledger_entries WHERE sequence = :number")
_COUNT = sa.text("SELECT count(*) FROM ledger_entries WHERE sequence <= :number")
#: Whether budget is claimed, or records are about to be read, in lines after one.
_SPENDS = sa.text("SELECT 1 FROM ledger_entries WHERE sequence > :after AND kind IN ('reserve', 'touch')")
_DATASETS = sa.text("SELECT id FROM datasets")


@dataclass(frozen=True)
class Facts:
    """What home and database say, before either is changed."""

    place: str
    """Where they are."""
    binding: Binding | None
    """The home's file."""
    copied: bool
    damaged: bool
    """``copied``, ``damaged``: whether that file is a copy; whether it cannot be read."""
    stored: frozenset[str]
    """Data sets whose folders are in the home."""
    tables: bool
    """Whether the database has any."""
    database: str | None
    """Identifier in the database."""
    known: frozenset[str]
    """Data sets that the database knows."""
    newest: Line
    """Newest line of the ledger."""
    marked: Line
    """The line of the ledger with the number of the home's mark."""
    witness: Line | None
    """The newest line that this machine has seen, if it remembers one."""
    witnessed: Line
    """The line of the ledger with its number."""

    @property
    def mark(self) -> Line:
        """The newest line that the home has seen committed."""
        return NO_LINE if self.binding is None else self.binding.mark

    @property
    def seen(self) -> int:
        """Number of the newest line that home or witness have seen."""
        return max(self.mark.number, 0 if self.witness is None else self.witness.number)

    @property
    def follows(self) -> bool:
        """Whether the ledger is the one that the home has seen, perhaps with further lines."""
        return self.marked.fits(self.mark)

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
            return LOST if self._forgets_all else None
        if self.binding is None or self.database != self.binding.installation:
            return OTHER
        if not self.follows:
            return OLDER
        return None if self.witness is None or self.witnessed.fits(self.witness) else SET_BACK

    @property
    def _forgets_all(self) -> bool:
        """Whether a database that holds nothing ought to hold something.

        The first start may have been killed before the database got its identifier.
        """
        unused = self.tables and self.binding is not None
        return self.mark != NO_LINE or bool(self.stored and not unused)

    @property
    def code(self) -> str:
        """A short word for exactly this state, typed by whoever wants to go on with it."""
        return hashlib.sha256(repr(_plain(self)).encode()).hexdigest()[:8]


def _plain(facts: Facts) -> list[object]:
    return [sorted(x) if isinstance(x, frozenset) else x for x in astuple(facts)]


def open_installation(folder: Path, url: str) -> Engine:
    """Open the database of a home folder, bound to it; bind the two if both are new.

    Raises
    ------
    InstallationError
        If the two do not belong together, one of them is missing, older than the other or
        copied, the database does not answer, or the home folder cannot be used.
    """
    with disk_errors_explained(folder), file_lock((home := Home(folder)).queue):
        facts = look(home, url)
        if facts.fault is not None:
            raise InstallationError(facts.fault)
        engine = open_database(url)
        identifier = facts.database or (facts.binding.installation if facts.binding is not None else uuid.uuid4().hex)
        # The home first: a database that is bound alone would be taken for another home's.
        if facts.binding is None:
            home.bind(identifier, facts.newest)
        if facts.database is None:
            write(engine, lambda connection: name_database(connection, identifier))
        home.advance(facts.newest)
    if facts.binding is not None and facts.witness is None and home.witness.line(identifier) is not None:
        _LOG.warning(_UNWITNESSED, home.witness.folder)
    watch(engine, _Watch(home, identifier, sqlite_file(url)))
    return engine


def look(home: Home, url: str) -> Facts:
    """What home and database say, without making or changing anything.

    Raises
    ------
    InstallationError
        If the database cannot be read, or the home folder cannot be used.
    """
    binding, copied, damaged = None, False, False
    with disk_errors_explained(home.folder):
        try:
            binding = home.binding()
            copied = binding is not None and home.copied()
        except AwayError:
            raise
        except InstallationError:
            damaged = True
        witness = None if binding is None else home.witness.line(binding.installation)
        place, stored = f"{home.folder} {url}", home.stored()
    tables, database, known, newest, (marked, witnessed) = _look_into(
        url, 0 if binding is None else binding.mark.number, 0 if witness is None else witness.number
    )
    return Facts(place, binding, copied, damaged, stored, tables, database, known, newest, marked, witness, witnessed)


_Seen = tuple[bool, str | None, frozenset[str], Line, list[Line]]


def _look_into(url: str, *numbers: int) -> _Seen:
    """What a database says, and its lines with these numbers."""
    blank: _Seen = (False, None, frozenset(), NO_LINE, [NO_LINE for _ in numbers])
    file = sqlite_file(url)
    if file is not None and (not file.exists() or file.stat().st_size == 0):
        return blank  # To connect would make it.
    engine = connect(url)
    try:
        return read(engine, lambda connection: _seen(connection, numbers) or blank)
    except AwayError:
        raise
    except (DBAPIError, InstallationError):
        raise InstallationError(_BROKEN) from None
    finally:
        engine.dispose()


def _seen(connection: Connection, numbers: Iterable[int]) -> _Seen | None:
    tables = set(sa.inspect(connection).get_table_names())
    if "ledger_entries" not in tables:
        return None
    if connection.dialect.name == "sqlite":
        _check_whole(connection)
    found = name_of(connection) if installation.name in tables else None
    known = frozenset(connection.execute(_DATASETS).scalars())
    return True, found, known, newest_line(connection), [_counted(connection, number) for number in numbers]


def _counted(connection: Connection, number: int) -> Line:
    """The line with a number, and how many there are up to it."""
    count = connection.execute(_COUNT, {"number": number}).scalar_one()
    return replace(_numbered(connection, number), count=int(count)) if number else NO_LINE


def _check_whole(connection: Connection) -> None:
    """See that a file is not a mixture of two, as one restored beside another's ``-wal`` is."""
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


def newest_line(connection: Connection, since: Line = NO_LINE) -> Line:
    """Newest line of the ledger. Lines are counted from an earlier one on, if it has a count."""
    known = NO_LINE if since.count is None else since
    row = connection.execute(_NEWEST, {"after": known.number}).first()
    if row is None:
        return NO_LINE
    *columns, more = row
    return replace(_line(columns), count=(known.count or 0) + more)


def _numbered(connection: Connection, number: int) -> Line:
    row = connection.execute(_NUMBERED, {"number": number}).first()
    return NO_LINE if row is None else _line(row)


def _line(row: Iterable[object]) -> Line:
    number, *_ = row = tuple(row)
    said = "\x1f".join("" if value is None else str(value) for value in row)
    return Line(int(str(number)), hashlib.sha256(said.encode()).hexdigest())


class _Watch:
    """Sees that database and home still belong together whenever something is written."""

    def __init__(self, home: Home, identifier: str, file: Path | None) -> None:
        self._home, self._identifier, self._file = home, identifier, file
        self._number = _file_number(file)
        # Newest line before a transaction, and whether the mark is behind it. Writers take turns.
        self._before, self._behind = NO_LINE, False

    def before(self, connection: Connection) -> None:
        if _file_number(self._file) != self._number:
            raise InstallationError(EXCHANGED)
        binding = self._home.binding()
        if binding is None:
            raise AwayError(_GONE)
        if {name_of(connection), binding.installation} != {self._identifier}:
            raise InstallationError(OTHER)
        if not _numbered(connection, binding.mark.number).fits(binding.mark):
            raise InstallationError(OLDER)
        seen = self._home.witness.line(self._identifier)
        if seen not in (None, binding.mark) and not _numbered(connection, seen.number).fits(seen):
            raise InstallationError(SET_BACK)
        # Who wrote last may have died, or had no room, before it could move the mark.
        self._before = newest_line(connection, binding.mark)
        self._behind = self._before.number > binding.mark.number and not self._note(self._before)

    def after(self, connection: Connection) -> Callable[[], object]:
        last = self._before.number
        if self._behind and connection.execute(_SPENDS, {"after": last}).first():
            raise AwayError(_UNMARKED)
        line = newest_line(connection, self._before)
        return lambda: self._note(line)

    def _note(self, line: Line) -> bool:
        """Move the mark on if that is possible; what was written is committed all the same."""
        try:
            self._home.advance(line)
        except (OSError, InstallationError):
            _LOG.warning("the mark in the home folder could not be moved on")
            return False
        return True


def _file_number(file: Path | None) -> int | None:
    """Number of a file; ``None`` if there is none."""
    try:
        return None if file is None else file.stat().st_ino
    except FileNotFoundError:
        return None
