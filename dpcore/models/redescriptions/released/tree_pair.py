"""Pairs of trees with noisy counts of the people in their leaves."""

from __future__ import annotations

from typing import Final, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from dpcore.arrays import Flags, Ints
from dpcore.domain.conditions import Condition
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import Schema
from dpcore.frozen import FrozenModel
from dpcore.models.redescriptions.released.regions import Box, Domain, narrowed

#: Splits of trees of one to four levels. More leaves could not be read off in good time.
_SIZES: Final = (1, 3, 7, 15)


class Tree(FrozenModel):
    """A complete binary tree over the columns of one view.

    Attributes
    ----------
    splits : tuple of Condition, length 2^depth - 1
        Inner nodes in heap order: records that satisfy split i go to node 2i + 1, the others
        to node 2i + 2. Leaves are numbered from left to right.
    """

    view: Literal["left", "right"]
    splits: tuple[Condition, ...]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if len(self.splits) not in _SIZES:
            raise ValueError("a tree has 1, 3, 7 or 15 splits")
        return self

    @property
    def depth(self) -> int:
        """Levels of splits."""
        return len(self.splits).bit_length()

    @property
    def leaf_count(self) -> int:
        """Number of leaves."""
        return len(self.splits) + 1

    def boxes(self, schema: Schema) -> tuple[Box | None, ...]:
        """Cells that lead to each leaf; ``None`` for a leaf that no record can reach."""
        return self.leaf_boxes(Domain(schema))

    def leaf_boxes(self, domain: Domain) -> tuple[Box | None, ...]:
        """As :meth:`boxes`, for a schema that is looked up often."""
        nodes: list[Box | None] = [{}]
        for place, split in enumerate(self.splits):
            nodes += [narrowed(nodes[place], split, holds, domain) for holds in (True, False)]
        return tuple(nodes[len(self.splits) :])

    def reached(self, domain: Domain) -> Flags:
        """Whether a record can reach each leaf: shape (n_leaves,)."""
        return np.array([box is not None for box in self.leaf_boxes(domain)])

    def apply(self, frame: pd.DataFrame, schema: Schema) -> Ints:
        """Leaf of each row. Absent columns count as missing."""
        names = {split.column for split in self.splits}
        codes = encode_columns(frame, schema, sorted(names))
        place = np.zeros(len(frame), dtype=np.int64)
        for _ in range(self.depth):
            onward = np.zeros(len(frame), dtype=np.int64)
            for node in np.unique(place):
                split = self.splits[node]
                cells = codes[split.column]
                fails = (cells < split.first) | (cells > split.last)
                onward = np.where(place == node, 2 * node + 1 + fails, onward)
            place = onward
        return place - len(self.splits)


class TreePair(FrozenModel):
    """Two trees whose leaves should hold the same people, and how many share each pair of leaves.

    Attributes
    ----------
    start, round : int
        Search, and alternation within it, both from 0.
    target : str
        What the first tree of the search was grown for, in words.
    noisy_counts : tuple of tuple of int, shape (n_left_leaves, n_right_leaves)
        People in each pair of leaves, with noise; may be negative.
    count_scale : float
        Scale of the two-sided geometric noise on each of them.
    noisy_left : tuple of int or None
        People in each leaf of the left tree, counted once more on their own.
    left_scale : float or None
        Scale of that noise.
    """

    start: int
    round: int
    target: str
    left: Tree
    right: Tree
    noisy_counts: tuple[tuple[int, ...], ...]
    count_scale: float = Field(ge=0, allow_inf_nan=False)
    noisy_left: tuple[int, ...] | None = None
    left_scale: float | None = Field(default=None, ge=0, allow_inf_nan=False)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if (self.left.view, self.right.view) != ("left", "right"):
            raise ValueError("a pair has a left tree and a right tree")
        widths = [len(row) for row in self.noisy_counts]
        if widths != [self.right.leaf_count] * self.left.leaf_count:
            raise ValueError("a pair has one count for each left and right leaf")
        if self.noisy_left is not None and len(self.noisy_left) != self.left.leaf_count:
            raise ValueError("a pair has one second count for each left leaf")
        if (self.noisy_left is None) != (self.left_scale is None):
            raise ValueError("second counts come with the scale of their noise")
        return self

    def exact_counts(self, frame: pd.DataFrame, schema: Schema) -> Ints:
        """People in each pair of leaves, without noise. For public records only."""
        sides = self.left.apply(frame, schema), self.right.apply(frame, schema)
        counts = np.zeros((self.left.leaf_count, self.right.leaf_count), dtype=np.int64)
        np.add.at(counts, sides, 1)
        return counts
