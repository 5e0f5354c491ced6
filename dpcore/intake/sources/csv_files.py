"""CSV files: the header, and rows as text, with every fault turned into a sentence."""

from __future__ import annotations

import codecs
import csv
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

import pandas as pd

from dpcore.errors import IngestError
from dpcore.intake.sources.choices import chosen
from dpcore.intake.sources.csv_blocks import next_block, rows_of
from dpcore.intake.sources.encodings import ENCODINGS, NOT_TEXT, as_utf8

_NOT_TEXT = NOT_TEXT.format(guess="")
_BROKEN = (
    "The file is not a well-formed CSV: a quotation mark is never closed, or stands inside a value. Export it again."
)
_CUT_OFF = "The file cannot be read to its end: it is cut off or damaged. Upload it again, or export it again."
_LONG_HEADER = (
    "The first line of the file is too long to be a header. The first line names the columns, at "
    "most 1000; export the file again."
)
#: Most characters of a header, line ends included.
MAX_HEADER = 1 << 20
#: Most characters of one value in a CSV file.
csv.field_size_limit(1 << 24)
_SIGNS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


class _Lines:
    """Lines of a text, as they are; refuses zero bytes, which mark a binary file."""

    def __init__(self, stream: io.TextIOWrapper, most: int | None = None) -> None:
        self._stream, self._left = stream, most
        self.taken: list[str] = []

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
        self.taken.append(line)
        return line


@contextmanager
def _open_csv(path: Path) -> Iterator[tuple[BinaryIO, str]]:
    """Open a CSV file as UTF-8, and say how it is written; whatever is wrong with it becomes a sentence."""
    opener = gzip.open if path.suffix.lower() == ".gz" else open
    try:
        with opener(path, "rb") as raw:
            yield as_utf8(cast("BinaryIO", raw), chosen().encoding)
    except UnicodeDecodeError:
        raise IngestError(_NOT_TEXT) from None
    except (OSError, EOFError, zlib.error):  # Of a compressed file, too.
        raise IngestError(_CUT_OFF) from None
    except csv.Error:
        raise IngestError(_BROKEN) from None


@dataclass(frozen=True)
class _Header:
    """The first record of a CSV file: names, the sign between them, its length, how letters are written."""

    names: list[str]
    delimiter: str
    lines: int
    size: int
    encoding: str


def _csv_header(path: Path) -> _Header:
    with _open_csv(path) as (raw, encoding):
        mark = len(codecs.BOM_UTF8) if raw.read(3) == codecs.BOM_UTF8 else 0
        raw.seek(0)
        stream = io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")
        first = next(_Lines(stream, MAX_HEADER), "")
        delimiter = max(_SIGNS, key=re.sub(r'"[^"]*"', "", first).count)
        stream.seek(0)
        lines = _Lines(stream, MAX_HEADER)
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        names = [name.strip() for name in next(reader, [])]
        size = mark + len("".join(lines.taken).encode())
        return _Header(names, delimiter, reader.line_num, size, encoding)


def csv_names(path: Path) -> list[str]:
    """Names of the columns, as they stand there. Raises ``IngestError``."""
    return _csv_header(path).names


def csv_description(path: Path) -> str:
    """How a file is read, in words. Raises ``IngestError``."""
    header = _csv_header(path)
    comma = ", with decimal commas" if chosen().decimal == "," else ""
    return f"{ENCODINGS[header.encoding]} text, values separated by {_SIGNS[header.delimiter]}{comma}"


def csv_chunks(path: Path, columns: list[str] | None, chunk_rows: int) -> Iterator[pd.DataFrame]:
    """Rows of a CSV file: many at a time where nothing is unusual, else one by one to its end."""
    header, first = _csv_header(path), True
    wanted = [name for name in header.names if columns is None or name in columns]
    with _open_csv(path) as (raw, _):
        for piece in _csv_pieces(raw, header, wanted, chunk_rows):
            if first or len(piece):
                yield piece
            first = False


def _csv_pieces(raw: BinaryIO, header: _Header, wanted: list[str], chunk_rows: int) -> Iterator[pd.DataFrame]:
    place, lines, width = header.size, header.lines, 0
    raw.seek(place)
    while True:
        block = next_block(raw)
        rows = rows_of(block, header.names, header.delimiter, wanted)
        if rows is None:
            break
        for start in range(0, max(len(rows), 1), chunk_rows):
            yield rows.iloc[start : start + chunk_rows].reset_index(drop=True)
        if not block:
            return
        place, lines = place + len(block), lines + block.count(b"\n")
        width = width or (len(header.names) if len(rows) else 0)
    raw.seek(place)
    stream = io.TextIOWrapper(raw, encoding="utf-8", newline="")
    reader = csv.reader(_Lines(stream), delimiter=header.delimiter, strict=True)
    found = _csv_rows(reader, len(header.names), width, lines)
    places = [header.names.index(name) for name in wanted]
    while piece := list(islice(found, chunk_rows)):
        content = {name: [row[i] or None for row in piece] for name, i in zip(wanted, places, strict=True)}
        yield pd.DataFrame(content, index=range(len(piece)), dtype="str")


def _csv_rows(reader: Any, width: int, expected: int, lines: int) -> Iterator[list[str]]:
    """Rows of a file, blank lines left out; each has a field for each column.

    A separator at the end of a line is not a field of its own, if every line has it.

    Parameters
    ----------
    expected : int
        Fields of the rows that were read before; 0 if there were none.
    lines : int
        Lines that were read before.

    Raises
    ------
    IngestError
        With the number of the line that has more or fewer fields: which of its values belong to
        which column cannot be told.
    """
    for row in reader:
        if not row:
            continue
        expected = expected or (width + 1 if len(row) == width + 1 and not row[-1] else width)
        if len(row) != expected or (expected > width and row[-1]):
            raise IngestError(
                f"Line {lines + reader.line_num} of the file has {len(row)} fields, but the header names "
                f"{width} columns. Correct that line, or export the file again with quotation "
                "marks around values that hold the separator."
            )
        yield row
