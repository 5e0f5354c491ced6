"""Two columns against each other: counts, and shares within each group of the first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.estimates import Estimates
from dpcore.models.summaries.released.reading import Amount, Cells, around, cells_of
from dpcore.models.summaries.released.share_intervals import Whole, share_intervals
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_words import cell_words


@dataclass(frozen=True)
class Crosstab:
    """A table on two axes.

    Attributes
    ----------
    rows, columns : str
        What people call the two.
    row_cells, column_cells : tuple of str
    sizes : Cells
        People in each row.
    counts : Cells
        Of shape (n_rows, n_columns).
    shares : Cells
        Within each row, of the same shape; a row without people has none.
    """

    rows: str
    columns: str
    row_cells: tuple[str, ...]
    column_cells: tuple[str, ...]
    sizes: Cells
    counts: Cells
    shares: Cells

    def count(self, row: int, column: int) -> Amount:
        """People in one cell."""
        return _amount(self.counts, row, column)

    def share(self, row: int, column: int) -> Amount:
        """Share of one cell within its row."""
        return _amount(self.shares, row, column)


def _amount(cells: Cells, row: int, column: int) -> Amount:
    place = row, column
    return Amount(float(cells.values[place]), float(cells.low[place]), float(cells.high[place]))


def crosstab(model: SummaryModel, schema: Schema, row: int, column: int) -> Crosstab:
    """The table of two axes, of which the first makes the rows.

    Raises
    ------
    KeyError
        If these two were not counted together.
    """
    own, first, second = model.estimates, model.axes[row], model.axes[column]
    pair = (min(row, column), max(row, column))
    counts = cells_of(own, pair)
    return Crosstab(
        first.label(schema),
        second.label(schema),
        cell_words(first, schema),
        cell_words(second, schema),
        cells_of(own, (row,)),
        counts if row < column else Cells(counts.values.T, counts.low.T, counts.high.T),
        _within(own, row, column),
    )


def _within(own: Estimates, row: int, column: int) -> Cells:
    """Shares within rows. The noise on the number of people in a row counts too."""
    pair = (min(row, column), max(row, column))
    raw, near = own.table(pair), own.consistent(pair)
    if row > column:
        raw, near = raw.T, near.T
    sizes = np.maximum(own.table((row,)), 1.0)[:, None]
    whole = Whole(sizes, own.deviation((row,)) ** 2, raw.shape[1])
    low, high = share_intervals(raw, own.deviation(pair) ** 2, whole, gaussian=own.gaussian)
    total = near.sum(axis=1, keepdims=True)
    values = np.divide(near, total, out=np.zeros_like(near), where=total > 0)
    return around(values, low, high)
