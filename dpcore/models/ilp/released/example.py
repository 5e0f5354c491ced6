"""A made-up case that a clause covers: drawn from the schema and the clause, never from records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from dpcore.domain.columns import MISSING, RESERVED, IntegerColumn, NumericColumn
from dpcore.domain.schema import ChildTable, Schema
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause
from dpcore.privacy.randomness import public_generator

#: Rows of a table beyond those that the clause asks for.
_MORE_ROWS = 2
_PERSON = 1

Cells = dict[str, int]


def made_up_case(clause: Clause, schema: Schema, target: str, seed: int = 1) -> dict[str, pd.DataFrame]:
    """Tables of one invented person whom the clause covers, keys included.

    Returns
    -------
    dict of str to DataFrame
        One row of the main table, under ``schema.entity``, without the target; any number of
        rows of each child table. Empty if the clause covers nobody within the schema's limits.
    """
    generator = public_generator(seed)
    person = _row(schema, clause.atoms, (), generator)
    if person is None:
        return {}
    main = _frame(schema, [person], schema.privacy_unit.column, generator)
    tables = {schema.entity: main.drop(columns=target, errors="ignore")}
    for child in schema.children:
        rows = _rows(child, clause, generator)
        if rows is None:
            return {}
        tables[child.name] = _frame(child, rows, schema.key_of(child), generator)
    return tables


def _rows(child: ChildTable, clause: Clause, generator: np.random.Generator) -> list[Cells] | None:
    """Rows that the clause asks for, and a few others that it does not forbid."""
    own = [variable for variable in clause.variables if variable.table == child.name]
    forbidden = [variable.atoms for variable in own if variable.negated]
    if any(not atoms for atoms in forbidden):
        return None if any(not variable.negated for variable in own) else []
    wanted = [variable.atoms for variable in own if not variable.negated]
    while len(wanted) > child.max_rows_per_person:
        pairs = combinations(range(len(wanted)), 2)
        one, other = next((pair for pair in pairs if _may_be_one(child, wanted, pair, forbidden)), (-1, -1))
        if one < 0:
            return None
        wanted[one] += wanted.pop(other)
    rows = [_row(child, atoms, forbidden, generator) for atoms in wanted]
    room = min(child.max_rows_per_person - len(rows), _MORE_ROWS)
    more = [_row(child, (), forbidden, generator) for _ in range(room)]
    found = [row for row in rows if row is not None]
    return None if len(found) < len(rows) else found + [row for row in more if row is not None]


def _may_be_one(
    child: ChildTable,
    wanted: Sequence[tuple[Atom, ...]],
    pair: tuple[int, int],
    forbidden: Sequence[Sequence[Atom]],
) -> bool:
    """Whether one row can do for two variables."""
    together = wanted[pair[0]] + wanted[pair[1]]
    return _row(child, together, forbidden, public_generator(1)) is not None


def _row(
    table: Schema | ChildTable,
    atoms: Sequence[Atom],
    forbidden: Sequence[Sequence[Atom]],
    generator: np.random.Generator,
) -> Cells | None:
    """A cell of each column, at random among those that are allowed; ``None`` if there is none.

    Of what is forbidden together, the first condition is left unsatisfied.
    """
    row: Cells = {}
    for column in table.columns:
        allowed = {code for code, cell in enumerate(column.cells) if _holds_value(column, code)}
        asked = [atom for atom in atoms if atom.column == column.name]
        if not any(set(atom.cells) & _reserved(column) for atom in asked):
            allowed -= _reserved(column)
        for atom in asked:
            allowed &= set(atom.cells)
        for first, *_ in forbidden:
            if first.column == column.name:
                allowed -= set(first.cells)
        if not allowed:
            return None
        row[column.name] = int(generator.choice(sorted(allowed)))
    return row


def _reserved(column: Any) -> set[int]:
    return {code for code, cell in enumerate(column.cells) if cell in RESERVED}


def _holds_value(column: Any, cell: int) -> bool:
    """Whether a value can lie in a cell: between two cut points there may be no whole number."""
    if not isinstance(column, IntegerColumn) or cell in _reserved(column):
        return True
    first, last = _whole_numbers(column, cell)
    return first <= last


def _whole_numbers(column: Any, cell: int) -> tuple[int, int]:
    points = (column.lower, *column.inner_edges, column.upper)
    first = math.ceil(points[0]) if cell == 0 else math.floor(points[cell]) + 1
    return first, math.floor(points[cell + 1])


def _frame(
    table: Schema | ChildTable,
    rows: Sequence[Cells],
    key: str | None,
    generator: np.random.Generator,
) -> pd.DataFrame:
    content: dict[str, Any] = {} if key is None else {key: [_PERSON] * len(rows)}
    for column in table.columns:
        values = [_value(column, row[column.name], generator) for row in rows]
        content[column.name] = pd.Series(values, dtype=object)
    return pd.DataFrame(content)


def _value(column: Any, cell: int, generator: np.random.Generator) -> object:
    """A value in a cell; ``None`` for a missing one."""
    label = column.cells[cell]
    if label in RESERVED:
        return None if label == MISSING else label
    if not isinstance(column, NumericColumn):
        return label
    share = float(generator.random())
    if isinstance(column, IntegerColumn):
        first, last = _whole_numbers(column, cell)
        return min(last, first + int(share * (last - first + 1)))
    points = (column.lower, *column.inner_edges, column.upper)
    low, high = points[cell], points[cell + 1]
    rounded = round(low + share * (high - low), 1)
    return rounded if low < rounded <= high else high
