"""The records of one run in the form that the loops read: one small code per cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpcore.arrays import Array, Ints
from dpcore.compiled import kernel
from dpcore.data.bits import unpack
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import NumericColumn
from dpcore.domain.schema import Part
from dpcore.models.ebm.learning.grid import Bins, FineCells
from dpcore.models.ebm.learning.kernels import ABSENT

#: Cells of the histogram of a numeric target.
TARGET_CELLS = 128


class BinnedRecords:
    """Bins and labels of every place of a table.

    Attributes
    ----------
    codes : list of arrays of shape (max_rows,), uint8 (uint16 if a feature has many cells)
        One per feature: its fine cell, or its bin after :meth:`merge`.
    labels : array of shape (max_rows,)
        Class (uint8, :data:`~dpcore.models.ebm.learning.kernels.ABSENT` for none), or number
        between 0 and 1, a share of the target's public range (float32, NaN for none).
    """

    def __init__(self, table: PrivateTable, target: str, part: Part, cells: Sequence[FineCells]) -> None:
        largest = max(len(cell) for cell in cells)
        kind = np.uint8 if largest <= 256 else np.uint16
        self.codes: list[Array] = [cell.codes(table).astype(kind) for cell in cells]
        self.labels = _labels(table, target, part)
        self._cells = [len(cell) for cell in cells]

    def histograms(self) -> list[Ints]:
        """Exact records per cell of each feature, and of the target, last."""
        counts = [_count(self.labels, *pair) for pair in zip(self.codes, self._cells, strict=True)]
        return [*counts, self._target_histogram()]

    def _target_histogram(self) -> Ints:
        if self.labels.dtype == np.uint8:
            return _count(self.labels, self.labels, ABSENT)
        places = np.minimum(np.nan_to_num(self.labels) * TARGET_CELLS, TARGET_CELLS - 1)
        return _count(self.labels, places.astype(np.uint8), TARGET_CELLS)

    def merge(self, bins: Sequence[Bins]) -> None:
        """Turn fine cells into bins."""
        for codes, own in zip(self.codes, bins, strict=True):
            np.take(own.groups.astype(codes.dtype), codes, out=codes, mode="clip")

    def pair(self, first: int, second: int, firsts: Array, seconds: Array, size: int) -> Array:
        """Cells of a pair: ``firsts`` and ``seconds`` group the bins of either feature."""
        rows = (firsts * size).astype(np.uint8)
        cells = np.take(rows, self.codes[first], mode="clip")
        cells += np.take(seconds.astype(np.uint8), self.codes[second], mode="clip")
        return cells

    def count(self, codes: Array, size: int) -> Ints:
        """Exact records per value of ``codes``, of those to learn from."""
        return _count(self.labels, codes, size)


def _labels(table: PrivateTable, target: str, part: Part) -> Array:
    column = table.schema.column(target)
    present = unpack(table.members(part), table.schema.max_rows)
    if isinstance(column, NumericColumn):
        numbers = table.numbers_of(target)
        shares = ((numbers - column.lower) / (column.upper - column.lower)).astype(np.float32)
        return np.where(present, shares, np.float32(np.nan))
    codes = table.codes[table.schema.index(target)]
    known = present & (codes < len(column.classes))
    return np.where(known, codes, ABSENT).astype(np.uint8)


def _count(labels: Array, codes: Array, size: int) -> Ints:
    counts = np.zeros(size + 1, dtype=np.int64)
    _count_present(labels, codes, counts)
    return counts[:size]


@kernel
def _count_present(labels: Array, codes: Array, counts: Ints) -> None:
    for i in range(len(labels)):
        kept = labels[i] == labels[i] and labels[i] != ABSENT
        counts[codes[i]] += 1 if kept else 0
