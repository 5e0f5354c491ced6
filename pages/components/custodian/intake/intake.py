"""From uploaded files to a stored data set, in a form that loses nothing uploaded or typed.

The files and what was typed lie on the custodian's desk (:mod:`dpcore.workspace.files.staging`), so that
they are there again after another page, a reload or a new login. No file is read here: see
:mod:`dpcore.intake.process.uploads`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

import streamlit as st

from dpcore.errors import LossError, UncertainError
from dpcore.intake.columns import schema_rows
from dpcore.intake.columns.corrections import corrected
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.files.staging import DAYS, StagedFile, StagingArea
from pages.components.custodian import related_datasets
from pages.components.custodian.intake import (
    data_base,
    dictionary,
    intake_check,
    intake_form,
    intake_yaml,
    reading_choices,
    upload_reading,
)
from pages.components.custodian.intake.answers import Answers
from pages.components.custodian.intake.dictionary import FILE, FORM
from pages.components.custodian.intake.intake_begin import STATE, draft_of, key_chosen, read_beside, telling, write_down
from pages.components.custodian.intake.intake_draft import Draft
from pages.components.custodian.intake.intake_drafts import look_at
from pages.components.custodian.intake.intake_tables import (
    KEEP,
    TableDraft,
    Uploads,
    choose_tables,
    name_files,
    remembered,
)
from pages.components.custodian.intake.uploads import DATABASES, TYPES, files_at, is_database, question
from pages.components.custodian.workbench import ProfileRequest
from pages.components.kit import drawing
from pages.components.kit.markup import plain, text
from pages.components.visitor import access

if TYPE_CHECKING:
    from dpcore.domain.schemas.learnable_schema import LearnableSchema
    from dpcore.domain.schemas.schema import Schema
    from dpcore.intake.process.readers import Watch
    from dpcore.service import Service

    #: A schema, what becomes its tables, and a file to be joined, if there is one.
    Given = tuple[Schema | LearnableSchema, Any, Any]

_STORED = "stored-just-now"
#: Faults that are listed before the others.
_SEEN = 10


def render() -> None:
    """Upload, describe, store."""
    above = st.container()
    staging_area = access.service().staging_area()
    _, problem = access.attempt(staging_area.files)
    if problem is not None:
        st.error(problem)
        return
    question(staging_area)
    work = upload_reading.current()  # First: once it has ended, what it did is seen below.
    earlier: Draft | None = st.session_state.get(STATE)
    if earlier is not None and earlier.stored is not None:
        _start_afresh(earlier.stored, earlier.told)
    stored: tuple[DatasetInfo, str] | None = st.session_state.pop(_STORED, None)
    if stored is not None:
        with above:
            _confirm(*stored)
    if earlier is None:
        Draft.read(staging_area.notes())  # What was answered about files begins with what was noted.
    again = earlier is not None and bool(earlier.problem)
    uploads = _uploads(staging_area, again=again, busy=work is not None)
    if uploads is None and work is None:
        _forget()
        return
    with st.container():  # Always there, so that nothing below moves.
        draft = None if uploads is None or work else draft_of(staging_area, uploads)
    if draft is None or uploads is None:
        if work is None:
            st.rerun()  # It has begun just now: what stands above must not be changed meanwhile.
        upload_reading.wait(work)
        return
    if draft.problem:
        if earlier is not draft:
            st.rerun()  # So that there is a place for another file above.
        what = "This file" if len(uploads.all) == 1 else "These files"
        st.error(draft.problem, title=f"{what} cannot be used")
        return
    _describe_and_store(staging_area, uploads, draft)


def _describe_and_store(staging_area: StagingArea, uploads: Uploads, draft: Draft) -> None:
    further = related_datasets.ask_append()
    if further is None:
        _describe_anew(staging_area, uploads, draft)
    else:
        _append(staging_area, uploads, draft, further)
    _show_faults(draft)
    write_down(staging_area, draft)


def _append(staging_area: StagingArea, uploads: Uploads, draft: Draft, further: related_datasets.RowsToAppend) -> None:
    def given(_watch: Watch) -> Given:
        children = [] if uploads.database else draft.tables[1:]
        return further.dataset.schema, *uploads.source(further.dataset.schema.entity, children)

    def add(service: Service, given: Given, how: dict[str, Any]) -> DatasetInfo:
        chosen = {"right": given[2], "max_rows": further.max_rows, "tell": partial(setattr, draft, "told"), **how}
        return service.append_rows(further.dataset.id, given[1], **chosen)

    _say_how_it_is_read(draft)
    if intake_check.render(draft.findings, None) or further.go:
        draft.faults = []
        _keep(staging_area, uploads, draft, given, add, after=further.dataset.id)


def _say_how_it_is_read(draft: Draft) -> None:
    if draft.read_as:
        st.caption(f"Read as {plain(draft.read_as)}.")


def _describe_anew(staging_area: StagingArea, uploads: Uploads, draft: Draft) -> None:
    st.header("Describe it", anchor=False)
    _say_how_it_is_read(draft)
    st.session_state.update(draft.fresh)
    draft.fresh = {}
    way = st.segmented_control(
        "How do you want to describe the columns?",
        [FORM, FILE],
        required=True,
        key=remembered("intake-way", FORM),
        **KEEP,
    )
    if way == FORM:
        _by_form(staging_area, uploads, draft)
    else:
        _by_file(staging_area, uploads, draft)


def _uploads(staging_area: StagingArea, *, again: bool, busy: bool) -> Uploads | None:
    """The main file and those beside it; a database has none. Nothing changes while one is read."""
    label = "Data file (CSV, Excel, Parquet, SPSS, Stata, SAS, SQLite or DuckDB)"
    found = files_at(staging_area, "main", label, types=TYPES + DATABASES, again=again, busy=busy)
    st.caption(text("upload").format(days=DAYS))
    if not found or again:
        data_base.form(staging_area, found[0] if found else None, busy=busy)
    if not found:
        return None
    if is_database(found[0].name):
        return Uploads(found[0], None, [], [])
    reading_choices.render(found[0], busy=busy)
    more = any(kept.place != "main" for kept in staging_area.files())
    with st.expander("More files about the same people", expanded=more):
        return _beside(staging_area, found[0], again=again, busy=busy)


def _beside(staging_area: StagingArea, main: StagedFile, *, again: bool, busy: bool) -> Uploads:
    """The main file and what belongs to it."""
    second = files_at(
        staging_area,
        "second",
        "A second file about the same people (optional)",
        again=again,
        busy=busy,
        help=text("second_file"),
    )
    further = files_at(
        staging_area,
        "further",
        "Further tables about the same people (optional)",
        several=True,
        busy=busy,
        help=text("further_tables"),
    )
    more = files_at(
        staging_area,
        "more",
        "Further files of the same table (optional)",
        several=True,
        busy=busy,
        help=text("more_files"),
    )
    return Uploads(main, second[0] if second else None, further, more)


def _forget() -> None:
    """The desk is empty: forget what was typed, too."""
    for key in [key for key in st.session_state if str(key).startswith(STATE)]:
        del st.session_state[key]


def _confirm(stored: DatasetInfo, told: str) -> None:
    st.success(
        f"'{plain(stored.name)}' is stored, and the uploaded copy is deleted. It is selected in "
        "the sidebar; analysts can use it now.",
        title="Data set stored",
    )
    if told:
        st.info(plain(told))


def _by_form(staging_area: StagingArea, uploads: Uploads, draft: Draft) -> None:
    if draft.keys and not key_chosen(staging_area, uploads, draft):
        return
    if intake_form.unlike_form():
        st.info("The schema that you wrote says other things than this form. Nothing of it is lost: see above.")
    brought = dictionary.render(f"dictionary-{draft.file_ids[0]}")
    _say_notes(draft)
    main, *children = _tables(uploads, draft)
    if brought is not None:
        _from_dictionary(staging_area, uploads, draft, [main, *children], brought)
    if children:
        answers = intake_form.several_tables(main, children, draft.person)
    else:
        answers = intake_form.one_table(main, draft.person, joined=bool(draft.keys))
    if uploads.database:
        answers.content["entity"] = main.name
    answers.content = intake_yaml.completed(answers.content, draft.rest)
    names = {table.ident: "" if table is main else table.name for table in (main, *children)}
    draft.text = intake_yaml.text_of(answers.content, {names[ident]: rows for ident, rows in answers.rows.items()})
    if answers.wish is not None:
        _fill_in(staging_area, uploads, draft, answers.wish, draft.table(answers.wish_in), [main, *children])
    again = intake_check.render(draft.findings, lambda changes: _correct(draft, main, changes))
    if answers.store or again:
        _store(staging_area, uploads, draft, answers, children)


def _say_notes(draft: Draft) -> None:
    with drawing.placeholder():
        if draft.notes:
            st.info("\n".join(f"- {note}" for note in draft.notes))


def _correct(draft: Draft, main: TableDraft, changes: intake_check.Changes) -> NoReturn:
    """Take changes into the form."""
    for unit in (change["privacy_unit"] for change in changes.values() if "privacy_unit" in change):
        intake_form.name_person(draft, main, unit)
    for table in draft.tables:
        names = {name if table is main else f"{table.name}.{name}": name for name in table.now[schema_rows.NAME]}
        wanted = [{"name": names[place], **change} for place, change in changes.items() if place in names]
        if wanted:
            table.show(schema_rows.replaced(table.now, wanted))
    draft.findings = [finding for finding in draft.findings if finding.place not in changes]
    st.rerun()


def _tables(uploads: Uploads, draft: Draft) -> list[TableDraft]:
    """The tables to be described, the main one first."""
    if uploads.database:
        mark = draft.file_ids[0]
        places = choose_tables(draft.tables, draft.person, draft.main, mark)
        return [draft.tables[place] for place in places]
    if uploads.several:
        name_files(draft.tables[0], draft.tables[1:], with_main=True)
    return draft.tables


def _fill_in(
    staging_area: StagingArea,
    uploads: Uploads,
    draft: Draft,
    profile_request: ProfileRequest,
    table: TableDraft,
    tables: list[TableDraft],
) -> NoReturn:
    def look(_service: Service, watch: Watch) -> None:
        draft.faults, draft.notes = [], []
        with telling(staging_area, draft, draft.faults.append):
            found, notes = look_at(uploads, table, tables, draft.person, profile_request.types, watch)
            table.show(schema_rows.replaced(table.now, found))
            draft.notes = [plain(note) for note in notes]

    read_beside(staging_area, draft, "Looking at the values", look)


def _from_dictionary(
    staging_area: StagingArea,
    uploads: Uploads,
    draft: Draft,
    tables: list[TableDraft],
    brought: dictionary.UploadedFile,
) -> NoReturn:
    files = [] if uploads.several or uploads.second else uploads.paths

    def read(_service: Service, watch: Watch) -> None:
        draft.faults, draft.notes = [], []
        with telling(staging_area, draft, draft.faults.append):
            draft.notes = [plain(note) for note in dictionary.fill_in(draft, tables, brought, files, watch)]

    read_beside(staging_area, draft, "Reading the dictionary", read)


def _by_file(staging_area: StagingArea, uploads: Uploads, draft: Draft) -> None:
    children = [] if uploads.database else draft.tables[1:]
    if children:
        name_files(draft.tables[0], children, with_main=False)
    _say_notes(draft)
    answers = intake_form.from_text(draft.file_ids[0], draft.text)
    if answers.take_over:
        _take_over(staging_area, uploads, draft, answers)
    again = intake_check.render(draft.findings, lambda changes: _correct_text(staging_area, draft, answers, changes))
    if answers.store or again:
        _store(staging_area, uploads, draft, answers, children)


def _correct_text(staging_area: StagingArea, draft: Draft, answers: Answers, changes: intake_check.Changes) -> NoReturn:
    """Take changes into the text of the schema."""

    def read(_service: Service, watch: Watch) -> None:
        draft.faults = []
        with telling(staging_area, draft, draft.faults.append):
            wanted = answers.schema(watch)
            draft.fresh = {"intake-yaml": replace(wanted, schema=corrected(wanted.schema, changes)).to_yaml()}
            draft.findings = [finding for finding in draft.findings if finding.place not in changes]

    read_beside(staging_area, draft, "Reading the schema", read)


def _take_over(staging_area: StagingArea, uploads: Uploads, draft: Draft, answers: Answers) -> NoReturn:
    """Let the form say what the text says."""

    def read(_service: Service, watch: Watch) -> None:
        draft.faults = []
        with telling(staging_area, draft, draft.faults.append):
            intake_yaml.take_over(answers.schema(watch), draft, draft.tables, database=uploads.database)
            draft.fresh |= {"intake-way": FORM, **intake_form.NO_TEXT}

    read_beside(staging_area, draft, "Reading the schema", read)


def _store(
    staging_area: StagingArea,
    uploads: Uploads,
    draft: Draft,
    answers: Answers,
    children: list[TableDraft],
) -> None:
    draft.faults = [plain(fault) for fault in answers.faults]
    if draft.faults:
        return

    def given(watch: Watch) -> Given:
        wanted = answers.schema(watch)
        return wanted, *uploads.source(wanted.schema.entity, children)

    def add(service: Service, given: Given, how: dict[str, Any]) -> DatasetInfo:
        chosen = {"right": given[2], "public": answers.public, "tell": partial(setattr, draft, "told"), **how}
        return service.add_dataset(given[1], given[0], **answers.account, **chosen)

    _keep(staging_area, uploads, draft, given, add, **answers.shared)


def _keep(
    staging_area: StagingArea,
    uploads: Uploads,
    draft: Draft,
    given: Callable[[Watch], Given],
    add: Callable[[Service, Given, dict[str, Any]], DatasetInfo],
    **beside: str,
) -> None:
    """Store what was uploaded, beside the page; then it leaves the desk. Or say what would be lost.

    What it is ``beside`` is said as to :meth:`dpcore.service.Service.examine`.
    """
    accepted = intake_check.accepted()
    draft.findings, draft.uncertain = [], False

    def act(service: Service, watch: Watch) -> None:
        with telling(staging_area, draft, draft.faults.append):
            files = given(watch)
            try:
                draft.stored = add(service, files, {"accepted": accepted, "watch": watch})
            except LossError:
                draft.findings = service.examine(files[1], files[0], right=files[2], watch=watch, **beside)
                return
            except UncertainError:
                draft.uncertain = True
                raise
            staging_area.drop(*(file.file_id for file in uploads.all))

    write_down(staging_area, draft)
    with st.spinner("Checking and storing …"):
        work = upload_reading.begin("Checking and storing", act, with_form=False)
    if work.active or draft.stored is not None or draft.findings:
        st.rerun()


def _start_afresh(stored: DatasetInfo, told: str) -> NoReturn:
    """Empty the form, select what was stored, and say so when the page is next drawn."""
    access.choose_later(stored.id)
    st.session_state[_STORED] = stored, told
    _forget()
    st.rerun()


def _show_faults(draft: Draft) -> None:
    if draft.faults:
        first, more = draft.faults[:_SEEN], draft.faults[_SEEN:]
        listed = "\n".join(f"- {fault}" for fault in first)
        stored, title = ("", "Please look") if draft.uncertain else ("Nothing was stored. ", "Please correct")
        st.error(f"{stored}What you typed is kept.\n\n{listed}", title=title)
        if more:
            with st.expander(f"{len(more)} more"):
                st.markdown("\n".join(f"- {fault}" for fault in more))
