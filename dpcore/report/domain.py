"""The public schema of a data set as tables for printing."""

from __future__ import annotations

from collections.abc import Sequence

from dpcore.domain.columns import MAX_COLUMNS, Column, NumericColumn, format_number
from dpcore.domain.schemas.labels import categories
from dpcore.domain.schemas.origins import Origin
from dpcore.domain.schemas.schema import Schema
from dpcore.released.blocks import Table

_MOST_LABELS = 12
_HEAD = ("Column", "Type", "Possible values", "Known from", "Meaning")


def schema_tables(schema: Schema) -> list[Table]:
    """The columns of every table."""
    several = f", table '{schema.entity}'" if schema.children else ""
    main = _table(f"Columns of {schema.name}{several}", schema.columns, schema.origin)
    children = [
        _table(f"Columns of the table '{child.name}'", child.columns, schema.origin) for child in schema.children
    ]
    return [main, *children]


def _table(caption: str, columns: Sequence[Column], origin: Origin) -> Table:
    """Columns of one table; ``origin`` is that of those that say none of their own."""
    return Table.of(caption, _HEAD, (_row(column, origin) for column in columns), most=MAX_COLUMNS, kind="schema")


def _row(column: Column, origin: Origin) -> Sequence[str]:
    kind = f"{column.type}, may be predicted" if column.target else column.type
    name = f"{column.label} ({column.name})" if column.label else column.name
    return (name, kind, _values(column), column.origin or origin, column.description)


def _values(column: Column) -> str:
    if isinstance(column, NumericColumn):
        unit = f" {column.unit}" if column.unit else ""
        low, high = format_number(column.lower), format_number(column.upper)
        return f"{low} to {high}{unit}, in {len(column.inner_edges) + 1} bins"
    labels = categories(column)
    more = f" and {len(labels) - _MOST_LABELS} more" if len(labels) > _MOST_LABELS else ""
    return ", ".join(labels[:_MOST_LABELS]) + more
