"""First drafts of a schema: from the header alone, or from the values if the custodian asks.

:func:`suggest_schema` reads names (and, for Parquet, declared types) only.
:func:`suggest_joint_schema` does so for two files that are joined, :func:`suggest_relations` for
several tables.
:func:`suggest_column` reads the values of one column; confirming its draft makes what it
found public, so a caller must say that first.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpcore.domain.columns import MAX_CATEGORIES, RESERVED, format_number
from dpcore.domain.encoding import MISSING_WORDS, NO_WORDS, YES_WORDS, texts_of
from dpcore.errors import IngestError
from dpcore.intake.files import is_parquet, parquet_types, read_chunks, read_header
from dpcore.intake.joining import joint_columns
from dpcore.intake.relations import Source, read_headers, read_table
from dpcore.intake.sql_files import TableHeader

PUBLICATION_WARNING = (
    "This reads the values of the column. If you confirm the suggestion, the categories, bounds "
    "or edges become public: anybody who sees the schema learns them."
)
#: An identifier of anything: of a person, but also of a visit, a ward or a device.
_IDENTIFIER = re.compile(r"(^|_)(patient|person|subject|member|beneficiary|customer|mrn|ssn)?_?(id|nr|number)$")
#: An identifier that says it is of a person; the first that fits is proposed.
_PERSON = (
    re.compile(r"(^|_)(patient|person|subject|member|beneficiary|customer|mrn|ssn)_?(id|nr|number)$"),
    re.compile(r"^id$"),
)
_YES_NO = re.compile(r"^(is|has|had|on|any)_|_(flag|yn)$|^(male|female|died|dead|deceased|readmitted)$")
_TEXT = re.compile(r"name|address|comment|note|text|date|time|phone|mail|zip|post_?code")
#: Well-known measurements, with bounds that any textbook gives.
_MEASUREMENTS: dict[str, dict[str, Any]] = {
    "age": {"type": "integer", "lower": 0, "upper": 110, "bins": 11, "unit": "years"},
    "bmi": {"type": "real", "lower": 10, "upper": 70, "bins": 12, "unit": "kg/m2"},
    "systolic": {"type": "integer", "lower": 60, "upper": 260, "bins": 10, "unit": "mmHg"},
    "diastolic": {"type": "integer", "lower": 30, "upper": 160, "bins": 13, "unit": "mmHg"},
    "heart_rate": {"type": "integer", "lower": 20, "upper": 220, "bins": 10, "unit": "1/min"},
    "weight": {"type": "real", "lower": 0, "upper": 250, "bins": 10, "unit": "kg"},
    "height": {"type": "real", "lower": 40, "upper": 220, "bins": 9, "unit": "cm"},
}


def suggest_schema(path: Path) -> dict[str, Any]:
    """Draft of a schema from column names alone; incomplete where only values could tell.

    Returns
    -------
    dict
        ``{"person_column": str or None, "columns": [{"name", "type", ...}, ...]}``. Types are
        one of boolean, categorical, ordinal, integer, real, or ``"leave out"`` for free text.

    Raises
    ------
    IngestError
        If the header cannot be read or used.
    """
    names = read_header(path)
    person = suggest_person(names)
    return {"person_column": person, "columns": _drafts(path, [n for n in names if n != person])}


def suggest_person(names: list[str]) -> str | None:
    """The first name that says it identifies a person, if there is one."""
    return next((name for kind in _PERSON for name in names if kind.search(_snake(name))), None)


def suggest_joint_schema(left: Path, right: Path, key: str) -> dict[str, Any]:
    """Draft of the schema of two files joined on ``key``: see :func:`suggest_schema`.

    Each column stands in the view of its file, under its name in the joined rows.

    Raises
    ------
    IngestError
        If a header cannot be used or the files cannot be joined on the key.
    """
    together = joint_columns(left, right, key)
    views = (("left", left, together.left), ("right", right, together.right))
    drafts = [
        draft | {"name": name, "view": view}
        for view, path, names in views
        for name, draft in zip(names, _drafts(path, list(names.values())), strict=True)
    ]
    return {"person_column": key, "columns": drafts}


def suggest_relations(source: Source, entity: str, key: str | None) -> dict[str, Any]:
    """Draft of the schema of several tables about the same people: see :func:`suggest_schema`.

    Parameters
    ----------
    source : mapping, str or Path
        See :func:`dpcore.intake.relations.read_headers`.
    entity : str
        The main table.
    key : str or None
        Column of the main table that identifies people; ``None`` if each row is one person.

    Returns
    -------
    dict
        ``{"entity": str, "person_column": str or None, "columns": [...], "children": [...],
        "left_out": [...]}``. Each child has ``name``, ``key`` (``None`` if it has no column of
        that name) and ``columns``. Left out are tables of a database that lack the key.

    Raises
    ------
    IngestError
        If something cannot be read, or there is no such table or key.
    """
    headers = read_headers(source)
    if entity not in headers or (key is not None and key not in headers[entity].columns):
        what = f"column '{key}' in the table '{entity}'" if entity in headers else "such table"
        raise IngestError(f"There is no {what}. Tables: {', '.join(list(headers)[:20])}.")
    others = [name for name in headers if name != entity]
    in_files = isinstance(source, Mapping)
    taken = [name for name in others if in_files or key in headers[name].columns]
    return {
        "entity": entity,
        "person_column": key,
        "columns": draft_columns(headers[entity], key),
        "children": [
            {
                "name": name,
                "key": key if key in headers[name].columns else None,
                "columns": draft_columns(headers[name], key),
            }
            for name in taken
        ],
        "left_out": [name for name in others if name not in taken],
    }


def suggest_key(headers: Mapping[str, TableHeader]) -> str | None:
    """The column that identifies people in several tables, as far as names can tell."""
    uses = Counter(name for header in headers.values() for name in header.columns)
    shared = [name for name, count in uses.most_common() if count > 1]
    if len(headers) == 1:
        return suggest_person(list(uses))
    numbers = [name for name in shared if _IDENTIFIER.search(_snake(name))]
    return suggest_person(shared) or next(iter(numbers), shared[0] if len(shared) == 1 else None)


def suggest_entity(headers: Mapping[str, TableHeader], key: str | None) -> str | None:
    """The table with one row per person, as far as declared keys and names can tell."""
    if len(headers) == 1 or key is None:
        return next(iter(headers)) if len(headers) == 1 else None
    stem = re.sub(r"_?(id|nr|number)$", "", _snake(key))
    declared = [name for name, header in headers.items() if header.key == key]
    alike = [name for name in headers if _snake(name) in {stem, f"{stem}s"}]
    return next((found[0] for found in (declared, alike) if len(found) == 1), None)


def draft_columns(header: TableHeader, key: str | None = None) -> list[dict[str, Any]]:
    """Drafts of the columns of a table, in its order, without the key."""
    return [_draft(name, declared) for name, declared in header.columns.items() if name != key]


def _drafts(path: Path, names: list[str]) -> list[dict[str, Any]]:
    declared = parquet_types(path) if is_parquet(path) else {}
    return [_draft(name, declared.get(name)) for name in names]


def _snake(name: str) -> str:
    return re.sub(r"\W+", "_", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name)).lower()


def _draft(name: str, declared: str | None) -> dict[str, Any]:
    plain = _snake(name)
    for word, fields in _MEASUREMENTS.items():
        if word in plain.split("_") or plain == word or (len(word) > 4 and word in plain):
            return {"name": name, **fields}
    if declared == "boolean" or _YES_NO.search(plain):
        return {"name": name, "type": "boolean"}
    if plain in {"sex", "gender"}:
        return {"name": name, "type": "categorical", "categories": ["female", "male"]}
    if declared in {"integer", "real"}:
        return {"name": name, "type": declared}
    if _TEXT.search(plain) or _IDENTIFIER.search(plain):
        return {"name": name, "type": "leave out"}
    return {"name": name, "type": "categorical"}


def suggest_column(path: Path, name: str, kind: str | None = None) -> dict[str, Any]:
    """Draft of one column from its values. See :data:`PUBLICATION_WARNING`.

    Parameters
    ----------
    kind : str or None
        Wanted type; ``None`` lets the values decide.

    Raises
    ------
    IngestError
        If the file or the column cannot be read, or has too many categories to list.
    """
    if name not in read_header(path):
        raise IngestError(f"The file has no column '{name}'.")
    return _draft_from(read_chunks(path, [name]), name, kind)


def suggest_table_column(source: Source, table: str, name: str, kind: str | None = None) -> dict[str, Any]:
    """Draft of one column of one of several tables: see :func:`suggest_column`.

    Raises
    ------
    IngestError
        If the table or the column cannot be read, or has too many categories to list.
    """
    return _draft_from(read_table(source, table, [name]), name, kind)


def _draft_from(chunks: Iterable[pd.DataFrame], name: str, kind: str | None) -> dict[str, Any]:
    texts = [text for chunk in chunks for text in texts_of(chunk[name])]
    known = pd.Series([text for text in texts if text.lower() not in MISSING_WORDS], dtype=object)
    if known.empty:
        raise IngestError(f"Every value of '{name}' is missing: leave the column out.")
    numbers = pd.to_numeric(known, errors="coerce").dropna()
    kind = kind or _guess(known, numbers)
    if kind == "boolean":
        return {"name": name, "type": kind}
    if kind in {"integer", "real"}:
        return {"name": name, "type": kind, **_numeric_fields(name, numbers, kind)}
    return {"name": name, "type": kind, "categories": _categories(name, known)}


def suggest_joint_column(left: Path, right: Path, key: str, name: str, kind: str | None = None) -> dict[str, Any]:
    """Draft of one column of two joined files, by its joined name: see :func:`suggest_column`.

    Raises
    ------
    IngestError
        If the files cannot be joined on the key, or the column cannot be read or listed.
    """
    view, inside = joint_columns(left, right, key).place(name)
    draft = suggest_column(left if view == "left" else right, inside, kind)
    return draft | {"name": name, "view": view}


def _guess(known: pd.Series[Any], numbers: pd.Series[Any]) -> str:
    distinct = set(known.str.lower().unique())
    if distinct <= YES_WORDS | NO_WORDS:
        return "boolean"
    if len(numbers) < 0.95 * len(known) or len(distinct) <= 5:
        return "categorical"
    return "integer" if (numbers == np.floor(numbers)).all() else "real"


def _categories(name: str, known: pd.Series[Any]) -> list[str]:
    found = sorted(set(known.unique()) - set(RESERVED))
    if len(found) > MAX_CATEGORIES:
        raise IngestError(
            f"'{name}' has more than {MAX_CATEGORIES} different values: it is not a category. "
            "Leave it out, or group its values first."
        )
    return found


def _numeric_fields(name: str, numbers: pd.Series[Any], kind: str) -> dict[str, Any]:
    if numbers.empty:
        raise IngestError(f"'{name}' holds no numbers: choose another type.")
    low, high = (_two_digits(float(numbers.quantile(q)), up=q > 0.5) for q in (0.005, 0.995))
    if kind == "integer":
        low, high = float(np.floor(low)), float(np.ceil(high))
    if low >= high:
        high = low + 1
    deciles = numbers.quantile(np.arange(0.1, 0.95, 0.1)).to_numpy()
    rounded = (np.floor(d) if kind == "integer" else float(f"{d:.3g}") for d in deciles)
    edges = [float(format_number(edge)) for edge in sorted(set(rounded)) if low <= edge < high]
    shape: dict[str, Any] = {"edges": edges} if edges else {"bins": 8}
    return {"lower": low, "upper": high, **shape}


def _two_digits(value: float, *, up: bool) -> float:
    """Round outward to two significant digits, so that no record's own value is a bound."""
    if value == 0:
        return 0.0
    unit = 10.0 ** (np.floor(np.log10(abs(value))) - 1)
    return float((np.ceil if up else np.floor)(value / unit) * unit)
