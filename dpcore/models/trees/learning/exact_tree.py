"""Exact lookahead trees: stacked blocks, each drawn whole, with noisy counts in the leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np

from dpcore.arrays import Array, Floats, Ints, Words
from dpcore.data.bits import closed_up, count_bits, room_of
from dpcore.data.partition import Partition
from dpcore.domain.columns import Column
from dpcore.domain.conditions import Condition
from dpcore.domain.schemas.schema import Part
from dpcore.learning.exact_draws.balance import FULL_WEIGHT, expected_shares, posterior_counts, weigh_classes
from dpcore.learning.exact_draws.joint_counts import JointCounts, counted_in_turn, joint_counts
from dpcore.learning.exact_draws.lookahead import Block, ExactWeight, Path, draw_block
from dpcore.learning.exact_draws.pair_values import LeafUtility
from dpcore.learning.learner import Run
from dpcore.models.trees.learning.growth import Grown
from dpcore.models.trees.released.splits import split_on
from dpcore.privacy.mechanisms import GaussianMechanism, GeometricMechanism
from dpcore.privacy.sensitivity import Sensitivity
from dpcore.released.plan import RunPlan


@dataclass(frozen=True)
class BlockPlan:
    """One level of blocks.

    Attributes
    ----------
    depth : int
    utility : str
        What its leaves are worth.
    epsilon : Decimal
        Row-level budget of a draw.
    share : Decimal
        Row-level share of the run's epsilon: what the level costs, unless the run composes by rho.
    counts : Decimal or None
        Row-level budget of the class counts by which the largest class outweighs no other; without, all weigh as
        they are.
    """

    depth: int
    utility: LeafUtility
    epsilon: Decimal
    share: Decimal
    counts: Decimal | None = None

    def weight(self, max_rows: int, splits: int, classes: int) -> ExactWeight:
        """That of its draws, among ``splits`` splits, the choice not to split included."""
        largest = 1 if self.counts is None else FULL_WEIGHT
        return ExactWeight.fit(self.utility, self.depth, self.epsilon, max_rows, splits, classes, largest)


#: A row is in one leaf and has one class; so the k rows of a person move all counts together by
#: at most k in L1, and in L2, which Gaussian noise goes by.
LEAF_COUNTS = Sensitivity(1, "L1", monotone=True)
LEAF_COUNTS_L2 = Sensitivity(1, "L2", monotone=True)


#: Cells of each column that a path leaves possible; all those of a column not named.
Possible = Mapping[str, frozenset[int]]
_ALL: Final = ~np.uint64(0)
#: Prior probability of not splitting a node, in the first block and in those below it; the
#: splits share the rest evenly. A split must gain something to be worth its words.
STOP_PRIORS = (0.25, 0.9)
#: The same where classes weigh alike: a split that gains little shows little in the weighted mistakes.
BALANCED_STOP_PRIORS = (0.1, 0.8)


def split_prior(splits: int, level: int, *, balanced: bool = False) -> Floats:
    """Log-probabilities of ``splits`` splits and, last, of none, in a block of one level."""
    stop = (BALANCED_STOP_PRIORS if balanced else STOP_PRIORS)[min(level, 1)]
    return np.log([(1 - stop) / splits] * splits + [stop])


@dataclass(frozen=True)
class _End:
    """A node where a block ends: the next one begins there, or it is a leaf.

    Attributes
    ----------
    grown : Grown
    path : Path
        The splits on the way here, and where they lead.
    cells : Possible
    label : int or None
        Class that the block drew for this leaf.
    shares : array of shape (n_classes,) or None
        Class shares of the node where the block began, if its classes weigh alike.
    """

    grown: Grown
    path: Path
    cells: Possible
    label: int | None = None
    shares: Floats | None = None


def node_counts(
    partition: Partition,
    target: str,
    part: Part,
    questions: Sequence[Condition],
    depth: int,
    nodes: Sequence[Path],
    asked: range,
) -> tuple[Array, ...]:
    """Kernel: the four arrays of the :class:`JointCounts` of each node that is asked for, one after another.

    The last literal, the choice not to split, holds for all rows. Rows of a node are closed up,
    with those of the padding that go the same way: so the work of a level of blocks does not
    depend on how the records are spread, nor on how many there are. That of one node does: so
    nothing may tell when a block is drawn, but for the last of its level.

    Parameters
    ----------
    nodes : sequence of Path
        All those of a level.
    asked : range
        Positions of some that follow each other.
    """
    literals, classes = _vectors(partition, questions), partition.class_members(target, part)
    if nodes == [()]:
        return joint_counts(literals, classes, depth)
    masks = np.stack([_members(literals, node) for node in nodes])
    room = room_of(masks)[asked.start : asked.stop + 1]
    closed = closed_up(np.concatenate([literals, classes]), masks[asked.start : asked.stop], room)
    counts: list[Array] = []
    for first, last in pairwise(room - room[0]):
        counts += joint_counts(closed[: len(literals)], closed[len(literals) :], depth, slice(first, last))
    return tuple(counts)


def leaf_counts(
    partition: Partition, target: str, part: Part, questions: Sequence[Condition], leaves: Sequence[Path]
) -> Ints:
    """Kernel: records per class in each leaf, shape (n_leaves, n_classes). See :data:`LEAF_COUNTS`."""
    literals, classes = _vectors(partition, questions), partition.class_members(target, part)
    return count_bits(np.stack([_members(literals, leaf) for leaf in leaves]), classes)


def _vectors(partition: Partition, questions: Sequence[Condition]) -> Words:
    """Bit vectors of the splits and, last, of the choice not to split: all ones."""
    return np.vstack([partition.literals(questions), np.full_like(partition.parts[:1], _ALL)])


def _members(literals: Words, path: Path) -> Words:
    members: Words = np.full_like(literals[0], _ALL)
    for literal, side in path:
        members &= ~literals[literal] if side else literals[literal]
    return members


@dataclass(frozen=True)
class ExactTree:
    """How a tree of stacked blocks is drawn. Row-level cost: the blocks' shares and ``leaf_share``.

    The records that reach different leaves of a block are disjoint, so the blocks of one level
    compose in parallel, and so do the counts of the leaves (:data:`LEAF_COUNTS`).

    Attributes
    ----------
    run : Run
    questions : sequence of Condition
        Public splits to choose from: a record goes left if the literal holds. Beside them
        there is always the choice not to split, see :data:`STOP_PRIORS`.
    blocks : sequence of BlockPlan
    leaf_share : Decimal
    drawn : callable
        Told how many levels of blocks are drawn.
    """

    run: Run
    questions: Sequence[Condition]
    blocks: Sequence[BlockPlan]
    leaf_share: Decimal
    drawn: Callable[[int], None]

    def grow(self) -> Grown:
        """Level by level: nobody can see how long one node of a level takes."""
        root, mechanism = Grown(), _leaf_mechanism(self.run.plan)
        ends = [_End(root, (), {})]
        for level, plan in enumerate(self.blocks):
            prior = split_prior(len(self.questions), level, balanced=plan.counts is not None)
            weight = plan.weight(self.run.plan.schema.max_rows, len(prior), len(self.run.plan.classes))
            counting = None if plan.counts is None else GeometricMechanism(LEAF_COUNTS.value, plan.counts)
            below: list[_End] = []
            for end, joint in zip(ends, self._counted(ends, plan.depth), strict=True):
                below += self._draw(end, joint, plan, prior, weight, counting)
            ends = below
            self.drawn(level + 1)
        self._make_leaves(ends, mechanism)
        return root

    @cached_property
    def _columns(self) -> dict[str, Column]:
        return {column.name: column for column in self.run.schema}

    def _counted(self, ends: Sequence[_End], depth: int) -> Iterator[JointCounts]:
        """The counts of the nodes of a level."""
        nodes, size = [end.path for end in ends], (len(self.questions) + 1, len(self.run.plan.classes), depth)
        public = self.run.target, self.run.part, self.questions, depth, nodes
        return counted_in_turn(len(ends), *size, lambda asked: self.run.table.total(node_counts, *public, asked))

    def _draw(
        self,
        end: _End,
        joint: JointCounts,
        plan: BlockPlan,
        prior: Floats,
        weight: ExactWeight,
        counting: GeometricMechanism | None,
    ) -> list[_End]:
        """Draw the block of one level for the rows of one node; return where it ends.

        ``counting`` buys its class counts, if the largest class is to outweigh no other. See :data:`LEAF_COUNTS`.
        """
        class_weights = None
        if counting is not None:
            noisy = counting.release(joint.none, self.run.randomness)
            counts = posterior_counts(noisy, 1 / float(counting.epsilon), end.shares)
            class_weights, end = weigh_classes(counts), replace(end, shares=counts / counts.sum())
        block = draw_block(joint, prior, plan.depth, plan.utility, weight, self.run.randomness, class_weights)
        end.grown.spent += plan.share
        return self._unfold(block, 0, end)

    def _unfold(self, block: Block, place: int, here: _End) -> list[_End]:
        """Turn a block into nodes. A split that the path has already decided is left out."""
        if place >= len(block.splits):
            label = None if block.labels is None else block.labels[place - len(block.splits)]
            return [replace(here, label=label)]
        position = block.splits[place]
        sides = self._sides(position, here.cells)
        if len(sides) == 1:
            return self._unfold(block, 2 * place + 1 + sides[0][0], here)
        question = self.questions[position]
        here.grown.split = split_on(question, self._columns[question.column])
        ends: list[_End] = []
        for side, kept in sides:
            child = Grown()
            here.grown.children.append(child)
            there = _End(
                child, (*here.path, (position, side)), {**here.cells, question.column: kept}, None, here.shares
            )
            ends += self._unfold(block, 2 * place + 1 + side, there)
        return ends

    def _sides(self, position: int, cells: Possible) -> list[tuple[int, frozenset[int]]]:
        """Sides of a split that the path leaves possible, with the cells that go there."""
        if position == len(self.questions):  # The choice not to split: all go left.
            return [(0, frozenset())]
        question = self.questions[position]
        known = cells.get(question.column) or frozenset(range(len(self._columns[question.column].cells)))
        inside = known.intersection(range(question.first, question.last + 1))
        return [(side, kept) for side, kept in enumerate((inside, known - inside)) if kept]

    def _make_leaves(self, ends: Sequence[_End], mechanism: GeometricMechanism | GaussianMechanism) -> None:
        """Buy the class counts of the nodes where the last blocks end."""
        noise = self.run.plan.noise_on("a count")
        public = self.run.target, self.run.part, self.questions, [end.path for end in ends]
        exact = self.run.table.total(leaf_counts, *public)
        for end, counts in zip(ends, mechanism.release_each(exact, self.run.randomness), strict=True):
            grown = end.grown
            grown.spent += self.leaf_share
            grown.noisy_counts, grown.label = counts, end.label
            grown.count_epsilon, grown.count_deviation = noise.epsilon, noise.deviation
        told = [end for end in ends if end.shares is not None and end.label is not None]
        if told:
            shares, labels = np.array([end.shares for end in told]), np.array([end.label for end in told])
            for end, expected in zip(told, expected_shares(shares, labels), strict=True):
                end.grown.expected = expected


def _leaf_mechanism(plan: RunPlan) -> GeometricMechanism | GaussianMechanism:
    if plan.row_rho is not None:
        return GaussianMechanism(LEAF_COUNTS_L2.value, plan.row_rho)
    return GeometricMechanism(LEAF_COUNTS.value, plan.row_epsilon(plan.estimates_step))
