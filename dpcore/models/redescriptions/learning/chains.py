"""Markov chains over complete trees and over pairs of them.

These are Algorithms 3 and 5 of Mihelčić and Miettinen (2023).
A chain of finitely many steps only approaches the exponential mechanism: what these functions
return is private on the condition that it has converged. The number of steps is fixed in
advance; the published program stops when its score varies little, which depends on the records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from dpcore.arrays import Floats, Ints, Words
from dpcore.compiled import kernel
from dpcore.data.bits import popcount
from dpcore.models.redescriptions.learning.queries import STEPS, leaf_members
from dpcore.privacy.randomness import RandomSource, uniforms

_STEPS: Final = STEPS


@dataclass(frozen=True)
class Proposals:
    """What a chain is to try: drawn in advance, so that the number of draws is public.

    Attributes
    ----------
    nodes, splits : arrays of shape (n_steps,)
        Inner node to change, those of the left tree first, and its new split as a number in
        [0, 1).
    logs : array of shape (n_steps,)
        Logarithms of uniform numbers; a step is taken if the log of the ratio is above.
    """

    nodes: Ints
    splits: Floats
    logs: Floats

    @classmethod
    def draw(cls, nodes: int, steps: int, randomness: RandomSource) -> Proposals:
        """Draw ``steps`` proposals for a chain over ``nodes`` inner nodes."""
        numbers = uniforms(randomness, 3 * steps).reshape(3, steps)
        # Uniform numbers may be 0; 1 minus them may not.
        return cls((numbers[0] * nodes).astype(np.int64), numbers[1], np.log1p(-numbers[2]))


def random_tree(splits: int, depth: int, randomness: RandomSource) -> Ints:
    """A complete tree with uniform splits: shape (2^depth - 1,)."""
    return (uniforms(randomness, 2**depth - 1) * splits).astype(np.int64)


def tree_chain(
    literals: Words,
    classes: Words,
    everyone: Words,
    depth: int,
    steps: int,
    weight: float,
    randomness: RandomSource,
) -> Ints:
    """Last tree of a Metropolis chain with target exp(weight x purity mass) (Algorithm 3).

    Deviations: the purity mass has sensitivity 1, not 2; a fixed number of steps.

    Parameters
    ----------
    classes : array of shape (n_classes, n_words)
        Disjoint bit vectors of the records of each class.
    everyone : array of shape (n_words,)
    weight : float
        Per record.
    """
    walk = TreeWalk(literals, classes, everyone, depth, steps, weight)
    return randomness.settle(walk)


@dataclass(frozen=True)
class TreeWalk:
    """The chain of :func:`tree_chain`. States: arrays of shape (2^depth - 1,)."""

    literals: Words
    classes: Words
    everyone: Words
    depth: int
    steps: int
    weight: float

    def run(self, source: RandomSource) -> Ints:
        """Take all steps and return the last state."""
        splits = random_tree(len(self.literals), self.depth, source)
        proposals = Proposals.draw(len(splits), self.steps, source)
        # A pair whose second tree has no leaves to match: its score is that of the first.
        nothing = np.zeros(0, dtype=np.int64)
        _run(
            self.literals,
            self.literals[:0],
            self.classes,
            self.everyone,
            splits,
            nothing,
            0.0,
            self.weight / _STEPS,
            proposals.nodes,
            proposals.splits,
            proposals.logs,
        )
        return splits


def pair_chain(
    first_literals: Words,
    second_literals: Words,
    classes: Words,
    everyone: Words,
    depth: int,
    steps: int,
    max_rows: int,
    weight: float,
    randomness: RandomSource,
) -> tuple[Ints, Ints]:
    """Last pair of a Metropolis chain with target exp(weight x score) (Algorithm 5).

    The first tree is grown for ``classes``, the second for the leaves of the first. The score
    is :func:`dpcore.models.redescriptions.learning.queries.pair_scores`, in records.
    """
    walk = PairWalk(first_literals, second_literals, classes, everyone, depth, steps, max_rows, weight)
    return randomness.settle(walk)


@dataclass(frozen=True)
class PairWalk:
    """The chain of :func:`pair_chain`. States: two arrays of shape (2^depth - 1,)."""

    first_literals: Words
    second_literals: Words
    classes: Words
    everyone: Words
    depth: int
    steps: int
    max_rows: int
    weight: float

    def run(self, source: RandomSource) -> tuple[Ints, Ints]:
        """Take all steps and return the last state."""
        first = random_tree(len(self.first_literals), self.depth, source)
        second = random_tree(len(self.second_literals), self.depth, source)
        proposals = Proposals.draw(2 * len(first), self.steps, source)
        _run(
            self.first_literals,
            self.second_literals,
            self.classes,
            self.everyone,
            first,
            second,
            1.0 / (_STEPS * self.max_rows),
            self.weight / _STEPS,
            proposals.nodes,
            proposals.splits,
            proposals.logs,
        )
        return first, second


@kernel
def _run(
    first_literals: Words,
    second_literals: Words,
    classes: Words,
    everyone: Words,
    first: Ints,
    second: Ints,
    per_step: float,
    weight: float,
    nodes: Ints,
    choices: Floats,
    logs: Floats,
) -> None:
    """Run a chain in place. Without a second tree, the score is the first tree's purity mass."""
    words, inner = everyone.shape[0], first.shape[0]
    single = second.shape[0] == 0
    leaves = np.empty((inner + 1, words), dtype=np.uint64)
    others = np.empty((0 if single else inner + 1, words), dtype=np.uint64)
    leaf_members(first_literals, first, 0, everyone, leaves)
    if not single:
        leaf_members(second_literals, second, 0, everyone, others)
    # Class counts of the first tree's leaves; those of the second tree's are the columns below.
    table = np.empty((inner + 1, classes.shape[0]), dtype=np.int64)
    joint = np.empty((others.shape[0], inner + 1), dtype=np.int64)
    _count(leaves, classes, 0, inner + 1, table)
    _count(others, leaves, 0, others.shape[0], joint)
    score = _score(table, joint, per_step)
    new_leaves, new_others = leaves.copy(), others.copy()
    new_table, new_joint = table.copy(), joint.copy()
    for step in range(nodes.shape[0]):
        node = nodes[step]
        if node < inner:
            before = first[node]
            first[node] = np.int64(choices[step] * first_literals.shape[0])
            start, width = leaf_members(first_literals, first, node, everyone, new_leaves)
            _count(new_leaves, classes, start, width, new_table)
            _count_columns(others, new_leaves, start, width, new_joint)
        else:
            before = second[node - inner]
            second[node - inner] = np.int64(choices[step] * second_literals.shape[0])
            start, width = leaf_members(second_literals, second, node - inner, everyone, new_others)
            _count(new_others, leaves, start, width, new_joint)
        new_score = _score(new_table, new_joint, per_step)
        if weight * (new_score - score) > logs[step]:
            score = new_score
            _copy(new_leaves, new_others, new_table, new_joint, leaves, others, table, joint)
        else:
            if node < inner:
                first[node] = before
            else:
                second[node - inner] = before
            _copy(leaves, others, table, joint, new_leaves, new_others, new_table, new_joint)


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
        mass += _STEPS * squares // max(size, np.int64(1))
    return mass


@kernel
def _count(rows: Words, columns: Words, start: int, width: int, counts: Ints) -> None:
    """Records in both, for some of the rows and every column."""
    for r in range(start, start + width):
        for c in range(columns.shape[0]):
            total = np.uint64(0)
            for w in range(rows.shape[1]):
                total += popcount(rows[r, w] & columns[c, w])
            counts[r, c] = total


@kernel
def _count_columns(rows: Words, columns: Words, start: int, width: int, counts: Ints) -> None:
    """The same for every row and some of the columns."""
    for r in range(rows.shape[0]):
        for c in range(start, start + width):
            total = np.uint64(0)
            for w in range(rows.shape[1]):
                total += popcount(rows[r, w] & columns[c, w])
            counts[r, c] = total


@kernel
def _copy(
    leaves: Words,
    others: Words,
    table: Ints,
    joint: Ints,
    to_leaves: Words,
    to_others: Words,
    to_table: Ints,
    to_joint: Ints,
) -> None:
    """Copy a state, whichever way: a step that is taken costs as much as one that is not."""
    to_leaves[:] = leaves
    to_others[:] = others
    to_table[:] = table
    to_joint[:] = joint
