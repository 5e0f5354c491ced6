"""Rows on their way into a table: their values are encoded once, whoever asks."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Cells, Floats, Ints
from dpcore.domain.columns import NumericColumn
from dpcore.domain.encoding import encode_categories, encode_numbers, numbers_of, order_of, people_of, values_of
from dpcore.domain.schemas.schema import PrivacyUnit


class Encoded(NamedTuple):
    """The values of one column.

    Attributes
    ----------
    codes : array of shape (n_rows,)
        Into ``column.cells``.
    numbers : array of shape (n_rows,), float64, or None
        Of a numeric column, clamped to its bounds; NaN for none.
    found : array of shape (n_rows,), float64, or None
        The same before they were clamped.
    """

    codes: Cells
    numbers: Floats | None
    found: Floats | None


class Block:
    """Some rows of one table.

    Attributes
    ----------
    frame : DataFrame
        As they were read.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self._encoded: dict[str, Encoded] = {}
        self._order: dict[tuple[str, str], Floats] = {}
        self._named: dict[tuple[str, bool], tuple[Ints, Array]] = {}

    @classmethod
    def of(cls, rows: pd.DataFrame | Block) -> Block:
        """Rows, whether or not somebody has looked at them already."""
        return rows if isinstance(rows, Block) else cls(rows)

    def __len__(self) -> int:
        return len(self.frame)

    def values(self, column: Any) -> pd.Series[Any]:
        """Values of a column of the table: see :func:`dpcore.domain.encoding.values_of`.

        Of a count of rows each is 1, also where a column of the file is called like it.
        """
        return pd.Series(np.ones(len(self))) if column.summary == "count" else values_of(column, self.frame)

    def encoded(self, column: Any) -> Encoded:
        """Codes and numbers of a column of the table."""
        if column.name not in self._encoded:
            self._encoded[column.name] = _encoded(column, self.values(column))
        return self._encoded[column.name]

    def order(self, column: str, written: str) -> Floats:
        """Numbers that put the rows in order: see :func:`dpcore.domain.encoding.order_of`."""
        if (column, written) not in self._order:
            self._order[column, written] = order_of(self.frame[column], written)
        return self._order[column, written]

    def named(self, column: str, unit: PrivacyUnit | None = None) -> tuple[Ints, Array]:
        """Which of its names each row has in a column of keys, -1 for none, and the names: see ``people_of``."""
        kept = column, unit is not None
        if kept not in self._named:
            places, names = pd.factorize(people_of(self.frame[column], unit))
            self._named[kept] = places, np.asarray(names, dtype=object)
        return self._named[kept]


def _encoded(column: Any, values: pd.Series[Any]) -> Encoded:
    if not isinstance(column, NumericColumn):
        return Encoded(encode_categories(column, values), None, None)
    found = numbers_of(column, values)
    return Encoded(*encode_numbers(column, found), found)
