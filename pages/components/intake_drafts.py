"""First drafts of the form for new tables, from headers; and of one column, from its values."""

from __future__ import annotations

from typing import Any

from pages.components import schema_rows
from pages.components.intake_tables import TableDraft, Uploads
from pages.components.uploads import as_files, title_of


def new_table(uploads: Uploads) -> tuple[TableDraft, str | None]:
    """Draft of a single file, and the column that probably names the person."""
    from dpcore.files import read_header
    from dpcore.suggestions import suggest_schema

    with as_files(uploads.all) as (path,):
        draft, columns = suggest_schema(path), read_header(path)
    return _table(uploads.main, columns, draft["columns"]), draft["person_column"]


def new_joined_table(uploads: Uploads, key: str) -> TableDraft:
    """Draft of two files joined on the key."""
    from dpcore.suggestions import suggest_joint_schema

    with as_files(uploads.all) as (left, right):
        drafts = suggest_joint_schema(left, right, key)["columns"]
    return _table(uploads.main, [key, *(draft["name"] for draft in drafts)], drafts)


def _table(upload: Any, columns: list[str], drafts: list[dict[str, Any]]) -> TableDraft:
    name = title_of(upload.name) or "table"
    rows = schema_rows.rows_of(drafts)
    return TableDraft(upload.file_id, upload.name, name, columns, rows)


def new_tables(uploads: Uploads) -> tuple[list[TableDraft], str | None, int]:
    """Drafts of several tables, the probable key, and the place of the probable main one."""
    from dpcore.relations import read_headers
    from dpcore.suggestions import draft_columns, suggest_entity, suggest_key

    with as_files(uploads.all) as paths:
        names = _names(uploads)
        headers = read_headers(
            paths[0] if uploads.database else dict(zip(names, paths, strict=True))
        )
    key = suggest_key(headers)
    names, mark = list(headers), uploads.main.file_id
    if uploads.database:
        origins = [(f"{mark}-{name}", name) for name in names]
        main = suggest_entity(headers, key)
    else:
        origins = [(upload.file_id, upload.name) for upload in uploads.all]
        main = names[0]
    tables = [
        TableDraft(*origin, name, list(header.columns), schema_rows.rows_of(draft_columns(header)))
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
    column: str,
    kind: str | None,
) -> dict[str, Any]:
    """Draft of one column from its values; ``tables`` are all, the main one first.

    Raises
    ------
    IngestError
        If the column cannot be read, or has too many categories to list.
    """
    from dpcore.suggestions import suggest_column, suggest_joint_column, suggest_table_column

    main, *children = tables
    with uploads.as_source(main.name, children) as (source, right):
        if uploads.several:
            return suggest_table_column(source, table.name, column, kind)
        if right is None:
            return suggest_column(source, column, kind)
        return suggest_joint_column(source, right, str(key), column, kind)
