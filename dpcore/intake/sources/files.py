"""Files that hold a table, of any kind: their header, and their rows in chunks."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from dpcore.data.building.ingest import check_header
from dpcore.domain.schemas.names import plain_name
from dpcore.errors import IngestError
from dpcore.intake.sources.choices import chosen
from dpcore.intake.sources.csv_files import csv_chunks, csv_description, csv_names
from dpcore.intake.sources.decimal_commas import with_points
from dpcore.intake.sources.headers import plain_names, renamed
from dpcore.intake.sources.parquet_files import parquet_chunks, parquet_names, parquet_types
from dpcore.intake.sources.parts import Files, Part, parts_of
from dpcore.intake.sources.sheets import describe_sheet, sheet_chunks, sheet_columns
from dpcore.intake.sources.stat_files import stat_chunks, stat_description, stat_types

_NO_FILE = "There is no file of this name, or it cannot be opened. Check the path."


@dataclass(frozen=True)
class _Format:
    """How files of one kind are read; each function raises ``IngestError``."""

    names: Callable[[Path], list[str]]
    rows: Callable[[Path, list[str] | None, int], Iterator[pd.DataFrame]]
    types: Callable[[Path], dict[str, str]]
    described: Callable[[Path], str]


def _no_types(_: Path) -> dict[str, str]:
    return {}


def _names_of_statistics(path: Path) -> list[str]:
    return list(stat_types(path))


def _named(text: str) -> Callable[[Path], str]:
    return lambda _: text


_FORMATS = {
    "CSV": _Format(csv_names, csv_chunks, _no_types, csv_description),
    "Parquet": _Format(parquet_names, parquet_chunks, parquet_types, _named("Parquet")),
    "Excel": _Format(sheet_columns, sheet_chunks, _no_types, describe_sheet),
    **{
        program: _Format(_names_of_statistics, stat_chunks, stat_types, stat_description)
        for program in ("SPSS", "Stata", "SAS")
    },
}


def read_header(files: Files) -> list[str]:
    """Column names of a table, checked and as a schema can have them; no value is read.

    Raises
    ------
    IngestError
        If a file cannot be read, its header cannot be used, or files differ in their columns.
    """
    return list(_headers(parts_of(files))[0])


def _headers(parts: list[Part]) -> list[dict[str, str]]:
    """Of each file, the names of its columns, each with the one that stands there."""
    headers = [_header_of(part, parts) for part in parts]
    for part, names in zip(parts, headers, strict=True):
        _check_has(part, names, parts[0], headers[0])
        _check_has(parts[0], headers[0], part, names)
    return headers


def _check_has(part: Part, names: Collection[str], other: Part, wanted: Collection[str]) -> None:
    for name in wanted:
        if name not in names:
            raise IngestError(
                f"The file '{part.name}' has no column '{name}', which '{other.name}' has. "
                "All files of one table need the same columns; upper and lower case matter."
            )


def _header_of(part: Part, parts: list[Part]) -> dict[str, str]:
    with _in_part(part, parts):
        if not part.path.is_file():
            raise IngestError(_NO_FILE)
        inside = _FORMATS[part.kind].names(part.path)
        names = plain_names(inside)
        further = [name for name in part.told if name not in names]
        check_header([*map(plain_name, inside), *further])
    return names | {name: name for name in further}


@contextmanager
def _in_part(part: Part, parts: list[Part]) -> Iterator[None]:
    """Say in which file a fault is, if there are several."""
    try:
        yield
    except IngestError as error:
        raise (IngestError(f"In the file '{part.name}': {error}") if len(parts) > 1 else error) from None


def has_commas(files: Files) -> bool:
    """Whether the custodian said that numbers of these files have a decimal comma."""
    return any(map(_has_commas, parts_of(files)))


def _has_commas(part: Part) -> bool:
    return chosen().decimal == "," and part.kind == "CSV"


def read_chunks(
    files: Files, columns: list[str] | None = None, chunk_rows: int = 100_000, *, numbers: Collection[str] | None = ()
) -> Iterator[pd.DataFrame]:
    """Stream a table as frames of at most ``chunk_rows`` rows.

    CSV values stay text; the schema decides what they mean. What the custodian chose about files
    holds: see :mod:`dpcore.intake.sources.choices`.

    Parameters
    ----------
    columns : list of str, optional
        What is read; all, if it is left out.
    numbers : collection of str or None
        Where decimal commas are chosen: columns that hold numbers, so that points may stand between
        thousands; ``None`` leaves all as it is written.

    Raises
    ------
    IngestError
        If a file is broken, at whatever line, or files differ in their columns or types.
    """
    parts = parts_of(files)
    headers = _headers(parts)
    declared_types(files)
    wanted = None if columns is None else [name for name in headers[0] if name in set(columns)]
    for part, names in zip(parts, headers, strict=True):
        with _in_part(part, parts):
            chunks = _part_chunks(part, names, wanted, chunk_rows)
            yield from chunks if numbers is None or not _has_commas(part) else (with_points(c, numbers) for c in chunks)


def _part_chunks(
    part: Part, names: dict[str, str], wanted: list[str] | None, chunk_rows: int
) -> Iterator[pd.DataFrame]:
    inside = None if wanted is None or part.told else [names[name] for name in wanted]
    for rows in _FORMATS[part.kind].rows(part.path, inside, chunk_rows):
        chunk = renamed(rows, names)
        for name, value in part.told.items():
            if name not in chunk.columns:
                chunk[name] = pd.Series([value] * len(chunk), dtype="str")
        yield chunk[wanted] if part.told and wanted is not None else chunk


def declared_types(files: Files) -> dict[str, str]:
    """Declared type of each column: boolean, integer, real or text; none for files that declare no types.

    Raises
    ------
    IngestError
        If a file cannot be read, or a column is of another kind in another file.
    """
    found: dict[str, tuple[str, Part]] = {}
    parts = parts_of(files)
    for part in parts:
        for name, kind in _types_of(part, parts).items():
            first, where = found.setdefault(name, (kind, part))
            if first != kind and {first, kind} != {"integer", "real"}:
                raise IngestError(
                    f"The column '{name}' is {kind} in the file '{part.name}' and {first} in '{where.name}'. "
                    "All files of one table need the same types: export them alike."
                )
            if kind == "real":
                found[name] = (kind, part)
    return {name: kind for name, (kind, _) in found.items()}


def _types_of(part: Part, parts: list[Part]) -> dict[str, str]:
    with _in_part(part, parts):
        declared = {plain_name(name): kind for name, kind in _FORMATS[part.kind].types(part.path).items()}
    return dict.fromkeys(part.told, "text") | declared if declared else {}


def describe(files: Files) -> str:
    """How a table is read, in words, for the custodian; no value is read.

    Raises
    ------
    IngestError
        If a file cannot be read.
    """
    parts = parts_of(files)
    with _in_part(parts[0], parts):
        return _FORMATS[parts[0].kind].described(parts[0].path)
