"""A made-up case that a clause covers: drawn from the schema and the clause, never from records."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np
import pandas as pd

from dpcore.columns import RESERVED, IntegerColumn, NumericColumn
from dpcore.ilp.clause import Clause, Variable
from dpcore.ilp.language import Atom
from dpcore.randomness import public_generator
from dpcore.schema import ChildTable, Schema

#: Rows of a table beyond those that the clause asks for.
_MORE_ROWS = 2
_TRIES = 50
_PERSON = 1

Cells = dict[str, int]


def made_up_case(
    clause: Clause, schema: Schema, target: str, seed: int = 1
) -> dict[str, pd.DataFrame]:
    """Tables of one invented person whom the clause covers, keys included.

    Returns
    -------
    dict of str to DataFrame
        One row of the main table, under ``schema.entity``, without the target; any number of
        rows of each child table. Empty if the clause covers nobody within the schema's limits.
    """
    generator = public_generator(seed)
    person = _row(schema, clause.atoms, generator)
    tables = {schema.entity: _frame(schema, [person], schema.privacy_unit.column, target)}
    for child in schema.children:
        rows = _rows(child, clause, generator)
        if rows is None:
            return {}
        tables[child.name] = _frame(child, rows, schema.key_of(child), "", generator)
    return tables


def _rows(child: ChildTable, clause: Clause, generator: np.random.Generator) -> list[Cells] | None:
    """Rows that the clause asks for, and a few others that it does not forbid."""
    own = [variable for variable in clause.variables if variable.table == child.name]
    forbidden = [variable for variable in own if variable.negated]
    rows: list[Cells] = []
    for variable in (item for item in own if not item.negated):
        row = _allowed_row(child, variable.atoms, forbidden, generator)
        if row is None:
            return None
        rows.append(row)
    if len(rows) > child.max_rows_per_person:
        return None
    room = min(child.max_rows_per_person - len(rows), _MORE_ROWS)
    more = (_allowed_row(child, (), forbidden, generator) for _ in range(room))
    return rows + [row for row in more if row is not None]


def _allowed_row(
    child: ChildTable,
    atoms: Sequence[Atom],
    forbidden: Sequence[Variable],
    generator: np.random.Generator,
) -> Cells | None:
    for _ in range(_TRIES):
        row = _row(child, atoms, generator)
        if not any(_holds(variable.atoms, row) for variable in forbidden):
            return row
    return None


def _holds(atoms: Sequence[Atom], row: Cells) -> bool:
    return all(row[atom.column] in atom.cells for atom in atoms)


def _row(
    table: Schema | ChildTable, atoms: Sequence[Atom], generator: np.random.Generator
) -> Cells:
    """A cell of each column, at random among those that all atoms allow."""
    row: Cells = {}
    for column in table.columns:
        asked = [set(atom.cells) for atom in atoms if atom.column == column.name]
        cells = column.cells
        known = [code for code, cell in enumerate(cells) if cell not in RESERVED]
        allowed: Collection[int] = set.intersection(*asked) if asked else known
        row[column.name] = int(generator.choice(sorted(allowed)))
    return row


def _frame(
    table: Schema | ChildTable,
    rows: Sequence[Cells],
    key: str | None,
    target: str,
    generator: np.random.Generator | None = None,
) -> pd.DataFrame:
    draw = generator or public_generator(1)
    columns = [column for column in table.columns if column.name != target]
    content: dict[str, Any] = {} if key is None else {key: [_PERSON] * len(rows)}
    for column in columns:
        values = [_value(column, row[column.name], draw) for row in rows]
        content[column.name] = pd.Series(values, dtype=object)
    return pd.DataFrame(content)


def _value(column: Any, cell: int, generator: np.random.Generator) -> object:
    """A value in a cell; ``None`` for a missing one."""
    label = column.cells[cell]
    if label in RESERVED:
        return None if label == RESERVED[1] else label
    if not isinstance(column, NumericColumn):
        return label
    points = (column.lower, *column.inner_edges, column.upper)
    low, high = points[cell], points[cell + 1]
    if isinstance(column, IntegerColumn):
        first = int(np.floor(low)) + (1 if cell else 0)
        return (
            int(generator.integers(first, int(np.floor(high)) + 1)) if first <= high else int(high)
        )
    middle = round(float(generator.uniform(low, high)), 1)
    return middle if (low < middle or cell == 0) and middle <= high else high
