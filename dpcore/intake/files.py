"""Reading CSV and Parquet uploads in chunks, with every fault turned into a sentence."""

from __future__ import annotations

import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dpcore.data.ingest import check_header
from dpcore.errors import IngestError

_NOT_TEXT = "The file is not UTF-8 text. Save it as 'CSV UTF-8' (or convert it from its encoding) and upload it again."
_BROKEN = (
    "The file is not a well-formed CSV: a quotation mark is never closed, or stands inside a value. Export it again."
)
_LONG_HEADER = (
    "The first line of the file is too long to be a header. The first line names the columns, at "
    "most 1000; export the file again."
)
_NO_FILE = "There is no file of this name, or it cannot be opened. Check the path."
_BROKEN_PARQUET = "The file is not a readable Parquet file. Export it again."
_FAR_DATE = "A date in the file is outside the years 1 to 9999. Correct it, or leave its column out of the schema."
#: Most characters of a header, line ends included.
MAX_HEADER = 1 << 20


def is_parquet(path: Path) -> bool:
    """Whether the file name says Parquet."""
    return path.suffix.lower() in {".parquet", ".pq"}


def read_header(path: Path) -> list[str]:
    """Column names of an upload, checked; no value is read.

    Raises
    ------
    IngestError
        If the file cannot be read, or its header cannot be used.
    """
    if not path.is_file():
        raise IngestError(_NO_FILE)
    if is_parquet(path):
        names = _parquet_names(path)
    else:
        names, _ = _csv_header(path)
    check_header(names)
    return names


def read_chunks(path: Path, columns: list[str] | None = None, chunk_rows: int = 100_000) -> Iterator[pd.DataFrame]:
    """Stream an upload as frames of at most ``chunk_rows`` rows.

    CSV values stay text; the schema decides what they mean. ``columns`` limits what is read.

    Raises
    ------
    IngestError
        If the file is broken, at whatever line.
    """
    names = read_header(path)
    wanted = None if columns is None else [name for name in names if name in set(columns)]
    reader = _parquet_chunks if is_parquet(path) else _csv_chunks
    yield from reader(path, wanted, chunk_rows)


def parquet_types(path: Path) -> dict[str, str]:
    """Declared type of each column of a Parquet file: boolean, integer, real or text."""
    with _parquet_faults():
        fields = pq.ParquetFile(path).schema_arrow
        return {str(field.name): _family(field.type) for field in fields}


def _family(kind: Any) -> str:
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "real"
    return "text"


@contextmanager
def _parquet_faults() -> Iterator[None]:
    """Turn what a damaged file does to its reader into a sentence; want of memory stays that."""
    try:
        yield
    except MemoryError:
        raise
    except (OSError, ValueError, TypeError, KeyError, OverflowError, pa.ArrowException) as error:
        far = isinstance(error, OverflowError) or "out of range" in str(error)
        raise IngestError(_FAR_DATE if far else _BROKEN_PARQUET) from None


def _parquet_names(path: Path) -> list[str]:
    with _parquet_faults():
        return [str(name) for name in pq.ParquetFile(path).schema_arrow.names]


def _parquet_chunks(path: Path, columns: list[str] | None, chunk_rows: int) -> Iterator[pd.DataFrame]:
    with _parquet_faults():
        batches = pq.ParquetFile(path).iter_batches(chunk_rows, columns=columns, use_threads=False)
        for batch in batches:
            batch.validate(full=True)  # Texts that are none would come to light later.
            # Written indexes are columns like others, whatever pandas noted about them; whole
            # numbers stay exact beside nulls.
            bare = batch.replace_schema_metadata(None)
            yield bare.to_pandas(integer_object_nulls=True, use_threads=False)


class _Lines:
    """Lines of a text, as they are; refuses zero bytes, which mark a binary file."""

    def __init__(self, stream: io.TextIOWrapper, most: int | None = None) -> None:
        self._stream, self._left = stream, most

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = next(self._stream) if self._left is None else self._short_line(self._left)
        if "\0" in line:
            raise IngestError(_NOT_TEXT)
        return line

    def _short_line(self, left: int) -> str:
        line = self._stream.readline(left + 1)
        self._left = left - len(line)
        if self._left < 0:
            raise IngestError(_LONG_HEADER)
        if not line:
            raise StopIteration
        return line


@contextmanager
def _open_text(path: Path) -> Iterator[io.TextIOWrapper]:
    """Open a CSV file; whatever is wrong with it becomes a sentence."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rb") as raw:
            yield io.TextIOWrapper(cast("BinaryIO", raw), encoding="utf-8-sig", newline="")
    except UnicodeDecodeError:
        raise IngestError(_NOT_TEXT) from None
    except (OSError, EOFError, zlib.error, csv.Error):
        raise IngestError(_BROKEN) from None


def _csv_header(path: Path) -> tuple[list[str], str]:
    with _open_text(path) as stream:
        first = next(_Lines(stream, MAX_HEADER), "")
        delimiter = max(",;\t|", key=re.sub(r'"[^"]*"', "", first).count)
        stream.seek(0)
        names = next(csv.reader(_Lines(stream, MAX_HEADER), delimiter=delimiter, strict=True), [])
    return [name.strip() for name in names], delimiter


def _csv_chunks(path: Path, columns: list[str] | None, chunk_rows: int) -> Iterator[pd.DataFrame]:
    names, delimiter = _csv_header(path)
    wanted = [(name, i) for i, name in enumerate(names) if columns is None or name in columns]
    with _open_text(path) as stream:
        rows = _csv_rows(csv.reader(_Lines(stream), delimiter=delimiter, strict=True), len(names))
        piece, first = list(islice(rows, chunk_rows)), True
        while piece or first:
            content = {name: [row[i] or None for row in piece] for name, i in wanted}
            yield pd.DataFrame(content, index=range(len(piece)), dtype="str")
            piece, first = list(islice(rows, chunk_rows)), False


def _csv_rows(reader: Any, width: int) -> Iterator[list[str]]:
    """Rows below the header, blank lines left out; each has a field for each column.

    A separator at the end of a line is not a field of its own, if every line has it.

    Raises
    ------
    IngestError
        With the number of the line that has more or fewer fields: which of its values belong to
        which column cannot be told.
    """
    next(reader, None)
    expected = 0
    for row in reader:
        if not row:
            continue
        expected = expected or (width + 1 if len(row) == width + 1 and not row[-1] else width)
        if len(row) != expected or (expected > width and row[-1]):
            raise IngestError(
                f"Line {reader.line_num} of the file has {len(row)} fields, but the header names "
                f"{width} columns. Correct that line, or export the file again with quotation "
                "marks around values that hold the separator."
            )
        yield row
