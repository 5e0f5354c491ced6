"""The same records, divided among partitions at random."""

from __future__ import annotations

import numpy as np

from dpcore.data.executors import LOCAL, Executor
from dpcore.data.table import PrivateTable


def divided(table: PrivateTable, count: int, seed: int = 0, executor: Executor = LOCAL) -> PrivateTable:
    """A table of one partition in ``count`` partitions, some of them empty if it is small."""
    homes = np.random.default_rng(seed).integers(0, count, table.schema.max_rows)
    homes[-1] = count - 1
    fullest = int(np.bincount(homes[table.partitions[0].present], minlength=count).max())
    return table.split(homes, fullest + 1 + seed % 70, executor)
