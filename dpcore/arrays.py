"""Types of arrays: one name for each kind of number, and one for a column of a frame."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

#: float64: noisy counts, scores, chances, values of columns.
Floats = NDArray[np.float64]
#: float32: scores of records, in passes over all of them.
Floats32 = NDArray[np.float32]
#: int64: counts, sums, positions, labels, codes of cells in public tables.
Ints = NDArray[np.int64]
#: int32: tables of counts that are large, and of positions.
Ints32 = NDArray[np.int32]
#: int16: rule lists by the positions of their rules, many at once.
Ints16 = NDArray[np.int16]
#: uint16: codes of cells as they are stored.
Cells = NDArray[np.uint16]
#: uint8: classes and cells of which there are few.
Bytes = NDArray[np.uint8]
#: uint64: rows as bits, 64 in a word.
Words = NDArray[np.uint64]
#: bool: what holds where.
Flags = NDArray[np.bool_]
#: object: texts.
Texts = NDArray[np.object_]
#: Any dtype: whatever is smallest, or what a caller chose.
Array = NDArray[Any]
#: Values of one column of a file, of whatever type they came in.
Values: TypeAlias = "pd.Series[Any]"
