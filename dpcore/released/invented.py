"""Invented records with the codes of their cells at hand."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from dpcore.arrays import Floats, Ints
from dpcore.domain.columns import IntegerColumn, NumericColumn
from dpcore.domain.encoding import encode
from dpcore.domain.schemas.schema import Schema


@dataclass
class Records:
    """Tables of invented records.

    Attributes
    ----------
    tables : mapping of str to DataFrame
        The main table under the name of its entity, and every further one.
    known : dict of str to array
        Cell codes of columns of the main table, as far as they were needed.
    """

    schema: Schema
    tables: Mapping[str, pd.DataFrame]
    known: dict[str, Ints] = field(default_factory=dict)
    _found: dict[int, tuple[Any, Ints]] = field(default_factory=dict)

    @property
    def main(self) -> pd.DataFrame:
        """The main table."""
        return self.tables[self.schema.entity]

    @property
    def rows(self) -> int:
        """Records of the main table."""
        return len(self.main)

    def cells(self, name: str) -> Ints:
        """Cell of each record in a column."""
        if name not in self.known:
            column = self.schema.column(name)
            self.known[name] = encode(column, self.main[name])[0].astype(np.int64)
        return self.known[name]

    def once(self, model: Any, find: Callable[[], Ints]) -> Ints:
        """Codes that a model gives the records, found the first time they are asked for."""
        if id(model) not in self._found:
            self._found[id(model)] = model, find()  # While it is kept, no other has its id.
        return self._found[id(model)][1]

    def exchanged(self, columns: Mapping[str, Any], codes: Mapping[str, Ints]) -> Records:
        """The same records with other values in some columns, of cells that may be known."""
        main = pd.DataFrame({str(name): columns.get(str(name), values) for name, values in self.main.items()})
        kept = {name: known for name, known in self.known.items() if name not in columns}
        tables = {**self.tables, self.schema.entity: main}
        return Records(self.schema, tables, {**kept, **codes})


def is_category(schema: Schema, name: str) -> bool:
    """Whether the values of a column are its cells."""
    return not isinstance(schema.column(name), NumericColumn)


def between(column: Any, points: Floats, cells: Ints, generator: np.random.Generator) -> Floats:
    """A number of each of some cells between points, the first of which holds its lower end too; NaN beyond them."""
    low, high = points[cells], np.append(points[1:], np.nan)[cells]
    part = generator.random(len(low))
    if isinstance(column, IntegerColumn):
        first = np.where(cells == 0, low, np.floor(low) + 1)
        steps = np.maximum(np.floor(high) - first + 1, 1)
        return np.asarray(np.minimum(first + np.floor(part * steps), high))
    return np.asarray(high - part * (high - low))
