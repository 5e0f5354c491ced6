"""Exact lookahead trees: stacked blocks, each drawn whole, with noisy counts in the leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

import numpy as np

from dpcore.arrays import Floats, Ints, Words
from dpcore.data.bits import compress
from dpcore.domain.conditions import Condition
from dpcore.learning.learner import Run
from dpcore.models.trees.learning.growth import Grown, predicted_label, share_intervals
from dpcore.models.trees.learning.lookahead import Block, ExactWeight, draw_block
from dpcore.models.trees.learning.pair_values import LeafUtility
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
        Row-level share of the run's epsilon: the same, unless the run composes by rho.
    """

    depth: int
    utility: LeafUtility
    epsilon: Decimal
    share: Decimal


def grow_exact(
    run: Run,
    questions: Sequence[Condition],
    blocks: Sequence[BlockPlan],
    leaf_share: Decimal,
    drawn: Callable[[int], None],
) -> Grown:
    """Draw a tree of stacked blocks. Row-level cost: the blocks' shares and ``leaf_share``.

    The records that reach different leaves of a block are disjoint, so the blocks of one level
    compose in parallel, and so do the counts of the leaves (:data:`LEAF_COUNTS`).

    Parameters
    ----------
    questions : sequence of Condition
        Public splits to choose from: a record goes left if the literal holds. Beside them
        there is always the choice not to split, see :data:`STOP_PRIORS`.
    drawn : callable
        Told how many levels of blocks are drawn.
    """
    return _ExactTree(run, questions, blocks, leaf_share, drawn).grow()


#: A row is in one leaf and has one class; so the k rows of a person move all counts together by
#: at most k in L1, and in L2, which Gaussian noise goes by.
LEAF_COUNTS = Sensitivity(1, "L1", monotone=True)
LEAF_COUNTS_L2 = Sensitivity(1, "L2", monotone=True)


#: Cells of each column that a path leaves possible; all those of a column not named.
Possible = Mapping[str, frozenset[int]]
_ALL = ~np.uint64(0)
#: Prior probability of not splitting a node, in the first block and in those below it; the
#: splits share the rest evenly. A split must gain something to be worth its words.
STOP_PRIORS = (0.25, 0.9)


def split_prior(splits: int, level: int) -> Floats:
    """Log-probabilities of ``splits`` splits and, last, of none, in a block of one level."""
    stop = STOP_PRIORS[min(level, 1)]
    return np.log([(1 - stop) / splits] * splits + [stop])


@dataclass(frozen=True)
class _Rows:
    """The rows of one node, with those of the padding that go the same way.

    The rows of the leaves of a block are those of its root: so the work of a level of blocks
    does not depend on how the records are spread, nor on how many there are. That of one block
    does: so nothing may tell when a block is drawn, but for the last of its level.

    Attributes
    ----------
    literals : array of shape (n_splits + 1, n_words)
        Bit vectors of the splits; the last, the choice not to split, holds for all rows.
    classes : array of shape (n_classes, n_words)
        Bit vectors of the records of each class.
    """

    literals: Words
    classes: Words

    @property
    def everyone(self) -> Words:
        """Bit vector of all of them."""
        return np.full(self.classes.shape[1], _ALL)

    def only(self, members: Words) -> _Rows:
        """The rows in a bit vector, closed up."""
        return _Rows(*(compress(vectors, members) for vectors in (self.literals, self.classes)))

    def counts(self, members: Words) -> Ints:
        """Records per class in a bit vector."""
        return np.asarray(np.bitwise_count(self.classes & members).sum(axis=1), dtype=np.int64)


@dataclass(frozen=True)
class _End:
    """A node where a block ends: the next one begins there, or it is a leaf.

    Attributes
    ----------
    grown : Grown
    rows : _Rows
        Rows of the block above.
    members : array of shape (n_words,)
        Which of them come here.
    cells : Possible
    label : int or None
        Class that the block drew for this leaf.
    """

    grown: Grown
    rows: _Rows
    members: Words
    cells: Possible
    label: int | None = None


class _ExactTree:
    def __init__(
        self,
        run: Run,
        questions: Sequence[Condition],
        blocks: Sequence[BlockPlan],
        leaf_share: Decimal,
        drawn: Callable[[int], None],
    ) -> None:
        table, self._schema = run.table, run.table.schema
        self._questions = questions
        literals = np.full((len(questions) + 1, table.cells.shape[1]), _ALL)
        for vector, item in zip(literals, questions, strict=False):
            vector[:] = table.cell_range(item.column, item.first, item.last)
        self._rows = _Rows(literals, run.class_members)
        self._blocks, self._randomness = blocks, run.randomness
        self._leaf_share, self._noise = leaf_share, run.plan.noise_on("a count")
        self._mechanism = _leaf_mechanism(run.plan)
        self._drawn = drawn

    def grow(self) -> Grown:
        """Level by level: nobody can see how long one node of a level takes."""
        root = Grown()
        ends = [_End(root, self._rows, self._rows.everyone, {})]
        for level in range(len(self._blocks)):
            ends = [below for end in ends for below in self._draw(end, level)]
            self._drawn(level + 1)
        for end in ends:
            self._make_leaf(end)
        return root

    def _draw(self, end: _End, level: int) -> list[_End]:
        """Draw the block of one level for the rows of one node; return where it ends."""
        plan, prior = self._blocks[level], split_prior(len(self._questions), level)
        rows = end.rows.only(end.members) if level else end.rows
        weight = ExactWeight.fit(
            plan.utility, plan.depth, plan.epsilon, self._schema.max_rows, len(prior), len(rows.classes)
        )
        block = draw_block(rows.literals, rows.classes, prior, plan.depth, plan.utility, weight, self._randomness)
        end.grown.spent += plan.share
        return self._unfold(block, 0, _End(end.grown, rows, rows.everyone, end.cells))

    def _unfold(self, block: Block, place: int, here: _End) -> list[_End]:
        """Turn a block into nodes. A split that the path has already decided is left out."""
        if place >= len(block.splits):
            label = None if block.labels is None else block.labels[place - len(block.splits)]
            return [replace(here, label=label)]
        position = block.splits[place]
        sides = self._sides(position, here.cells)
        if len(sides) == 1:
            return self._unfold(block, 2 * place + 1 + sides[0][0], here)
        question, holds = self._questions[position], here.rows.literals[position]
        here.grown.split = split_on(question, self._schema)
        ends: list[_End] = []
        for side, kept in sides:
            child = Grown()
            here.grown.children.append(child)
            members = here.members & (~holds if side else holds)
            there = _End(child, here.rows, members, {**here.cells, question.column: kept})
            ends += self._unfold(block, 2 * place + 1 + side, there)
        return ends

    def _sides(self, position: int, cells: Possible) -> list[tuple[int, frozenset[int]]]:
        """Sides of a split that the path leaves possible, with the cells that go there."""
        if position == len(self._questions):  # The choice not to split: all go left.
            return [(0, frozenset())]
        question = self._questions[position]
        codes = range(len(self._schema.column(question.column).cells))
        known = cells.get(question.column, frozenset(codes))
        inside = frozenset(code for code in known if question.holds(code))
        return [(side, kept) for side, kept in enumerate((inside, known - inside)) if kept]

    def _make_leaf(self, end: _End) -> None:
        """Buy the class counts of a node where the last block ends."""
        grown = end.grown
        grown.spent += self._leaf_share
        grown.noisy_counts = self._mechanism.release(end.rows.counts(end.members), self._randomness)
        grown.count_epsilon, grown.count_deviation = self._noise.epsilon, self._noise.deviation
        grown.label = end.label


def _leaf_mechanism(plan: RunPlan) -> GeometricMechanism | GaussianMechanism:
    if plan.row_rho is not None:
        return GaussianMechanism(LEAF_COUNTS_L2.value, plan.row_rho)
    return GeometricMechanism(LEAF_COUNTS.value, plan.row_epsilon(plan.estimates_step))


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
