"""Reading CSV and Parquet uploads in chunks, with every fault turned into a sentence."""

from __future__ import annotations

import csv
import gzip
import io
import re
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO, cast

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from dpcore.errors import IngestError
from dpcore.ingest import check_header

_NOT_TEXT = (
    "The file is not UTF-8 text. Save it as 'CSV UTF-8' (or convert it from its encoding) "
    "and upload it again."
)
_BROKEN = (
    "The file is not a well-formed CSV: some line has more fields than the header, or a "
    "quotation mark is never closed. Export it again."
)
_NO_FILE = "There is no file of this name, or it cannot be opened. Check the path."
_BROKEN_PARQUET = "The file is not a readable Parquet file. Export it again."


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
        names = [str(name) for name in _parquet(path).schema_arrow.names]
    else:
        names, _ = _csv_header(path)
    check_header(names)
    return names


def read_chunks(
    path: Path, columns: list[str] | None = None, chunk_rows: int = 100_000
) -> Iterator[pd.DataFrame]:
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
    fields = _parquet(path).schema_arrow
    return {str(field.name): _family(field.type) for field in fields}


def _family(kind: Any) -> str:
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return "real"
    return "text"


def _parquet(path: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(path)
    except (OSError, pa.ArrowException):
        raise IngestError(_BROKEN_PARQUET) from None


def _parquet_chunks(
    path: Path, columns: list[str] | None, chunk_rows: int
) -> Iterator[pd.DataFrame]:
    try:
        for batch in _parquet(path).iter_batches(batch_size=chunk_rows, columns=columns):
            # Written indexes are columns like others; whole numbers stay exact beside nulls.
            yield batch.to_pandas(ignore_metadata=True, integer_object_nulls=True)
    except (OSError, pa.ArrowException):
        raise IngestError(_BROKEN_PARQUET) from None


class _Text(io.TextIOWrapper):
    """Text that refuses NUL bytes, which mark a binary file or another encoding."""

    def read(self, size: int | None = -1, /) -> str:
        text = super().read(size)
        if "\0" in text:
            raise IngestError(_NOT_TEXT)
        return text


def _open_text(path: Path) -> _Text:
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    raw = opener(path, "rb")
    return _Text(cast("BinaryIO", raw), encoding="utf-8-sig", newline="")


def _csv_header(path: Path) -> tuple[list[str], str]:
    try:
        with _open_text(path) as stream:
            line = stream.readline(1 << 20)
            delimiter = max(",;\t|", key=re.sub(r'"[^"]*"', "", line).count)
            stream.seek(0)
            names = next(csv.reader(stream, delimiter=delimiter), [])
    except UnicodeDecodeError:
        raise IngestError(_NOT_TEXT) from None
    except (OSError, EOFError, zlib.error, csv.Error):
        raise IngestError(_BROKEN) from None
    if any("\0" in name for name in names):
        raise IngestError(_NOT_TEXT)
    return [name.strip() for name in names], delimiter


def _csv_chunks(path: Path, columns: list[str] | None, chunk_rows: int) -> Iterator[pd.DataFrame]:
    names, delimiter = _csv_header(path)
    try:
        with _open_text(path) as stream:
            reader = pd.read_csv(
                stream,
                sep=delimiter,
                header=0,
                names=names,
                index_col=False,
                dtype=str,
                keep_default_na=False,
                na_values=[""],
                chunksize=chunk_rows,
                on_bad_lines="error",
                engine="c",
            )
            # Not by pandas' ``usecols``: with it, lines with too many fields pass unnoticed.
            while (chunk := _next_chunk(reader)) is not None:
                yield chunk if columns is None else chunk[columns]
    except UnicodeDecodeError:
        raise IngestError(_NOT_TEXT) from None
    except (
        pd.errors.ParserError,
        pd.errors.ParserWarning,
        zlib.error,
        OSError,
        EOFError,
        ValueError,
    ):
        raise IngestError(_BROKEN) from None


def _next_chunk(reader: Iterator[pd.DataFrame]) -> pd.DataFrame | None:
    """Next chunk; a line that is too long is an error, where pandas would only warn."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        return next(reader, None)
