"""Data sets with two views, encoded, and what is true of them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import pandas as pd

from benchmarks.datasets import FOLDER_VARIABLE, load
from dpcore.arrays import Ints
from dpcore.data.building.ingest import frame_chunks, ingest
from dpcore.data.table import PrivateTable
from dpcore.demo import DEMOS
from dpcore.demo.truth import PlantedRedescription
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.tree_pair import Tree, TreePair
from dpcore.privacy.randomness import SeededRandom

CMS, MAMMALS, NPAS, PLANTED = "cms", "mammals", "npas", "checkups"
#: Those that are read from the folder in :data:`~benchmarks.datasets.FOLDER_VARIABLE` alone.
FILES = (CMS, MAMMALS, NPAS)
DATA = (*FILES, PLANTED)
LEFT_OUT = (
    f"Left out: {', '.join(FILES)} and growth, whose data OpenML does not have. To include them, "
    f"name the folder with their files in the variable {FOLDER_VARIABLE}."
)


def available() -> tuple[str, ...]:
    """Data sets that can be measured here."""
    return DATA if os.environ.get(FOLDER_VARIABLE) else (PLANTED,)


@dataclass(frozen=True)
class TwoViews:
    """A public data set seen from two sides.

    Attributes
    ----------
    codes : array of shape (n_columns, n_rows)
        Cell codes in schema order.
    planted : tuple of PlantedRedescription
        Redescriptions that are known to be there.
    """

    name: str
    frame: pd.DataFrame
    schema: Schema
    table: PrivateTable
    codes: Ints
    planted: tuple[PlantedRedescription, ...] = ()

    def leaves(self, tree: Tree) -> Ints:
        """Leaf of each row: shape (n_rows,)."""
        names = [column.name for column in self.schema]
        columns = np.array([names.index(split.column) for split in tree.splits])
        first = np.array([split.first for split in tree.splits])
        last = np.array([split.last for split in tree.splits])
        place, rows = np.zeros(self.codes.shape[1], dtype=np.int64), np.arange(self.codes.shape[1])
        for _ in range(tree.depth):
            cells = self.codes[columns[place], rows]
            holds = (first[place] <= cells) & (cells <= last[place])
            place = 2 * place + np.where(holds, 1, 2)
        return place - len(tree.splits)

    def counts(self, pair: TreePair) -> Ints:
        """Exact numbers of people in each pair of leaves."""
        counts = np.zeros((pair.left.leaf_count, pair.right.leaf_count), dtype=np.int64)
        np.add.at(counts, (self.leaves(pair.left), self.leaves(pair.right)), 1)
        return counts


@lru_cache(maxsize=1)
def two_views(name: str) -> TwoViews:
    """Load and encode a data set."""
    if name == PLANTED:
        demo = DEMOS[PLANTED]()
        return encoded(name, demo.frame, demo.schema, demo.planted)
    data = load(name)
    return encoded(name, data.frame, data.schema)


def encoded(
    name: str,
    frame: pd.DataFrame,
    schema: Schema,
    planted: tuple[PlantedRedescription, ...] = (),
) -> TwoViews:
    """Encode a frame."""
    columns = [column.name for column in schema]
    codes = encode_columns(frame, schema, columns)
    table = ingest(frame_chunks(frame), schema, SeededRandom(0))
    stacked = np.stack([codes[column] for column in columns])
    return TwoViews(name, frame, schema, table, stacked, planted)
