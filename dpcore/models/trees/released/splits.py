"""Splits of a column's public cells, and the conditions that they read as."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache

from dpcore.domain.columns import RESERVED, Column, NumericColumn
from dpcore.domain.conditions import Condition
from dpcore.domain.schemas.schema import Schema
from dpcore.frozen import FrozenModel


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
    known, unsaid = len(column.classes), column.unsaid
    told = [code for code in range(len(column.cells)) if code not in unsaid]
    cells = [code for code in told if code in allowed] or sorted(allowed)
    others = [code for code in told if code not in allowed]
    # People are told which of two categories it is, rather than which it is not.
    fewer = len(others) < len(cells) and not (known == 2 and column.for_people)
    if others and (others[0] >= known if column.ordered else fewer):
        return f"{column.name} is not " + " or ".join(_word(column, code) for code in others)
    texts = [_run_text(first, last, column) for first, last in _runs(cells, column)]
    if others and cells[-2:] == [known, known + 1] and column.for_people:
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
    columns, told = {column.name: column for column in schema}, list[tuple[str, tuple[str, ...]]]()

    @cache
    def words(name: str, cells: frozenset[int]) -> str:
        return cells_text(columns[name], cells)

    for answers in paths:
        asked: dict[str, list[frozenset[int]]] = {}
        for split, branch in answers:
            asked.setdefault(split.column, []).append(split.cells(branch))
        conditions: list[str] = []
        for name, answered in asked.items():
            both = frozenset.intersection(*answered)
            conditions += [words(name, cells) for cells in ([both] if both else dict.fromkeys(answered))]
        last = words(split.column, asked[split.column][-1]) if answers else ""
        told.append((last, tuple(conditions)))
    return told


def _run_text(first: int, last: int, column: Column) -> str:
    if first >= len(column.classes):
        return f"{column.name}{column.sign} {_word(column, first)}"
    return Condition(column=column.name, first=first, last=last).text_on(column)


def _word(column: Column, code: int) -> str:
    """A cell as part of a sentence."""
    cell = column.cells[code]
    return cell.strip("()") if cell in RESERVED else cell


def _runs(cells: Sequence[int], column: Column) -> list[tuple[int, int]]:
    """First and last of consecutive codes of an ordered column; reserved cells and categories alone.

    So are ordered categories that neither begin nor end their column: there are few.
    """
    known, runs = len(column.classes), list[tuple[int, int]]()
    for code in cells:
        if runs and column.ordered and code == runs[-1][1] + 1 and code < known:
            runs[-1] = (runs[-1][0], code)
        else:
            runs.append((code, code))
    if isinstance(column, NumericColumn):
        return runs
    parts: list[tuple[int, int]] = []
    for first, last in runs:
        at_an_end = first == 0 or last == known - 1
        parts += [(first, last)] if at_an_end else [(code, code) for code in range(first, last + 1)]
    return parts


def split_on(condition: Condition, column: Column) -> Split:
    """Binary split of a column: branch 0 where the condition holds, branch 1 elsewhere."""
    branches = [1] * len(column.cells)
    branches[condition.first : condition.last + 1] = [0] * (condition.last + 1 - condition.first)
    return Split(column=column.name, branches=tuple(branches))


def split_by_category(column: Column) -> Split:
    """One branch per category, and one for ``(other)`` and ``(missing)`` together."""
    known = len(column.classes)
    return Split(column=column.name, branches=tuple(min(code, known) for code in range(len(column.cells))))
