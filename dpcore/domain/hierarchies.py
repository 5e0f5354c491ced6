"""Coarser groups that the categories of a column of codes are in: chapters above blocks, a person's own groups.

Public: they follow from the schema and from tables that everybody can look up (``codes``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from dpcore.domain.codes import TABLES, group_of, levels_of
from dpcore.domain.columns import RESERVED, Column
from dpcore.domain.derivations import GroupOfCode

#: What people call a level of a classification; others are called by their number.
_CALLED = {"chapter": "chapters", "block": "blocks", "category": "categories"}
#: What the groups are called that a schema makes of the categories of a column.
OWN_GROUPS = "groups"


@dataclass(frozen=True)
class CodeLevel:
    """One level of groups above the cells of a column."""

    name: str
    """Of the level, for people: ``chapters``."""
    cells: tuple[str, ...]
    """Its groups for people; those for no value last, as in the column."""
    groups: tuple[int, ...]
    """Group of each cell of the column."""


def levels_above(column: Column) -> tuple[CodeLevel, ...]:
    """Levels above the cells of a column, the coarsest first; none, if it is not a column of codes.

    Every group of a level lies within one of the level above, and a level has fewer groups than the one below.
    """
    found: list[CodeLevel] = []
    for name, group in _ways(column):
        level = _level(name, column, group)
        if len(level.cells) < len(column.cells) and _nested(level, found):
            found.append(level)
    return tuple(found)


def _ways(column: Column) -> list[tuple[str, Callable[[str], tuple[str, str]]]]:
    """Name and group of a category, with its title, of every level; the coarsest level first."""
    derive = getattr(column, "derive", None)
    if isinstance(derive, GroupOfCode) and hasattr(column, "categories"):
        levels = levels_of(derive.system)
        return [
            (_CALLED.get(level, f"level {level}"), _listed(derive.system, level, derive.level))
            for level in levels[: levels.index(derive.level)]
            if level in TABLES[derive.system]
        ]
    groups = getattr(column, "groups", ())
    members = [member for group in groups for member in group.members]
    if not groups or len(set(members)) < len(members):
        return []
    own = {member: group.name for group in groups for member in group.members}
    return [(OWN_GROUPS, lambda category: (own.get(category, category), ""))]


def _listed(system: str, level: str, below: str) -> Callable[[str], tuple[str, str]]:
    titles = {group.name: group.label for group in TABLES[system][level]}
    starts = {group.name: group.first for group in TABLES[system].get(below, ())}

    def group(category: str) -> tuple[str, str]:
        name = group_of(system, level, starts.get(category, category))
        return name, titles.get(name, "")

    return group


def _level(name: str, column: Any, group: Callable[[str], tuple[str, str]]) -> CodeLevel:
    told: dict[str, str] = {}
    names = []
    for category in column.categories:
        own, title = group(category)
        told.setdefault(own, f"{own}: {title}" if title else own)
        names.append(own)
    places = {own: place for place, own in enumerate(told)}
    groups = [*(places[own] for own in names), *range(len(told), len(told) + len(RESERVED))]
    return CodeLevel(name, (*told.values(), *RESERVED), tuple(groups))


def _nested(level: CodeLevel, found: list[CodeLevel]) -> bool:
    """Whether each group lies in one of the level above, and there are more of them."""
    if not found:
        return True
    above = found[-1]
    pairs = set(zip(level.groups, above.groups, strict=True))
    return len(pairs) == len(level.cells) > len(above.cells)
