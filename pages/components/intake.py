"""From one or two uploaded files to a stored data set, in a form that loses nothing typed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, NoReturn

import pandas as pd
import streamlit as st

from dpcore.errors import FrostglassError, IngestError
from dpcore.requests import DatasetInfo
from dpcore.schema import Schema
from pages.components import access, intake_form, schema_rows
from pages.components.markup import plain
from pages.components.texts import text
from pages.components.uploads import TYPES, as_files

_STATE, _ROUND, _STORED = "intake", "intake-round", "intake-stored"
FORM, FILE = "Fill in a form", "Use a schema file (YAML or JSON)"


@dataclass
class Draft:
    """What the custodian has so far for one upload: names and typed text, no records.

    ``keys`` are the columns that two files have in common (none for one file), ``typed`` the rows
    of the form as they were last answered.
    """

    file_ids: list[str]
    keys: list[str] = field(default_factory=list)
    rows: pd.DataFrame | None = None
    typed: pd.DataFrame | None = None
    person: str | None = None
    problem: str = ""
    faults: list[str] = field(default_factory=list)
    version: int = 0
    stored: DatasetInfo | None = None
    #: A second click runs this page a second time, beside the first: one of them stores.
    storing: Lock = field(default_factory=Lock)


def show() -> None:
    """Upload, describe, store."""
    earlier: Draft | None = st.session_state.get(_STATE)
    if earlier is not None and earlier.stored is not None:
        _start_afresh(earlier.stored)
    stored: DatasetInfo | None = st.session_state.pop(_STORED, None)
    if stored is not None:
        _confirm(stored)
    upload = st.file_uploader(
        "Data file (CSV or Parquet)",
        type=list(TYPES),
        key=f"upload-{st.session_state.get(_ROUND, 0)}",
    )
    st.caption(text("upload"))
    if upload is None:
        return
    second = st.file_uploader(
        "A second file about the same people (optional)",
        type=list(TYPES),
        key=f"upload-second-{st.session_state.get(_ROUND, 0)}",
        help=text("second_file"),
    )
    uploads = [upload] if second is None else [upload, second]
    draft = _draft_of(uploads)
    if draft.problem:
        what = "This file" if second is None else "These files"
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


def _confirm(stored: DatasetInfo) -> None:
    st.success(
        f"'{plain(stored.name)}' is stored, and the uploaded copy is deleted. It is selected in "
        "the sidebar; analysts can use it now.",
        title="Data set stored",
    )


def _draft_of(uploads: list[Any]) -> Draft:
    """The draft of these uploads: made once, from the headers alone."""
    earlier: Draft | None = st.session_state.get(_STATE)
    ids = [upload.file_id for upload in uploads]
    if earlier is not None and earlier.file_ids == ids:
        return earlier
    draft = Draft(ids)
    if earlier is not None and earlier.file_ids[0] == ids[0]:
        draft.typed, draft.version = earlier.typed, earlier.version
    keys, problem = access.attempt(lambda: _keys(uploads))
    draft.keys = keys or []
    draft.problem = problem or _describe(uploads, draft, None)
    st.session_state[_STATE] = draft
    return draft


def _keys(uploads: list[Any]) -> list[str]:
    from dpcore.joining import shared_columns

    for which, upload in zip(("", "second "), uploads, strict=False):
        if upload.size == 0:
            raise IngestError(
                f"The {which}file is empty. Export it again and upload a file with data."
            )
    if len(uploads) == 1:
        return []
    with as_files(uploads) as (left, right):
        return shared_columns(left, right)


def _describe(uploads: list[Any], draft: Draft, key: str | None) -> str:
    """Draft the rows of the form from the headers, two files joined on ``key``; or say why not.

    What was answered about a column of the same name is kept.
    """
    suggestion, problem = access.attempt(lambda: _suggest_headers(uploads, draft.keys, key))
    if suggestion is not None:
        rows = schema_rows.rows_of(suggestion["columns"])
        kept = draft.typed is not None
        draft.rows = schema_rows.carry_over(rows, draft.typed) if kept else rows
        draft.person, draft.version = suggestion["person_column"], draft.version + 1
    return problem or ""


def _suggest_headers(uploads: list[Any], keys: list[str], key: str | None) -> dict[str, Any]:
    from dpcore.suggestions import suggest_joint_schema, suggest_person, suggest_schema

    with as_files(uploads) as paths:
        if len(paths) == 1:
            return suggest_schema(paths[0])
        return suggest_joint_schema(*paths, key or suggest_person(keys) or keys[0])


def _by_form(uploads: list[Any], draft: Draft) -> None:
    problem = _choose_key(uploads, draft) if draft.keys else ""
    if problem:
        st.error(problem, title="These files cannot be joined like this")
        return
    assert draft.rows is not None
    with st.form(f"intake-{draft.file_ids[0]}", enter_to_submit=False):
        answers = intake_form.everything(
            draft.rows, draft.person, draft.version, joined=bool(draft.keys)
        )
    draft.typed = answers.rows
    if answers.suggest:
        _fill_in(uploads, draft, answers)
    if answers.store:
        _store(uploads, draft, answers, lambda: answers.schema())


def _choose_key(uploads: list[Any], draft: Draft) -> str:
    """Ask what joins the two files, and draft anew if that changed; or say why not."""
    key = st.selectbox(
        "Column that says who is who, in both files",
        draft.keys,
        index=draft.keys.index(str(draft.person)),
        key=f"intake-key-{'-'.join(draft.file_ids)}",
        help=text("join_key"),
    )
    return "" if key == draft.person else _describe(uploads, draft, key)


def _fill_in(uploads: list[Any], draft: Draft, answers: intake_form.Answers) -> None:
    from dpcore.suggestions import suggest_column, suggest_joint_column

    def look() -> dict[str, Any]:
        wanted = (answers.suggest_for, answers.suggest_type)
        with as_files(uploads) as paths:
            if len(paths) == 1:
                return suggest_column(paths[0], *wanted)
            return suggest_joint_column(*paths, str(draft.person), *wanted)

    draft.rows, draft.version = answers.rows, draft.version + 1
    found, problem = access.attempt(look)
    draft.faults = [problem] if problem else []
    if found is not None:
        draft.rows = schema_rows.replace_row(answers.rows, found)
    st.rerun()


def _by_file(uploads: list[Any], draft: Draft) -> None:
    with st.form(f"intake-file-{draft.file_ids[0]}", enter_to_submit=False):
        answers = intake_form.from_file()
    if answers.store:
        _store(uploads, draft, answers, lambda: answers.schema())


def _store(
    uploads: list[Any],
    draft: Draft,
    answers: intake_form.Answers,
    schema_of: Callable[[], Schema],
) -> None:
    draft.faults = [plain(fault) for fault in answers.faults]
    schema, problem = access.attempt(schema_of)
    draft.faults += [problem] if problem and not answers.faults else []
    if draft.faults or schema is None:
        return
    with st.spinner("Checking and storing. A large file takes a few minutes …"):
        _store_once(uploads, draft, schema, answers)
    if draft.stored is not None:
        _start_afresh(draft.stored)


def _store_once(
    uploads: list[Any], draft: Draft, schema: Schema, answers: intake_form.Answers
) -> None:
    """Store, or find it stored. Nothing of Streamlit is called here: it could stop the page."""
    with draft.storing:
        if draft.stored is not None:
            return
        try:
            draft.stored = _add(uploads, schema, answers)
        except FrostglassError as mistake:
            draft.faults = [plain(str(mistake))]


def _start_afresh(stored: DatasetInfo) -> NoReturn:
    """Empty the form, select what was stored, and say so when the page is next drawn."""
    access.choose_later(stored.id)
    st.session_state[_STORED] = stored
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    st.session_state.pop(_STATE, None)
    st.rerun()


def _add(uploads: list[Any], schema: Schema, answers: intake_form.Answers) -> DatasetInfo:
    with as_files(uploads) as paths:
        return access.service().add_dataset(
            paths[0],
            schema,
            right=paths[1] if len(paths) > 1 else None,
            budget=answers.budget,
            analyst_cap=answers.analyst_cap,
            run_cap=answers.run_cap,
            public=answers.public,
        )


def _show_faults(draft: Draft) -> None:
    if draft.faults:
        listed = "\n".join(f"- {fault}" for fault in draft.faults[:30])
        st.error(f"Nothing was stored. What you typed is kept.\n\n{listed}", title="Please correct")
