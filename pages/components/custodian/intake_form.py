"""The fields of the form for a new data set, and what was answered."""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import pandas as pd
import streamlit as st

from dpcore.domain.schema import Schema
from dpcore.errors import BudgetError, SchemaError
from dpcore.intake.uploads import parse_schema
from dpcore.privacy.budgets import parse_delta, parse_epsilon, parse_limit
from pages.components.custodian import schema_rows
from pages.components.custodian.intake_tables import (
    KEEP,
    TableDraft,
    first_key,
    naming_faults,
    remembered,
)
from pages.components.custodian.uploads import let_go, receive
from pages.components.kit.markup import plain
from pages.components.kit.texts import text
from pages.components.visitor import login

if TYPE_CHECKING:
    from dpcore.intake.uploads import Watch

EACH_ROW = "Each row is one person"
ANY_TYPE = "let the values decide"
#: Bytes of a schema file.
MAX_SCHEMA = 2_000_000
_UNREADABLE = "intake-schema-unreadable"
TOTAL, PER_RUN = "Total ε", "Per run (empty: no limit)"
DELTA = "δ of the total (empty: from the row limit)"
PER_ANALYST = "Per analyst (empty: no limit, 0: only those with a grant)"
#: Fields of the form for the main one of several tables, for a further one, for a single one.
_MAIN = tuple(schema_rows.FIELDS)
_CHILD = tuple(name for name in _MAIN if name not in {schema_rows.TARGET, schema_rows.SIDE})
_ALONE = tuple(name for name in _MAIN if name != schema_rows.GROUPS)


@dataclass
class Answers:
    """What one press of a form button sent; ``rows`` by the marks of the tables."""

    rows: dict[str, pd.DataFrame] = field(default_factory=dict)
    content: dict[str, Any] = field(default_factory=dict)
    schema_text: str | None = None
    suggest: bool = False
    suggest_in: str = ""
    suggest_for: str = ""
    suggest_type: str | None = None
    store: bool = False
    budget: Decimal = Decimal(0)
    delta: Decimal | None = None
    analyst_cap: Decimal | None = None
    run_cap: Decimal | None = None
    public: bool = False
    faults: list[str] = field(default_factory=list)

    def schema(self, watch: Watch) -> Schema:
        """The schema that was described. Raises ``SchemaError``."""
        if self.schema_text is not None:
            if not self.schema_text.strip():
                raise SchemaError("Paste a schema, or choose a schema file.")
            return parse_schema(self.schema_text, watch)
        return Schema.from_mapping(self.content)


def one_table(main: TableDraft, person: str | None, *, joined: bool) -> Answers:
    """The whole form: name, columns, person, limits, budget.

    With two files that are ``joined`` on it, the column of the person is settled.
    """
    answers = Answers()
    names = _names(answers)
    st.subheader("Columns (public)", anchor=False)
    st.markdown(text("columns"))
    rows = answers.rows[main.ident] = _editor(main, _ALONE)
    _suggestion(answers, [main])
    unit = _joined_unit(person) if joined else _unit(rows, person)
    columns, faults = schema_rows.columns_of(rows, key=unit["column"])
    answers.faults += faults
    answers.content = names | {"privacy_unit": unit, **_limits(answers), "columns": columns}
    return _finish(answers)


def several_tables(main: TableDraft, children: list[TableDraft], person: str | None) -> Answers:
    """The same for a main table and further ones, each in a tab of its own."""
    answers = Answers()
    answers.faults += naming_faults([main.name, *(child.name for child in children)])
    names = _names(answers)
    st.subheader("Columns (public)", anchor=False)
    st.markdown(text("columns"))
    st.markdown(text("groups"))
    first, *others = st.tabs([plain(table.name) or "?" for table in (main, *children)])
    with first:
        key = _main_key(answers, main, person)
        answers.rows[main.ident] = _editor(main, _MAIN)
    columns, faults = schema_rows.columns_of(answers.rows[main.ident], main.name, key)
    answers.faults += faults
    described = []
    for place, child in zip(others, children, strict=True):
        with place:
            described.append(_child(answers, child, key))
    _suggestion(answers, [main, *children])
    st.subheader("Who is protected", anchor=False)
    st.markdown(text("unit_tables"))
    answers.content = names | {
        "entity": main.name,
        "privacy_unit": {"column": key, "max_rows_per_person": 1},
        **_limits(answers),
        "columns": columns,
        "children": described,
    }
    return _finish(answers)


def _finish(answers: Answers) -> Answers:
    _budget(answers)
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
    rows = answers.rows[child.ident] = _editor(child, _CHILD)
    columns, faults = schema_rows.columns_of(rows, child.name, key)
    answers.faults += faults
    plain_columns = [
        {name: value for name, value in column.items() if name not in {"target", "view"}} for column in columns
    ]
    return {
        "name": child.name,
        "key": None if key == main_key else key,
        "max_rows_per_person": int(kept or 1),
        "columns": plain_columns,
    }


def from_file(place: str) -> Answers:
    """The short form: a schema as text or file, and the budget."""
    answers = Answers()
    above = st.container()
    files = receive("or a schema file", f"schema-{place}", types=("yaml", "yml", "json"))
    if files:
        _take_over(place, files)
    with above:
        answers.schema_text = st.text_area("Schema (YAML or JSON)", key="intake-yaml", height=260, **KEEP)
    with st.container():
        if _UNREADABLE in st.session_state:
            st.error(st.session_state[_UNREADABLE])
    return _finish(answers)


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


def _editor(table: TableDraft, shown: tuple[str, ...]) -> pd.DataFrame:
    make = st.column_config
    return st.data_editor(
        table.rows,
        hide_index=True,
        key=f"intake-rows-{table.ident}-{table.version}",
        height=560 if len(table.rows) > 14 else "auto",
        placeholder="–",
        alt="One row per column of the file: type, limits, categories",
        column_order=shown,
        disabled=[schema_rows.NAME],
        column_config={
            schema_rows.KEEP: make.CheckboxColumn(width="small"),
            schema_rows.NAME: make.TextColumn(pinned=True),
            schema_rows.TYPE: make.SelectboxColumn(options=list(schema_rows.TYPES), required=True),
            schema_rows.TARGET: make.CheckboxColumn(width="small", help="A column that analysts may predict."),
            schema_rows.SIDE: make.SelectboxColumn(
                options=list(schema_rows.SIDES),
                format_func=lambda side: str(side).capitalize(),
                width="small",
                help="For redescriptions: the side on which conditions may use this column.",
            ),
            schema_rows.LOWER: make.NumberColumn(help="Numbers: lowest plausible value."),
            schema_rows.UPPER: make.NumberColumn(help="Numbers: highest plausible value."),
            schema_rows.BINS: make.NumberColumn(help="Numbers: how many bins of equal width.", format="%d"),
            schema_rows.CUTS: make.TextColumn(help="Numbers: your own cut points, such as 40 60 80."),
            schema_rows.CATEGORIES: make.TextColumn(
                help='Separated by semicolons; write one that holds a semicolon as "a; b".',
                width="large",
            ),
            schema_rows.GROUPS: make.TextColumn(
                help="For rules over tables: categories that belong together, such as heart: I21; I22 | lung: J44",
            ),
            schema_rows.UNIT: make.TextColumn(width="small"),
            schema_rows.DESCRIPTION: make.TextColumn(width="medium"),
        },
    )


def _suggestion(answers: Answers, tables: list[TableDraft]) -> None:
    several = len(tables) > 1
    places = {
        f"{table.name}.{name}" if several else str(name): (table.ident, str(name))
        for table in tables
        for name in table.rows[schema_rows.NAME]
    }
    with st.expander("Fill in one column from its values (makes what is found public)"):
        st.warning(text("suggest_warning"), icon="⚠️")
        left, middle, right = st.columns([2, 2, 2], vertical_alignment="bottom")
        first, *_ = names = list(places)
        key = remembered("intake-suggest-column", first, names)
        chosen = left.selectbox("Column", names, key=key, **KEEP)
        answers.suggest_in, answers.suggest_for = places[chosen]
        types = [ANY_TYPE, *schema_rows.TYPES]
        kind = middle.selectbox("Type", types, key="intake-suggest-type", **KEEP)
        answers.suggest_type = None if kind == ANY_TYPE else kind
        answers.suggest = right.button("Look at this column's values", width="stretch")


def _unit(rows: pd.DataFrame, person: str | None) -> dict[str, Any]:
    st.subheader("Who is protected", anchor=False)
    st.markdown(text("unit"))
    names = [name for name in [person, *map(str, rows[schema_rows.NAME])] if name]
    left, right = st.columns(2)
    chosen = left.selectbox(
        "Column that identifies a person",
        [EACH_ROW, *names],
        key=remembered("intake-person", person or EACH_ROW, [EACH_ROW, *names]),
        **KEEP,
    )
    key = remembered("intake-rows-each", 1)
    most = right.number_input("Rows kept per person, at most", 1, 1000, step=1, key=key, **KEEP)
    if chosen == EACH_ROW:
        return {"column": None, "max_rows_per_person": 1}
    return {"column": chosen, "max_rows_per_person": int(most)}


def _joined_unit(person: str | None) -> dict[str, Any]:
    st.subheader("Who is protected", anchor=False)
    st.markdown(text("unit_joined"))
    return {"column": person, "max_rows_per_person": 1}


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
    return {"max_rows": int(limit or 1), "holdout_percent": int(share)}


def _budget(answers: Answers) -> None:
    st.subheader("Privacy budget", anchor=False)
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
