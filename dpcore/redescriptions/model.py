"""The released form of a redescription run."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from dpcore.privacy import geometric_tail
from dpcore.redescriptions.extraction import Constraints
from dpcore.redescriptions.found import RedescriptionSet, read_pairs
from dpcore.redescriptions.pair import TreePair
from dpcore.schema import Schema

Counts = NDArray[np.int64]


class RedescriptionModel(BaseModel):
    """Everything that a run released. Redescriptions are read off it, again and again, for free.

    Attributes
    ----------
    left_columns, right_columns : tuple of str
        Columns of each view.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    left_columns: tuple[str, ...]
    right_columns: tuple[str, ...]
    pairs: tuple[TreePair, ...]

    @property
    def count_margin(self) -> int:
        """Largest noise margin of a count in any pair of leaves, with 95 % confidence."""
        return max((geometric_tail(pair.count_scale, 0.95) for pair in self.pairs), default=0)

    def extract(self, schema: Schema, constraints: Constraints | None = None) -> RedescriptionSet:
        """Redescriptions under some constraints, the default ones if none are given."""
        return read_pairs(self.pairs, schema, constraints or Constraints())

    def exact_tables(self, frame: pd.DataFrame, schema: Schema) -> list[Counts]:
        """Exact counts of every pair, in order. For public records only."""
        return [pair.exact_counts(frame, schema) for pair in self.pairs]
