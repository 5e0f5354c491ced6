"""Redescriptions as a reader sees them: words, numbers with their noise, duplicates merged."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
import pandas as pd

from dpcore.arrays import Flags, Ints
from dpcore.domain.counted import Noun, counted
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.consistent import consistent_counts
from dpcore.models.redescriptions.released.duplicates import (
    SHORT,
    Missingness,
    groups_across,
    groups_in_pair,
    holding_missing,
    jaccard_without,
    only_asks_for_missing,
)
from dpcore.models.redescriptions.released.extraction import Candidates, Constraints, Search, suggested_support
from dpcore.models.redescriptions.released.formal import formal
from dpcore.models.redescriptions.released.redescription_words import condition_count, plain
from dpcore.models.redescriptions.released.simplify import Space
from dpcore.models.redescriptions.released.tree_pair import Box, Domain, Tree, TreePair

#: Most redescriptions of one pair of trees, and of all, best first.
_MOST: Final = 300
_MOST_OF_ALL: Final = 2000
#: Most similar ones among which the simplest is looked for, best first.
_MOST_COMPARED: Final = 20


@dataclass(frozen=True)
class Redescription:
    """Two conditions that hold for nearly the same people. Numbers of people are noisy."""

    pair: int
    """Pair of trees that it was read off."""
    left_leaves: tuple[int, ...]
    right_leaves: tuple[int, ...]
    """``left_leaves``, ``right_leaves``: leaves that each side joins."""
    left: str
    right: str
    """``left``, ``right``: conditions in plain words."""
    left_query: str
    right_query: str
    """``left_query``, ``right_query``: conditions in the schema's names and values."""
    support: float
    left_only: float
    right_only: float
    """``support``, ``left_only``, ``right_only``: noisy numbers of people: both sides hold, only the left one, only the
    right one."""
    jaccard: float
    """Noisy support over the noisy number of people for whom a side holds."""
    interval: tuple[float, float]
    """95 % interval of the Jaccard index, for the noise alone."""
    support_margin: int
    """Noise on ``support`` stays within plus or minus this, with 95 % confidence."""
    chance: float
    """Jaccard index of two independent sides of these sizes."""
    p_value: float
    """Chance of such a support if the two sides were independent."""
    conditions: int
    """Conditions on single columns, both sides together."""
    similar: int
    """Others that say nearly the same and were merged into this one."""
    columns: frozenset[str] = field(repr=False)
    """Columns that it refers to."""
    missing: Missingness = ""
    """Whether missing values alone may explain it, see :mod:`dpcore.models.redescriptions.released.duplicates`."""

    @property
    def whole_support(self) -> int:
        """Noisy support as it is shown, by which it is kept or set aside."""
        return round(self.support)

    @property
    def text(self) -> str:
        """Both sides in one line."""
        return f"{self.left}  ⇔  {self.right}"


@dataclass(frozen=True)
class RedescriptionSet:
    """What a release says under some constraints, best first."""

    found: tuple[Redescription, ...]
    suggested_support: int
    """Noisy support from which the noise blurs the Jaccard index little, see
    :func:`dpcore.models.redescriptions.released.extraction.suggested_support`."""
    people: float
    """Noisy number of people, or of their records."""
    counted: Noun
    """Which of both all its numbers are of."""

    def pruned(self, support: float) -> tuple[Redescription, ...]:
        """Those with at least this noisy support (Mihelčić and Miettinen 2023, section 4.6)."""
        return tuple(item for item in self.found if item.whole_support >= support)

    def to_frame(self) -> pd.DataFrame:
        """One row per redescription."""
        return pd.DataFrame([_row(item) for item in self.found], columns=list(_COLUMNS))


def _row(item: Redescription) -> dict[str, object]:
    low, high = item.interval
    values = (
        item.left_query,
        item.right_query,
        item.jaccard,
        low,
        high,
        item.support,
        item.support_margin,
        item.left_only,
        item.right_only,
        item.chance,
        item.p_value,
        item.conditions,
        item.similar,
        item.pair,
        SHORT[item.missing],
    )
    return dict(zip(_COLUMNS, values, strict=True))


_COLUMNS = (
    "left",
    "right",
    "noisy Jaccard index",
    "from",
    "to",
    "noisy support",
    "support margin",
    "noisy left only",
    "noisy right only",
    "chance Jaccard index",
    "p-value",
    "conditions",
    "similar",
    "pair of trees",
    "missing values",
)


def read_pairs(pairs: Sequence[TreePair], schema: Schema, constraints: Constraints) -> RedescriptionSet:
    """Read the redescriptions off pairs of trees. Post-processing: it costs nothing."""
    domain = Domain(schema)
    readings = [_PairReading(place, pair, domain) for place, pair in enumerate(pairs)]
    scored = [item for reading in readings for item in reading.found(constraints)]
    scored.sort(key=lambda item: (-item[0], item[1].conditions, item[1].pair))
    tables = [reading.counts for reading in readings]
    return RedescriptionSet(
        tuple(_merged([item for _, item in scored[:_MOST_OF_ALL]], pairs, domain)),
        max((suggested_support(table.variance, *table.leaves) for table in tables), default=1),
        float(np.mean([table.people for table in tables])) if tables else 0.0,
        counted(schema),
    )


def _merged(found: Sequence[Redescription], pairs: Sequence[TreePair], domain: Domain) -> list[Redescription]:
    """Merge what different pairs of trees say alike."""
    trees = [(pair.left, pair.right) for pair in pairs]
    leaves = [(item.pair, item.left_leaves, item.right_leaves) for item in found]
    owner = groups_across(trees, leaves, domain)
    sizes = np.bincount(owner, [item.similar + 1 for item in found], len(found)).astype(int)
    return [replace(item, similar=int(sizes[place]) - 1) for place, item in enumerate(found) if owner[place] == place]


@dataclass(frozen=True)
class _Side:
    """One side of a redescription, put into words when it is asked for."""

    leaves: tuple[int, ...]
    boxes: Sequence[Box]
    domain: Domain

    @property
    def conditions(self) -> int:
        return condition_count(self.boxes)

    @property
    def columns(self) -> frozenset[str]:
        """Columns of its conditions."""
        return frozenset(name for box in self.boxes for name in box)

    @cached_property
    def texts(self) -> tuple[str, str]:
        """Plain and formal."""
        return plain(self.boxes, self.domain), formal(self.boxes, self.domain)


class _Leaves:
    """The leaves of a tree that a record can reach, as cubes."""

    def __init__(self, tree: Tree, domain: Domain) -> None:
        self.boxes = tree.leaf_boxes(domain)
        boxes = {leaf: box for leaf, box in enumerate(self.boxes) if box is not None}
        self._space = Space({name for box in boxes.values() for name in box}, domain)
        self._cubes = {leaf: self._space.cube(box) for leaf, box in boxes.items()}

    def simplified(self, leaves: tuple[int, ...]) -> list[Box]:
        """A union of leaves in its simplest form."""
        outside = [cube for leaf, cube in self._cubes.items() if leaf not in leaves]
        inside = [self._cubes[leaf] for leaf in leaves if leaf in self._cubes]
        return self._space.simplified(inside, outside)


class _PairReading:
    """Reads one pair of trees."""

    def __init__(self, place: int, pair: TreePair, domain: Domain) -> None:
        self._place, self._domain = place, domain
        self._trees = [_Leaves(tree, domain) for tree in (pair.left, pair.right)]
        self._known: dict[tuple[int, bytes], _Side] = {}
        self.counts = consistent_counts(pair, domain)

    def found(self, constraints: Constraints) -> list[tuple[float, Redescription]]:
        """Redescriptions with their scores, one for each group of similar ones.

        Groups are made again after shortening: some are then the same.
        """
        search = Search(self.counts, constraints)
        leaders, sizes = self._grouped(search.found())
        shorter = [self._shortest(search, leaders.take(np.array([i]))) for i in range(len(leaders))]
        candidates = Candidates.joined([leaders.take(np.zeros(0, dtype=np.int64)), *shorter])
        order = np.argsort(-candidates.least_score, kind="stable")
        candidates, sizes = self._grouped(candidates.take(order), sizes[order])
        p_values = search.p_values(candidates)
        return [
            (
                float(candidates.least_score[place]),
                self._described(candidates, place, float(p_values[place]), int(sizes[place]) - 1, constraints),
            )
            for place in range(len(candidates))
        ]

    def _grouped(self, candidates: Candidates, sizes: Ints | None = None) -> tuple[Candidates, Ints]:
        """The best one of each group, and how many it stands for."""
        owner = groups_in_pair(self.counts.whole, candidates.left, candidates.right)
        total = np.bincount(owner, sizes, len(candidates)).astype(np.int64)
        best = np.flatnonzero(owner == np.arange(len(owner)))[:_MOST]
        return candidates.take(best), total[best]

    def _shortest(self, search: Search, best: Candidates) -> Candidates:
        """The shortest one that is about as good, and differs in a leaf or two of each side.

        A leaf that holds nearly nobody often costs conditions only to be left out.
        """
        for axis in (0, 1):
            own = self._sides(best, 0)[axis].conditions
            if own > 1:
                others = search.as_good(best, axis)
                order = np.argsort(-others.score, kind="stable")[:_MOST_COMPARED]
                lengths = [self._sides(others, int(i))[axis].conditions for i in order]
                if min(lengths, default=own) < own:
                    best = others.take(order[[int(np.argmin(lengths))]])
        return best

    def _sides(self, candidates: Candidates, place: int) -> tuple[_Side, _Side]:
        return self._side(0, candidates.left[place]), self._side(1, candidates.right[place])

    def _side(self, side: int, members: Flags) -> _Side:
        key = side, members.tobytes()
        if key not in self._known:
            leaves = tuple(int(leaf) for leaf in np.flatnonzero(members))
            self._known[key] = _Side(leaves, self._trees[side].simplified(leaves), self._domain)
        return self._known[key]

    def _described(
        self, candidates: Candidates, place: int, p_value: float, similar: int, constraints: Constraints
    ) -> Redescription:
        left, right = self._sides(candidates, place)
        index, margin = float(candidates.jaccard[place]), float(candidates.margin[place])
        return Redescription(
            pair=self._place,
            left_leaves=left.leaves,
            right_leaves=right.leaves,
            left=left.texts[0],
            right=right.texts[0],
            left_query=left.texts[1],
            right_query=right.texts[1],
            support=float(candidates.both[place]),
            left_only=float(candidates.left_only[place]),
            right_only=float(candidates.right_only[place]),
            jaccard=index,
            interval=(max(0.0, index - margin), min(1.0, index + margin)),
            support_margin=math.ceil(float(candidates.both_margin[place])),
            chance=float(candidates.chance[place]),
            p_value=p_value,
            conditions=left.conditions + right.conditions,
            similar=similar,
            columns=left.columns | right.columns,
            missing=self._missing((left, right), float(candidates.chance[place]), constraints),
        )

    def _missing(self, sides: tuple[_Side, _Side], chance: float, constraints: Constraints) -> Missingness:
        """Whether missing values alone may explain it."""
        asking = sum(only_asks_for_missing(side.boxes, self._domain) for side in sides)
        if asking:
            return "both" if asking == 2 else "one"
        held = [
            holding_missing(tree.boxes, side.leaves, side.columns, self._domain)
            for tree, side in zip(self._trees, sides, strict=True)
        ]
        if not all(own.any() for own in held):
            return ""
        table = self.counts.whole
        left, right = (np.isin(np.arange(n), side.leaves) for n, side in zip(table.shape, sides, strict=True))
        least = max(constraints.min_jaccard, chance + constraints.min_above_chance)
        return "may" if jaccard_without(table, left, right, (held[0], held[1])) < least else ""
