"""Tables made straight from cell codes, and their neighbours."""

import numpy as np

from dpcore.data.table import PrivateTable
from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import Schema


def schema_of(columns, max_rows=12, holdout_percent=0, **more):
    return Schema.from_mapping(
        {
            "name": "small",
            "max_rows": max_rows,
            "holdout_percent": holdout_percent,
            "columns": columns,
            **more,
        }
    )


def ward(*columns, max_rows=100, **more):
    """A schema of these columns, called ward unless told otherwise, with what else it has."""
    return Schema.from_mapping({"name": "ward", "max_rows": max_rows, **more, "columns": columns})


def table_of(schema, rows, holdout=None):
    """Build a table of ``rows``, each a tuple of cell codes in schema order."""
    codes = np.array(rows, dtype=np.uint16).reshape(len(rows), len(schema.columns)).T
    numeric = sum(isinstance(column, NumericColumn) for column in schema)
    numbers = [np.zeros(len(rows))] * numeric
    part = np.zeros(len(rows), dtype=bool) if holdout is None else np.array(holdout, dtype=bool)
    return PrivateTable.build(schema, list(codes), numbers, part)


def domain(schema):
    """Every row that the schema allows."""
    return list(np.ndindex(*(len(column.cells) for column in schema)))


def neighbours(schema, rows):
    """All tables with one row more or less, each once; the longer one comes last in a pair."""
    shorter = {tuple(sorted(rows[:i] + rows[i + 1 :])) for i in range(len(rows))}
    yield from ((list(less), rows) for less in sorted(shorter))
    if len(rows) < schema.max_rows:
        yield from ((rows, [*rows, row]) for row in domain(schema))
