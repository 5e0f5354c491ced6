"""The public schema as a table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from dpcore.domain.columns import CategoryGroup, NumericColumn, format_number
from dpcore.domain.schema import ChildTable, Schema
from pages.components.kit import markup

_MANY = 12
_HEADER = ("Column", "Type", "Possible values", "Target", "Side", "Meaning")
_CHILD_HEADER = ("Column", "Type", "Possible values", "Meaning")


def show(schema: Schema) -> None:
    """What anybody may know about the data set: columns and their public domain.

    Plain HTML, not a data frame: it reads well aloud, and the first page needs no pandas.
    """
    rows = (markup.row(cells(column)) for column in schema)
    several = f", table '{schema.entity}'" if schema.children else ""
    markup.table(f"Columns of {schema.name}{several}", _HEADER, rows)
    for child in schema.children:
        _show_child(child, schema.entity)


def _show_child(child: ChildTable, entity: str) -> None:
    kept = child.max_rows_per_person
    about = f"Columns of the table '{child.name}', at most {kept} row{'s' if kept > 1 else ''}"
    rows = (markup.row(child_cells(column)) for column in child.columns)
    markup.table(f"{about} for each {entity}", _CHILD_HEADER, rows)
    if child.description:
        st.text(child.description)


def cells(column: Any) -> tuple[str, ...]:
    """One column of the data set as the cells of a table, in HTML."""
    name, kind, values, description = child_cells(column)
    target = "yes" if column.target else ""
    side = (column.view or "").capitalize()
    return (name, kind, values, target, side, description)


def child_cells(column: Any) -> tuple[str, ...]:
    """The same for a column of a further table, which is neither target nor on a side."""
    values = domain(column) + _groups(getattr(column, "groups", ()))
    return (escape(column.name), column.type, values, escape(column.description))


def _groups(groups: Sequence[CategoryGroup]) -> str:
    texts = (f"{group.name} ({', '.join(group.members)})" for group in groups)
    return f"<br>Groups: {escape('; '.join(texts))}" if groups else ""


def domain(column: Any) -> str:
    """The public domain of one column, complete: conditions are written from it."""
    if isinstance(column, NumericColumn):
        unit = f" {column.unit}" if column.unit else ""
        low, high = format_number(column.lower), format_number(column.upper)
        cuts = [format_number(edge) for edge in column.inner_edges]
        bins = escape(f"{low} to {high}{unit}, in {len(cuts) + 1} bins")
        return bins + (f"; cut points: {_listed(cuts, ', ')}" if cuts else "")
    return _listed(column.classes, " < " if column.type == "ordinal" else ", ")


def _listed(labels: Sequence[str], separator: str) -> str:
    """Every label; those after the first dozen open on a click."""
    first = escape(separator.join(labels[:_MANY]))
    if len(labels) <= _MANY:
        return first
    rest = escape(separator.join(labels[_MANY:]))
    more = f"and {len(labels) - _MANY} more"
    return f'{first}<details class="fg-more"><summary>{more}</summary>{rest}</details>'


def privacy_unit(schema: Schema) -> str:
    """Who is protected, in words."""
    unit = schema.privacy_unit
    if schema.children:
        kept = (f"{child.max_rows_per_person} of '{child.name}'" for child in schema.children)
        return f"one {schema.entity} with all rows (at most {', '.join(kept)})"
    if unit.column is None:
        return "each row is one person"
    rows = unit.max_rows_per_person
    return f"one person (at most {rows} row{'s' if rows > 1 else ''} each)"
