"""Exports of REDCap with repeating instruments or events: one file, whose rows are those of several tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pandas as pd

from dpcore.arrays import Values
from dpcore.domain.encoding import people_of
from dpcore.domain.schemas.names import is_name
from dpcore.errors import IngestError
from dpcore.intake.columns.identifiers import REPEATS
from dpcore.intake.dictionaries.drafts import Draft, sources_of
from dpcore.intake.process.readers import Watch
from dpcore.intake.process.uploads import ask
from dpcore.intake.sources.files import read_chunks, read_header
from dpcore.intake.sources.parts import Files

_INSTRUMENT, _INSTANCE = REPEATS
_EVENT: Final = "redcap_event_name"
_MOST: Final = 20
_NO_RECORDS = (
    "No column of the file has a value outside of repeating instruments, so nothing describes the records: export the "
    "other instruments, too."
)


@dataclass
class Repeat:
    """What repeats: which rows of the file are of it, and the columns that have a value there."""

    column: str
    value: str
    """``column``, ``value``: rows with this value in this column; both empty for the rows of records."""
    columns: list[str]


def is_repeating(header: list[str]) -> bool:
    """Whether columns are those of such an export."""
    return {*REPEATS} <= {*header}


def repeats_of(files: Files) -> list[Repeat]:
    """What repeats in a file, after the rows of records; columns are told apart by having values.

    Raises
    ------
    IngestError
        If the file cannot be read, or more repeats than a schema can say.
    """
    header = read_header(files)
    used: dict[tuple[str, str], set[str]] = {("", ""): set()}
    for chunk in read_chunks(files, None, numbers=None):
        for place, rows in chunk.groupby(_places(chunk), sort=False):
            filled = {str(name) for name in rows if people_of(rows[name]).notna().any()}
            used.setdefault(place, set()).update(filled)
        if len(used) > _MOST + 1:
            raise IngestError(f"More than {_MOST} instruments or events repeat: export those that matter.")
    own = {*REPEATS, _EVENT}
    found = [Repeat(*place, [name for name in header if name in names - own]) for place, names in used.items()]
    return found if len(found) > 1 else []


def _places(chunk: pd.DataFrame) -> Values:
    """Of each row the column and the value that say what repeats; empty texts for the rows of records."""
    instrument, instance = (people_of(chunk[name]) for name in REPEATS)
    event = people_of(chunk[_EVENT]) if _EVENT in chunk.columns else pd.Series([None] * len(chunk), dtype=object)
    places = [_place(*row) for row in zip(instrument, instance, event, strict=True)]
    return pd.Series(places, index=chunk.index, dtype=object)


def _place(instrument: str | None, instance: str | None, event: str | None) -> tuple[str, str]:
    if instrument is not None:
        return _INSTRUMENT, instrument
    return ("", "") if instance is None or event is None else (_EVENT, event)


def divide_repeats(draft: Draft, header: list[str], files: list[Path], watch: Watch | None = None) -> bool:
    """Make tables of what repeats in an export of REDCap; whether it is one. Raises ``IngestError``."""
    if not is_repeating(header):
        return False
    found = ask("repeats", files, path=files if len(files) > 1 else files[0], watch=watch)
    divide(draft, [Repeat(**each) for each in found])
    return bool(found)


def divide(draft: Draft, repeats: list[Repeat]) -> None:
    """Make a table of what repeats: the draft's columns go where they have values. Raises ``IngestError``."""
    if not repeats:
        return
    main, *further = repeats
    columns = draft.content["columns"]
    repeated = {name for repeat in further for name in repeat.columns}
    kept = [column for column in columns if not sources_of(column) <= repeated - {*main.columns}]
    if not kept:
        raise IngestError(_NO_RECORDS)
    draft.content["columns"] = kept
    unit = draft.content.setdefault("privacy_unit", {})
    unit["where"] = {"column": _INSTANCE}
    tables = [_table(repeat, columns) for repeat in further]
    draft.content["children"] = [table for table in tables if table["columns"]]
    names = ", ".join(f"'{table['name']}'" for table in draft.content["children"])
    draft.notes.append(
        f"The rows of what repeats are tables of their own: {names}. Their names, and which fields they have, were "
        "read off the data file and become public."
    )


def _table(repeat: Repeat, columns: list[dict[str, object]]) -> dict[str, object]:
    if not is_name(repeat.value):
        raise IngestError(f"'{repeat.value[:40]}' cannot be the name of a table: rename the instrument.")
    mine = [_plain(column) for column in columns if sources_of(column) <= {*repeat.columns}]
    where = {"column": repeat.column, "value": repeat.value}
    return {"name": repeat.value, "from_rows": True, "where": where, "columns": mine}


def _plain(column: Mapping[str, object]) -> dict[str, object]:
    return {name: value for name, value in column.items() if name not in {"target", "view"}}
