"""What the workloads of all families share. Public values alone."""

from __future__ import annotations

from typing import Final

from dpcore.data.building.division import partition_count
from dpcore.data.packing import word_count
from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.released.workload import Work

#: Places for each row of a question that finds the group of everybody and counts the groups.
GROUPING: Final = 700.0
#: Calls of an evaluation on people set aside, beside its question.
_EVALUATING: Final = 150.0


def words_of(schema: Schema) -> int:
    """Words of a bit vector over all places."""
    return word_count(schema.max_rows)


def evaluation(schema: Schema, calls: float = 0.0) -> Work:
    """Work of counting groups of the people set aside, and so many calls for what comes before."""
    return Work(places=GROUPING * schema.max_rows, calls=_EVALUATING + calls)


def rows_alone(schema: Schema) -> int:
    """Cores that can share a question whose work one partition does on one core."""
    return partition_count(schema.max_rows)


def table_bytes(schema: Schema, *, numbers: bool = False) -> float:
    """Bytes of the stored table that a run reads: a code for each column, a bit for each cell.

    What it does not read stays on disk; ``numbers`` tells whether it reads clamped values too.
    """
    rows = schema.max_rows
    wide = 2 if any(len(column.cells) > 256 for column in schema) else 1
    numeric = sum(isinstance(column, NumericColumn) for column in schema) if numbers else 0
    cells = sum(len(column.cells) for column in schema)
    children = sum(child.max_rows_per_person * (len(child.columns) * wide + 1 / 8) for child in schema.children)
    return rows * (len(schema.columns) * wide + 8 * numeric + cells / 8 + 8 + children)
