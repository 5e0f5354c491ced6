"""The rows of several tables about the same people: of one file each, or of one database file."""

from __future__ import annotations

from collections.abc import Collection, Generator, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path
from typing import cast

import pandas as pd

from dpcore.data.building.ingest import check_header, frame_chunks
from dpcore.domain.encoding import texts_of
from dpcore.domain.schemas.names import plain_name
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.domain.schemas.tables import RowFilter
from dpcore.errors import IngestError
from dpcore.intake.joins.joining import Told, chunks_for, join_key, joint_columns, read_joined
from dpcore.intake.sources.decimal_commas import number_columns
from dpcore.intake.sources.files import declared_types, read_chunks, read_header
from dpcore.intake.sources.headers import TableHeader, plain_names, renamed
from dpcore.intake.sources.parts import is_database
from dpcore.intake.sources.served import open_served
from dpcore.intake.sources.sources import ENDING
from dpcore.intake.sources.sql_files import Database, open_database_file

#: CSV or Parquet files, or frames, by the names of their tables.
Tables = Mapping[str, str | Path | pd.DataFrame]
#: Rows of several tables: files, or one database file with tables of the same names; or of one
#: table in several files.
Source = Tables | str | Path | Sequence[Path]
CHUNK_ROWS = 100_000


def rows_for(
    schema: Schema,
    source: Source | pd.DataFrame,
    right: str | Path | None = None,
    told: Told | None = None,
    beside: Collection[str] = (),
) -> tuple[Iterator[pd.DataFrame], dict[str, Iterator[pd.DataFrame]]]:
    """Rows for :func:`dpcore.data.building.ingest.ingest`: of the main table, and of each child table.

    Parameters
    ----------
    source : mapping, str, Path or DataFrame
        For a schema with child tables, files or frames by the names of the tables (the main one
        is called ``schema.entity``), or a database with tables of these names. For one without,
        a file, several, a frame, or a database with one table that counts.
    right : str, Path or None
        A second file about the same people: see :func:`dpcore.intake.joins.joining.chunks_for`.
    told : callable, optional
        Told how the keys of two joined files met.
    beside : collection of str
        Columns of the main table that are read, too, though the schema does not name them.

    Raises
    ------
    IngestError
        If the source does not fit the schema, or something in it cannot be read.
    """
    if isinstance(source, Mapping):
        _check_given(schema, source)
    elif not isinstance(source, str | Path) or not is_database(Path(source)):
        _check_single(schema)
        repeated = {child.name: _meant(child, chunks_for(schema, source, right, child)) for child in schema.children}
        return _meant(schema, chunks_for(schema, source, right, told=told, beside=beside)), repeated
    if right is not None:
        raise IngestError("A second file can be joined with one file only: leave it out.")
    tables: dict[str, Schema | ChildTable] = {schema.entity: schema, **{child.name: child for child in schema.children}}
    wanted = _wanted(schema)
    wanted[schema.entity] += [name for name in beside if name not in wanted[schema.entity]]
    rows = {
        name: _meant(
            tables[name],
            read_table(source, _place(schema, name), columns, numbers=number_columns(tables[name], schema.keys)),
        )
        for name, columns in wanted.items()
    }
    return rows.pop(schema.entity), rows


def main_header(schema: Schema, source: Source | pd.DataFrame, right: str | Path | None = None) -> list[str]:
    """All columns of the main table's file; of two joined files, by their joined names. Raises ``IngestError``."""
    if isinstance(source, pd.DataFrame):
        return [str(name) for name in source.columns]
    if isinstance(source, Mapping) or (isinstance(source, str | Path) and is_database(Path(source))):
        return list(_header_of(schema.entity, read_headers(source)).columns)
    if right is None:
        return read_header(Path(source) if isinstance(source, str) else source)
    joint = joint_columns(Path(str(source)), Path(right), join_key(schema))
    return [joint.key, *joint.left, *joint.right]


def first_rows(
    schema: Schema, source: Source | pd.DataFrame, right: str | Path | None, columns: list[str], most: int
) -> pd.DataFrame:
    """Some columns of the first rows of the main table's file, as they stand there. Raises ``IngestError``."""
    if isinstance(source, pd.DataFrame):
        return next(frame_chunks(source))[columns].head(most)
    if isinstance(source, Mapping) or (isinstance(source, str | Path) and is_database(Path(source))):
        rows = read_table(source, schema.entity, columns, most, numbers=None)
    elif right is None:
        rows = read_chunks(Path(source) if isinstance(source, str) else source, columns, most, numbers=None)
    else:
        key = join_key(schema)
        rows = read_joined(Path(str(source)), Path(right), key, [name for name in columns if name != key])
    with closing(cast("Generator[pd.DataFrame]", rows)):
        return next(rows, pd.DataFrame(columns=columns)).head(most)


def _meant(table: Schema | ChildTable, chunks: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
    """Of the rows of a file those of a table. Raises ``IngestError`` if nothing tells which they are."""
    where = table.keeping.where
    if where is None:
        return chunks
    return (chunk[_fits(chunk, where)].reset_index(drop=True) for chunk in chunks)


def _fits(chunk: pd.DataFrame, where: RowFilter) -> list[bool]:
    if where.column not in chunk.columns:
        raise IngestError(f"The file has no column '{where.column}', which says of which table a row is.")
    return [text == where.value for text in texts_of(chunk[where.column])]


def _place(schema: Schema, table: str) -> str:
    """The table of a source in which the rows of a table of the schema are."""
    return schema.entity if any(child.name == table and child.from_rows for child in schema.children) else table


def check_headers(schema: Schema, source: Source) -> None:
    """See that the tables and columns of a schema are there; no value is read.

    Raises
    ------
    IngestError
        Naming what is absent.
    """
    if isinstance(source, Mapping):
        _check_given(schema, source)
    elif not isinstance(source, str | Path) or not is_database(Path(source)):
        _check_single(schema)
        source = {schema.entity: Path(_single(source))}
    headers = read_headers(source)
    for name, columns in _wanted(schema).items():
        place = _place(schema, name)
        _check_columns(place, _header_of(place, headers), columns)


def _wanted(schema: Schema) -> dict[str, list[str]]:
    """Columns to be read of each table, keys last."""
    unit = schema.privacy_unit.column
    main = [*schema.file_columns, *([] if unit is None else [unit])]
    children = {child.name: [*child.file_columns, schema.key_of(child)] for child in schema.children}
    return {schema.entity: main, **children}


def _check_given(schema: Schema, given: Tables) -> None:
    if not schema.children:
        raise IngestError("The schema describes one table only: give one file, not several.")
    declared = list(dict.fromkeys(_place(schema, name) for name in _wanted(schema)))
    for name in declared:
        if name not in given:
            raise IngestError(f"The table '{name}' of the schema is missing: add its file under this name.")
    for name in given:
        if name not in declared:
            raise IngestError(
                f"The schema describes no table '{name}': leave it out, or give it one of the "
                f"names {_listed(declared)}."
            )


def _check_single(schema: Schema) -> None:
    if not all(child.from_rows for child in schema.children):
        names = _listed([schema.entity, *(child.name for child in schema.children)])
        raise IngestError(
            f"The schema describes several tables: {names}. Give a file for each, or one SQLite "
            "or DuckDB file with tables of these names."
        )


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - 20} more" if len(names) > 20 else ""
    return ", ".join(f"'{name}'" for name in names[:20]) + more


def read_headers(source: Source) -> dict[str, TableHeader]:
    """Names of the tables and of their columns, and declared types; no value is read.

    Raises
    ------
    IngestError
        If a file cannot be read, or a database has no table.
    """
    if isinstance(source, Mapping):
        return {name: _file_header(name, file) for name, file in source.items()}
    with _open_database(_single(source)) as database:
        headers = {name: _plain(name, header) for name, header in database.headers().items()}
    if not headers:
        raise IngestError("The database has no table. Export it again.")
    return headers


def _plain(table: str, header: TableHeader) -> TableHeader:
    """The header of a table with names that a schema can have."""
    with _in_table(table):
        names = plain_names(header.columns)
    key = None if header.key is None else plain_name(header.key)
    return TableHeader({name: header.columns[inside] for name, inside in names.items()}, key)


def _open_database(path: Path) -> AbstractContextManager[Database]:
    return open_served(path) if path.suffix.lower() == ENDING else open_database_file(path)


def _single(source: str | Path | Sequence[Path]) -> Path:
    """The one file of a database. Raises ``IngestError``."""
    if isinstance(source, str | Path):
        return Path(source)
    raise IngestError("Several files are one table of CSV or Parquet files: give a database file alone.")


def _file_header(name: str, file: str | Path | pd.DataFrame) -> TableHeader:
    with _in_table(name):
        if not isinstance(file, pd.DataFrame):
            return TableHeader(dict.fromkeys(read_header(Path(file))) | declared_types(Path(file)))
        names = [str(column) for column in file.columns]
        check_header(names)
    return TableHeader(dict.fromkeys(names))


def read_table(
    source: Source,
    table: str,
    columns: Sequence[str],
    chunk_rows: int = CHUNK_ROWS,
    *,
    numbers: Collection[str] | None = (),
) -> Iterator[pd.DataFrame]:
    """Stream the wanted columns of one table as frames of at most ``chunk_rows`` rows.

    A frame comes as it is, in one piece. ``numbers`` is of CSV files: see
    :func:`dpcore.intake.sources.files.read_chunks`.

    Raises
    ------
    IngestError
        If the table or a column is missing, or something cannot be read.
    """
    if not isinstance(source, Mapping):
        yield from _database_rows(_single(source), table, columns, chunk_rows)
        return
    file = source[table]
    _check_columns(table, _file_header(table, file), columns)
    with _in_table(table):
        if isinstance(file, pd.DataFrame):
            yield from frame_chunks(file)
        else:
            yield from read_chunks(Path(file), list(columns), chunk_rows, numbers=numbers)


def _database_rows(path: Path, table: str, columns: Sequence[str], chunk_rows: int) -> Iterator[pd.DataFrame]:
    with _open_database(path) as database:
        headers = database.headers()
        header = _header_of(table, headers)
        _check_columns(table, _plain(table, header), columns)
        names = plain_names(header.columns)
        with _in_table(table):
            for rows in database.rows(table, [names[name] for name in columns], chunk_rows):
                yield renamed(rows, names)


def _header_of(table: str, headers: Mapping[str, TableHeader]) -> TableHeader:
    if table not in headers:
        raise IngestError(
            f"The database has no table '{table}'. Its tables are {_listed(list(headers))}. "
            "Rename the table in the database or in the schema; upper and lower case matter."
        )
    return headers[table]


def _check_columns(table: str, header: TableHeader, columns: Sequence[str]) -> None:
    absent = [name for name in columns if name not in header.columns]
    if absent:
        raise IngestError(
            f"The table '{table}' has no column {_listed(absent)}. Rename the column in the table "
            "or in the schema; upper and lower case matter."
        )


@contextmanager
def _in_table(name: str) -> Iterator[None]:
    """Say in which table's file a fault is."""
    try:
        yield
    except IngestError as error:
        raise IngestError(f"In the table '{name}': {error}") from None
