"""Complete trees drawn exactly: whole blocks, or split by split, by the exponential mechanism."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from decimal import Decimal

import numpy as np

from dpcore.arrays import Array, Ints
from dpcore.data.partition import Partition
from dpcore.data.table import PrivateTable
from dpcore.learning.exact_draws.joint_counts import JointCounts, counted_in_turn, fits_memory, joint_counts
from dpcore.learning.exact_draws.lookahead import MAX_DEPTH, ExactWeight, draw_block
from dpcore.models.redescriptions.learning.redescription_queries import tree_leaves
from dpcore.models.redescriptions.learning.views import Sets
from dpcore.privacy.randomness import RandomSource


def exact_blocks(depth: int, splits: int, classes: int) -> tuple[int, ...]:
    """Depths of the stacked blocks of a tree: as deep as memory and the sampler allow.

    Depth 4 is two blocks of 2, whose budgets are better spent than those of 3 and 1.
    """
    if depth > MAX_DEPTH:
        return (*exact_blocks(depth // 2, splits, classes),) * 2
    for first in range(depth, 0, -1):
        if first == 1 or fits_memory(splits, classes, first):
            rest = depth - first
            return (first, *(exact_blocks(rest, splits, classes) if rest else ()))
    raise AssertionError


def draw_tree(
    table: PrivateTable,
    literals: Sets,
    classes: Sets,
    blocks: Sequence[int],
    epsilon: Decimal,
    max_rows: int,
    randomness: RandomSource,
) -> Ints:
    """Draw a complete tree of stacked blocks. Row-level cost: ``epsilon`` for every block level.

    A block has utility sum over leaves of sum_c count_c^2 / size (sensitivity 1, either way),
    and every split the same prior. Blocks of one level see disjoint records: they compose in
    parallel, levels in sequence. Blocks of depth 1 make this Algorithm 2 of Mihelčić and Miettinen
    (2023), with that utility in place of the Gini index.

    Parameters
    ----------
    literals : Sets
        The splits to choose from.
    classes : Sets
        The records of each class, disjoint.
    blocks : sequence of int
        Depth of each level of blocks, from the root down, 1 to 3.
    epsilon : Decimal
        Row-level budget of one level of blocks.

    Returns
    -------
    array of shape (2^sum(blocks) - 1,)
        Split of each inner node, in heap order.
    """
    splits = np.zeros(2 ** sum(blocks) - 1, dtype=np.int64)
    prior = np.full(len(literals), -np.log(len(literals)))
    above = 0
    for depth in blocks:
        weight = ExactWeight.fit("purity", depth, epsilon, max_rows, len(literals), len(classes))
        first = 2**above - 1
        for place, joint in enumerate(_counted(table, literals, classes, splits[:first], depth)):
            block = draw_block(joint, prior, depth, "purity", weight, randomness)
            _place_block(splits, first + place, block.splits)
        above += depth
    return splits


def _counted(table: PrivateTable, literals: Sets, classes: Sets, splits: Ints, depth: int) -> Iterator[JointCounts]:
    """The counts for a block below each leaf of a tree."""

    def ask(leaves: range) -> tuple[Array, ...]:
        return table.total(_block_counts, literals, classes, splits, leaves, depth)

    return counted_in_turn(len(splits) + 1, len(literals), len(classes), depth, ask)


def _block_counts(
    partition: Partition, literals: Sets, classes: Sets, splits: Ints, leaves: Sequence[int], depth: int
) -> tuple[Array, ...]:
    """Kernel: the four arrays of the :class:`JointCounts` of some leaves of a tree, one after another."""
    vectors, labels = literals(partition), classes(partition)
    members = tree_leaves(vectors, splits, partition.members("all"))
    return tuple(array for leaf in leaves for array in joint_counts(vectors, labels & members[leaf], depth))


def _place_block(splits: Ints, root: int, block: Sequence[int]) -> None:
    """Write a block, in heap order, below a place of a larger heap."""
    places = [root]
    for number, split in enumerate(block):
        splits[places[number]] = split
        places += [2 * places[number] + 1, 2 * places[number] + 2]
