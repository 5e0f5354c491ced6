"""Tables that a data base serves: PostgreSQL, and whatever else SQLAlchemy has a driver for.

What drivers say, which may quote the address and its password, is not repeated.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pandas as pd

from dpcore.errors import IngestError
from dpcore.intake.sources.csv_blocks import rows_of
from dpcore.intake.sources.headers import TableHeader
from dpcore.intake.sources.sources import KNOWN_ADDRESSES, Served, addresses_for, checked, is_query
from dpcore.intake.sources.sql_files import family

if TYPE_CHECKING:
    import sqlalchemy as sa

#: Seconds to wait for a connection, and values that are read at once.
_PATIENCE, _VALUES = 10, 2_000_000
#: Whose drivers take their patience as ``connect_timeout``; others have words of their own for it, and refuse this one.
_PATIENT = frozenset({"postgresql", "mysql", "mariadb"})
_BLOCK = 1 << 22

_NO_ADDRESS = (
    "What '{name}' holds is no address such as postgresql+psycopg://user:password@host/name. Tell the operator."
)
_NO_DRIVER = (
    "The driver for the data base of '{name}' is not installed here. For PostgreSQL it is in frostglass[postgres]. "
    "Tell the operator."
)
_NO_ANSWER = "The data base of '{name}' does not answer, or refuses its account. Tell the operator, or try again later."
_NO_TABLE = "The data base of '{name}' has no table '{table}', or its account may not read it."
_REFUSED = (
    "The data base refuses the query for '{table}'. Try it with the data base's own program; its columns need "
    "names that differ."
)
_BROKE_OFF = "The data base of '{name}' stopped answering while '{table}' was read. Nothing was stored: try again."


@contextmanager
def open_served(path: Path) -> Iterator[_Tables]:
    """Open the data base that a source file names, for reading.

    Raises
    ------
    IngestError
        If it cannot be opened or, within the context, cannot be read.
    RequestError
        See :func:`addresses_for`.
    """
    served = Served.read(path)
    known = KNOWN_ADDRESSES.get()
    address = (addresses_for([path]) if known is None else known).get(served.database, "")
    connection = _connected(served.database, address)
    try:
        yield _Tables(served, connection)
    finally:
        with suppress(*_faults_of(connection.dialect)):  # It may be gone already.
            connection.close()


def _connected(name: str, address: str) -> sa.Connection:
    import sqlalchemy as sa

    try:
        url = sa.make_url(address)
        waiting = {"connect_timeout": _PATIENCE} if url.get_backend_name() in _PATIENT else {}
        engine = sa.create_engine(url, poolclass=sa.NullPool, connect_args=waiting)
    except (sa.exc.NoSuchModuleError, ImportError):
        raise IngestError(_NO_DRIVER.format(name=name)) from None
    except (sa.exc.SQLAlchemyError, ValueError, TypeError):
        raise IngestError(_NO_ADDRESS.format(name=name)) from None
    try:
        options = {"stream_results": True, "no_parameters": True}
        readonly = {"postgresql_readonly": True} if engine.dialect.name == "postgresql" else {}
        return engine.connect().execution_options(**options, **readonly)
    except _faults_of(engine.dialect):
        raise IngestError(_NO_ANSWER.format(name=name)) from None


def _faults_of(dialect: sa.Dialect) -> tuple[type[Exception], ...]:
    """What a driver may raise; its texts quote addresses and values."""
    import sqlalchemy as sa

    return (sa.exc.SQLAlchemyError, cast("Any", dialect).dbapi.Error, OSError, ValueError, TypeError)


class _Tables:
    """The tables and queries of a source file."""

    def __init__(self, served: Served, connection: sa.Connection) -> None:
        self._served, self._connection = served, connection

    def headers(self) -> dict[str, TableHeader]:
        return {name: self._header(name) for name in self._served.tables}

    def _header(self, table: str) -> TableHeader:
        with self._reading(table, self._missing(table)):
            result = self._connection.exec_driver_sql(f"SELECT * FROM {self._place(table)} WHERE 1 = 0")
            names = list(result.keys())
            result.close()
            if len(set(names)) < len(names):
                raise IngestError(_REFUSED.format(table=table))
            types = self._types(self._served.tables[table])
            return TableHeader({name: types.get(name) for name in names})

    def _missing(self, table: str) -> str:
        wanted = self._served.tables[table]
        return (_REFUSED if is_query(wanted) else _NO_TABLE).format(name=self._served.database, table=table)

    def _types(self, wanted: str) -> dict[str, str | None]:
        import sqlalchemy as sa

        if is_query(wanted):
            return {}
        schema, name = _parted(wanted)
        columns = sa.inspect(self._connection).get_columns(name, schema)
        return {column["name"]: family(str(column["type"])) for column in columns}

    def rows(self, table: str, columns: Sequence[str], chunk_rows: int) -> Iterator[pd.DataFrame]:
        chosen = ", ".join(map(self._quoted, columns))
        query = f"SELECT {chosen} FROM {self._place(table)}"
        broken = _BROKE_OFF.format(name=self._served.database, table=table)
        with self._reading(table, broken):
            if self._connection.dialect.driver == "psycopg":
                yield from self._copied(query, columns, chunk_rows)
            else:
                yield from self._fetched(query, columns, min(chunk_rows, max(1, _VALUES // len(columns))))

    def _fetched(self, query: str, columns: Sequence[str], chunk_rows: int) -> Iterator[pd.DataFrame]:
        with closing(self._connection.execution_options(yield_per=chunk_rows).exec_driver_sql(query)) as result:
            for piece in result.partitions():
                rows = [tuple(row) for row in piece]
                yield pd.DataFrame.from_records(rows, columns=list(columns)).astype(object)

    def _copied(self, query: str, columns: Sequence[str], chunk_rows: int) -> Iterator[pd.DataFrame]:
        """Rows as PostgreSQL writes them into CSV files: far faster than one by one."""
        cursor = self._connection.connection.cursor()
        cursor.execute("SET LOCAL datestyle = ISO")
        with cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT csv, ENCODING 'UTF8')") as content:
            for block in _blocks(content):
                rows = _frame(block, list(columns))
                for start in range(0, len(rows), chunk_rows):
                    yield rows.iloc[start : start + chunk_rows].reset_index(drop=True)

    @contextmanager
    def _reading(self, table: str, sentence: str) -> Iterator[None]:
        try:
            checked(table, self._served.tables[table])
            yield
        except _faults_of(self._connection.dialect):
            raise IngestError(sentence) from None

    def _place(self, table: str) -> str:
        """What stands behind FROM."""
        wanted = checked(table, self._served.tables[table])
        if is_query(wanted):
            return f"(\n{wanted}\n) asked"
        schema, name = _parted(wanted)
        return ".".join(self._quoted(part) for part in (schema, name) if part is not None)

    def _quoted(self, name: str) -> str:
        return self._connection.dialect.identifier_preparer.quote(name)


def _parted(wanted: str) -> tuple[str | None, str]:
    schema, dot, name = wanted.strip().partition(".")
    return (schema, name) if dot else (None, schema)


def _blocks(content: Any) -> Iterator[bytes]:
    """Many lines at once; each piece that the server sends is one."""
    lines, size = [], 0
    for line in content:
        lines.append(bytes(line))
        size += len(lines[-1])
        if size >= _BLOCK:
            yield b"".join(lines)
            lines, size = [], 0
    if lines:
        yield b"".join(lines)


def _frame(block: bytes, names: list[str]) -> pd.DataFrame:
    rows = rows_of(block, names, ",", names)
    if rows is not None:
        return rows
    found = list(csv.reader(io.StringIO(block.decode(), newline="")))
    content = {name: [row[i] or None for row in found] for i, name in enumerate(names)}
    return pd.DataFrame(content, index=range(len(found)), dtype="str")
