"""Redescriptions as a reader sees them: words, numbers with their noise, duplicates merged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpcore.redescriptions.consistent import PairCounts, consistent_counts
from dpcore.redescriptions.duplicates import leaves_of, merge_across, merge_in_pair
from dpcore.redescriptions.extraction import (
    Candidates,
    Constraints,
    find_candidates,
    suggested_support,
)
from dpcore.redescriptions.pair import Tree, TreePair
from dpcore.redescriptions.regions import Box, simplified
from dpcore.redescriptions.words import condition_count, formal, plain
from dpcore.schema import Schema

_Z95 = 1.959964
#: Most redescriptions of one pair of trees.
_MOST = 1000
Members = NDArray[np.bool_]


@dataclass(frozen=True)
class Redescription:
    """Two conditions that hold for nearly the same people. Numbers of people are noisy.

    Attributes
    ----------
    pair : int
        Pair of trees that it was read off.
    left_leaves, right_leaves : tuple of int
        Leaves that each side joins.
    left, right : str
        Conditions in plain words.
    left_query, right_query : str
        Conditions in the schema's names and values.
    support, left_only, right_only : float
        Noisy numbers of people: both sides hold, only the left one, only the right one.
    jaccard : float
        Noisy support over the noisy number of people for whom a side holds.
    interval : (float, float)
        95 % interval of the Jaccard index, for the noise alone.
    support_margin : int
        Noise on ``support`` stays within plus or minus this, with 95 % confidence.
    chance : float
        Jaccard index of two independent sides of these sizes.
    p_value : float
        Chance of such a support if the two sides were independent.
    conditions : int
        Conditions on single columns, both sides together.
    similar : int
        Others that say nearly the same and were merged into this one.
    columns : frozenset of str
        Columns that it speaks of.
    """

    pair: int
    left_leaves: tuple[int, ...]
    right_leaves: tuple[int, ...]
    left: str
    right: str
    left_query: str
    right_query: str
    support: float
    left_only: float
    right_only: float
    jaccard: float
    interval: tuple[float, float]
    support_margin: int
    chance: float
    p_value: float
    conditions: int
    similar: int
    columns: frozenset[str] = field(repr=False)

    @property
    def text(self) -> str:
        """Both sides in one line."""
        return f"{self.left}  ⇔  {self.right}"


@dataclass(frozen=True)
class RedescriptionSet:
    """What a release says under some constraints, best first.

    Attributes
    ----------
    found : tuple of Redescription
    suggested_support : int
        Noisy support from which the noise blurs the Jaccard index little, see
        :func:`dpcore.redescriptions.extraction.suggested_support`.
    people : float
        Noisy number of people.
    """

    found: tuple[Redescription, ...]
    suggested_support: int
    people: float

    def pruned(self, support: float) -> tuple[Redescription, ...]:
        """Those with at least this noisy support (paper 003, section 4.6)."""
        return tuple(item for item in self.found if item.support >= support)

    def to_frame(self) -> pd.DataFrame:
        """One row per redescription."""
        return pd.DataFrame([_row(item) for item in self.found], columns=list(_COLUMNS))


def _row(item: Redescription) -> dict[str, object]:
    low, high = item.interval
    values = (
        item.left_query, item.right_query, item.jaccard, low, high, item.support,
        item.support_margin, item.left_only, item.right_only, item.chance, item.p_value,
        item.conditions, item.similar, item.pair,
    )  # fmt: skip
    return dict(zip(_COLUMNS, values, strict=True))


_COLUMNS = (
    "left", "right", "noisy Jaccard index", "from", "to", "noisy support", "support margin",
    "noisy left only", "noisy right only", "chance Jaccard index", "p-value", "conditions",
    "similar", "pair of trees",
)  # fmt: skip


def read_pairs(
    pairs: Sequence[TreePair], schema: Schema, constraints: Constraints
) -> RedescriptionSet:
    """Read the redescriptions off pairs of trees. Post-processing: it costs nothing."""
    counts = [consistent_counts(pair, schema) for pair in pairs]
    kept, sides, similar = [], [], []
    for table in counts:
        candidates = find_candidates(table, constraints)
        members = leaves_of(candidates, table, constraints.disjuncts)
        owner = merge_in_pair(table, members)
        own = np.flatnonzero(owner == np.arange(len(owner)))[:_MOST]
        kept.append(candidates.take(own))
        sides.append((members[0][own], members[1][own]))
        similar.append(np.bincount(owner, minlength=len(owner))[own])
    found = _across(pairs, schema, kept, sides, similar)
    return RedescriptionSet(
        tuple(sorted(found, key=lambda item: (-item.jaccard, item.conditions))),
        max((_suggestion(table) for table in counts), default=1),
        float(np.mean([table.people for table in counts])) if counts else 0.0,
    )


def _suggestion(table: PairCounts) -> int:
    return suggested_support(table.variance, *table.counts.shape)


def _across(
    pairs: Sequence[TreePair],
    schema: Schema,
    kept: list[Candidates],
    sides: list[tuple[Members, Members]],
    similar: list[NDArray[np.int64]],
) -> list[Redescription]:
    """Merge what different pairs of trees say alike, and put the rest into words."""
    trees = [(pair.left, pair.right) for pair in pairs]
    owners = merge_across(trees, sides, [item.jaccard for item in kept], schema)
    owner = np.concatenate([*owners, np.zeros(0, dtype=np.int64)]).astype(np.int64)
    counted = np.concatenate([*similar, np.zeros(0, dtype=np.int64)])
    merged = np.bincount(owner, weights=counted, minlength=len(owner)).astype(int)
    queries = _Queries(schema)
    found, number = [], 0
    for pair, (candidates, members) in enumerate(zip(kept, sides, strict=True)):
        for place in range(len(candidates)):
            if owner[number] == number:
                leaves = members[0][place], members[1][place]
                found.append(
                    queries.redescription(
                        trees[pair], pair, candidates, place, leaves, merged[number] - 1
                    )
                )
            number += 1
    return found


class _Queries:
    """Simplified queries, worked out once for each union of leaves."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        self._known: dict[tuple[Tree, tuple[int, ...]], list[Box]] = {}

    def boxes(self, tree: Tree, leaves: tuple[int, ...]) -> list[Box]:
        if (tree, leaves) not in self._known:
            boxes = tree.boxes(self._schema)
            reached = [box for leaf in leaves if (box := boxes[leaf]) is not None]
            self._known[tree, leaves] = simplified(reached, self._schema)
        return self._known[tree, leaves]

    def redescription(
        self,
        trees: tuple[Tree, Tree],
        pair: int,
        candidates: Candidates,
        place: int,
        members: tuple[Members, Members],
        similar: int,
    ) -> Redescription:
        leaves = [tuple(int(leaf) for leaf in np.flatnonzero(side)) for side in members]
        boxes = [self.boxes(tree, side) for tree, side in zip(trees, leaves, strict=True)]
        index, error = float(candidates.jaccard[place]), float(candidates.error[place])
        return Redescription(
            pair=pair,
            left_leaves=leaves[0],
            right_leaves=leaves[1],
            left=plain(boxes[0], self._schema),
            right=plain(boxes[1], self._schema),
            left_query=formal(boxes[0], self._schema),
            right_query=formal(boxes[1], self._schema),
            support=float(candidates.both[place]),
            left_only=max(0.0, float(candidates.left_only[place])),
            right_only=max(0.0, float(candidates.right_only[place])),
            jaccard=index,
            interval=(max(0.0, index - _Z95 * error), min(1.0, index + _Z95 * error)),
            support_margin=math.ceil(_Z95 * float(candidates.both_error[place])),
            chance=float(candidates.chance[place]),
            p_value=float(candidates.p_value[place]),
            conditions=sum(condition_count(side) for side in boxes),
            similar=int(similar),
            columns=frozenset(column for side in boxes for box in side for column in box),
        )
