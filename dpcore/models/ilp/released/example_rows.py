"""Rows of one table of an invented person whom a clause covers: drawn, and then asked whether it does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from dpcore.domain.columns import RESERVED, IntegerColumn
from dpcore.domain.schema import ChildTable, Schema
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.rows import CaseRows
from dpcore.privacy.randomness import public_generator

#: Rows of a table beyond those that the clause asks for.
_MORE_ROWS = 2
#: Draws after which nobody is taken to satisfy the clause, and those after which no rows are added.
_TRIES, _PLAIN_TRIES = 60, 30

Cells = dict[str, int]


class _Wanted(NamedTuple):
    """A row that a clause asks for; those of one variable must be different rows."""

    atoms: tuple[Atom, ...]
    variables: frozenset[int]
    #: In the order of time: first rows, any, and last rows.
    when: float = 0.5


def made_up_rows(child: ChildTable, clause: Clause, generator: np.random.Generator) -> list[Cells] | None:
    """Rows that satisfy what a clause says of a table; ``None`` if none are found within its limits.

    They stand in the order of time.
    """
    own = [variable for variable in clause.variables if variable.table == child.name]
    for attempt in range(_TRIES):
        rows = _drawn(child, own, generator, attempt)
        if rows is not None and _satisfy(rows, own, child):
            return rows
    return None


def _satisfy(rows: Sequence[Cells], variables: Sequence[Variable], child: ChildTable) -> bool:
    classes = {column.name: len(column.classes) for column in child.columns}
    told = tuple({name: frozenset([cell]) for name, cell in row.items()} for row in rows)
    case = CaseRows(rows=told, classes=classes)
    return all(variable.verdict(case)[0] for variable in variables)


def _drawn(
    child: ChildTable, variables: Sequence[Variable], generator: np.random.Generator, attempt: int
) -> list[Cells] | None:
    """Rows that may satisfy the variables, and a few others that these do not forbid."""
    forbidden = [variable.atoms for variable in variables if variable.negated and variable.atoms]
    none = any(variable.negated and not variable.atoms for variable in variables)
    wanted = [
        row
        for number, variable in enumerate(variables)
        if not variable.negated
        for row in _rows_of(variable, number, child, generator)
    ]
    # Negated numbers of rows leave room for some that satisfy the conditions.
    avoided = forbidden if attempt % 2 == 0 else [v.atoms for v in variables if v.negated and v.atoms and v.least == 1]
    together = _few_enough(child, wanted, avoided)
    if together is None:
        return None
    room = min(child.max_rows_per_person - len(together), _MORE_ROWS)
    if none or attempt >= _PLAIN_TRIES:
        room = 0
    together += [_Wanted((), frozenset(), float(generator.random())) for _ in range(room)]
    rows: list[Cells] = []
    for asked in sorted(together, key=lambda row: row.when):
        row = made_up_row(child, asked.atoms, avoided if asked.variables else forbidden, generator)
        if row is None and asked.variables:
            return None
        rows += [] if row is None else [row]
    return _in_order(rows, child)


def _in_order(rows: list[Cells], child: ChildTable) -> list[Cells]:
    """Rows whose order is stored with increasing cells of that column."""
    name = child.order_by
    if child.keep == "random" or name is None or name not in {column.name for column in child.columns}:
        return rows
    cells = sorted(row[name] for row in rows)
    return [{**row, name: cell} for row, cell in zip(rows, cells, strict=True)]


def _rows_of(variable: Variable, number: int, child: ChildTable, generator: np.random.Generator) -> list[_Wanted]:
    """Rows that a variable asks for."""
    who, atoms = frozenset([number]), variable.atoms
    if variable.later:
        early, late = sorted(generator.random(2).tolist())
        return [_Wanted(atoms, who, early), _Wanted(variable.later, who, late)]
    if variable.row:
        return [_Wanted(atoms, who, -1.0 if variable.row == "first" else 2.0)]
    count = 2 if variable.alike else variable.least
    if variable.alike:
        cells = set(range(len(child.column(variable.alike).classes)))
        for atom in atoms:
            cells &= set(atom.cells) if atom.column == variable.alike else cells
        value = int(generator.choice(sorted(cells))) if cells else -1
        atoms = (*atoms, Atom(table=child.name, column=variable.alike, cells=(value,)))
    return [_Wanted(atoms, who, float(generator.random())) for _ in range(count)]


def _few_enough(
    child: ChildTable, wanted: Sequence[_Wanted], forbidden: Sequence[Sequence[Atom]]
) -> list[_Wanted] | None:
    """The rows, of which some do for two variables where too many are wanted."""
    rows = list(wanted)
    while len(rows) > child.max_rows_per_person:
        pairs = combinations(range(len(rows)), 2)
        one, other = next((pair for pair in pairs if _may_be_one(child, rows, pair, forbidden)), (-1, -1))
        if one < 0:
            return None
        second, first = rows.pop(other), rows[one]
        when = max(first.when, second.when, key=lambda moment: abs(moment - 0.5))
        rows[one] = _Wanted(first.atoms + second.atoms, first.variables | second.variables, when)
    return rows


def _may_be_one(
    child: ChildTable, rows: Sequence[_Wanted], pair: tuple[int, int], forbidden: Sequence[Sequence[Atom]]
) -> bool:
    """Whether one row can do for two variables."""
    one, other = rows[pair[0]], rows[pair[1]]
    return not one.variables & other.variables and (
        made_up_row(child, one.atoms + other.atoms, forbidden, public_generator(1)) is not None
    )


def made_up_row(
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
    first, last = whole_numbers(column, cell)
    return first <= last


def whole_numbers(column: Any, cell: int) -> tuple[int, int]:
    """First and last whole number that lie in a cell."""
    points = (column.lower, *column.inner_edges, column.upper)
    first = math.ceil(points[0]) if cell == 0 else math.floor(points[cell]) + 1
    return first, math.floor(points[cell + 1])
