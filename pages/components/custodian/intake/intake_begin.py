"""From uploaded files to the draft of a form, read from their headers beside the page.

Whatever is read for a draft, here or later, is begun by :func:`read_beside` and told by :func:`telling`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, NoReturn

import streamlit as st

from dpcore.errors import FrostglassError
from dpcore.intake.columns.identifiers import suggest_person
from dpcore.intake.process.uploads import ask
from dpcore.workspace.files.staging import StagingArea
from pages.components.custodian.intake import reading_choices, upload_reading
from pages.components.custodian.intake.intake_draft import Draft
from pages.components.custodian.intake.intake_drafts import (
    new_joined_table,
    new_table,
    new_tables,
    shared,
)
from pages.components.custodian.intake.intake_tables import KEEP, Uploads, remembered
from pages.components.kit.markup import plain, text
from pages.components.visitor import access
from pages.components.visitor.background import Stopped

if TYPE_CHECKING:
    from dpcore.intake.process.readers import Watch
    from dpcore.service import Service

#: Where the draft is in the session; other things of the form begin with it.
STATE = "intake"
_STOPPED = "Reading was stopped."


def draft_of(staging_area: StagingArea, uploads: Uploads) -> Draft | None:
    """The draft of these uploads: made once, from the headers alone. ``None``: being made."""
    ids = [*(upload.file_id for upload in uploads.all), *reading_choices.marks()]
    known = _known_draft(staging_area, ids)
    if known is not None:
        return known
    earlier: Draft | None = st.session_state.get(STATE)
    draft = Draft(ids, answers=Draft.typed())
    if earlier is not None and earlier.file_ids[0] == ids[0]:
        draft.tables, draft.rest = earlier.tables, earlier.rest
    with st.spinner("Reading the header …"):
        work = _begin_describing(staging_area, uploads, draft)
    if not work.active and work.problem:  # Not even that could be noted.
        draft.problem, draft.noted = plain(work.problem), staging_area.notes()
        st.session_state[STATE] = draft
        return draft
    return None if upload_reading.current() else _known_draft(staging_area, ids)


def _known_draft(staging_area: StagingArea, ids: list[str]) -> Draft | None:
    """What this session or, later than it, another one has noted about these files."""
    mine: Draft | None = st.session_state.get(STATE)
    notes = staging_area.notes()
    if mine is None or mine.noted != notes:
        mine = _taken_up(mine, Draft.read(notes))
    if mine is None or mine.file_ids != ids:
        return None
    st.session_state[STATE] = mine
    return mine


def _taken_up(mine: Draft | None, noted: Draft | None) -> Draft | None:
    """What another session has noted, with what was typed in this one just now."""
    earlier = {table.ident: table for table in mine.tables} if mine is not None else {}
    for table in noted.tables if noted is not None else ():
        if table.ident in earlier:
            grid = st.session_state.get(earlier[table.ident].grid)
            table.take_up(earlier[table.ident], grid["edited_rows"] if grid else {})
    return noted


def _begin_describing(staging_area: StagingArea, uploads: Uploads, draft: Draft) -> upload_reading.Reading:
    def tell(problem: str) -> None:
        draft.problem = problem

    def describe(_service: Service, watch: Watch) -> None:
        with telling(staging_area, draft, tell, " Remove the file, or upload another one."):
            _describe(uploads, draft, watch)

    return upload_reading.begin("Reading the header", describe, with_form=bool(draft.tables))


def _describe(uploads: Uploads, draft: Draft, watch: Watch) -> None:
    """Draft the rows of the form from the headers. Raises ``IngestError``.

    What was answered about a column of the same name is kept.
    """
    uploads.check()
    draft.read_as = ask("describe", uploads.paths, path=uploads.main.path, watch=watch)
    known = {table.ident: table for table in draft.tables}
    if uploads.several:
        tables, draft.person, draft.main = new_tables(uploads, watch)
        draft.tables = [table.after(known.get(table.ident)) for table in tables]
    elif uploads.second is None:
        table, draft.person = new_table(uploads, watch)
        draft.tables = [table.after(known.get(table.ident))]
    else:
        _join(uploads, draft, None, watch)


def _join(uploads: Uploads, draft: Draft, key: str | None, watch: Watch) -> None:
    """Draft the columns of two files, joined on the key. Raises ``IngestError``."""
    draft.keys = draft.keys or shared(uploads, watch)
    chosen = key or suggest_person(draft.keys) or draft.keys[0]
    table = new_joined_table(uploads, chosen, watch)
    draft.person = chosen
    draft.tables = [table.after(draft.tables[0] if draft.tables else None)]


def key_chosen(staging_area: StagingArea, uploads: Uploads, draft: Draft) -> bool:
    """Ask what joins the two files; if that changed, draft again, or say why that cannot be."""
    key = st.selectbox(
        "Column that identifies people, in both files",
        draft.keys,
        key=remembered(f"intake-key-{'-'.join(draft.file_ids)}", draft.person, draft.keys),
        help=text("join_key"),
        **KEEP,
    )
    if key == draft.person:
        draft.refused = None
        return True
    if draft.refused is None or draft.refused[0] != key:
        _join_anew(staging_area, uploads, draft, key)
    st.error(draft.refused[1], title="These files are not joined by this column")
    if st.button("Try again", key="press-join-again"):
        _join_anew(staging_area, uploads, draft, key)
    return False


def _join_anew(staging_area: StagingArea, uploads: Uploads, draft: Draft, key: str) -> NoReturn:
    """Draft the columns of two files, joined on another key than before."""

    def tell(problem: str) -> None:
        draft.refused = key, problem

    def join(_service: Service, watch: Watch) -> None:
        with telling(staging_area, draft, tell):
            _join(uploads, draft, key, watch)

    draft.refused = None
    read_beside(staging_area, draft, "Reading the headers", join)


@contextmanager
def telling(staging_area: StagingArea, draft: Draft, tell: Callable[[str], None], advice: str = "") -> Iterator[None]:
    """What a reading does: why it failed is told, and what it found is noted."""
    try:
        yield
    except FrostglassError as mistake:
        tell(plain(_by_names(str(mistake), staging_area)))
    except Stopped:
        tell(_STOPPED + advice)
        raise
    except Exception:
        tell(upload_reading.Reading.failed + advice)
        raise
    finally:
        draft.note(staging_area)


def _by_names(told: str, staging_area: StagingArea) -> str:
    """A sentence with files called what they were called where they came from."""
    for kept in staging_area.files():
        told = told.replace(kept.path.name, kept.name)
    return told


def read_beside(
    staging_area: StagingArea, draft: Draft, what: str, action: Callable[[Service, Watch], None]
) -> NoReturn:
    """Read beside the page, with what is typed written down; then let what was found be drawn."""
    write_down(staging_area, draft)
    with st.spinner(f"{what} …"):
        upload_reading.begin(what, action)
    st.rerun()


def write_down(staging_area: StagingArea, draft: Draft) -> None:
    """Write down what is in the form, or warn that this cannot be done."""
    _, problem = access.attempt(lambda: draft.note(staging_area, Draft.typed()))
    if problem:
        st.warning(problem)
