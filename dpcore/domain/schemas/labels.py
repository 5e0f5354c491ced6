"""A schema in the words of people: columns and categories by their labels.

Cells keep their numbers, so whatever holds for numbers of cells holds for both schemas.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise
from typing import Any, Final

from dpcore.domain.columns import (
    COLUMN_ADAPTER,
    MISSING,
    OTHER,
    RESERVED,
    Column,
    IntegerColumn,
    NumberColumn,
    NumericColumn,
    format_number,
)
from dpcore.domain.schemas.names import is_name
from dpcore.domain.schemas.schema import ChildTable, Schema

#: What people call the cells for no value, and for one that is not listed.
_RESERVED: Final = {MISSING: "missing", OTHER: "other"}


class Labels:
    """What the columns and categories of a schema are called.

    Attributes
    ----------
    schema : Schema
        The same schema under these names. Conditions on a column with a label or a unit are for people.
    """

    def __init__(self, schema: Schema) -> None:
        taken = _taken(schema)
        self._names = {"": _names(schema, taken)} | {child.name: _names(child, taken) for child in schema.children}
        self._cells = {
            (table.name if isinstance(table, ChildTable) else "", column.name): _cells(column)
            for table in (schema, *schema.children)
            for column in table.columns
        }
        self.schema = Schema.from_mapping(self._told(schema)) if has_labels(schema) else schema

    def column(self, name: str, table: str = "") -> str:
        """What a column is called."""
        return self._names[table].get(name, name)

    def cell(self, column: str, cell: str, table: str = "") -> str:
        """What a category, or another cell, is called."""
        return self._cells[table, column].get(cell, cell)

    def _told(self, schema: Schema) -> dict[str, object]:
        content: dict[str, Any] = schema.model_dump(mode="json")
        content["columns"] = [self._column(column, "") for column in content["columns"]]
        self._rename_order(content["privacy_unit"], "")
        for child in content["children"]:
            child["columns"] = [self._column(column, child["name"]) for column in child["columns"]]
            self._rename_order(child, child["name"])
        return content

    def _rename_order(self, keeping: dict[str, Any], table: str) -> None:
        """Call the column that tells the order of rows as others are called, if it is stored."""
        if keeping["order_by"] is not None:
            keeping["order_by"] = self.column(keeping["order_by"], table)

    def _column(self, column: dict[str, Any], table: str) -> object:
        name = column["name"]
        told = column | {"name": self.column(name, table), "derive": None, "summary": None}
        if "categories" in column:
            told["categories"] = [self.cell(name, category, table) for category in column["categories"]]
            told |= {"labels": [], "missing_codes": [], "matching": "exact"}
            told["groups"] = [
                group | {"members": [self.cell(name, member, table) for member in group["members"]]}
                for group in column["groups"]
            ]
        if not column.get("label") and not column.get("unit"):
            return told
        return COLUMN_ADAPTER.validate_python(told | {"label": told["name"]}).told()


def called(schema: Schema, name: str) -> str:
    """What a column of the main table is called; what is none stays as it is."""
    return _names(schema, _taken(schema)).get(name, name)


def cell_called(column: Column, cell: str) -> str:
    """What a category, or another cell, of a column is called."""
    return _cells(column).get(cell, cell)


def cells_called(column: Column) -> tuple[str, ...]:
    """What all cells of a column are called: ``41 to 60``, ``over 2.5 to 5``, ``died``, ``missing``."""
    named = _RESERVED | (_ranges(column) if isinstance(column, NumericColumn) else _cells(column))
    return tuple(named[cell] for cell in column.cells)


def _ranges(column: NumberColumn) -> dict[str, str]:
    points, by_ones = (column.lower, *column.inner_edges, column.upper), isinstance(column, IntegerColumn)
    between = (_between(*ends, first=place == 0, by_ones=by_ones) for place, ends in enumerate(pairwise(points)))
    return dict(zip(column.classes, between, strict=True))


def _between(low: float, high: float, *, first: bool, by_ones: bool) -> str:
    least, most = low if first else math.floor(low) + 1, math.floor(high)
    if by_ones and least <= most:
        return format_number(most) if least == most else f"{format_number(least)} to {format_number(most)}"
    start = "" if first else "over "
    return f"{start}{format_number(low)} to {format_number(high)}"


def categories(column: Column) -> list[str]:
    """Categories with their labels: ``died (11)``."""
    labels = {each.category: each.label for each in getattr(column, "labels", ())}
    return [f"{labels[cell]} ({cell})" if labels.get(cell, cell) != cell else cell for cell in column.classes]


def has_labels(schema: Schema) -> bool:
    """Whether anything in a schema is called otherwise than its name."""
    columns = (column for table in (schema, *schema.children) for column in table.columns)
    return any(column.label or getattr(column, "labels", ()) or getattr(column, "unit", "") for column in columns)


def _taken(schema: Schema) -> set[str]:
    """Columns of files that are not stored, and are known by their names: keys, and what tells the order of rows."""
    names = [schema.privacy_unit.column, *(schema.key_of(child) for child in schema.children)]
    names += [name for child in schema.children for name in child.links]
    for table in (schema, *schema.children):
        if table.keeping.order_by not in {column.name for column in table.columns}:
            names.append(table.keeping.order_by)
    return {name for name in names if name is not None}


def _names(table: Schema | ChildTable, taken: Collection[str]) -> dict[str, str]:
    """What each column is called; a label that something else has too, with the name behind it.

    In the main table none begins as conditions on rows of a child table do.
    """
    barred = tuple(f"{child.name}: " for child in table.children) if isinstance(table, Schema) else ()
    return _told_apart({column.name: column.label or column.name for column in table.columns}, taken, barred)


def _cells(column: Column) -> dict[str, str]:
    labels = {each.category: each.label for each in getattr(column, "labels", ())}
    groups = (group.name for group in getattr(column, "groups", ()))
    return _told_apart({category: labels.get(category, category) for category in column.classes}, {*RESERVED, *groups})


def _told_apart(labels: Mapping[str, str], taken: Collection[str], barred: tuple[str, ...] = ()) -> dict[str, str]:
    """Labels that can be names; one that something else has too stands beside the name, or gives way to it.

    So does one with a ``barred`` beginning.
    """
    known = [*labels.values(), *labels, *taken]
    beside = {
        name: label if label == name or _is_clear(label, known, ()) else f"{label} ({name})"
        for name, label in labels.items()
    }
    every = [*beside.values(), *(name for name, label in beside.items() if label != name), *taken]
    return {name: label if label == name or _is_clear(label, every, barred) else name for name, label in beside.items()}


def _is_clear(label: str, every: Sequence[str], barred: tuple[str, ...]) -> bool:
    return is_name(label) and every.count(label) == 1 and not label.startswith(barred)
