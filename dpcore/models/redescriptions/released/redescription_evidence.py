"""What released pairs of trees reveal of the records."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np

from dpcore.arrays import Ints
from dpcore.models.redescriptions.released.tree_pair import TreePair
from dpcore.released.evidence import Evidence, Groups
from dpcore.released.invented import Records


class RedescriptionEvidence(Evidence):
    """How many records are in each pair of leaves."""

    def groups(self) -> Iterator[Groups]:
        """Records by their leaves in both trees, pair by pair."""
        for pair in self.model.pairs:
            counts = np.asarray(pair.noisy_counts, dtype=np.float64).ravel()
            yield Groups(partial(_leaves, pair), counts, 1.5 * pair.count_scale)

    def columns(self) -> set[str]:
        """Columns of the splits on both sides."""
        sides = [tree for pair in self.model.pairs for tree in (pair.left, pair.right)]
        return {split.column for tree in sides for split in tree.splits}


def _leaves(pair: TreePair, records: Records) -> Ints:
    frame, schema = records.main, records.schema
    left, right = pair.left.apply(frame, schema), pair.right.apply(frame, schema)
    return np.asarray(left * pair.right.leaf_count + right)
