"""SQLite and DuckDB files that come from anywhere: their tables, and the rows of one.

A file is opened read-only, and nothing that it defines is executed: no view, no virtual table, no
generated column, no function. Only base tables are shown, and only wanted columns are read.
Their programs' own messages may hold values and are never repeated.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote

import pandas as pd
import pyarrow as pa

from dpcore.errors import IngestError
from dpcore.intake.sources.headers import TableHeader

if TYPE_CHECKING:
    import duckdb

_WAIT_SECONDS = 2.0

_NO_FILE = "There is no file of this name, or it cannot be opened. Check the path."
_NO_DATABASE = (
    "The file is not an SQLite or DuckDB database. Export it again, or use CSV or Parquet files, one for each table."
)
_DAMAGED = "The database cannot be read: it is damaged or encrypted, or a newer program made it. Export it again."
_LOCKED = "The database is in use by another program. Close that program, or make a copy of the file, and try again."
_UNFINISHED = "The database was not closed properly. Open and close it with the program that made it, and try again."
_LATE = (
    ", which keeps rows written last in a file of their own (WAL mode): these may be missing; write the file by VACUUM "
    "INTO, or close its program first"
)
_NOT_TEXT = "A text in the database is not UTF-8. Convert it and try again."


class Database(Protocol):
    """What is asked of an open database."""

    def headers(self) -> dict[str, TableHeader]:
        """Its base tables, by name."""

    def rows(self, table: str, columns: Sequence[str], chunk_rows: int) -> Iterator[pd.DataFrame]:
        """Stream columns of a table, all of which it must have, some rows at a time."""


@contextmanager
def open_database_file(path: Path) -> Iterator[Database]:
    """Open the database in a file for reading; its first bytes say which program made it.

    Raises
    ------
    IngestError
        If it cannot be opened or, within the context, cannot be read.
    """
    head = _head(path)
    if _says_sqlite(head):
        with _sqlite_faults(), closing(_connect_sqlite(path, head)) as sqlite:
            yield _Sqlite(sqlite)
    elif _says_duckdb(head):
        with _duckdb_faults(), closing(_connect_duckdb(path)) as duck:
            yield _DuckDB(duck)
    else:
        raise IngestError(_NO_DATABASE)


def database_description(path: Path) -> str:
    """How a file is read, in words, for the custodian; no value is read. Empty for one that names tables of a server.

    Raises
    ------
    IngestError
        If it cannot be opened.
    """
    head = _head(path)
    if _says_sqlite(head):
        return f"SQLite database{_LATE if _is_alone(path, head) else ''}"
    return "DuckDB database" if _says_duckdb(head) else ""


def _head(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            return stream.read(20)
    except OSError:
        raise IngestError(_NO_FILE) from None


def _says_sqlite(head: bytes) -> bool:
    return head.startswith(b"SQLite format 3\0")


def _says_duckdb(head: bytes) -> bool:
    return head[8:12] == b"DUCK"


def _is_alone(path: Path, head: bytes) -> bool:
    """Whether a database of the journal kind "WAL" comes without its journal."""
    return head[18:20] == b"\2\2" and not Path(f"{path}-wal").exists()


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def family(declared: str) -> str | None:
    """Boolean, integer, real or text, for a type that SQL declares; ``None`` for none."""
    kind = declared.upper()
    if not kind:
        return None
    if "BOOL" in kind:
        return "boolean"
    if "INT" in kind and "INTERVAL" not in kind:
        return "integer"
    if any(word in kind for word in ("REAL", "FLOA", "DOUB", "NUMERIC", "DECIMAL")):
        return "real"
    return "text"


def _connect_sqlite(path: Path, head: bytes) -> sqlite3.Connection:
    # A database of the journal kind "WAL" would leave two files beside it, unless it is called
    # immutable. Whoever has it open has left the first of them there already.
    uri = f"file:{quote(str(path.absolute()))}?mode=ro{'&immutable=1' if _is_alone(path, head) else ''}"
    connection = sqlite3.connect(uri, uri=True, timeout=_WAIT_SECONDS, check_same_thread=False)
    for guard in ("trusted_schema=OFF", "query_only=ON", "cell_size_check=ON", "mmap_size=0"):
        connection.execute(f"PRAGMA {guard}")
    connection.set_authorizer(_only_reading)
    return connection


def _only_reading(action: int, first: str | None, second: str | None, *_: str | None) -> int:
    allowed = (
        action in {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ}
        or (action == sqlite3.SQLITE_PRAGMA and first == "table_info")
        or (action == sqlite3.SQLITE_FUNCTION and second in {"hex", "typeof"})
    )
    return sqlite3.SQLITE_OK if allowed else sqlite3.SQLITE_DENY


@contextmanager
def _sqlite_faults() -> Iterator[None]:
    try:
        yield
    except sqlite3.Error as error:
        raise IngestError(_sqlite_sentence(error)) from None
    except ValueError:  # A name that is not text, in the file or in the message about it.
        raise IngestError(_NOT_TEXT) from None


def _sqlite_sentence(error: sqlite3.Error) -> str:
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # not from SQLite itself, but from reading its answer
        return _NOT_TEXT if "decode" in str(error) else _DAMAGED
    basic = code & 0xFF
    if basic in {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED}:
        return _LOCKED
    if basic in {sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN}:
        return _UNFINISHED
    return _DAMAGED


class _Sqlite:
    """Base tables of an SQLite database: a virtual table has no page of its own."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def headers(self) -> dict[str, TableHeader]:
        found = self._connection.execute(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 ORDER BY rowid"
        ).fetchall()
        names = [name for (name,) in found if isinstance(name, str)]
        return {name: self._header(name) for name in names if not name.startswith("sqlite_")}

    def _header(self, table: str) -> TableHeader:
        info = self._connection.execute(f"PRAGMA table_info({_quoted(table)})").fetchall()
        keys = [name for _, name, _, _, _, place in info if place]
        types = {name: family(kind) for _, name, kind, _, _, _ in info}
        return TableHeader(types, keys[0] if len(keys) == 1 else None)

    def rows(self, table: str, columns: Sequence[str], chunk_rows: int) -> Iterator[pd.DataFrame]:
        chosen = ", ".join(map(_without_bytes, columns))
        with _sqlite_faults():
            found = self._connection.execute(f"SELECT {chosen} FROM {_quoted(table)}")
            while piece := found.fetchmany(chunk_rows):
                yield pd.DataFrame(piece, columns=list(columns), dtype=object)


def _without_bytes(column: str) -> str:
    name = _quoted(column)
    return f"CASE typeof({name}) WHEN 'blob' THEN hex({name}) ELSE {name} END"


def _connect_duckdb(path: Path) -> duckdb.DuckDBPyConnection:
    import duckdb

    guards: dict[str, Any] = {
        "enable_external_access": "false",
        "allow_community_extensions": "false",
        "allow_persistent_secrets": "false",
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "temp_directory": "",
        "threads": "1",
        "memory_limit": "1GiB",
        "lock_configuration": "true",
    }
    return duckdb.connect(str(path), read_only=True, config=guards)


@contextmanager
def _duckdb_faults() -> Iterator[None]:
    import duckdb

    try:
        yield
    except duckdb.ConnectionException:
        raise IngestError(_LOCKED) from None
    except duckdb.IOException as error:
        locked = "could not set lock" in str(error).lower()
        raise IngestError(_LOCKED if locked else _DAMAGED) from None
    except duckdb.OutOfMemoryException:
        raise MemoryError from None
    except (duckdb.Error, pa.ArrowException, ValueError, OverflowError, OSError) as error:
        if isinstance(error, MemoryError):  # Arrow's own is both.
            raise
        raise IngestError(_DAMAGED) from None


#: Types whose values are read as they are. All others, such as dates and lists, become text.
_PLAIN = frozenset({"BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "FLOAT", "DOUBLE", "VARCHAR"})


class _DuckDB:
    """Base tables of a DuckDB database. Names are qualified: it may define functions of its own."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def headers(self) -> dict[str, TableHeader]:
        columns, keys = self._columns(), self._keys()
        return {
            name: TableHeader(
                {column: family(kind) for column, kind in columns.get(number, {}).items()}, keys.get(number)
            )
            for name, number in self._tables().items()
        }

    def _tables(self) -> dict[str, int]:
        """Number of each table, by its name."""
        found = self._connection.execute(
            "SELECT table_name, table_oid FROM system.main.duckdb_tables() "
            "WHERE schema_name = 'main' AND NOT internal AND NOT temporary ORDER BY table_oid"
        )
        return dict(found.fetchall())

    def _columns(self) -> dict[int, dict[str, str]]:
        """Columns of each table but generated ones, and their types as DuckDB writes them."""
        found = self._connection.execute(
            "SELECT table_oid, column_name, data_type FROM system.main.duckdb_columns() "
            "WHERE NOT internal AND NOT is_generated ORDER BY table_oid, column_index"
        )
        tables: dict[int, dict[str, str]] = {}
        for number, name, kind in found.fetchall():
            tables.setdefault(number, {})[name] = kind
        return tables

    def _keys(self) -> dict[int, str]:
        found = self._connection.execute(
            "SELECT table_oid, constraint_column_names FROM system.main.duckdb_constraints() "
            "WHERE constraint_type = 'PRIMARY KEY'"
        )
        return {number: names[0] for number, names in found.fetchall() if len(names) == 1}

    def rows(self, table: str, columns: Sequence[str], chunk_rows: int) -> Iterator[pd.DataFrame]:
        with _duckdb_faults():
            kinds = self._columns()[self._tables()[table]]
            chosen = ", ".join(_plain(name, kinds[name]) for name in columns)
            query = f"SELECT {chosen} FROM main.{_quoted(table)}"
            for batch in self._connection.sql(query).to_arrow_reader(chunk_rows):
                batch.validate(full=True)  # Texts that are none would come to light later.
                # Whole numbers stay exact beside nulls.
                yield batch.to_pandas(ignore_metadata=True, integer_object_nulls=True)


def _plain(column: str, kind: str) -> str:
    name = _quoted(column)
    return name if kind in _PLAIN else f"CAST({name} AS VARCHAR) AS {name}"
