"""Exact lookahead trees: stacked blocks, each drawn whole, with noisy counts in the leaves."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from dpcore.bits import Words
from dpcore.literals import Literal
from dpcore.mechanisms import GeometricMechanism
from dpcore.randomness import RandomSource
from dpcore.schema import Schema
from dpcore.table import Part, PrivateTable
from dpcore.trees.growth import Grown, predicted_label, share_intervals
from dpcore.trees.lookahead import Block, ExactWeight, LeafUtility, draw_block
from dpcore.trees.splits import split_on


@dataclass(frozen=True)
class BlockPlan:
    """One level of blocks: depth, what its leaves are worth, and the row-level budget."""

    depth: int
    utility: LeafUtility
    epsilon: Decimal


def grow_exact(
    table: PrivateTable,
    target: str,
    part: Part,
    questions: Sequence[Literal],
    blocks: Sequence[BlockPlan],
    leaf_epsilon: Decimal,
    randomness: RandomSource,
    drawn: Callable[[int], None],
) -> Grown:
    """Draw a tree of stacked blocks. Row-level cost: the blocks' budgets and ``leaf_epsilon``.

    The records that reach different leaves of a block are disjoint, so the blocks of one level
    compose in parallel, and so do the counts of the leaves (sensitivity 1 together).

    Parameters
    ----------
    questions : sequence of Literal
        Public splits to choose from: a record goes left if the literal holds. Beside them
        there is always the choice not to split, see :data:`STOP_PRIOR`.
    drawn : callable
        Told how many of the :func:`block_count` blocks are drawn, or need no drawing.
    """
    return _ExactTree(
        table, target, part, questions, blocks, leaf_epsilon, randomness, drawn
    ).grow()


#: Prior probability of not splitting a node; the splits share the rest evenly. A split must
#: gain something to be worth its words.
STOP_PRIOR = 0.25


def split_prior(splits: int) -> NDArray[np.float64]:
    """Log-probabilities of ``splits`` splits and, last, of none."""
    each = math.log((1 - STOP_PRIOR) / splits)
    return np.array([each] * splits + [math.log(STOP_PRIOR)])


def block_count(depths: Sequence[int]) -> int:
    """Most blocks of a tree whose levels of blocks have these depths."""
    return 0 if not depths else 1 + 2 ** depths[0] * block_count(depths[1:])


class _ExactTree:
    def __init__(
        self,
        table: PrivateTable,
        target: str,
        part: Part,
        questions: Sequence[Literal],
        blocks: Sequence[BlockPlan],
        leaf_epsilon: Decimal,
        randomness: RandomSource,
        drawn: Callable[[int], None],
    ) -> None:
        self._schema: Schema = table.schema
        self._questions = questions
        self._prior = split_prior(len(questions))
        self._literals = np.full((len(questions) + 1, table.cells.shape[1]), ~np.uint64(0))
        for vector, item in zip(self._literals, questions, strict=False):
            vector[:] = table.cell_range(item.column, item.first, item.last)
        self._classes = table.class_members(target, part)
        self._blocks, self._randomness = blocks, randomness
        self._noise = GeometricMechanism(1, leaf_epsilon)
        self._drawn, self._count = drawn, 0

    def grow(self) -> Grown:
        everyone = np.full(self._classes.shape[1], ~np.uint64(0))
        return self._grow(everyone, {}, 0, None)

    def _grow(
        self, members: Words, cells: Mapping[str, frozenset[int]], level: int, label: int | None
    ) -> Grown:
        """Draw the block of a level for the records of one node, or finish it as a leaf."""
        if level == len(self._blocks):
            return self._leaf(members, label)
        plan = self._blocks[level]
        weight = ExactWeight.fit(
            plan.utility, plan.depth, plan.epsilon, self._schema.max_rows,
            len(self._prior), len(self._classes),
        )  # fmt: skip
        block = draw_block(
            self._literals, self._classes & members, self._prior, plan.depth, plan.utility,
            weight, self._randomness,
        )  # fmt: skip
        self._tell(1)
        grown = self._unfold(block, 0, members, cells, level)
        grown.spent += plan.epsilon
        return grown

    def _unfold(
        self,
        block: Block,
        place: int,
        members: Words,
        cells: Mapping[str, frozenset[int]],
        level: int,
    ) -> Grown:
        """Turn a block into nodes. A split that the path has already decided is left out."""
        if place >= len(block.splits):
            leaf = place - len(block.splits)
            label = None if block.labels is None else block.labels[leaf]
            return self._grow(members, cells, level + 1, label)
        position = block.splits[place]
        if position == len(self._questions):  # The choice not to split: all go left.
            self._skip(place, level)
            return self._unfold(block, 2 * place + 1, members, cells, level)
        question, holds = self._questions[position], self._literals[position]
        known = cells.get(question.column, self._all_cells(question))
        inside = frozenset(code for code in known if question.holds(code))
        sides = [
            (2 * place + 1 + side, members & (~holds if side else holds), kept)
            for side, kept in enumerate((inside, known - inside))
            if kept
        ]
        children = [
            self._unfold(block, child, reached, {**cells, question.column: kept}, level)
            for child, reached, kept in sides
        ]
        if len(children) == 1:
            self._skip(place, level)
            return children[0]
        return Grown(split=split_on(question, self._schema), children=children)

    def _skip(self, place: int, level: int) -> None:
        """Report the blocks below one side of a place as done: nobody can reach them."""
        height = self._blocks[level].depth - (place + 1).bit_length()
        self._tell(2**height * block_count([b.depth for b in self._blocks[level + 1 :]]))

    def _tell(self, blocks: int) -> None:
        self._count += blocks
        self._drawn(self._count)

    def _all_cells(self, question: Literal) -> frozenset[int]:
        return frozenset(range(len(self._schema.column(question.column).cells)))

    def _leaf(self, members: Words, label: int | None) -> Grown:
        counts = np.bitwise_count(self._classes & members).sum(axis=1).astype(np.int64)
        return Grown(
            spent=self._noise.epsilon,
            noisy_counts=self._noise.release(counts, self._randomness),
            count_epsilon=self._noise.epsilon,
            label=label,
        )


def fold_alike(node: Grown) -> None:
    """Collapse splits whose sides predict the same class and differ by no more than noise.

    Post-processing of noisy counts, bottom up: a side that is itself a split stays if that
    split stays. Predictions do not change.
    """
    for child in node.children:
        fold_alike(child)
    if not node.children or any(child.children and not child.collapsed for child in node.children):
        return
    if len({predicted_label(child) for child in node.children}) == 1 and _alike(node.children):
        node.collapsed, node.label = True, predicted_label(node.children[0])


def _alike(sides: Sequence[Grown]) -> bool:
    """Whether the noise intervals of the sides' class shares overlap, for every class."""
    intervals = np.stack([share_intervals(side) for side in sides])
    return bool((intervals[..., 0].max(axis=0) <= intervals[..., 1].min(axis=0)).all())
