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
from collections.abc import Mapping
from pathlib import Path

from dpcore.domain.schemas.names import plain_name
from dpcore.errors import IngestError
from dpcore.intake.columns.guesses import IDENTIFIER, guess
from dpcore.intake.columns.identifiers import snake, suggest_person
from dpcore.intake.dictionaries import omop, stat_labels
from dpcore.intake.joins.joining import joint_columns
from dpcore.intake.joins.relations import Source, read_headers
from dpcore.intake.sources.files import declared_types, read_header
from dpcore.intake.sources.headers import TableHeader
from dpcore.intake.sources.parts import Files, parts_of


def suggest_schema(path: Files) -> dict[str, object]:
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


def suggest_joint_schema(left: Path, right: Path, key: str) -> dict[str, object]:
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


def suggest_relations(source: Source, entity: str, key: str | None) -> dict[str, object]:
    """Draft of the schema of several tables about the same people: see :func:`suggest_schema`.

    Parameters
    ----------
    source : mapping, str or Path
        See :func:`dpcore.intake.joins.relations.read_headers`.
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
        "columns": draft_columns(headers[entity], key, entity),
        "children": [
            {
                "name": name,
                "key": key if key in headers[name].columns else None,
                "columns": draft_columns(headers[name], key, name),
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
    numbers = [name for name in shared if IDENTIFIER.search(snake(name))]
    return suggest_person(shared) or next(iter(numbers), shared[0] if len(shared) == 1 else None)


def suggest_entity(headers: Mapping[str, TableHeader], key: str | None) -> str | None:
    """The table with one row per person, as far as declared keys and names can tell."""
    if len(headers) == 1 or key is None:
        return next(iter(headers)) if len(headers) == 1 else None
    stem = re.sub(r"_?(id|nr|nbr|number)$", "", snake(key))
    declared = [name for name, header in headers.items() if header.key == key]
    alike = [name for name in headers if snake(name) in {stem, f"{stem}s"}]
    return next((found[0] for found in (declared, alike) if len(found) == 1), None)


def draft_columns(header: TableHeader, key: str | None = None, table: str = "") -> list[dict[str, object]]:
    """Drafts of the columns of a table, in its order, without the key.

    A ``table`` of the OMOP common data model is known by its name and its column for the person.
    """
    of_omop = table.lower() in omop.TABLES and omop.PERSON in map(str.lower, header.columns)
    known = {column["name"]: column for column in omop.columns_of(table, header.columns)} if of_omop else {}
    return [known.get(name) or guess(name, declared) for name, declared in header.columns.items() if name != key]


def _drafts(path: Files, names: list[str]) -> list[dict[str, object]]:
    declared, labelled = declared_types(path), _labelled(path)
    return [labelled.get(name) or guess(name, declared.get(name)) for name in names]


def _labelled(path: Files) -> dict[str, dict[str, object]]:
    """What a file says of its columns itself, if it is one of SPSS, Stata or SAS."""
    [first, *_] = parts_of(path)
    told = stat_labels.columns_of(first.path) if first.kind in {"SPSS", "Stata", "SAS"} else {}
    return {plain_name(name): column | {"name": plain_name(name)} for name, column in told.items()}
