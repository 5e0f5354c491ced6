"""Changes to the columns of a draft: several at once, or one in full."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pandas as pd
import streamlit as st

from dpcore.intake.columns import category_text, schema_rows
from pages.components.custodian.intake.intake_tables import KEEP, remembered
from pages.components.kit.markup import plain

Rows = pd.DataFrame


@dataclass(frozen=True)
class Change:
    """What can be changed in several columns at once: the field, and how its new value is asked for."""

    field: str
    ask: Callable[[str], Any]


def _text(label: str, example: str) -> Callable[[str], Any]:
    return lambda key: st.text_input(label, placeholder=example, key=key).strip()


def _choice(label: str, options: tuple[str, ...]) -> Callable[[str], Any]:
    return lambda key: st.selectbox(label, options, key=key)


def _number(label: str, **limits: Any) -> Callable[[str], Any]:
    return lambda key: st.number_input(label, value=None, key=key, **limits)


def _fixed(value: Any) -> Callable[[str], Any]:
    return lambda _key: value


_NONE = "neither"
#: What can be changed, by what it is called.
CHANGES: dict[str, Change] = {
    "Type": Change(schema_rows.TYPE, _choice("New type", schema_rows.TYPES)),
    "Leave out": Change(schema_rows.KEEP, _fixed(False)),
    "Keep": Change(schema_rows.KEEP, _fixed(True)),
    "Codes for missing values": Change(schema_rows.MISSING, _text("Codes, separated by semicolons", "-9; ?; unknown")),
    "Any spelling": Change(schema_rows.LOOSE, _fixed(True)),
    "Exact spelling": Change(schema_rows.LOOSE, _fixed(False)),
    "Categories": Change(schema_rows.CATEGORIES, _text("Categories, separated by semicolons", "No; Steady; Up; Down")),
    "Lowest value": Change(schema_rows.LOWER, _number("Lowest plausible value")),
    "Highest value": Change(schema_rows.UPPER, _number("Highest plausible value")),
    "Number of bins": Change(schema_rows.BINS, _number("Bins of equal width", min_value=1, max_value=256, step=1)),
    "Cut points": Change(schema_rows.CUTS, _text("Cut points, separated by spaces", "40 60 80")),
    "Side": Change(schema_rows.SIDE, _choice("Side of redescriptions", (*schema_rows.SIDES, _NONE))),
    "Target": Change(schema_rows.TARGET, _fixed(True)),
    "No target": Change(schema_rows.TARGET, _fixed(False)),
    "Unit": Change(schema_rows.UNIT, _text("Unit", "mg/dl")),
    "Origin": Change(schema_rows.ORIGIN, _choice("Where limits and categories come from", schema_rows.ORIGINS)),
}
#: Fields of which a column has the one or the other.
_INSTEAD = {schema_rows.BINS: schema_rows.CUTS, schema_rows.CUTS: schema_rows.BINS}


def ask(rows: Rows, names: list[str], shown: tuple[str, ...], mark: str) -> Rows | None:
    """Ask what to change in these columns. The changed rows once that was said."""
    offered = [what for what, change in CHANGES.items() if change.field in shown]
    what = st.selectbox("What to change", offered, key=f"intake-change-{mark}")
    change = CHANGES[what]
    value = change.ask(f"intake-change-{mark}-{what}")
    if not st.button("Apply", key=f"press-apply-{mark}", type="primary"):
        return None
    return changed(rows, names, change.field, None if value == _NONE else value)


def changed(rows: Rows, names: list[str], field: str, value: Any) -> Rows:
    """The rows with one field of some columns set; nothing stays ticked."""
    there = rows[schema_rows.NAME].isin(names)
    fresh = rows.astype(object)
    fresh.loc[there, field] = value
    if field in _INSTEAD and value not in (None, ""):
        fresh.loc[there, _INSTEAD[field]] = None if _INSTEAD[field] == schema_rows.BINS else ""
    fresh[schema_rows.SELECT] = False
    return schema_rows.typed(fresh)


def in_full(rows: Rows, name: str, mark: str) -> Rows | None:
    """Everything that people read about one column, with room to write. The changed rows on demand."""
    row = next(row for row in schema_rows.written(rows) if row[schema_rows.NAME] == name)
    lines = schema_rows.lines_of(row, " = ")
    known = [row[field] or "" for field in (schema_rows.LABEL, schema_rows.DESCRIPTION, schema_rows.UNIT)]
    # The fields begin anew when what they begin with has changed elsewhere.
    key = f"intake-full-{mark}-{hashlib.sha256(repr([name, lines, *known]).encode()).hexdigest()[:16]}"
    left, right = st.columns(2)
    label = left.text_input(
        "Label", key=remembered(f"{key}-label", known[0]), help="What people call it. Empty: its name.", **KEEP
    )
    description = left.text_area("Description", key=remembered(f"{key}-description", known[1]), height=120, **KEEP)
    said: dict[str, Any] = {"name": name, "label": label.strip(), "description": description.strip()}
    if row[schema_rows.TYPE] in schema_rows.LISTED:
        entry = right.text_area(
            "Categories, one a line: code = label",
            key=remembered(f"{key}-lines", lines),
            height=230,
            placeholder="11 = died\n1 = discharged home",
            help='Two columns copied from a spreadsheet can be pasted here. Write a code with = as "a = b".',
            **KEEP,
        )
        if entry != lines:
            said |= category_text.listed(entry)
    elif row[schema_rows.TYPE] in schema_rows.NUMERIC:
        said["unit"] = right.text_input("Unit", key=remembered(f"{key}-unit", known[2]), **KEEP).strip()
    if not st.button(f"Take over for '{plain(name)}'", key=f"press-{key}"):
        return None
    return schema_rows.replaced(rows, [said])
