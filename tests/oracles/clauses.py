"""Clauses evaluated the slow way: every choice of a row for every variable, one after another."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations, product
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True)
class Below:
    """At least so many of the rows of another table that lie in a row satisfy some conditions."""

    table: str
    conditions: tuple[tuple[str, frozenset[Any]], ...]
    least: int = 1


#: A column, and the labels that it may have, or what the rows in a row must be like.
Condition = tuple[str, frozenset[Any]] | Below


@dataclass(frozen=True)
class Wanted:
    """A row of a table: it must exist, or, if ``negated``, must not.

    Or ``least`` such rows, the first or last ``row`` of all, two that are ``alike`` in a column, or one
    with a row behind it that satisfies ``later``. Rows stand in the order of time.
    """

    table: str
    conditions: tuple[Condition, ...]
    negated: bool
    least: int = 1
    row: str = ""
    alike: str = ""
    later: tuple[Condition, ...] = ()

    @property
    def plain(self) -> bool:
        """Whether it is about the existence of one row."""
        return self.least == 1 and not (self.row or self.alike or self.later)

    def found(self, rows: list[Row]) -> bool:
        """Whether there are such rows: every choice of them is looked at."""
        own = {"first": rows[:1], "last": rows[-1:]}.get(self.row, rows)
        for chosen in combinations(own, 2 if self.alike or self.later else self.least):
            if self.later:
                fits = _fits(self.conditions, chosen[0]) and _fits(self.later, chosen[1])
            else:
                fits = all(_fits(self.conditions, row) for row in chosen)
            same = not self.alike or chosen[0][self.alike] == chosen[1][self.alike] is not None
            if fits and same:
                return True
        return False


@dataclass(frozen=True)
class Body:
    """What must hold of a person."""

    conditions: tuple[Condition, ...]
    wanted: tuple[Wanted, ...]


def holds(body: Body, person: Row, rows: dict[str, list[Row]]) -> bool:
    """Whether a body holds of a person with these rows in each table."""
    if not _fits(body.conditions, person):
        return False
    if any(item.found(rows[item.table]) == item.negated for item in body.wanted if not item.plain):
        return False
    some = [item for item in body.wanted if not item.negated and item.plain]
    choices = product(*(rows[item.table] for item in some))
    found = any(all(_fits(item.conditions, row) for item, row in zip(some, choice, strict=True)) for choice in choices)
    none = [item for item in body.wanted if item.negated and item.plain]
    return found and not any(_fits(item.conditions, row) for item in none for row in rows[item.table])


def _fits(conditions: tuple[Condition, ...], row: Row) -> bool:
    return all(_met(condition, row) for condition in conditions)


def _met(condition: Condition, row: Row) -> bool:
    if isinstance(condition, Below):
        return sum(_fits(condition.conditions, inner) for inner in row[condition.table]) >= condition.least
    column, labels = condition
    return row[column] in labels
