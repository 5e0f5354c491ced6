"""Files of SPSS, Stata and SAS: their rows, and what they say of their columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd
import pyreadstat

from dpcore.domain.encoding import texts_of
from dpcore.errors import IngestError
from dpcore.intake.sources.choices import chosen
from dpcore.intake.sources.encodings import ENCODINGS, OF_STATISTICS, codec_of
from dpcore.intake.sources.parquet_files import FAR_DATE

_BROKEN = (
    "The file cannot be read as one of {program}: it is damaged, cut off, or of another kind than its name says. "
    "Export it again."
)
_LETTERS = (
    "The letters of the file are not written as it says itself. Say its encoding (--encoding, on the page 'Encoding'), "
    "such as windows-1252, or export it again as UTF-8."
)
_NOT_THIS = "The letters of the file cannot be read as {label}. Say another encoding, or export it again as UTF-8."
_READERS: dict[str, tuple[str, Callable[..., Any]]] = {
    ".sav": ("SPSS", pyreadstat.read_sav),
    ".zsav": ("SPSS", pyreadstat.read_sav),
    ".dta": ("Stata", pyreadstat.read_dta),
    ".sas7bdat": ("SAS", pyreadstat.read_sas7bdat),
    ".xpt": ("SAS", pyreadstat.read_xport),
}
#: Formats of days and moments: ``DATE11`` and ``EDATE10`` in SPSS, ``%td`` in Stata, ``MMDDYY10`` in SAS.
_DATES = re.compile(r"%-?t?[cCd]|[AEJS]?DATE|DATETIME|YMDHMS|MMDDYY|DDMMYY|YYMMDD|E8601D|B8601D|IS8601D", re.IGNORECASE)
#: Formats of whole numbers: ``F3.0`` and ``N4`` in SPSS.
_WHOLE = re.compile(r"[FN]\d+(\.0)?")
#: Cells that are read at once. Each further piece makes a compressed file's reader begin anew.
_CELLS = 20_000_000
#: A file of fewer bytes that wants for memory promises what it does not hold.
_SMALL = 1 << 20
#: Transport files do not say how many rows they have, but they are made of whole records.
_RECORD = 80

Kind = Literal["number", "text", "date"]


@dataclass(frozen=True)
class ColumnNote:
    """What a file says of one of its columns, without any value of a record."""

    name: str
    label: str
    """``name``, ``label``: the label is empty if there is none."""
    kind: Kind
    values: dict[str, str]
    """Labels of codes, by the text that a code has in the rows."""
    missing: tuple[str, ...]
    """Codes that stand for no value; in the rows they are missing already."""
    whole: bool = False
    """Whether its numbers are stored, or shown, without a point."""
    measure: str = ""
    """``nominal``, ``ordinal`` or ``scale``, as SPSS tells it; empty if the file does not."""


def dictionary_of(path: Path) -> list[ColumnNote]:
    """What a file of SPSS, Stata or SAS says of its columns; no record is read.

    Raises
    ------
    IngestError
        If the file cannot be read.
    """
    about = _metadata(path)
    return [_note(name, about) for name in about.column_names]


def _note(name: str, about: Any) -> ColumnNote:
    labels = about.variable_value_labels.get(name, {})
    codes = _codes(labels)
    kind: Kind = "text" if about.readstat_variable_types[name] == "string" else "number"
    shown, measure = about.original_variable_types[name] or "", about.variable_measure.get(name, "")
    if _DATES.match(shown):
        kind = "date"
    ranges = about.missing_ranges.get(name, [])
    single = _codes(part["lo"] for part in ranges if part["lo"] == part["hi"])
    within = [
        text
        for code, text in zip(labels, codes, strict=True)
        if any(type(code) is type(part["lo"]) and part["lo"] <= code <= part["hi"] for part in ranges)
    ]
    marks = map(str, about.missing_user_values.get(name, []))
    missing = tuple(dict.fromkeys([*single, *within, *marks]))
    return ColumnNote(
        name,
        about.column_names_to_labels.get(name) or "",
        kind,
        dict(zip(codes, labels.values(), strict=True)),
        missing,
        about.readstat_variable_types[name].startswith("int") or bool(_WHOLE.fullmatch(shown)),
        "" if measure == "unknown" else measure,
    )


def _codes(values: Any) -> list[str]:
    return texts_of(pd.Series(list(values), dtype=object))


def _metadata(path: Path) -> Any:
    program, reader = _READERS[path.suffix.lower()]
    transport = reader is pyreadstat.read_xport
    with _faults(path):
        stated = _stated_encoding()
        if transport and path.stat().st_size % _RECORD:
            raise IngestError(_BROKEN.format(program=program))
        about = reader(path, metadataonly=True, encoding=stated, **{} if transport else {"user_missing": True})[1]
        if not all(isinstance(name, str) for name in about.column_names):
            raise IngestError(_BROKEN.format(program=program))
        return about


def _stated_encoding() -> str | None:
    """What the custodian said, by the name that the reader knows. Raises ``IngestError`` if it knows none."""
    stated = chosen().encoding
    codec = None if stated is None else codec_of(stated)
    if codec is not None and codec not in OF_STATISTICS:
        raise IngestError(_NOT_THIS.format(label=ENCODINGS[codec]))
    return None if codec is None else OF_STATISTICS[codec]


@contextmanager
def _faults(path: Path) -> Iterator[None]:
    """Turn what a damaged file does to its reader into a sentence; want of memory stays that, if it is a large one."""
    program, _ = _READERS[path.suffix.lower()]
    try:
        yield
    except IngestError:
        raise
    except MemoryError:
        if path.stat().st_size > _SMALL:
            raise
        raise IngestError(_BROKEN.format(program=program)) from None
    except OverflowError:
        raise IngestError(FAR_DATE) from None
    except Exception as error:  # noqa: BLE001  What damage makes of a reader in C, and of pandas after it, has no end.
        told = str(error)
        if "memory" in told and path.stat().st_size > _SMALL:
            raise MemoryError from None
        if isinstance(error, UnicodeError) or "convert string" in told or "character set" in told:
            stated = chosen().encoding
            label = None if stated is None else ENCODINGS[codec_of(stated)]
            raise IngestError(_LETTERS if label is None else _NOT_THIS.format(label=label)) from None
        raise IngestError(_BROKEN.format(program=program)) from None


def stat_types(path: Path) -> dict[str, str]:
    """Declared type of each column: real or text. Raises ``IngestError``."""
    return {note.name: "real" if note.kind == "number" else "text" for note in dictionary_of(path)}


def stat_description(path: Path) -> str:
    """How a file is read, in words."""
    program, _ = _READERS[path.suffix.lower()]
    stated = chosen().encoding
    return f"{program} file" + ("" if stated is None else f", letters as {ENCODINGS[codec_of(stated)]}")


def stat_chunks(path: Path, columns: list[str] | None, chunk_rows: int) -> Iterator[pd.DataFrame]:
    """Rows of a file, some at a time; codes as they are, and missing where the file says so."""
    about, stated = _metadata(path), _stated_encoding()
    wanted = about.column_names if columns is None else columns
    read = wanted or about.column_names[:1]
    at_once = max(chunk_rows, _CELLS // max(len(read), 1))
    _, reader = _READERS[path.suffix.lower()]
    start, count = 0, at_once
    while count == at_once:
        with _faults(path):
            rows = reader(path, usecols=read, row_offset=start, row_limit=at_once, encoding=stated)[0][wanted]
        count = len(rows)
        start += count
        for place in range(0, max(count, 1), chunk_rows):
            yield rows.iloc[place : place + chunk_rows].reset_index(drop=True)
    if about.number_rows not in {None, start}:
        raise IngestError(_BROKEN.format(program=_READERS[path.suffix.lower()][0]))
