"""The public schema as a table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from dpcore.domain.columns import CategoryGroup, NumericColumn, format_number
from dpcore.domain.schemas.labels import categories
from dpcore.domain.schemas.origins import Origin, words_of
from dpcore.domain.schemas.schema import ChildTable, Schema
from pages.components.kit import markup

_MANY = 12
_HEADER = ("Column", "Type", "Possible values", "Target", "Side", "Known from", "Meaning")
_CHILD_HEADER = ("Column", "Type", "Possible values", "Known from", "Meaning")


def render(schema: Schema) -> None:
    """What anybody may know about the data set: columns and their public domain.

    Plain HTML, not a data frame: it reads well aloud, and the first page needs no pandas.
    """
    rows = (markup.row(cells(column, schema.origin)) for column in schema)
    several = f", table '{schema.entity}'" if schema.children else ""
    markup.table(f"Columns of {schema.name}{several}", _HEADER, rows)
    for child in schema.children:
        _show_child(child, schema.entity, schema.origin)
    _explain(schema.origins)
    if schema.learned is not None:
        st.caption(markup.plain(schema.learned.words))


def _explain(origins: Sequence[Origin]) -> None:
    """What the words in 'Known from' mean."""
    for origin in origins:
        st.caption(markup.plain(f"{origin[0].upper()}{origin[1:]}: {words_of([origin])}."))


def _show_child(child: ChildTable, entity: str, origin: Origin) -> None:
    kept = child.max_rows_per_person
    about = f"Columns of the table '{child.name}', at most {kept} row{'s' if kept > 1 else ''}"
    rows = (markup.row(child_cells(column, origin)) for column in child.columns)
    within = "" if child.parent is None else f"; each belongs to a row of '{child.parent}'"
    markup.table(f"{about} for each {entity}{within}", _CHILD_HEADER, rows)
    if child.description:
        st.text(child.description)


def cells(column: Any, origin: Origin) -> tuple[str, ...]:
    """One column of the data set as the cells of a table, in HTML; ``origin`` if it says none of its own."""
    name, kind, values, known, description = child_cells(column, origin)
    target = "yes" if column.target else ""
    side = (column.view or "").capitalize()
    return (name, kind, values, target, side, known, description)


def child_cells(column: Any, origin: Origin) -> tuple[str, ...]:
    """The same for a column of a further table, which is neither target nor on a side."""
    values = domain(column) + _groups(getattr(column, "groups", ()))
    made = f"Made of the file: {column.made}." if column.made else ""
    meaning = escape(" ".join(filter(None, [column.description, made])))
    return (_called(column), column.type, values, column.origin or origin, meaning)


def _called(column: Any) -> str:
    """Its label if it has one, with its name below."""
    name = escape(column.name)
    return f"{escape(column.label)}<br><small>{name}</small>" if column.label else name


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
    return _listed(categories(column), " < " if column.type == "ordinal" else ", ")


def _listed(labels: Sequence[str], separator: str) -> str:
    """Every label; those after the first dozen open on a click."""
    first = escape(separator.join(labels[:_MANY]))
    if len(labels) <= _MANY:
        return first
    rest = escape(separator.join(labels[_MANY:]))
    more = f"and {len(labels) - _MANY} more"
    return f'{first}<details class="fg-more"><summary>{more}</summary>{rest}</details>'


def privacy_unit(schema: Schema) -> str:
    """Who or what is protected, in words."""
    unit = schema.privacy_unit
    if schema.children:
        kept = (f"{child.max_rows_per_person} of '{child.name}'" for child in schema.children)
        return f"one {schema.entity} with all rows (at most {', '.join(kept)})"
    if unit.column is None:
        return f"each row is one {schema.entity}"
    rows = unit.max_rows_per_person
    chosen = f": {unit.chosen}" if unit.chosen else ""
    return f"one person (at most {rows} row{'s' if rows > 1 else ''} each{chosen})"
