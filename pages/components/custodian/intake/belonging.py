"""Whose rows a further table has: the person's, or those of a row of another table."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.domain.schemas.schema import Schema
from pages.components.custodian.intake.intake_tables import KEEP, TableDraft, remembered
from pages.components.kit.markup import plain
from pages.components.kit.texts import text

PERSON = "the person alone"


def ask(child: TableDraft, children: list[TableDraft], described: dict[str, Any]) -> list[str]:
    """Ask it, note it in what is ``described`` of the table, and tell what is lacking.

    The key of the other table's rows is noted as ``row_key_above``, until :func:`tell_apart`.
    """
    others = {other.ident: other for other in children if other is not child and other.name}
    if not others:
        return []
    which, here, there = st.columns(3)
    chosen: str = which.selectbox(
        "Rows belong to",
        [PERSON, *others],
        key=remembered(f"intake-parent-{child.ident}", PERSON, [PERSON, *others]),
        format_func=lambda ident: others[ident].name if ident in others else ident,
        help=text("rows_belong"),
        **KEEP,
    )
    if chosen == PERSON:
        return []
    above = others[chosen]
    parent = above.name
    own: str | None = here.selectbox(
        f"Column that names the row of {plain(parent)}",
        child.columns,
        key=remembered(f"intake-parent-key-{child.ident}", None, child.columns),
        placeholder="Choose a column",
        **KEEP,
    )
    other: str | None = there.selectbox(
        f"Column of {plain(parent)} with the same values",
        above.columns,
        key=remembered(f"intake-row-key-{child.ident}", None, above.columns),
        placeholder="Choose a column",
        **KEEP,
    )
    if own is None or other is None:
        return [f"Table '{child.name}': choose the columns that link it to rows of '{parent}'."]
    described |= {"parent": parent, "parent_key": own, "row_key_above": other}
    return []


def tell_apart(described: list[dict[str, Any]]) -> list[str]:
    """Give each table the key by which others name its rows; what does not go together.

    Columns that link rows are never stored, so they are no columns of the tables.
    """
    keys: dict[str, str] = {}
    faults = []
    for table in described:
        if (key := table.pop("row_key_above", None)) is None:
            continue
        if keys.setdefault(table["parent"], key) != key:
            faults.append(
                f"Tables that belong to rows of '{table['parent']}' must name these by the same column of it."
            )
    for table in described:
        if table["name"] in keys:
            table["row_key"] = keys[table["name"]]
        links = {table.get("row_key"), table.get("parent_key")}
        table["columns"] = [column for column in table["columns"] if column["name"] not in links]
    return faults


def answers(schema: Schema, tables: list[TableDraft]) -> dict[str, Any]:
    """What the fields begin with, so that they say what a schema does."""
    marks: dict[str, Any] = {}
    idents = {table.name: table.ident for table in tables}
    for child in schema.children:
        for table in (table for table in tables if table.name == child.name):
            parent = schema.parent_of(child)
            marks[f"intake-parent-{table.ident}"] = PERSON if parent is None else idents[parent.name]
            marks[f"intake-parent-key-{table.ident}"] = child.parent_key
            marks[f"intake-row-key-{table.ident}"] = None if parent is None else parent.row_key
    return marks
