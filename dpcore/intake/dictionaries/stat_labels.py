"""What files of SPSS, Stata and SAS say of their columns beside the rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from dpcore.intake.columns.guesses import LEFT_OUT
from dpcore.intake.dictionaries.dictionary_tables import TableDescription, draft_of_tables
from dpcore.intake.dictionaries.drafts import NO_RANGE, TEXT, Draft, column_texts, listed
from dpcore.intake.sources.stat_files import ColumnNote, dictionary_of

FORM: Final = "labels of an SPSS, Stata or SAS file"


def read(path: Path, title: str) -> Draft:
    """The draft of a file; no row of it is read. Raises ``IngestError``."""
    return draft_of_tables(FORM, {"name": title}, None, [_table(path)])


def columns_of(path: Path) -> dict[str, dict[str, object]]:
    """The columns of a file that it describes, by their names, as far as it does. Raises ``IngestError``."""
    return {column["name"]: column for column in _table(path).gathered(None).columns}


def _table(path: Path) -> TableDescription:
    notes: list[Mapping[str, object]] = [{"note": note} for note in dictionary_of(path)]
    return TableDescription("", notes, lambda field: _column(field["note"]), [])


def _column(note: ColumnNote) -> dict[str, object]:
    return column_texts(note.name, note.label) | _facts(note)


def _facts(note: ColumnNote) -> dict[str, object]:
    if note.kind == "date":
        return {LEFT_OUT: NO_RANGE}
    codes = [code for code in note.values if code not in note.missing]
    measured = note.measure == "scale" or len(codes) == 1  # A label for one value, such as 0 or 90 and older.
    if codes and not (note.kind == "number" and measured):
        return listed(codes, note.values, note.missing, "ordinal" if note.measure == "ordinal" else "categorical")
    absent = {"missing_codes": list(note.missing)}
    return absent | {"type": ("integer" if note.whole else "real") if note.kind == "number" else TEXT}
