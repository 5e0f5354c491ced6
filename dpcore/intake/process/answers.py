"""What the program that reads uploads answers: one function for each question."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pandas as pd

from dpcore.domain.schemas.learnable_schema import LearnableSchema
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.intake.dictionaries.reading import read_dictionary
from dpcore.intake.joins.joining import join_key, joint_columns, shared_columns
from dpcore.intake.joins.relations import check_headers, read_headers
from dpcore.intake.process.repeats import repeats_of
from dpcore.intake.process.storing import counted_rows, examine_table, store_table
from dpcore.intake.profile.column_profiles import profile_columns
from dpcore.intake.profile.suggestions import suggest_joint_schema, suggest_relations, suggest_schema
from dpcore.intake.sources.files import describe, read_header
from dpcore.intake.sources.parts import is_database
from dpcore.intake.sources.sheets import sheet_names
from dpcore.intake.sources.sql_files import database_description
from dpcore.released.learning_plan import LearningPlan

#: What a form may be made of: the page that draws it has no limits of its own.
_MOST_TABLES, _MOST_COLUMNS = 100, 3000
_TOO_MANY = (
    f"A form can be made for at most {_MOST_TABLES} tables with {_MOST_COLUMNS} columns in all. "
    "Export the tables that matter to a file of their own, or use the command line with a schema "
    "file."
)

Tell = Callable[[str, int], None]
#: Files as a question names them: one, several that follow each other, or one for each table.
_Named = str | list[str] | dict[str, str]


def _source(source: _Named) -> Any:
    """Files as they were named in a question."""
    if isinstance(source, dict):
        return {name: Path(path) for name, path in source.items()}
    return [Path(path) for path in source] if isinstance(source, list) else Path(source)


def _header(_: Tell, path: _Named) -> list[str]:
    return read_header(_source(path))


def _describe(_: Tell, path: _Named) -> str:
    source = _source(path)
    return database_description(source) if isinstance(source, Path) and is_database(source) else describe(source)


def _sheets(_: Tell, path: str) -> list[str]:
    return sheet_names(Path(path))


def _headers(_: Tell, source: _Named) -> dict[str, object]:
    headers = read_headers(_source(source))
    columns = sum(len(header.columns) for header in headers.values())
    if len(headers) > _MOST_TABLES or columns > _MOST_COLUMNS:
        raise IngestError(_TOO_MANY)
    return {name: asdict(header) for name, header in headers.items()}


def _shared_columns(_: Tell, left: str, right: str) -> list[str]:
    return shared_columns(Path(left), Path(right))


def _draft(_: Tell, path: _Named) -> dict[str, object]:
    return suggest_schema(_source(path))


def _joint_draft(_: Tell, left: str, right: str, key: str) -> dict[str, object]:
    return suggest_joint_schema(Path(left), Path(right), key)


def _relations_draft(_: Tell, source: _Named, entity: str, key: str | None) -> dict[str, object]:
    return suggest_relations(_source(source), entity, key)


def _look(
    tell: Tell,
    source: _Named,
    kinds: dict[str, str | None],
    table: str | None = None,
    right: str | None = None,
    key: str = "",
) -> dict[str, object]:
    second = None if right is None else Path(right)

    def counted(pieces: Iterator[pd.DataFrame]) -> Iterator[pd.DataFrame]:
        return counted_rows(pieces, tell, table or "")

    return asdict(profile_columns(_source(source), kinds, table=table, right=second, key=key, counted=counted))


def _dictionary(_: Tell, path: str, title: str = "") -> dict[str, object]:
    return asdict(read_dictionary(Path(path), title))


def _repeats(_: Tell, path: _Named) -> list[dict[str, object]]:
    return [asdict(repeat) for repeat in repeats_of(_source(path))]


def _schema(_: Tell, text: str) -> dict[str, object]:
    return LearnableSchema.from_text(text).content()


def _check(_: Tell, source: _Named, schema: str) -> None:
    check_headers(Schema.model_validate_json(schema), _source(source))


def _check_joint(_: Tell, left: str, right: str, schema: str) -> None:
    declared = Schema.model_validate_json(schema)
    together = joint_columns(Path(left), Path(right), join_key(declared))
    for name in declared.file_columns:
        together.place(name)


def _examine(
    tell: Tell, source: _Named, schema: str, right: str | None = None, after: str | None = None
) -> list[dict[str, object]]:
    declared, second = Schema.model_validate_json(schema), None if right is None else Path(right)
    before = None if after is None else Path(after)
    found = examine_table(declared, _source(source), second, after=before, tell=tell)
    return [finding.written() for finding in found]


def _store(
    tell: Tell,
    source: _Named,
    schema: str,
    folder: str,
    accepted: list[str],
    right: str | None = None,
    keep: bool = False,
    after: str | None = None,
    learning: dict[str, object] | None = None,
) -> str:
    declared = Schema.model_validate_json(schema)
    return store_table(
        Path(folder),
        declared,
        _source(source),
        None if right is None else Path(right),
        accepted=accepted,
        keep=keep,
        after=None if after is None else Path(after),
        plan=None if learning is None else LearningPlan.read(declared, learning),
        tell=tell,
    )


#: Every question by its name: (tell, further values) -> what JSON can hold.
ANSWERS: Mapping[str, Callable[..., object]] = {
    "header": _header,
    "describe": _describe,
    "sheets": _sheets,
    "headers": _headers,
    "shared columns": _shared_columns,
    "draft": _draft,
    "joint draft": _joint_draft,
    "relations draft": _relations_draft,
    "look": _look,
    "dictionary": _dictionary,
    "repeats": _repeats,
    "schema": _schema,
    "check": _check,
    "check joint": _check_joint,
    "examine": _examine,
    "store": _store,
}
