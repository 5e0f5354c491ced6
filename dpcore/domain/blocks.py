"""Rows on their way into a table: their values are encoded once, whoever asks."""

from __future__ import annotations

from typing import Any, NamedTuple

import pandas as pd

from dpcore.arrays import Cells, Floats
from dpcore.domain.columns import NumericColumn
from dpcore.domain.encoding import encode_categories, encode_numbers, numbers_of, order_of, values_of


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

    @classmethod
    def of(cls, rows: pd.DataFrame | Block) -> Block:
        """Rows, whether or not somebody has looked at them already."""
        return rows if isinstance(rows, Block) else cls(rows)

    def __len__(self) -> int:
        return len(self.frame)

    def values(self, column: Any) -> pd.Series[Any]:
        """Values of a column of the table: see :func:`dpcore.domain.encoding.values_of`."""
        return values_of(column, self.frame)

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


def _encoded(column: Any, values: pd.Series[Any]) -> Encoded:
    if not isinstance(column, NumericColumn):
        return Encoded(encode_categories(column, values), None, None)
    found = numbers_of(column, values)
    return Encoded(*encode_numbers(column, found), found)
