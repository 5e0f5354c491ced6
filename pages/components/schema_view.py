"""The public schema as a table."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from dpcore.columns import NumericColumn, format_number
from dpcore.schema import Schema
from pages.components import markup

_MANY = 12
_HEADER = ("Column", "Type", "Possible values", "Target", "Side", "Meaning")


def show(schema: Schema) -> None:
    """What anybody may know about the data set: columns and their public domain.

    Plain HTML, not a data frame: it reads well aloud, and the first page needs no pandas.
    """
    rows = (markup.row(cells(column)) for column in schema)
    markup.table(f"Columns of {schema.name}", _HEADER, rows)


def cells(column: Any) -> tuple[str, ...]:
    """One column of the data set as the cells of a table, in HTML."""
    target = "yes" if column.target else ""
    name, description = escape(column.name), escape(column.description)
    side = (column.view or "").capitalize()
    return (name, column.type, domain(column), target, side, description)


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
    if unit.column is None:
        return "each row is one person"
    rows = unit.max_rows_per_person
    return f"one person (at most {rows} row{'s' if rows > 1 else ''} each)"
