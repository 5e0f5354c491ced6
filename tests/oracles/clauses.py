"""Clauses evaluated the slow way: every choice of a row for every variable, one after another."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

Row = dict[str, Any]
#: A column, and the labels that it may have.
Condition = tuple[str, frozenset[str]]


@dataclass(frozen=True)
class Wanted:
    """A row of a table: it must exist, or, if ``negated``, must not."""

    table: str
    conditions: tuple[Condition, ...]
    negated: bool


@dataclass(frozen=True)
class Body:
    """What must hold of a person."""

    conditions: tuple[Condition, ...]
    wanted: tuple[Wanted, ...]


def holds(body: Body, person: Row, rows: dict[str, list[Row]]) -> bool:
    """Whether a body holds of a person with these rows in each table."""
    if not _fits(body.conditions, person):
        return False
    some = [item for item in body.wanted if not item.negated]
    choices = product(*(rows[item.table] for item in some))
    found = any(all(_fits(item.conditions, row) for item, row in zip(some, choice, strict=True)) for choice in choices)
    none = [item for item in body.wanted if item.negated]
    return found and not any(_fits(item.conditions, row) for item in none for row in rows[item.table])


def _fits(conditions: tuple[Condition, ...], row: Row) -> bool:
    return all(row[column] in labels for column, labels in conditions)
