"""Splits of a column's public cells, and the conditions that they read as."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache

from dpcore.domain.columns import RESERVED, BooleanColumn, Column, NumericColumn
from dpcore.domain.conditions import ALL_CUTS, Condition, Cuts, cell_conditions, threshold_conditions
from dpcore.domain.schemas.schema import Schema
from dpcore.frozen import FrozenModel

#: Reserved cells as part of a sentence.
_RESERVED_WORDS = {cell: cell.strip("()") for cell in RESERVED}


class Split(FrozenModel):
    """Sends each cell of one column to a branch."""

    column: str
    branches: tuple[int, ...]
    """Branch of each cell code of the column, ``(other)`` and ``(missing)`` included. Branches are numbered from 0
    without gaps."""

    @property
    def branch_count(self) -> int:
        """Number of branches."""
        return max(self.branches) + 1

    def cells(self, branch: int) -> frozenset[int]:
        """Codes of the cells that go to a branch."""
        return frozenset(code for code, place in enumerate(self.branches) if place == branch)

    def text(self, branch: int, schema: Schema) -> str:
        """Condition under which a record goes to a branch, such as ``age > 60 or missing``."""
        return cells_text(schema.column(self.column), self.cells(branch))


def cells_text(column: Column, allowed: Collection[int]) -> str:
    """The condition that a column has one of some cells, such as ``age > 60 or missing``."""
    unsaid = column.unsaid
    cells = [code for code in sorted(allowed) if code not in unsaid] or sorted(allowed)
    others = [code for code in range(len(column.cells)) if code not in allowed and code not in unsaid]
    known = all(column.cells[code] in RESERVED for code in others)
    shorter = known if column.ordered else len(others) < len(cells) and not _one_of_two(column)
    if others and shorter:
        return f"{column.name} is not " + _listed([column.cells[code] for code in others])
    texts = [_run_text(run, column) for run in _runs(cells, column)]
    if column.for_people and others and texts[-2:] == [_reserved(column, cell) for cell in RESERVED]:
        texts[-2:] = [f"{column.name}: unknown"]
    first, *more = texts
    return " or ".join([first, *(text.removeprefix(f"{column.name}{column.sign} ") for text in more)])


#: Splits on a way, and the branch taken at each.
Answers = Sequence[tuple[Split, int]]


def path_texts(paths: Iterable[Answers], schema: Schema) -> list[tuple[str, tuple[str, ...]]]:
    """Of ways through splits the last answer of each, and its conditions, one for each column that was asked.

    Conditions are in the order of the first questions. What a column may be after all answers is told once, whatever
    of it earlier answers told already: ``60 < age <= 70`` for ``age > 60 or missing`` and ``age <= 70``. Where two
    answers exclude each other, the condition of each is told.
    """
    columns = {column.name: column for column in schema}

    @cache
    def words(name: str, cells: frozenset[int]) -> str:
        return cells_text(columns[name], cells)

    def texts(answers: Answers) -> tuple[str, tuple[str, ...]]:
        asked: dict[str, list[frozenset[int]]] = {}
        for split, branch in answers:
            asked.setdefault(split.column, []).append(split.cells(branch))
        told = {name: frozenset.intersection(*answered) for name, answered in asked.items()}
        conditions = tuple(
            words(name, cells)
            for name, answered in asked.items()
            for cells in ([told[name]] if told[name] else dict.fromkeys(answered))
        )
        return words(split.column, asked[split.column][-1]) if answers else "", conditions

    return [texts(answers) for answers in paths]


def _run_text(run: Sequence[int], column: Column) -> str:
    cell = column.cells[run[0]]
    condition = Condition(column=column.name, first=run[0], last=run[-1])
    return _reserved(column, cell) if cell in RESERVED else condition.text_on(column)


def _reserved(column: Column, cell: str) -> str:
    return f"{column.name}{column.sign} {_RESERVED_WORDS[cell]}"


def _one_of_two(column: Column) -> bool:
    """Whether people are told which of two categories it is, rather than which it is not."""
    return bool(column.for_people) and len(column.classes) == 2


def split_on(condition: Condition, schema: Schema) -> Split:
    """Binary split: branch 0 where the condition holds, branch 1 elsewhere."""
    codes, held = range(len(schema.column(condition.column).cells)), condition.cells
    return Split(column=condition.column, branches=tuple(0 if code in held else 1 for code in codes))


def split_by_category(column: Column) -> Split:
    """One branch per category, and one for ``(other)`` and ``(missing)`` together."""
    known = len(column.classes)
    return Split(column=column.name, branches=tuple(min(code, known) for code in range(len(column.cells))))


def split_conditions(schema: Schema, target: str, *, reserved: bool, cuts: Cuts = ALL_CUTS) -> list[Condition]:
    """Every binary question over the columns other than ``target``, each once.

    Ordered columns: ``<=`` at every cut; others: ``= category``, but for a column of
    two categories only one, ``yes`` of a yes/no column. If ``reserved``, ``= (missing)`` too,
    and ``= (other)`` if the column has that cell; nobody is asked for missing values of a column
    that has none.
    """
    conditions: list[Condition] = []
    for column in schema:
        if column.name == target:
            continue
        if column.ordered:
            edges = threshold_conditions(column, reserved=False, cuts=cuts)
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


def _runs(cells: Sequence[int], column: Column) -> list[list[int]]:
    """Consecutive codes of an ordered column together; reserved cells and categories alone.

    So are ordered categories that neither begin nor end their column: there are few.
    """
    runs: list[list[int]] = []
    for code in cells:
        joins = runs and column.ordered and code == runs[-1][-1] + 1 and column.cells[code] not in RESERVED
        if joins:
            runs[-1].append(code)
        else:
            runs.append([code])
    if isinstance(column, NumericColumn):
        return runs
    ends = {0, len(column.classes) - 1}
    return [part for run in runs for part in ([run] if ends & {run[0], run[-1]} else [[code] for code in run])]
