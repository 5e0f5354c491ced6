"""Splits of a column's public cells, and the conditions that they read as."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpcore.domain.columns import RESERVED, BooleanColumn
from dpcore.domain.conditions import Condition, cell_conditions, threshold_conditions
from dpcore.domain.schema import Schema
from dpcore.frozen import FrozenModel

#: Reserved cells as part of a sentence.
_RESERVED_WORDS = {cell: cell.strip("()") for cell in RESERVED}


class Split(FrozenModel):
    """Sends each cell of one column to a branch.

    Attributes
    ----------
    branches : tuple of int
        Branch of each cell code of the column, ``(other)`` and ``(missing)`` included. Branches
        are numbered from 0 without gaps.
    """

    column: str
    branches: tuple[int, ...]

    @property
    def branch_count(self) -> int:
        """Number of branches."""
        return max(self.branches) + 1

    def texts(self, schema: Schema) -> list[str]:
        """Condition of each branch, see :meth:`text`."""
        return [self.text(branch, schema) for branch in range(self.branch_count)]

    def text(self, branch: int, schema: Schema) -> str:
        """Condition under which a record goes to a branch, such as ``age > 60 or missing``."""
        column = schema.column(self.column)
        places = [code for code, place in enumerate(self.branches) if place == branch]
        cells = [code for code in places if code not in column.unsaid] or places
        others = [code for code, place in enumerate(self.branches) if place != branch and code not in column.unsaid]
        known = all(column.cells[code] in RESERVED for code in others)
        shorter = known if column.ordered else len(others) < len(cells) and not _one_of_two(column)
        if others and shorter:
            return f"{self.column} is not " + _listed([column.cells[code] for code in others])
        texts = [self._run_text(run, column, schema) for run in _runs(cells, column)]
        if column.for_people and others and texts[-2:] == [self._reserved(column, cell) for cell in RESERVED]:
            texts[-2:] = [f"{self.column}: unknown"]
        first, *more = texts
        return " or ".join([first, *(text.removeprefix(f"{self.column}{column.sign} ") for text in more)])

    def _run_text(self, run: Sequence[int], column: Any, schema: Schema) -> str:
        cell = column.cells[run[0]]
        condition = Condition(column=self.column, first=run[0], last=run[-1])
        return self._reserved(column, cell) if cell in RESERVED else condition.text(schema)

    def _reserved(self, column: Any, cell: str) -> str:
        return f"{self.column}{column.sign} {_RESERVED_WORDS[cell]}"


def _one_of_two(column: Any) -> bool:
    """Whether people are told which of two categories it is, rather than which it is not."""
    return bool(column.for_people) and len(column.classes) == 2


def split_on(condition: Condition, schema: Schema) -> Split:
    """Binary split: branch 0 where the condition holds, branch 1 elsewhere."""
    cells = schema.column(condition.column).cells
    return Split(
        column=condition.column,
        branches=tuple(0 if condition.holds(code) else 1 for code in range(len(cells))),
    )


def split_by_category(column: Any) -> Split:
    """One branch per category, and one for ``(other)`` and ``(missing)`` together."""
    known = len(column.classes)
    return Split(
        column=column.name,
        branches=tuple(min(code, known) for code in range(len(column.cells))),
    )


def split_conditions(schema: Schema, target: str, *, reserved: bool) -> list[Condition]:
    """Every binary question over the columns other than ``target``, each once.

    Ordered columns: ``<=`` at every inner edge; others: ``= category``, but for a column of
    two categories only one, ``yes`` of a yes/no column. If ``reserved``, ``= (missing)`` too,
    and ``= (other)`` if the column has that cell; nobody is asked for missing values of a column
    that has none.
    """
    conditions: list[Condition] = []
    for column in schema:
        if column.name == target:
            continue
        if column.ordered:
            edges = threshold_conditions(column, reserved=False)
            conditions += [item for item in edges if item.first == 0]
        else:
            named = cell_conditions(column, reserved=False)
            one = named[1:] if isinstance(column, BooleanColumn) else named[:1]
            conditions += one if len(named) == 2 else named
        if reserved:
            every = cell_conditions(column, reserved=True)
            asked = (item for item in every if item.first not in column.unsaid)
            conditions += [item for item in asked if column.cells[item.first] in RESERVED]
    return conditions


def _listed(cells: Sequence[str]) -> str:
    return " or ".join(_RESERVED_WORDS.get(cell, cell) for cell in cells)


def _runs(cells: Sequence[int], column: Any) -> list[list[int]]:
    """Consecutive codes of an ordered column together; reserved cells and categories alone."""
    runs: list[list[int]] = []
    for code in cells:
        joins = runs and column.ordered and code == runs[-1][-1] + 1 and column.cells[code] not in RESERVED
        if joins:
            runs[-1].append(code)
        else:
            runs.append([code])
    return runs
