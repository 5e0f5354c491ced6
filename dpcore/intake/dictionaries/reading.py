"""Dictionaries of any kind that is known here, told apart by what stands in them."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from io import StringIO
from pathlib import Path
from typing import Final

from dpcore.errors import IngestError
from dpcore.intake.dictionaries import csvw, frictionless, redcap, stat_labels
from dpcore.intake.dictionaries.drafts import Draft, plain_text
from dpcore.intake.sources.encodings import as_utf8
from dpcore.intake.sources.parts import Part

#: What a dictionary may be large; files of SPSS, Stata and SAS hold rows besides.
MAX_BYTES: Final = 5_000_000
#: Endings of files that may be dictionaries.
ENDINGS: Final = (".csv", ".json", ".jsonld", ".json-ld", ".sav", ".zsav", ".dta", ".sas7bdat", ".xpt")
_DELIMITERS: Final = (",", ";", "\t")
_KINDS = (
    "a REDCap data dictionary (CSV), a Frictionless Table Schema or Data Package (JSON), CSVW metadata (JSON), or a "
    "file of SPSS, Stata or SAS with labels"
)
_UNKNOWN = f"This is no data dictionary that can be read here: {_KINDS}."
_TOO_LARGE = f"The data dictionary is larger than {MAX_BYTES // 1_000_000} MB, which none is. Take {_KINDS}."
_SCHEMA = "This is a schema already, and no dictionary: use it as it is."
_NOT_JSON = "The data dictionary is not valid JSON: it is cut off or damaged. Export it again."
_ODD = "The data dictionary is not as it should be: somewhere stands a list, a text or a number instead of another."
_NOT_CSV = "The data dictionary is not a CSV file as REDCap writes it. Export it again."
_NOT_TEXT = "The data dictionary is not text in UTF-8. Save it as UTF-8 and try again."


def read_dictionary(path: Path, title: str = "") -> Draft:
    """What a dictionary says, whatever its kind.

    Parameters
    ----------
    title : str
        What the data set is called if the dictionary does not say; the name of the file, if empty.

    Raises
    ------
    IngestError
        If it is none that is known, or is not as it should be.
    """
    title = plain_text(title or path.name.partition(".")[0], 128) or "data"
    if Part(path, path.name).kind in {"SPSS", "Stata", "SAS"}:
        return stat_labels.read(path, title)
    text = _text_of(path)
    if text.lstrip()[:1] in {"{", "["}:
        return _read_json(text, title)
    return redcap.read(_lines(text), title)


def _text_of(path: Path) -> str:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise IngestError(_TOO_LARGE)
        with path.open("rb") as raw:
            return as_utf8(raw)[0].read().decode("utf-8-sig")
    except UnicodeDecodeError:
        raise IngestError(_NOT_TEXT) from None
    except OSError:
        raise IngestError(f"The file {path.name} cannot be read.") from None


def _read_json(text: str, title: str) -> Draft:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise IngestError(_NOT_JSON) from None
    if not isinstance(content, Mapping):
        raise IngestError(_UNKNOWN)
    reader = frictionless.read if frictionless.fits(content) else csvw.read if csvw.fits(content) else None
    if reader is not None:
        try:
            return reader(content, title)
        except (TypeError, ValueError, LookupError, AttributeError, ArithmeticError, RecursionError):
            raise IngestError(_ODD) from None
    raise IngestError(_SCHEMA if {"columns", "max_rows"} <= content.keys() else _UNKNOWN)


def _lines(text: str) -> Iterator[dict[str, object]]:
    """Lines of a REDCap dictionary, by headers in one spelling. Raises ``IngestError``."""
    try:
        heads = {sign: next(csv.reader(StringIO(text, newline=""), delimiter=sign), []) for sign in _DELIMITERS}
        delimiter = next((sign for sign, head in heads.items() if redcap.fits(head)), None)
        if delimiter is None:
            raise IngestError(_UNKNOWN)
        lines = csv.reader(StringIO(text, newline=""), delimiter=delimiter)
        headers = [redcap.plain_header(header) for header in next(lines)]
        return iter([dict(zip(headers, line, strict=False)) for line in lines])
    except csv.Error:
        raise IngestError(_NOT_CSV) from None
