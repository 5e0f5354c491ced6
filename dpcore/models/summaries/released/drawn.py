"""Where the cells of a number begin and end in a picture: each as wide as the values that it holds."""

from __future__ import annotations

from typing import Final

import numpy as np

from dpcore.domain.schemas.schema import Schema
from dpcore.models.summaries.released.reading import ColumnReading

#: A whole number stands for all that is nearer to it than to others.
_HALF: Final = 0.5


def drawn_ends(reading: ColumnReading, schema: Schema) -> tuple[float, ...] | None:
    """Ends of the cells of a number in a picture, ascending without a tie; ``None`` of all else.

    A cell of whole numbers reaches half of one beyond them. One that holds a single real number is
    as wide as half the usual cell.
    """
    if reading.ends is None or reading.axis.rows:
        return None
    ends = np.asarray(reading.ends, dtype=float)
    if schema.column(reading.axis.column).type == "integer":
        return (ends[0] - _HALF, *(ends[1:] + _HALF).tolist())
    widths = np.diff(ends)
    usual = float(np.median(widths[widths > 0])) if (widths > 0).any() else 1.0
    first = ends[0] - _HALF * usual if widths[0] <= 0 else ends[0]
    last = ends[-1] + _HALF * usual if len(widths) > 1 and widths[-1] <= 0 else ends[-1]
    return (float(first), *ends[1:-1].tolist(), float(last))
