"""The columns of one table: found, filtered, changed many at once, taken back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from dpcore.intake.columns import schema_columns, schema_rows
from pages.components.custodian import column_changes
from pages.components.custodian.intake.intake_tables import KEEP, TableDraft
from pages.components.kit.markup import plain, text

ALL, OPEN, KEPT, GONE = "All", "To answer", "Kept", "Left out"
_FILTERS = (ALL, OPEN, KEPT, GONE)
#: Rows of the grid that are seen without scrolling.
_SEEN = 22
_FIRST = "Choose a column"
_DECIDE, _STAY = "Let the values decide the types", "Keep the types as they are"


@dataclass(frozen=True)
class ProfileRequest:
    """Columns whose values the custodian wants to be looked at, with their types; none: let the values decide."""

    types: dict[str, str | None]


def render(table: TableDraft, shown: tuple[str, ...], key: str | None) -> tuple[pd.DataFrame, ProfileRequest | None]:
    """Draw the columns of a table.

    Parameters
    ----------
    shown : tuple of str
        Fields of the form.
    key : str or None
        The column that identifies people: it needs no answers.

    Returns
    -------
    rows : DataFrame
        All rows, as they are answered now.
    wish : ProfileRequest or None
        Set if values are to be looked at.
    """
    with st.container(key=f"workbench-{table.ident}"):
        names = _chosen(table, key)
        above = st.container()
        typed = _grid(table, names, shown)
        table.answer(typed)
        with above:
            profile_request = _tools(table, names, shown)
        _one(table)
    return table.now, profile_request


def _chosen(table: TableDraft, key: str | None) -> list[str]:
    """The columns in sight: those that were found when the search was last changed."""
    find, which = st.columns([2, 3], vertical_alignment="bottom")
    query = find.text_input(
        "Find columns",
        type="search",
        key=f"intake-find-{table.ident}",
        placeholder="Part of a name, label, type or category",
        **KEEP,
    )
    counts = _counts(table, key)
    kind = which.segmented_control(
        "Show",
        _FILTERS,
        format_func=lambda name: f"{name} ({counts[name]})",
        required=True,
        default=ALL,
        key=f"intake-show-{table.ident}",
        **KEEP,
    )
    seen = (query.strip().casefold(), kind, table.version)
    if table.seen[:3] != seen:
        if table.seen:
            table.rows = table.now  # The grid begins anew, with what was typed so far.
            table.turn += 1
        table.seen = (*seen, [name for name, row in _rows(table) if _fits(row, seen[0], kind, key)])
    return table.names


def _rows(table: TableDraft) -> list[tuple[str, dict[str, Any]]]:
    return [(row[schema_rows.NAME], row) for row in schema_rows.written(table.now)]


def _counts(table: TableDraft, key: str | None) -> dict[str, int]:
    rows = _rows(table)
    return {kind: sum(_fits(row, "", kind, key) for _, row in rows) for kind in _FILTERS}


def _fits(row: dict[str, Any], query: str, kind: str | None, key: str | None) -> bool:
    words = " ".join(value for value in row.values() if isinstance(value, str)).casefold()
    if query not in words:
        return False
    if kind == OPEN:
        return row[schema_rows.NAME] != key and bool(schema_columns.fault_of(row))
    return kind not in (KEPT, GONE) or bool(row[schema_rows.KEEP]) == (kind == KEPT)


def _grid(table: TableDraft, names: list[str], shown: tuple[str, ...]) -> pd.DataFrame:
    """All rows, with what was typed into those in sight."""
    make = st.column_config
    inside = table.rows[table.rows[schema_rows.NAME].isin(names)]
    if inside.empty:
        done = table.seen[:2] == ("", OPEN)
        st.info("Nothing is left to answer." if done else "No column is like that. Change the search or show all.")
        return table.now
    edited = st.data_editor(
        inside.reset_index(drop=True),
        hide_index=True,
        key=table.grid,
        height="auto" if len(inside) <= _SEEN else 35 * (_SEEN + 1) + 3,
        placeholder="–",
        alt="One row per column of the file: type, limits, categories",
        column_order=shown,
        disabled=[schema_rows.NAME],
        column_config={
            schema_rows.SELECT: make.CheckboxColumn("✓", width=40, help="Tick columns to change them together."),
            schema_rows.KEEP: make.CheckboxColumn(width=60, help="Columns that are not kept are not stored."),
            schema_rows.NAME: make.TextColumn(pinned=True),
            schema_rows.LABEL: make.TextColumn(help="What people call it: Discharge. Empty: its name."),
            schema_rows.TYPE: make.SelectboxColumn(options=list(schema_rows.TYPES), required=True),
            schema_rows.LOWER: make.NumberColumn(help="Numbers: lowest plausible value."),
            schema_rows.UPPER: make.NumberColumn(help="Numbers: highest plausible value."),
            schema_rows.BINS: make.NumberColumn(help="Numbers: how many bins of equal width.", format="%d", width=60),
            schema_rows.CUTS: make.TextColumn(help="Numbers: your own cut points, such as 40 60 80."),
            schema_rows.CATEGORIES: make.TextColumn(
                help='Separated by semicolons; write one that holds a semicolon as "a; b".', width="large"
            ),
            schema_rows.LOOSE: make.CheckboxColumn(
                help="Values count as a category whatever their case, accents and number of spaces.", width=90
            ),
            schema_rows.MISSING: make.TextColumn(
                help="Values that stand for a missing one, separated by semicolons: -9; ?; unknown"
            ),
            schema_rows.TARGET: make.CheckboxColumn(width=60, help="A column that analysts may predict."),
            schema_rows.SIDE: make.SelectboxColumn(
                options=list(schema_rows.SIDES),
                format_func=lambda side: str(side).capitalize(),
                width=70,
                help="For redescriptions: the side on which conditions may use this column.",
            ),
            schema_rows.GROUPS: make.TextColumn(
                help="For rules over tables: categories that belong together, such as heart: I21; I22 | lung: J44",
            ),
            schema_rows.UNIT: make.TextColumn(width="small"),
            schema_rows.DESCRIPTION: make.TextColumn(width="medium"),
            schema_rows.ORIGIN: make.SelectboxColumn(
                options=list(schema_rows.ORIGINS),
                help="Where limits and categories come from. Analysts and readers of results see it.",
            ),
        },
    )
    return schema_rows.overlaid(table.now, edited)


def _tools(table: TableDraft, names: list[str], shown: tuple[str, ...]) -> ProfileRequest | None:
    """Changes to several columns at once: those that are ticked, or else all in sight."""
    now = table.now
    ticked = [name for name in now[now[schema_rows.SELECT]][schema_rows.NAME] if name in names]
    chosen = ticked or names
    of_file = [name for name in chosen if name in table.columns]  # Others are made of these.
    with st.container(horizontal=True, vertical_alignment="bottom"):
        with st.popover(
            f"Change the {_counted(chosen, ticked)}", disabled=not chosen, key=f"change-{table.ident}-{table.version}"
        ):
            changed = column_changes.ask(now, chosen, shown, table.ident)
        with st.popover("Look at their values", disabled=not of_file, key=f"look-{table.ident}-{table.version}"):
            st.warning(text("suggest_warning"), icon="⚠️")
            decide = st.radio("Types", (_DECIDE, _STAY), key=f"intake-look-types-{table.ident}")
            looked = st.button(
                f"Look at the values of the {_counted(of_file, ticked)}", key=f"press-look-{table.ident}"
            )
        back = st.button(
            "Undo",
            icon=":material/undo:",
            key=f"press-undo-{table.ident}",
            disabled=not table.past,
            help="Columns only",
        )
        again = st.button("Redo", icon=":material/redo:", key=f"press-redo-{table.ident}", disabled=not table.future)
    if changed is not None:
        table.show(changed)
    elif back:
        table.undo()
    elif again:
        table.redo()
    if changed is not None or back or again:
        st.rerun()
    types = dict(zip(now[schema_rows.NAME], now[schema_rows.TYPE], strict=True))
    return ProfileRequest({name: types[name] if decide == _STAY else None for name in of_file}) if looked else None


def _counted(chosen: list[str], ticked: list[str]) -> str:
    return f"{len(chosen)} column{'s' if len(chosen) != 1 else ''} {'ticked' if ticked else 'shown'}"


def _one(table: TableDraft) -> None:
    """One column in full: its categories one a line, with their labels."""
    with st.expander("One column in full: categories one a line, with labels"):
        names = [str(name) for name in table.now[schema_rows.NAME]]
        chosen = st.selectbox("Column", names, index=None, placeholder=_FIRST, key=f"intake-one-{table.ident}", **KEEP)
        if chosen is None:
            return
        changed = column_changes.in_full(table.now, chosen, table.ident)
    if changed is not None:
        table.show(changed)
        st.rerun()
    row = dict(_rows(table))[chosen]
    fault = schema_columns.fault_of(row)
    if fault:
        st.caption(f"{plain(chosen)}: {plain(fault)}")
