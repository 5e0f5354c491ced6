"""Rows of the further tables of an invented person whom a clause covers: drawn, and then asked whether it does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np

from dpcore.domain.columns import RESERVED, Column, IntegerColumn, NumberColumn
from dpcore.domain.schemas.schema import ChildTable, Schema
from dpcore.models.ilp.language.atoms import Atom
from dpcore.models.ilp.language.clause import Clause, Variable
from dpcore.models.ilp.language.nested_conditions import NestedCondition, RowAtom
from dpcore.models.ilp.language.rows import CaseRow, CaseRows
from dpcore.models.ilp.released.nested import with_below
from dpcore.privacy.randomness import public_generator

#: Rows of a table beyond those that the clause asks for.
_MORE_ROWS = 2
#: Draws after which nobody is taken to satisfy the clause, and those after which no rows are added.
_TRIES, _PLAIN_TRIES = 60, 30

Cells = dict[str, int]


class InventedRow(NamedTuple):
    """A row of an invented person: its cells, and the place of the row of the parent's table to which it belongs."""

    cells: Cells
    parent: int = 0


class _Wanted(NamedTuple):
    """A row that a clause asks for; those of one variable must be different rows."""

    atoms: tuple[RowAtom, ...]
    variables: frozenset[int]
    #: In the order of time: first rows, any, and last rows.
    when: float = 0.5
    #: The row to which it belongs; -1: to any.
    parent: int = -1


def made_up_rows(
    child: ChildTable, nested: Sequence[ChildTable], clause: Clause, generator: np.random.Generator
) -> dict[str, list[InventedRow]] | None:
    """Rows that satisfy what a clause says of a table and of those ``nested`` in it, by table.

    They stand in the order of time. ``None`` if none are found within the limits of the tables.
    """
    names = {table.name for table in (child, *nested)}
    own = [variable for variable in clause.variables if variable.table in names]
    for attempt in range(_TRIES):
        rows = _family(child, nested, own, generator, attempt)
        if rows is not None and _satisfy(rows, own, child, nested):
            return rows
    return None


def _family(
    child: ChildTable,
    nested: Sequence[ChildTable],
    variables: Sequence[Variable],
    generator: np.random.Generator,
    attempt: int,
) -> dict[str, list[InventedRow]] | None:
    """Rows of a table, and of those whose rows belong to them, that may satisfy the variables."""
    own = [variable for variable in variables if variable.table == child.name]
    needed = [_Wanted((), frozenset([-1]))] if any(not variable.negated for variable in variables) else []
    made = _drawn(child, own, needed if len(own) < len(variables) else [], generator, attempt)
    if made is None:
        return None
    rows = {child.name: [InventedRow(cells) for cells, _ in made]}
    for inner in nested if made else ():
        asked = [variable for variable in variables if variable.table == inner.name]
        demands = [
            _Wanted(atom.atoms, frozenset([-1 - place]), float(generator.random()), place)
            for place, (_, wanted) in enumerate(made)
            for atom in wanted.atoms
            if isinstance(atom, NestedCondition) and atom.inner == inner.name
            for _ in range(atom.least)
        ]
        theirs = _drawn(inner, asked, demands, generator, attempt)
        if theirs is None:
            return None
        rows[inner.name] = [
            InventedRow(cells, wanted.parent if wanted.parent >= 0 else int(generator.integers(len(made))))
            for cells, wanted in theirs
        ]
    return {**{inner.name: [] for inner in nested}, **rows}


def _satisfy(
    rows: Mapping[str, Sequence[InventedRow]],
    variables: Sequence[Variable],
    child: ChildTable,
    nested: Sequence[ChildTable],
) -> bool:
    told = {name: [_told(row) for row in made] for name, made in rows.items()}
    places = {inner.name: [([row.parent], True) for row in rows[inner.name]] for inner in nested}
    whole = with_below(told[child.name], {name: (told[name], may) for name, may in places.items()})
    cases = {child.name: CaseRows(rows=whole, classes=_classes(child))}
    cases |= {inner.name: CaseRows(rows=tuple(told[inner.name]), classes=_classes(inner)) for inner in nested}
    return all(variable.verdict(cases[variable.table])[0] for variable in variables)


def _told(row: InventedRow) -> CaseRow:
    return CaseRow(cells={name: frozenset([cell]) for name, cell in row.cells.items()})


def _classes(child: ChildTable) -> dict[str, int]:
    return {column.name: len(column.classes) for column in child.columns}


def _drawn(
    child: ChildTable,
    variables: Sequence[Variable],
    needed: Sequence[_Wanted],
    generator: np.random.Generator,
    attempt: int,
) -> list[tuple[Cells, _Wanted]] | None:
    """Rows that may satisfy the variables, those needed, and a few others that the variables do not forbid."""
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
    together = _few_enough(child, [*wanted, *needed], avoided)
    if together is None:
        return None
    room = min(child.max_rows_per_person - len(together), _MORE_ROWS)
    if none or attempt >= _PLAIN_TRIES:
        room = 0
    together += [_Wanted((), frozenset(), float(generator.random())) for _ in range(room)]
    rows: list[tuple[Cells, _Wanted]] = []
    for asked in sorted(together, key=lambda row: row.when):
        row = made_up_row(child, asked.atoms, avoided if asked.variables else forbidden, generator)
        if row is None and asked.variables:
            return None
        rows += [] if row is None else [(row, asked)]
    return list(zip(_in_order([row for row, _ in rows], child), (asked for _, asked in rows), strict=True))


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
    child: ChildTable, wanted: Sequence[_Wanted], forbidden: Sequence[Sequence[RowAtom]]
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
        parent = max(first.parent, second.parent)
        rows[one] = _Wanted(first.atoms + second.atoms, first.variables | second.variables, when, parent)
    return rows


def _may_be_one(
    child: ChildTable, rows: Sequence[_Wanted], pair: tuple[int, int], forbidden: Sequence[Sequence[RowAtom]]
) -> bool:
    """Whether one row can do for two variables."""
    one, other = rows[pair[0]], rows[pair[1]]
    apart = bool(one.variables & other.variables) or (one.parent != other.parent and min(one.parent, other.parent) >= 0)
    return not apart and (made_up_row(child, one.atoms + other.atoms, forbidden, public_generator(1)) is not None)


def made_up_row(
    table: Schema | ChildTable,
    atoms: Sequence[RowAtom],
    forbidden: Sequence[Sequence[RowAtom]],
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


def _reserved(column: Column) -> set[int]:
    return {code for code, cell in enumerate(column.cells) if cell in RESERVED}


def _holds_value(column: Column, cell: int) -> bool:
    """Whether a value can lie in a cell: between two cut points there may be no whole number."""
    if not isinstance(column, IntegerColumn) or cell in _reserved(column):
        return True
    first, last = whole_numbers(column, cell)
    return first <= last


def whole_numbers(column: NumberColumn, cell: int) -> tuple[int, int]:
    """First and last whole number that lie in a cell."""
    points = (column.lower, *column.inner_edges, column.upper)
    first = math.ceil(points[0]) if cell == 0 else math.floor(points[cell]) + 1
    return first, math.floor(points[cell + 1])
