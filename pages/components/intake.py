"""From an uploaded file to a stored data set, in one form that never loses what was typed."""

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
from pages.components.uploads import TYPES, as_file

_STATE, _ROUND, _STORED = "intake", "intake-round", "intake-stored"
FORM, FILE = "Fill in a form", "Use a schema file (YAML or JSON)"


@dataclass
class Draft:
    """What the custodian has so far for one upload: names and typed text, no records."""

    file_id: str
    rows: pd.DataFrame | None = None
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
    draft = _draft_of(upload)
    if draft.problem:
        st.error(draft.problem, title="This file cannot be used")
        return
    st.header("Describe it", anchor=False)
    way = st.segmented_control(
        "How do you want to describe the columns?", [FORM, FILE], default=FORM, required=True,
        key="intake-way",
    )  # fmt: skip
    if way == FORM:
        _by_form(upload, draft)
    else:
        _by_file(upload, draft)
    _show_faults(draft)


def _confirm(stored: DatasetInfo) -> None:
    st.success(
        f"'{plain(stored.name)}' is stored, and the uploaded copy is deleted. It is selected in "
        "the sidebar; analysts can use it now.",
        title="Data set stored",
    )


def _draft_of(upload: Any) -> Draft:
    """The draft of this upload: made once, from the header alone."""
    draft: Draft | None = st.session_state.get(_STATE)
    if draft is not None and draft.file_id == upload.file_id:
        return draft
    draft = Draft(upload.file_id)
    suggestion, problem = access.attempt(lambda: _suggest_header(upload))
    if suggestion is None:
        draft.problem = problem or ""
    else:
        draft.rows = schema_rows.rows_of(suggestion["columns"])
        draft.person = suggestion["person_column"]
    st.session_state[_STATE] = draft
    return draft


def _suggest_header(upload: Any) -> dict[str, Any]:
    from dpcore.suggestions import suggest_schema

    if upload.size == 0:
        raise IngestError("The file is empty. Export it again and upload a file with data.")
    with as_file(upload, upload.name) as path:
        return suggest_schema(path)


def _by_form(upload: Any, draft: Draft) -> None:
    assert draft.rows is not None
    with st.form(f"intake-{upload.file_id}", enter_to_submit=False):
        answers = intake_form.everything(draft.rows, draft.person, draft.version)
    if answers.suggest:
        _fill_in(upload, draft, answers)
    if answers.store:
        _store(upload, draft, answers, lambda: answers.schema())


def _fill_in(upload: Any, draft: Draft, answers: intake_form.Answers) -> None:
    from dpcore.suggestions import suggest_column

    def look() -> dict[str, Any]:
        with as_file(upload, upload.name) as path:
            return suggest_column(path, answers.suggest_for, answers.suggest_type)

    draft.rows, draft.version = answers.rows, draft.version + 1
    found, problem = access.attempt(look)
    draft.faults = [problem] if problem else []
    if found is not None:
        draft.rows = schema_rows.replace_row(answers.rows, found)
    st.rerun()


def _by_file(upload: Any, draft: Draft) -> None:
    with st.form(f"intake-file-{upload.file_id}", enter_to_submit=False):
        answers = intake_form.from_file()
    if answers.store:
        _store(upload, draft, answers, lambda: answers.schema())


def _store(
    upload: Any, draft: Draft, answers: intake_form.Answers, schema_of: Callable[[], Schema]
) -> None:
    draft.faults = [plain(fault) for fault in answers.faults]
    schema, problem = access.attempt(schema_of)
    draft.faults += [problem] if problem and not answers.faults else []
    if draft.faults or schema is None:
        return
    with st.spinner("Checking and storing. A large file takes a few minutes …"):
        _store_once(upload, draft, schema, answers)
    if draft.stored is not None:
        _start_afresh(draft.stored)


def _store_once(upload: Any, draft: Draft, schema: Schema, answers: intake_form.Answers) -> None:
    """Store, or find it stored. Nothing of Streamlit is called here: it could stop the page."""
    with draft.storing:
        if draft.stored is not None:
            return
        try:
            draft.stored = _add(upload, schema, answers)
        except FrostglassError as mistake:
            draft.faults = [plain(str(mistake))]


def _start_afresh(stored: DatasetInfo) -> NoReturn:
    """Empty the form, select what was stored, and say so when the page is next drawn."""
    access.choose_later(stored.id)
    st.session_state[_STORED] = stored
    st.session_state[_ROUND] = st.session_state.get(_ROUND, 0) + 1
    st.session_state.pop(_STATE, None)
    st.rerun()


def _add(upload: Any, schema: Schema, answers: intake_form.Answers) -> DatasetInfo:
    with as_file(upload, upload.name) as path:
        return access.service().add_dataset(
            path,
            schema,
            budget=answers.budget,
            analyst_cap=answers.analyst_cap,
            run_cap=answers.run_cap,
            public=answers.public,
        )


def _show_faults(draft: Draft) -> None:
    if draft.faults:
        listed = "\n".join(f"- {fault}" for fault in draft.faults[:30])
        st.error(f"Nothing was stored. What you typed is kept.\n\n{listed}", title="Please correct")
