"""From uploaded files to a stored data set, in a form that loses nothing typed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NoReturn

import streamlit as st

from dpcore.errors import FrostglassError
from dpcore.requests import DatasetInfo
from dpcore.schema import Schema
from pages.components import access, intake_form, schema_rows
from pages.components.intake_drafts import look_at, new_joined_table, new_table, new_tables
from pages.components.intake_tables import TableDraft, Uploads, choose_tables, name_files
from pages.components.markup import plain
from pages.components.texts import text
from pages.components.uploads import DATABASES, TYPES, as_files, is_database

_STATE, _ROUND, _STORED = "intake", "intake-round", "intake-stored"
FORM, FILE = "Fill in a form", "Use a schema file (YAML or JSON)"


@dataclass
class Draft:
    """What the custodian has so far for one upload: names and typed text, no records.

    ``keys`` are the columns that two joined files have in common (none for others), ``main`` the
    place of the main one among the ``tables``.
    """

    file_ids: list[str]
    tables: list[TableDraft] = field(default_factory=list)
    main: int = 0
    keys: list[str] = field(default_factory=list)
    person: str | None = None
    problem: str = ""
    faults: list[str] = field(default_factory=list)
    stored: DatasetInfo | None = None
    #: A second click runs this page a second time, beside the first: one of them stores.
    storing: Lock = field(default_factory=Lock)

    def table(self, ident: str) -> TableDraft:
        """The table of this mark."""
        return next(table for table in self.tables if table.ident == ident)


def show() -> None:
    """Upload, describe, store."""
    earlier: Draft | None = st.session_state.get(_STATE)
    if earlier is not None and earlier.stored is not None:
        _start_afresh(earlier.stored)
    stored: DatasetInfo | None = st.session_state.pop(_STORED, None)
    if stored is not None:
        _confirm(stored)
    upload = st.file_uploader(
        "Data file (CSV, Parquet, SQLite or DuckDB)",
        type=[*TYPES, *DATABASES],
        key=f"upload-{st.session_state.get(_ROUND, 0)}",
    )
    st.caption(text("upload"))
    if upload is None:
        return
    uploads = _uploads(upload)
    draft = _draft_of(uploads)
    if draft.problem:
        what = "This file" if len(uploads.all) == 1 else "These files"
        st.error(draft.problem, title=f"{what} cannot be used")
        return
    st.header("Describe it", anchor=False)
    way = st.segmented_control(
        "How do you want to describe the columns?", [FORM, FILE], default=FORM, required=True,
        key="intake-way",
    )  # fmt: skip
    if way == FORM:
        _by_form(uploads, draft)
    else:
        _by_file(uploads, draft)
    _show_faults(draft)


def _uploads(upload: Any) -> Uploads:
    """The main file and those beside it; a database has none."""
    if is_database(upload.name):
        return Uploads(upload, None, [])
    second = st.file_uploader(
        "A second file about the same people (optional)",
        type=list(TYPES),
        key=f"upload-second-{st.session_state.get(_ROUND, 0)}",
        help=text("second_file"),
    )
    further = st.file_uploader(
        "Further tables about the same people (optional)",
        type=list(TYPES),
        accept_multiple_files=True,
        key=f"upload-further-{st.session_state.get(_ROUND, 0)}",
        help=text("further_tables"),
    )
    return Uploads(upload, second, list(further or ()))


def _confirm(stored: DatasetInfo) -> None:
    st.success(
        f"'{plain(stored.name)}' is stored, and the uploaded copy is deleted. It is selected in "
        "the sidebar; analysts can use it now.",
        title="Data set stored",
    )


def _draft_of(uploads: Uploads) -> Draft:
    """The draft of these uploads: made once, from the headers alone."""
    earlier: Draft | None = st.session_state.get(_STATE)
    ids = [upload.file_id for upload in uploads.all]
    if earlier is not None and earlier.file_ids == ids:
        return earlier
    draft = Draft(ids)
    if earlier is not None and earlier.file_ids[0] == ids[0]:
        draft.tables = earlier.tables
    draft.problem = access.attempt(lambda: _describe(uploads, draft))[1] or ""
    st.session_state[_STATE] = draft
    return draft


def _describe(uploads: Uploads, draft: Draft) -> None:
    """Draft the rows of the form from the headers. Raises ``IngestError``.

    What was answered about a column of the same name is kept.
    """
    uploads.check()
    known = {table.ident: table for table in draft.tables}
    if uploads.several:
        tables, draft.person, draft.main = new_tables(uploads)
        draft.tables = [table.after(known.get(table.ident)) for table in tables]
    elif uploads.second is None:
        table, draft.person = new_table(uploads)
        draft.tables = [table.after(known.get(table.ident))]
    else:
        _join(uploads, draft, None)


def _join(uploads: Uploads, draft: Draft, key: str | None) -> None:
    """Draft the columns of two files, joined on the key. Raises ``IngestError``."""
    from dpcore.joining import shared_columns
    from dpcore.suggestions import suggest_person

    with as_files(uploads.all) as paths:
        draft.keys = draft.keys or shared_columns(*paths)
    draft.person = key or suggest_person(draft.keys) or draft.keys[0]
    table = new_joined_table(uploads, draft.person)
    draft.tables = [table.after(draft.tables[0] if draft.tables else None)]


def _by_form(uploads: Uploads, draft: Draft) -> None:
    problem = _choose_key(uploads, draft) if draft.keys else ""
    if problem:
        st.error(problem, title="These files cannot be joined like this")
        return
    main, *children = _tables(uploads, draft)
    with st.form(f"intake-{draft.file_ids[0]}", enter_to_submit=False):
        if children:
            answers = intake_form.several_tables(main, children, draft.person)
        else:
            answers = intake_form.one_table(main, draft.person, joined=bool(draft.keys))
    if uploads.database:
        answers.content["entity"] = main.name
    for ident, rows in answers.rows.items():
        draft.table(ident).typed = rows
    if answers.suggest:
        _fill_in(uploads, draft, answers, [main, *children])
    if answers.store:
        _store(uploads, draft, answers, children)


def _tables(uploads: Uploads, draft: Draft) -> list[TableDraft]:
    """The tables to be described, the main one first."""
    if uploads.database:
        mark = draft.file_ids[0]
        places = choose_tables(draft.tables, draft.person, draft.main, mark)
        return [draft.tables[place] for place in places]
    if uploads.several:
        name_files(draft.tables[0], draft.tables[1:], with_main=True)
    return draft.tables


def _choose_key(uploads: Uploads, draft: Draft) -> str:
    """Ask what joins the two files, and draft anew if that changed; or say why not."""
    key = st.selectbox(
        "Column that says who is who, in both files",
        draft.keys,
        index=draft.keys.index(str(draft.person)),
        key=f"intake-key-{'-'.join(draft.file_ids)}",
        help=text("join_key"),
    )
    if key == draft.person:
        return ""
    return access.attempt(lambda: _join(uploads, draft, key))[1] or ""


def _fill_in(
    uploads: Uploads, draft: Draft, answers: intake_form.Answers, tables: list[TableDraft]
) -> None:
    table = draft.table(answers.suggest_in)
    wanted = (answers.suggest_for, answers.suggest_type)
    found, problem = access.attempt(lambda: look_at(uploads, table, tables, draft.person, *wanted))
    draft.faults = [problem] if problem else []
    rows = answers.rows[table.ident]
    table.show(rows if found is None else schema_rows.replace_row(rows, found))
    st.rerun()


def _by_file(uploads: Uploads, draft: Draft) -> None:
    children = [] if uploads.database else draft.tables[1:]
    if children:
        name_files(draft.tables[0], children, with_main=False)
    with st.form(f"intake-file-{draft.file_ids[0]}", enter_to_submit=False):
        answers = intake_form.from_file()
    if answers.store:
        _store(uploads, draft, answers, children)


def _store(
    uploads: Uploads, draft: Draft, answers: intake_form.Answers, children: list[TableDraft]
) -> None:
    draft.faults = [plain(fault) for fault in answers.faults]
    schema, problem = access.attempt(answers.schema)
    draft.faults += [problem] if problem and not answers.faults else []
    if draft.faults or schema is None:
        return
    with st.spinner("Checking and storing. A large file takes a few minutes …"):
        _store_once(draft, lambda: _add(uploads, schema, answers, children))
    if draft.stored is not None:
        _start_afresh(draft.stored)


def _store_once(draft: Draft, add: Callable[[], DatasetInfo]) -> None:
    """Store, or find it stored. Nothing of Streamlit is called here: it could stop the page."""
    with draft.storing:
        if draft.stored is not None:
            return
        try:
            draft.stored = add()
        except FrostglassError as mistake:
            draft.faults = [plain(str(mistake))]


def _start_afresh(stored: DatasetInfo) -> NoReturn:
    """Empty the form, select what was stored, and say so when the page is next drawn."""
    access.choose_later(stored.id)
    st.session_state[_STORED] = stored
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    st.session_state.pop(_STATE, None)
    st.rerun()


def _add(
    uploads: Uploads, schema: Schema, answers: intake_form.Answers, children: list[TableDraft]
) -> DatasetInfo:
    with uploads.as_source(schema.entity, children) as (source, right):
        return access.service().add_dataset(
            source,
            schema,
            right=right,
            budget=answers.budget,
            analyst_cap=answers.analyst_cap,
            run_cap=answers.run_cap,
            public=answers.public,
        )


def _show_faults(draft: Draft) -> None:
    if draft.faults:
        listed = "\n".join(f"- {fault}" for fault in draft.faults[:30])
        st.error(f"Nothing was stored. What you typed is kept.\n\n{listed}", title="Please correct")
