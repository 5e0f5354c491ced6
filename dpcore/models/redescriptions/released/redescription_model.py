"""The released form of a redescription run."""

from __future__ import annotations

import pandas as pd

from dpcore.arrays import Ints
from dpcore.domain.schemas.schema import Schema
from dpcore.frozen import FrozenModel
from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.models.redescriptions.released.redescription_set import RedescriptionSet, read_pairs
from dpcore.models.redescriptions.released.tree_pair import TreePair


class RedescriptionModel(FrozenModel):
    """Everything that a run released. Redescriptions are read off it, again and again, for free."""

    left_columns: tuple[str, ...]
    right_columns: tuple[str, ...]
    """``left_columns``, ``right_columns``: columns of each view."""
    pairs: tuple[TreePair, ...]

    @property
    def count_margin(self) -> int:
        """Largest noise margin of a count in any pair of leaves, with 95 % confidence."""
        return max((pair.count_margin for pair in self.pairs), default=0)

    def extract(self, schema: Schema, constraints: Constraints | None = None) -> RedescriptionSet:
        """Redescriptions under some constraints, the default ones if none are given."""
        return read_pairs(self.pairs, schema, constraints or Constraints())

    def exact_tables(self, frame: pd.DataFrame, schema: Schema) -> list[Ints]:
        """Exact counts of every pair, in order. For public records only."""
        return [pair.exact_counts(frame, schema) for pair in self.pairs]
