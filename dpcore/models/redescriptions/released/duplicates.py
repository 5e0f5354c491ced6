"""Near-duplicates among redescriptions, told from released numbers and the schema alone."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Final

import numpy as np

from dpcore.arrays import Flags, Floats, Ints
from dpcore.models.redescriptions.released.regions import Domain, shared_cells
from dpcore.models.redescriptions.released.tree_pair import Tree

Leaves = tuple[int, ...]
#: Redescriptions whose people, or whose conditions, overlap by more than this count as one.
OVERLAP: Final = 0.8


def groups_in_pair(table: Floats, left: Flags, right: Flags) -> Ints:
    """Group of each redescription of one pair of trees: the number of the best one in it.

    They come best first. A group is what is like its best one and like no better group's: the
    people for whom both sides hold overlap, as far as the noisy table tells.

    Parameters
    ----------
    table : array of shape (n_left_leaves, n_right_leaves)
        Estimated people in each pair of leaves.
    left, right : bool arrays of shape (n, n_leaves)
        Leaves that each side joins.
    """
    both = (left[:, :, None] & right[:, None, :]).reshape(len(left), table.size)
    cells = both.astype(np.float32)
    people = cells * table.ravel().astype(np.float32)
    size, owner, open_ = people.sum(axis=1), np.arange(len(left)), np.arange(len(left))
    while len(open_):
        best = open_[0]
        shared = people[open_] @ cells[best]
        alike = shared > OVERLAP * (size[best] + size[open_] - shared)
        alike[0] = True
        owner[open_[alike]] = best
        open_ = open_[~alike]
    return owner


def query_overlap(one: Tree, one_leaves: Flags, other: Tree, other_leaves: Flags, domain: Domain) -> Floats:
    """Overlap of the conditions of two trees, every combination of public cells counting the same.

    Parameters
    ----------
    one_leaves, other_leaves : bool arrays of shape (n, n_leaves) and (m, n_leaves)

    Returns
    -------
    array of shape (n, m)
        Size of what satisfies both over size of what satisfies either.
    """
    boxes = one.leaf_boxes(domain), other.leaf_boxes(domain)
    both = one_leaves @ shared_cells(boxes[0], boxes[1], domain) @ other_leaves.T
    sizes = [
        leaves @ np.diag(shared_cells(side, side, domain))
        for leaves, side in zip((one_leaves, other_leaves), boxes, strict=True)
    ]
    either = sizes[0][:, None] + sizes[1][None, :] - both
    return np.asarray(np.divide(both, either, out=np.zeros_like(both), where=either > 0))


def groups_across(
    trees: Sequence[tuple[Tree, Tree]], items: Sequence[tuple[int, Leaves, Leaves]], domain: Domain
) -> Ints:
    """Group of each redescription of several pairs of trees: the number of the best one in it.

    Two of different pairs of trees are alike if their left conditions overlap, and their right
    ones.

    Parameters
    ----------
    trees : sequence of (left tree, right tree), one per pair
    items : sequence of (pair, left leaves, right leaves), best first
    """
    own = [np.flatnonzero([item[0] == pair for item in items]) for pair in range(len(trees))]
    members = [
        (
            _members([items[int(place)][1] for place in places], left),
            _members([items[int(place)][2] for place in places], right),
        )
        for places, (left, right) in zip(own, trees, strict=True)
    ]
    alike = np.zeros((len(items), len(items)), dtype=bool)
    for i, j in combinations([pair for pair in range(len(trees)) if len(own[pair])], 2):
        near = np.ones((len(own[i]), len(own[j])), dtype=bool)
        for side in (0, 1):
            if near.any():
                both = trees[i][side], members[i][side], trees[j][side], members[j][side]
                near &= query_overlap(*both, domain) > OVERLAP
        alike[np.ix_(own[i], own[j])] = near
    alike |= alike.T
    owner, open_ = np.arange(len(items)), np.ones(len(items), dtype=bool)
    for best in range(len(items)):
        if open_[best]:
            open_[best] = False
            close = np.flatnonzero(alike[best] & open_)
            owner[close], open_[close] = best, False
    return owner


def _members(leaves: Sequence[Leaves], tree: Tree) -> Flags:
    members = np.zeros((len(leaves), tree.leaf_count), dtype=bool)
    for row, own in zip(members, leaves, strict=True):
        row[list(own)] = True
    return members
