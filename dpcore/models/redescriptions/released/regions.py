"""Sets of records described by cells: boxes, and how much of the public domain they share.

The cells of a column are the bits of a whole number, so that a column of a thousand cells is
handled as fast as a yes/no column.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dpcore.arrays import Floats
from dpcore.domain.conditions import Condition
from dpcore.domain.schemas.schema import Schema

#: Cells that each column may have, as bits; a column that is not named may have any.
Box = Mapping[str, int]


class Domain:
    """The columns of a schema and their cells, quick to look up."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._columns = {column.name: column for column in schema}
        self._places = {name: place for place, name in enumerate(self._columns)}
        self._cells: dict[str, tuple[str, ...]] = {}

    @property
    def rows_per_person(self) -> int:
        """Most records of one person."""
        return self._schema.privacy_unit.max_rows_per_person

    def column(self, name: str) -> Any:
        """The column called ``name``.

        Raises
        ------
        SchemaError
            If there is none.
        """
        return self._columns[name] if name in self._columns else self._schema.column(name)

    def place(self, name: str) -> int:
        """Position of a column."""
        return self._places[name]

    def cells(self, name: str) -> tuple[str, ...]:
        """Labels of the cells of a column."""
        if name not in self._cells:
            self._cells[name] = self.column(name).cells
        return self._cells[name]

    def count(self, name: str) -> int:
        """Number of cells of a column."""
        return len(self.cells(name))

    def everything(self, name: str) -> int:
        """All cells of a column."""
        return (1 << self.count(name)) - 1

    def holding(self, literal: Condition) -> int:
        """Cells that satisfy a condition."""
        return (1 << (literal.last + 1)) - (1 << literal.first)


def codes(cells: int) -> list[int]:
    """Codes of some cells, in order."""
    return [code for code in range(cells.bit_length()) if cells >> code & 1]


def narrowed(box: Box | None, literal: Condition, holds: bool, domain: Domain) -> Box | None:
    """Part of a box where a condition holds, or does not; ``None`` if there is none."""
    if box is None:
        return None
    known = box.get(literal.column, domain.everything(literal.column))
    kept = known & domain.holding(literal) if holds else known & ~domain.holding(literal)
    return {**box, literal.column: kept} if kept else None


def shared_cells(some: Sequence[Box | None], others: Sequence[Box | None], domain: Domain) -> Floats:
    """Share of the public domain that is in two boxes, every combination of cells alike.

    Returns
    -------
    array of shape (n_some, n_others)
    """
    sides = _Shares(some, domain), _Shares(others, domain)
    common = sides[0].whole[:, None] * sides[1].whole[None, :]
    for name in sides[0].cells.keys() & sides[1].cells.keys():
        one, other = (side.cells[name] for side in sides)
        sizes = one.sum(axis=1)[:, None] * other.sum(axis=1)[None, :]
        common *= (one @ other.T) * domain.count(name) / np.maximum(sizes, 1)
    return np.asarray(common)


class _Shares:
    """Boxes as arrays: their shares of the domain, and which cells of each column they hold."""

    def __init__(self, boxes: Sequence[Box | None], domain: Domain) -> None:
        names = sorted({name for box in boxes if box is not None for name in box})
        self.whole = np.array([0.0 if box is None else 1.0 for box in boxes])
        self.cells: dict[str, Floats] = {}
        for name in names:
            held = [domain.everything(name) if box is None else box.get(name) for box in boxes]
            rows = [_bits(domain.everything(name) if one is None else one) for one in held]
            width = domain.count(name)
            self.cells[name] = np.array([row[:width] + [0.0] * (width - len(row)) for row in rows])
            self.whole *= self.cells[name].sum(axis=1) / width


def _bits(cells: int) -> list[float]:
    return [float(digit) for digit in reversed(f"{cells:b}")]
