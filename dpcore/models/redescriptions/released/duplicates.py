"""Near-duplicates among redescriptions, and those that missing values alone may explain."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import combinations
from typing import Final, Literal

import numpy as np

from dpcore.arrays import Flags, Floats, Ints
from dpcore.domain.columns import MISSING
from dpcore.domain.counted import Noun
from dpcore.models.redescriptions.released.tree_pair import Box, Domain, Tree, shared_cells

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


#: "both" or "one": so many sides only ask whether values are missing; "may": both sides hold for missing
#: values too, and not for enough people without them; "": neither. Sides that hold for known values alone
#: have no mark: how many are known is not in their noisy table.
Missingness = Literal["", "both", "one", "may"]

#: What is said of each in a table.
SHORT: Mapping[Missingness, str] = {"": "", "both": "all it says", "one": "all one side says", "may": "may explain it"}
_SENTENCES: Mapping[Missingness, str] = {
    "": "",
    "both": "Both sides only ask whether values are missing: this tells which values are missing for the same "
    "{several}, as those of questions or measurements that go together are, and nothing else.",
    "one": "One side only asks whether values are missing: this may come from who was asked or measured at all.",
    "may": "Both sides also hold where values are missing, and do not go together enough among the {several} of {whom} "
    "all values are surely known. If values are missing for the same {several}, that alone may explain it.",
}


def in_full(mark: Missingness, counted: Noun) -> str:
    """What is said of each in a sentence; nothing of what has no mark."""
    return _SENTENCES[mark].format(several=counted.several, whom=counted.whom)


def only_asks_for_missing(boxes: Sequence[Box], domain: Domain) -> bool:
    """Whether every condition is that a value is missing, or that it is not."""
    conditions = [condition for box in boxes for condition in box.items()]
    return bool(conditions) and all(
        (cells == missing or cells == domain.everything(name) & ~missing)
        for name, cells in conditions
        for missing in [_missing(name, domain)]
    )


def holding_missing(
    leaves: Sequence[Box | None], members: Collection[int], columns: Collection[str], domain: Domain
) -> Flags:
    """Which leaves of a side may hold people with a missing value in a column that the side names.

    Parameters
    ----------
    leaves : sequence of boxes
        All leaves of the tree.
    members : collection of int
        Leaves that the side joins.
    """
    found = np.zeros(len(leaves), dtype=np.bool_)
    for leaf in members:
        box = leaves[leaf]
        found[leaf] = box is not None and any(
            box.get(name, domain.everything(name)) & _missing(name, domain) for name in columns
        )
    return found


def jaccard_without(table: Floats, left: Flags, right: Flags, missing: tuple[Flags, Flags]) -> float:
    """Jaccard index without the people for whom both sides may hold by missing values. At least this.

    Parameters
    ----------
    table : array of shape (n_left_leaves, n_right_leaves)
        Counts, not negative.
    left, right : bool arrays of shape (n_left_leaves,) and (n_right_leaves,)
        Leaves that each side joins.
    missing : two such arrays
        :func:`holding_missing`.
    """
    away = float(table[np.ix_(*missing)].sum())
    both = float(table[np.ix_(left, right)].sum()) - away
    either = float(table[left].sum() + table[:, right].sum() - table[np.ix_(left, right)].sum()) - away
    return max(0.0, both) / either if either > 0 else 0.0


def _missing(name: str, domain: Domain) -> int:
    """The cell of missing values; none, if everybody has a value."""
    column = domain.column(name)
    code = domain.cells(name).index(MISSING)
    return 0 if code in column.unsaid else 1 << code
