"""The fields of the form for a new data set, and what was answered."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dpcore.errors import BudgetError
from dpcore.intake.columns import schema_columns, schema_rows
from dpcore.privacy.budgets import parse_delta, parse_epsilon, parse_limit
from pages.components.custodian import learning, related_datasets, workbench
from pages.components.custodian.intake import intake_check
from pages.components.custodian.intake.answers import Answers
from pages.components.custodian.intake.intake_draft import Draft
from pages.components.custodian.intake.intake_tables import (
    KEEP,
    TableDraft,
    first_key,
    naming_faults,
    remembered,
)
from pages.components.custodian.intake.uploads import let_go, receive
from pages.components.kit import drawing
from pages.components.kit.markup import plain, text
from pages.components.visitor import login

if TYPE_CHECKING:
    pass

#: Bytes of a schema file.
MAX_SCHEMA = 2_000_000
_UNREADABLE = "intake-schema-unreadable"
#: The text of the schema as the form last said it.
_WRITTEN = "intake-yaml-written"
#: Answers by which the text is again what the form says.
NO_TEXT = {"intake-yaml": "", _WRITTEN: ""}
#: Which of a person's rows are kept, by what a schema calls it.
_KEEPS = {"random": "Any, by chance", "first": "The first", "last": "The last"}
TOTAL, PER_RUN = "Total ε", "Per run (empty: no limit)"
DELTA = "δ of the total (empty: from the row limit)"
PER_ANALYST = "Per analyst (empty: no limit, 0: only those with a grant)"
#: Fields of the form for the main one of several tables, for a further one, for a single one.
_MAIN = tuple(schema_rows.FIELDS)
_CHILD = tuple(name for name in _MAIN if name not in {schema_rows.TARGET, schema_rows.SIDE})
_ALONE = tuple(name for name in _MAIN if name != schema_rows.GROUPS)


def one_table(main: TableDraft, person: str | None, *, joined: bool) -> Answers:
    """The whole form: name, columns, person, limits, budget.

    With two files that are ``joined`` on it, the column of the person is settled.
    """
    answers = Answers()
    names = _names(answers)
    st.subheader("Columns (public)", anchor=False)
    _explain()
    rows = _columns(answers, main, _ALONE, person)
    unit = _joined_unit(person, main) if joined else _unit(rows, person, main)
    columns, faults = schema_columns.columns_of(rows, key=unit["column"])
    answers.faults += faults
    answers.content = names | {"privacy_unit": unit, **_limits(answers), "columns": columns}
    return _finish(answers)


def several_tables(main: TableDraft, children: list[TableDraft], person: str | None) -> Answers:
    """The same for a main table and further ones, each in a tab of its own."""
    answers = Answers()
    answers.faults += naming_faults([main.name, *(child.name for child in children)])
    names = _names(answers)
    st.subheader("Columns (public)", anchor=False)
    _explain()
    st.markdown(text("groups"))
    first, *others = st.tabs([plain(table.name) or "?" for table in (main, *children)])
    with first:
        key = _main_key(answers, main, person)
        rows = _columns(answers, main, _MAIN, key)
    columns, faults = schema_columns.columns_of(rows, main.name, key)
    answers.faults += faults
    described: list[dict[str, Any]] = []
    for place, child in zip(others, children, strict=True):
        with place:
            described.append(_child(answers, child, key))
            with drawing.placeholder():
                answers.faults += intake_check.ask(child, children, described[-1])
    answers.faults += intake_check.tell_apart(described)
    st.subheader("Who is protected", anchor=False)
    st.markdown(text("unit_tables"))
    with drawing.placeholder():
        _also(main)
    answers.content = names | {
        "entity": main.name,
        "privacy_unit": {"column": key, "max_rows_per_person": 1, **main.rest},
        **_limits(answers),
        "columns": columns,
        "children": described,
    }
    return _finish(answers)


def _explain() -> None:
    st.markdown(text("columns"))
    with st.expander("How to describe columns"):
        st.markdown(text("columns_how"))


def _finish(answers: Answers) -> Answers:
    _budget(answers)
    learning.ask(answers)
    answers.store = _store_button()
    return answers


def _main_key(answers: Answers, main: TableDraft, person: str | None) -> str | None:
    key: str | None = st.selectbox(
        "Column that identifies people",
        main.columns,
        key=remembered(f"intake-main-key-{main.ident}", first_key(main, person), main.columns),
        placeholder="Choose a column",
        help="One row per person here; further tables name the person in a column too. It is never stored.",
        **KEEP,
    )
    if key is None:
        answers.faults.append(f"Table '{main.name}': choose the column that identifies people.")
    return key


def _child(answers: Answers, child: TableDraft, main_key: str | None) -> dict[str, Any]:
    """One further table: its key, how many rows are kept, its columns."""
    left, right = st.columns(2)
    key = left.selectbox(
        "Column that says whose row it is",
        child.columns,
        key=remembered(f"intake-child-key-{child.ident}", first_key(child, main_key), child.columns),
        placeholder="Choose a column",
        help="It holds the same values as the key of the main table. It is never stored.",
        **KEEP,
    )
    kept = right.number_input(
        "Rows kept per person, at most",
        1,
        1000,
        None,
        1,
        key=f"intake-kept-{child.ident}",
        placeholder="for example 10",
        help=text("rows_kept"),
        **KEEP,
    )
    if key is None:
        answers.faults.append(f"Table '{child.name}': choose the column that says whose row it is.")
    if kept is None:
        answers.faults.append(f"Table '{child.name}': give the rows kept per person.")
    with drawing.placeholder():
        _also(child)
    rows = _columns(answers, child, _CHILD, key)
    columns, faults = schema_columns.columns_of(rows, child.name, key)
    answers.faults += faults
    plain_columns = [
        {name: value for name, value in column.items() if name not in {"target", "view"}} for column in columns
    ]
    return {
        "name": child.name,
        "key": None if key == main_key else key,
        "max_rows_per_person": int(kept or 1),
        **child.rest,
        "columns": plain_columns,
    }


def from_text(place: str, written: str) -> Answers:
    """The short form: a schema as text or file, and the budget.

    Parameters
    ----------
    written : str
        What the form says, as text. It stands there until it is written over.
    """
    answers = Answers()
    above = st.container()
    files = receive("or a schema file", f"schema-{place}", types=("yaml", "yml", "json"))
    if files:
        _take_over(place, files)
    with above:
        if st.session_state.get("intake-yaml", "") == st.session_state.get(_WRITTEN, ""):
            st.session_state["intake-yaml"] = st.session_state[_WRITTEN] = written
        entry = st.text_area("Schema (YAML or JSON)", key="intake-yaml", height=420, **KEEP)
        answers.schema_text = entry
        with st.container(horizontal=True):
            answers.take_over = st.button(
                "Take it over into the form", icon=":material/table_edit:", disabled=not unlike_form()
            )
            st.download_button(
                "Download", entry, "schema.yaml", "text/yaml", icon=":material/download:", on_click="ignore"
            )
    with st.container():
        if _UNREADABLE in st.session_state:
            st.error(st.session_state[_UNREADABLE])
    return _finish(answers)


def unlike_form() -> bool:
    """Whether the text says something that was written over what the form says."""
    entry = str(st.session_state.get("intake-yaml", ""))
    return bool(entry.strip()) and entry != st.session_state.get(_WRITTEN, "")


def _take_over(place: str, files: list[Any]) -> None:
    """Put the text of a schema file where one may be typed."""
    st.session_state.pop(_UNREADABLE, None)
    try:
        if files[0].size > MAX_SCHEMA:
            raise ValueError
        st.session_state["intake-yaml"] = files[0].getvalue().decode("utf-8-sig")
    except ValueError:
        st.session_state[_UNREADABLE] = (
            "The schema file is not UTF-8 text. Save it as UTF-8 and try again."
            if files[0].size <= MAX_SCHEMA
            else "The schema file is larger than 2 MB, which no schema needs."
        )
    let_go(f"schema-{place}", files)
    st.rerun()


def _names(answers: Answers) -> dict[str, Any]:
    name = st.text_input("Name of the data set (public)", key="intake-name", **KEEP)
    description = st.text_area(
        "Description (public)",
        key="intake-description",
        height=80,
        placeholder="Who are these people, from where and when, and what is measured?",
        **KEEP,
    )
    if not name.strip():
        answers.faults.insert(0, "Give the data set a name.")
    return {"name": name.strip(), "description": description.strip()}


def _columns(answers: Answers, table: TableDraft, shown: tuple[str, ...], key: str | None) -> pd.DataFrame:
    rows, profile_request = workbench.render(table, shown, key)
    answers.rows[table.ident] = rows
    if profile_request is not None:
        answers.wish, answers.wish_in = profile_request, table.ident
    return rows


def _unit(rows: pd.DataFrame, person: str | None, main: TableDraft) -> dict[str, Any]:
    st.subheader("Who is protected", anchor=False)
    st.markdown(text("unit"))
    names = [name for name in [person, *map(str, rows[schema_rows.NAME])] if name]
    left, right = st.columns(2)
    chosen = left.selectbox(
        "Column that identifies a person",
        [schema_rows.EACH_ROW, *names],
        key=remembered("intake-person", person or schema_rows.EACH_ROW, [schema_rows.EACH_ROW, *names]),
        **KEEP,
    )
    key = remembered("intake-rows-each", 1)
    most = right.number_input("Rows kept per person, at most", 1, 1000, step=1, key=key, **KEEP)
    if chosen == schema_rows.EACH_ROW:
        return {"column": None, "max_rows_per_person": 1}
    with drawing.placeholder():
        _also(main)
        return {"column": chosen, "max_rows_per_person": int(most), **main.rest, **_keeping(names)}


def name_person(draft: Draft, main: TableDraft, unit: dict[str, Any]) -> None:
    """Let the form say otherwise who a person is when it is next drawn."""
    main.rest |= {name: value for name, value in unit.items() if name != "column"}
    if "column" in unit:
        main.rest = {name: value for name, value in main.rest.items() if name not in {"missing_codes", "matching"}}
        draft.fresh |= {"intake-person": unit["column"], f"intake-main-key-{main.ident}": unit["column"]}


def _keeping(names: list[str]) -> dict[str, Any]:
    """Which of a person's rows are kept."""
    which, by, written = st.columns(3)
    keep = which.selectbox(
        "Which of a person's rows",
        list(_KEEPS),
        key=remembered("intake-keep", "random"),
        format_func=_KEEPS.__getitem__,
        help=text("keep"),
        **KEEP,
    )
    if keep == "random":
        return {}
    order = by.selectbox(
        "Their order",
        names,
        index=None,
        key=remembered("intake-order-by", None, names),
        placeholder="A column with dates or numbers",
        help="It need not be kept.",
        **KEEP,
    )
    form = written.text_input(
        "How its dates are written",
        key="intake-order-format",
        placeholder="2024-03-31",
        help=text("date_format"),
        **KEEP,
    )
    return {"keep": keep, "order_by": order, "order_format": form.strip()}


def _joined_unit(person: str | None, main: TableDraft) -> dict[str, Any]:
    st.subheader("Who is protected", anchor=False)
    st.markdown(text("unit_joined"))
    with drawing.placeholder():
        _also(main)
    return {"column": person, "max_rows_per_person": 1, **main.rest}


def _also(table: TableDraft) -> None:
    """What is said of a table's rows that no field here shows."""
    if table.rest:
        said = ", ".join(f"{name} {plain(_listed(value))}" for name, value in table.rest.items())
        st.caption(f"Also said of these rows: {said}. Change that in the text.")


def _listed(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _limits(answers: Answers) -> dict[str, Any]:
    left, right = st.columns(2)
    limit = left.number_input(
        "Row limit (public, round)",
        1,
        100_000_000,
        None,
        1000,
        key="intake-max-rows",
        help=text("max_rows"),
        placeholder="for example 20000",
        **KEEP,
    )
    share = right.number_input(
        "People set aside for checking results (%)",
        0,
        50,
        step=5,
        key=remembered("intake-holdout", 20),
        help="Chosen by a coin toss per person at upload.",
        **KEEP,
    )
    if limit is None:
        answers.faults.append("Give the row limit: a round number above the number of rows.")
    return {"max_rows": limit and int(limit), "holdout_percent": int(share)}


def _budget(answers: Answers) -> None:
    st.subheader("Privacy budget", anchor=False)
    answers.kin, answers.replaces = related_datasets.ask()
    with drawing.placeholder():
        if answers.kin is not None:
            answers.public = answers.kin.public
        else:
            _own_budget(answers)
    answers.keep_keys = related_datasets.ask_keys()


def _own_budget(answers: Answers) -> None:
    st.markdown(text("budget"))
    total, delta = st.columns(2)
    answers.budget = _epsilon(answers, total, TOTAL, "5", "intake-budget") or Decimal(0)
    answers.delta = _delta(answers, delta)
    analyst, run = st.columns(2)
    each = "0" if login.login_needed() else ""
    answers.analyst_cap = _epsilon(answers, analyst, PER_ANALYST, each, "intake-analyst")
    answers.run_cap = _epsilon(answers, run, PER_RUN, "", "intake-run")
    answers.public = st.checkbox(text("public_flag"), key="intake-public", **KEEP)


def _delta(answers: Answers, place: Any) -> Decimal | None:
    key = remembered("intake-delta", "")
    entry = place.text_input(DELTA, key=key, placeholder="automatic", help=text("delta"), **KEEP).strip()
    try:
        return parse_delta(entry) if entry else None
    except BudgetError as mistake:
        answers.faults.append(str(mistake))
        return None


def _epsilon(answers: Answers, place: Any, label: str, value: str, key: str) -> Decimal | None:
    entry = place.text_input(label, key=remembered(key, value), **KEEP).strip()
    if not entry and label != TOTAL:
        return None
    try:
        return parse_limit(entry) if label == PER_ANALYST else parse_epsilon(entry)
    except BudgetError as mistake:
        answers.faults.append(f"{label.split(' (')[0]}: {mistake}")
        return None


def _store_button() -> bool:
    return st.button("Check and store the data set", type="primary")
