"""The public schema as a table."""

from __future__ import annotations

from html import escape
from typing import Any

from dpcore.schema import NumericColumn, Schema, format_number
from pages.components import markup

_MANY = 12
_HEADER = ("Column", "Type", "Possible values", "Target", "Meaning")


def show(schema: Schema) -> None:
    """What anybody may know about the data set: columns and their public domain.

    Plain HTML, not a data frame: it reads well aloud, and the first page needs no pandas.
    """
    rows = (markup.row(escape(cell) for cell in cells(column)) for column in schema)
    markup.table(f"Columns of {schema.name}", _HEADER, rows)


def cells(column: Any) -> tuple[str, ...]:
    """One column of the data set as the row of a table."""
    target = "yes" if column.target else ""
    return (column.name, column.type, domain(column), target, column.description)


def domain(column: Any) -> str:
    """The public domain of one column in words."""
    if isinstance(column, NumericColumn):
        unit = f" {column.unit}" if column.unit else ""
        low, high = format_number(column.lower), format_number(column.upper)
        return f"{low} to {high}{unit}, in {len(column.inner_edges) + 1} bins"
    labels = column.classes
    if column.type == "ordinal":
        return _shortened(labels, " < ")
    return _shortened(labels, ", ")


def _shortened(labels: tuple[str, ...], separator: str) -> str:
    more = len(labels) - _MANY
    return separator.join(labels[:_MANY]) + (f" and {more} more" if more > 0 else "")


def privacy_unit(schema: Schema) -> str:
    """Who is protected, in words."""
    unit = schema.privacy_unit
    if unit.column is None:
        return "each row is one person"
    rows = unit.max_rows_per_person
    return f"one person (at most {rows} row{'s' if rows > 1 else ''} each)"
