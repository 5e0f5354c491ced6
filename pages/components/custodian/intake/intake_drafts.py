"""First drafts of the form for new tables, from headers; and of one column, from its values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from dpcore.intake.columns import schema_rows
from dpcore.intake.process.uploads import ask, headers_of
from dpcore.intake.profile.suggestions import draft_columns, suggest_entity, suggest_key
from pages.components.custodian.intake.intake_tables import TableDraft, Uploads
from pages.components.custodian.intake.uploads import title_of

if TYPE_CHECKING:
    from dpcore.intake.process.readers import Watch
    from dpcore.workspace.files.staging import StagedFile


def new_table(uploads: Uploads, watch: Watch) -> tuple[TableDraft, str | None]:
    """Draft of a single file, and the column that probably names the person."""
    draft = ask("draft", uploads.paths, path=uploads.table, watch=watch)
    columns = ask("header", uploads.paths, path=uploads.table, watch=watch)
    return _table(uploads.main, columns, draft["columns"]), draft["person_column"]


def shared(uploads: Uploads, watch: Watch) -> list[str]:
    """Columns that two files have in common."""
    left, right = uploads.paths
    return list(ask("shared columns", [left, right], left=left, right=right, watch=watch))


def new_joined_table(uploads: Uploads, key: str, watch: Watch) -> TableDraft:
    """Draft of two files joined on the key."""
    left, right = uploads.paths
    draft = ask("joint draft", [left, right], left=left, right=right, key=key, watch=watch)
    columns = [key, *(column["name"] for column in draft["columns"])]
    return _table(uploads.main, columns, draft["columns"])


def _table(upload: StagedFile, columns: list[str], drafts: list[dict[str, Any]]) -> TableDraft:
    name = title_of(upload.name) or "table"
    rows = schema_rows.rows_of(drafts)
    return TableDraft(upload.file_id, upload.name, name, columns, rows)


def new_tables(uploads: Uploads, watch: Watch) -> tuple[list[TableDraft], str | None, int]:
    """Drafts of several tables, the probable key, and the place of the probable main one."""
    files = dict(zip(_names(uploads), uploads.paths, strict=True))
    headers = headers_of(uploads.main.path if uploads.database else files, watch)
    key = suggest_key(headers)
    names, mark = list(headers), uploads.main.file_id
    if uploads.database:
        origins = [(f"{mark}-{name}", name) for name in names]
        main = suggest_entity(headers, key)
    else:
        origins = [(upload.file_id, upload.name) for upload in uploads.all]
        main = names[0]
    tables = [
        TableDraft(*origin, name, list(header.columns), schema_rows.rows_of(draft_columns(header, None, name)))
        for origin, (name, header) in zip(origins, headers.items(), strict=True)
    ]
    return tables, key, names.index(main) if main else 0


def _names(uploads: Uploads) -> list[str]:
    """First names of the tables of files: those of the files, told apart by numbers."""
    names: list[str] = []
    for upload in uploads.all:
        first = name = title_of(upload.name) or "table"
        while name in names:
            name = f"{first}_{len(names) + 1}"
        names.append(name)
    return names


def look_at(
    uploads: Uploads,
    table: TableDraft,
    tables: list[TableDraft],
    key: str | None,
    types: Mapping[str, str | None],
    watch: Watch,
) -> tuple[list[dict[str, Any]], list[str]]:
    """Drafts of columns from their values, in one pass over them, and what there is to say about others.

    Parameters
    ----------
    tables : list of TableDraft
        All of them, the main one first.
    types : mapping
        By the names of the columns: the type that is wanted, ``None`` if the values decide.

    Raises
    ------
    IngestError
        If the columns cannot be read.
    """
    main, *children = tables
    source, right = uploads.source(main.name, children)
    place = {"table": table.name} if uploads.several else {"right": right, "key": key or ""} if right else {}
    looked = ask("look", uploads.paths, source=source, kinds=types, watch=watch, **place)
    return looked["columns"], looked["notes"]
