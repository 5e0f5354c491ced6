"""A whole file of results, whatever its form: sections of blocks, in the order in which they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from dpcore.released.blocks import Figure, Table, Written, only

#: Characters of a column that count for its width.
_NARROW, _WIDE = 7, 64
_FIXED: Final = {"pairs": (0.26, 0.74), "schema": (0.16, 0.19, 0.29, 0.1, 0.26)}


@dataclass(frozen=True)
class Section:
    """A part with a heading; ``result`` tells whether it is about one release."""

    title: str
    blocks: tuple[Written, ...]
    result: bool = False


@dataclass(frozen=True)
class Document:
    """A whole file."""

    title: str
    facts: Mapping[str, str]
    """What stands below the title."""
    sections: tuple[Section, ...]

    @property
    def figures(self) -> list[Figure]:
        """Every figure, in order."""
        return [figure for section in self.sections for figure in only(section.blocks, Figure)]


def column_widths(table: Table) -> list[float]:
    """Part of the width for each column on paper: more for longer words."""
    if table.kind in _FIXED:
        return list(_FIXED[table.kind])
    # The words of a head may stand in two lines.
    longest = [
        max(len(name) // 2, *(len(row[place]) for row in table.texts), 0) for place, name in enumerate(table.head)
    ]
    weights = [min(max(length, _NARROW), _WIDE) ** 0.75 for length in longest]
    return [weight / sum(weights) for weight in weights]
