"""Pairs of trees with noisy counts of the people in their leaves; leaves as regions of cells."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any, Final, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, model_validator

from dpcore.arrays import Flags, Floats, Ints
from dpcore.domain.conditions import Condition
from dpcore.domain.encoding import encode_columns
from dpcore.domain.schemas.schema import Schema
from dpcore.frozen import FrozenModel
from dpcore.released.noisy_counts import sum_tail

#: Cells that each column may have, as bits; a column that is not named may have any.
Box = Mapping[str, int]


class Domain:
    """The columns of a schema and their cells, quick to look up."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._columns = {column.name: column for column in schema}
        self._places = {name: place for place, name in enumerate(self._columns)}
        self._cells: dict[str, tuple[str, ...]] = {}

    @property
    def rows_per_person(self) -> int:
        """Most records of one person."""
        return self._schema.privacy_unit.max_rows_per_person

    def column(self, name: str) -> Any:
        """The column called ``name``.

        Raises
        ------
        SchemaError
            If there is none.
        """
        return self._columns[name] if name in self._columns else self._schema.column(name)

    def place(self, name: str) -> int:
        """Position of a column."""
        return self._places[name]

    def cells(self, name: str) -> tuple[str, ...]:
        """Labels of the cells of a column."""
        if name not in self._cells:
            self._cells[name] = self.column(name).cells
        return self._cells[name]

    def count(self, name: str) -> int:
        """Number of cells of a column."""
        return len(self.cells(name))

    def everything(self, name: str) -> int:
        """All cells of a column."""
        return (1 << self.count(name)) - 1

    def holding(self, literal: Condition) -> int:
        """Cells that satisfy a condition."""
        return (1 << (literal.last + 1)) - (1 << literal.first)


def codes(cells: int) -> list[int]:
    """Codes of some cells, in order."""
    return [code for code in range(cells.bit_length()) if cells >> code & 1]


def narrowed(box: Box | None, literal: Condition, holds: bool, domain: Domain) -> Box | None:
    """Part of a box where a condition holds, or does not; ``None`` if there is none."""
    if box is None:
        return None
    known = box.get(literal.column, domain.everything(literal.column))
    kept = known & domain.holding(literal) if holds else known & ~domain.holding(literal)
    return {**box, literal.column: kept} if kept else None


def shared_cells(some: Sequence[Box | None], others: Sequence[Box | None], domain: Domain) -> Floats:
    """Share of the public domain that is in two boxes, every combination of cells alike.

    Returns
    -------
    array of shape (n_some, n_others)
    """
    sides = _Shares(some, domain), _Shares(others, domain)
    common = sides[0].whole[:, None] * sides[1].whole[None, :]
    for name in sides[0].cells.keys() & sides[1].cells.keys():
        one, other = (side.cells[name] for side in sides)
        sizes = one.sum(axis=1)[:, None] * other.sum(axis=1)[None, :]
        common *= (one @ other.T) * domain.count(name) / np.maximum(sizes, 1)
    return np.asarray(common)


class _Shares:
    """Boxes as arrays: their shares of the domain, and which cells of each column they hold."""

    def __init__(self, boxes: Sequence[Box | None], domain: Domain) -> None:
        names = sorted({name for box in boxes if box is not None for name in box})
        self.whole = np.array([0.0 if box is None else 1.0 for box in boxes])
        self.cells: dict[str, Floats] = {}
        for name in names:
            held = [domain.everything(name) if box is None else box.get(name) for box in boxes]
            rows = [_bits(domain.everything(name) if one is None else one) for one in held]
            width = domain.count(name)
            self.cells[name] = np.array([row[:width] + [0.0] * (width - len(row)) for row in rows])
            self.whole *= self.cells[name].sum(axis=1) / width


def _bits(cells: int) -> list[float]:
    return [float(digit) for digit in reversed(f"{cells:b}")]


@dataclass(frozen=True)
class Unions:
    """Every union of a few leaves, and the complement of every leaf.

    A disjunction of leaves and negated leaves is always one of these, or everything: the
    negation of a leaf is the union of all other leaves.
    """

    members: Flags
    """Shape (n_unions, n_leaves)."""
    more: Ints
    fewer: Ints
    """``more``, ``fewer``: union with one leaf more, or less; -1 if there is none, or it is not a step: shape
    (n_unions, n_leaves)."""
    sizes: Floats
    """Leaves of each union: shape (n_unions,)."""

    def __len__(self) -> int:
        return len(self.members)

    def near(self, union: int) -> Ints:
        """Unions that differ from one in one leaf or two, itself first."""
        steps = np.maximum(self.more, self.fewer)
        one = steps[union][steps[union] >= 0]
        two = steps[one][steps[one] >= 0]
        found = np.unique(np.concatenate([one, two]))
        return np.concatenate([[union], found[found != union]])


@lru_cache(maxsize=64)
def unions(leaves: int, most: int) -> Unions:
    """Unions of 1 to ``most`` of ``leaves`` leaves, and of all leaves but one; never of all."""
    bits = [1 << leaf for leaf in range(leaves)]
    everything = sum(bits)
    few = [sum(some) for size in range(1, most + 1) for some in combinations(bits, size)]
    chosen = dict.fromkeys([*few, *(everything - bit for bit in bits)])
    sets = np.array([one for one in chosen if 0 < one < everything], dtype=np.int64)
    place = np.full(everything + 1, -1)
    place[sets] = np.arange(len(sets))
    members = sets[:, None] >> np.arange(leaves) & 1 == 1
    steps = place[sets[:, None] ^ np.array(bits)]
    more, fewer = np.where(members, -1, steps), np.where(members, steps, -1)
    family = Unions(members, more, fewer, members.sum(axis=1).astype(np.float64))
    for array in vars(family).values():
        array.setflags(write=False)
    return family


#: Splits of trees of one to four levels. More leaves could not be read off in good time.
_SIZES: Final = (1, 3, 7, 15)


class Tree(FrozenModel):
    """A complete binary tree over the columns of one view."""

    view: Literal["left", "right"]
    splits: tuple[Condition, ...]
    """Inner nodes in heap order: records that satisfy split i go to node 2i + 1, the others to node 2i + 2. Leaves are
    numbered from left to right: length 2^depth - 1."""

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
    """Two trees whose leaves should hold the same people, and how many share each pair of leaves."""

    start: int
    round: int
    """``start``, ``round``: search, and alternation within it, both from 0."""
    target: str
    """What the first tree of the search was grown for, in words."""
    left: Tree
    right: Tree
    noisy_counts: tuple[tuple[int, ...], ...]
    """People in each pair of leaves, with noise; may be negative: shape (n_left_leaves, n_right_leaves)."""
    count_scale: float = Field(ge=0, allow_inf_nan=False)
    """Scale of the two-sided geometric noise on each of them, or the standard deviation of Gaussian noise."""
    noisy_left: tuple[int, ...] | None = None
    """People in each leaf of the left tree, counted once more on their own."""
    left_scale: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    """That of their noise."""
    gaussian: bool = Field(default=False, exclude_if=operator.not_)
    """Whether the noise is Gaussian."""

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

    @property
    def count_margin(self) -> int:
        """Noise on a count of a pair of leaves stays within plus or minus this, with 95 % confidence."""
        return sum_tail(self.count_scale, 1, 0.95, gaussian=self.gaussian)

    def exact_counts(self, frame: pd.DataFrame, schema: Schema) -> Ints:
        """People in each pair of leaves, without noise. For public records only."""
        sides = self.left.apply(frame, schema), self.right.apply(frame, schema)
        counts = np.zeros((self.left.leaf_count, self.right.leaf_count), dtype=np.int64)
        np.add.at(counts, sides, 1)
        return counts
