"""Markov chains over complete trees and over pairs of them.

These are Algorithms 3 and 5 of Mihelčić and Miettinen (2023), lazy, from uniform trees.
A chain of finitely many steps only approaches the exponential mechanism: what these functions
return is private on the condition that it has converged. The number of steps is fixed in
advance; the published program stops when its score varies little, which depends on the records.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.compiled import kernel
from dpcore.data.bits import count_bits
from dpcore.data.partition import Partition
from dpcore.data.table import PrivateTable
from dpcore.learning.chains import Chain, acceptance
from dpcore.models.redescriptions.learning.redescription_queries import STEPS, leaf_members, tree_leaves
from dpcore.models.redescriptions.learning.views import Sets
from dpcore.privacy.randomness import RandomSource, uniforms


@dataclass(frozen=True)
class Proposals:
    """What a chain is to try: drawn in advance, so that the number of draws is public.

    Attributes
    ----------
    nodes, splits : arrays of shape (n_steps,)
        Inner node to change, those of the left tree first, and its new split as a number in
        [0, 1).
    chances : array of shape (n_steps,)
        Uniform numbers in [0, 1); a step is taken if its acceptance is above.
    """

    nodes: Ints
    splits: Floats
    chances: Floats

    @classmethod
    def draw(cls, nodes: int, steps: int, randomness: RandomSource) -> Proposals:
        """Draw ``steps`` proposals for a chain over ``nodes`` inner nodes."""
        numbers = uniforms(randomness, 3 * steps).reshape(3, steps)
        return cls((numbers[0] * nodes).astype(np.int64), numbers[1], numbers[2])


def random_tree(splits: int, depth: int, randomness: RandomSource) -> Ints:
    """A complete tree with uniform splits: shape (2^depth - 1,)."""
    return (uniforms(randomness, 2**depth - 1) * splits).astype(np.int64)


def tree_chain(
    table: PrivateTable,
    literals: Sets,
    classes: Sets,
    depth: int,
    steps: int,
    weight: float,
    randomness: RandomSource,
) -> Ints:
    """Last tree of a lazy Metropolis chain with target exp(weight x purity mass) (Algorithm 3).

    Deviations: the purity mass has sensitivity 1, not 2; a fixed number of steps, half of which stay.

    Parameters
    ----------
    classes : Sets
        The records of each class, disjoint.
    weight : float
        Per record.
    """
    return randomness.settle(TreeWalk(table, literals, classes, depth, steps, weight)).final[0]


@dataclass(frozen=True)
class TreeWalk:
    """The chain of :func:`tree_chain`. States: one array of shape (2^depth - 1,)."""

    table: PrivateTable
    literals: Sets
    classes: Sets
    depth: int
    steps: int
    weight: float

    def start(self, source: RandomSource) -> list[Ints]:
        """First state: uniform splits."""
        return [random_tree(len(self.literals), self.depth, source)]

    def run(self, source: RandomSource) -> Chain[Sequence[Ints]]:
        """Take all steps."""
        trees = self.start(source)
        proposals = Proposals.draw(len(trees[0]), self.steps, source)
        return _walk(self.table, [self.literals], self.classes, trees, 0.0, self.weight / STEPS, proposals)


def pair_chain(
    table: PrivateTable,
    first_literals: Sets,
    second_literals: Sets,
    classes: Sets,
    depth: int,
    steps: int,
    max_rows: int,
    weight: float,
    randomness: RandomSource,
) -> tuple[Ints, Ints]:
    """Last pair of a lazy Metropolis chain with target exp(weight x score) (Algorithm 5).

    The first tree is grown for ``classes``, the second for the leaves of the first. The score
    is :func:`dpcore.models.redescriptions.learning.redescription_queries.pair_scores`, in records.
    """
    walk = PairWalk(table, first_literals, second_literals, classes, depth, steps, max_rows, weight)
    first, second = randomness.settle(walk).final
    return first, second


@dataclass(frozen=True)
class PairWalk:
    """The chain of :func:`pair_chain`. States: two arrays of shape (2^depth - 1,)."""

    table: PrivateTable
    first_literals: Sets
    second_literals: Sets
    classes: Sets
    depth: int
    steps: int
    max_rows: int
    weight: float

    def start(self, source: RandomSource) -> list[Ints]:
        """First state: uniform splits in both trees."""
        return [random_tree(len(own), self.depth, source) for own in (self.first_literals, self.second_literals)]

    def run(self, source: RandomSource) -> Chain[Sequence[Ints]]:
        """Take all steps."""
        trees = self.start(source)
        proposals = Proposals.draw(2 * len(trees[0]), self.steps, source)
        literals, per_step = [self.first_literals, self.second_literals], 1.0 / (STEPS * self.max_rows)
        return _walk(self.table, literals, self.classes, trees, per_step, self.weight / STEPS, proposals)


def _walk(
    table: PrivateTable,
    literals: Sequence[Sets],
    classes: Sets,
    trees: Sequence[Ints],
    per_step: float,
    weight: float,
    proposals: Proposals,
) -> Chain[Sequence[Ints]]:
    """A chain over one tree or two. Of a single one, the score is its purity mass."""
    inner = len(trees[0])
    # Records in the first tree's leaves by class, and in the second tree's by leaf of the first.
    counts, joint = table.total(_counts_below, literals, classes, trees, 0)
    joint = np.ascontiguousarray(joint.T)
    score = _score(counts, joint, per_step)
    numbers = [own.tolist() for own in (proposals.nodes, proposals.splits, proposals.chances)]
    scores, taken = np.empty(len(numbers[0])), np.empty(len(numbers[0]), dtype=np.bool_)
    for step, (node, choice, chance) in enumerate(zip(*numbers, strict=True)):
        tree, place = divmod(node, inner)
        new_trees = [own.copy() for own in trees]
        new_trees[tree][place] = int(choice * len(literals[tree]))
        below = _below(place, inner)
        by_class, by_leaf = table.total(_counts_below, literals, classes, new_trees, node)
        new_counts, new_joint = counts.copy(), joint.copy()
        if tree == 0:
            new_counts[below], new_joint[:, below] = by_class, by_leaf.T
        else:
            new_joint[below] = by_leaf
        new_score = _score(new_counts, new_joint, per_step)
        taken[step] = chance < acceptance(weight * (new_score - score))
        if taken[step]:
            trees, counts, joint, score = new_trees, new_counts, new_joint, new_score
        scores[step] = weight * score
    return Chain(trees, scores, taken)


def _below(node: int, inner: int) -> slice:
    """The leaves below an inner node of a complete tree, in heap order."""
    first, width = node, 1
    while first < inner:
        first, width = 2 * first + 1, 2 * width
    return slice(first - inner, first - inner + width)


def _counts_below(
    partition: Partition, literals: Sequence[Sets], classes: Sets, trees: Sequence[Ints], node: int
) -> tuple[Ints, Ints]:
    """Kernel: records in the leaves below a node, by class and by leaf of the other tree.

    Parameters
    ----------
    node : int
        Those of the first tree come first. Leaves of the second are not counted by class.

    Returns
    -------
    (array of shape (n_leaves, n_classes), array of shape (n_leaves, leaves of the other tree))
    """
    everyone = partition.members("all")
    inner = len(trees[0])
    tree, place = divmod(node, inner)
    vectors = [own(partition) for own in literals]
    leaves = np.empty((inner + 1, len(everyone)), dtype=np.uint64)
    leaf_members(vectors[tree], trees[tree], place, everyone, leaves)
    rows, labels = leaves[_below(place, inner)], classes(partition)
    other = [tree_leaves(vectors[k], own, everyone) for k, own in enumerate(trees) if k != tree]
    return count_bits(rows, labels[: 0 if tree else None]), count_bits(rows, other[0] if other else rows[:0])


@kernel
def _score(table: Ints, joint: Ints, per_step: float) -> float:
    """Score of a pair in steps, or of a single tree if ``joint`` is empty."""
    first: float = 1.0 * _purity(table)
    if joint.shape[0] == 0:
        return first
    second: float = _purity(joint) * per_step
    return (first + first * second) / 2


@kernel
def _purity(counts: Ints) -> np.int64:
    mass = np.int64(0)
    for leaf in range(counts.shape[0]):
        size, squares = np.int64(0), np.int64(0)
        for c in range(counts.shape[1]):
            size += counts[leaf, c]
            squares += counts[leaf, c] ** 2
        mass += STEPS * squares // max(size, np.int64(1))
    return mass
