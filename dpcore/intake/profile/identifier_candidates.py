"""Columns of a file that may identify people, though its schema does not say so: they are read beside the others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from dpcore.arrays import Values
from dpcore.domain.encoding import people_of
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.intake.columns.identifiers import KEY, PERSON, REPEATS, THING, is_bare, is_identifying, rank
from dpcore.intake.joins.relations import Source, first_rows, main_header

#: Rows of which values are looked at to choose columns, and columns that are chosen at most.
_ROWS, _MOST = 5_000, 3


def identifier_candidates(schema: Schema, source: Source | pd.DataFrame, right: str | Path | None = None) -> list[str]:
    """Columns of the main table's file that may identify people, the likeliest first; those of REDCap's repeats, too.

    A file that cannot be read has none: whoever reads it wholly says what is wrong.
    """
    try:
        header = main_header(schema, source, right)
        others = [name for name in header if name != schema.privacy_unit.column]
        rows = _some(schema, source, right, others)
    except IngestError:
        return []
    stored = {name for column in schema.columns for name in (column.name, *column.sources)}
    likely = {
        name: rank(name) for name in others if name in rows and _may_identify(name, rows[name], stored=name in stored)
    }
    found = sorted(likely, key=lambda name: -likely[name])[:_MOST]
    return [*found, *(REPEATS if set(REPEATS) <= {*header} else ())]


def _some(schema: Schema, source: Any, right: str | Path | None, columns: list[str]) -> pd.DataFrame:
    """First rows of all columns, or of those that names tell of where one of the others cannot be read."""
    try:
        return first_rows(schema, source, right, columns, _ROWS)
    except IngestError:
        return first_rows(schema, source, right, [name for name in columns if rank(name) >= KEY], _ROWS)


def _may_identify(name: str, values: Values, *, stored: bool) -> bool:
    said = rank(name)
    if said == PERSON:
        return True
    if said == THING or stored:
        return False
    if is_bare(name):
        return True
    texts = people_of(values).value_counts()
    return is_identifying({str(text): int(count) for text, count in texts.items()})
