"""What the learner asks of the records, with the sensitivity of each question.

Proofs are in ``docs/privacy/redescriptions.md``. All sensitivities are for one row added or
removed; a person with several rows is covered by :func:`dpcore.privacy.budgets.row_epsilon`.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from dpcore.arrays import Floats, Ints, Words
from dpcore.compiled import kernel
from dpcore.data.bits import count_bits
from dpcore.data.partition import Partition
from dpcore.data.queries import Vectors
from dpcore.privacy.sensitivity import Sensitivity

#: Steps per record in which utilities are integers.
STEPS: Final = 256
#: A row is in one leaf of the left tree and in one leaf of the right tree: one count moves by one.
PAIR_COUNTS: Final = Sensitivity(1, "L1", monotone=True)
#: A row is in one leaf: one count moves by one.
LEAF_COUNTS: Final = Sensitivity(1, "L1", monotone=True)
#: In steps. |both - left x right / n| moves by less than one record, either way.
LEVERAGE: Final = Sensitivity(STEPS, "Linf", monotone=False)
#: In steps. (P1 + P1 P2 / max_rows) / 2 moves by at most 1.5 records, either way.
PAIR_SCORE: Final = Sensitivity(3 * STEPS // 2, "Linf", monotone=False)

#: In records. Of b for both sides, l and r for one only and t for neither, min(b, t) - l - r,
#: (b t - l r) / max(b, l, r, t) and max(b, t) - l - r move by at most 1, either way; so do the
#: minimum of the last two, and maxima over some unions.
AGREEMENT: Final = Sensitivity(1, "Linf", monotone=False)


class Linked(NamedTuple):
    """Records that satisfy literals of two views.

    Attributes
    ----------
    both : array of shape (n_left, n_right)
    left, right : arrays of shape (n_left, 1) and (1, n_right)
    people : array of shape (1, 1)
        All records.
    """

    both: Ints
    left: Ints
    right: Ints
    people: Ints


def linked(partition: Partition, left: Vectors, right: Vectors) -> Linked:
    """Kernel: how many records satisfy the literals of two views, alone and together."""
    everyone = partition.members("all")[None]
    ours, theirs = left(partition), right(partition)
    return Linked(
        count_bits(ours, theirs),
        count_bits(ours, everyone),
        count_bits(everyone, theirs),
        count_bits(everyone, everyone),
    )


def leverages(counts: Linked) -> Ints:
    """How far each pair of literals is from independent, in steps. Sensitivity :data:`LEVERAGE`.

    Returns
    -------
    array of shape (n_left, n_right)
        STEPS x |both - left x right / n|, rounded down; 0 if there is no record.
    """
    # At most 256 x 1e8 x 1e8, below 2^63.
    apart = np.abs(counts.people * counts.both - counts.left * counts.right)
    return np.asarray(STEPS * apart // np.maximum(counts.people, 1))


def crossed(partition: Partition, rows: Vectors, columns: Vectors) -> Ints:
    """Kernel: records in both, for every two sets: shape (n_rows, n_columns).

    Of the leaves of two trees, one for each view: sensitivity :data:`PAIR_COUNTS`.
    """
    return count_bits(rows(partition), columns(partition))


def purities(counts: Ints) -> Ints:
    """Purity mass of each leaf, in steps: floor(STEPS x sum_c count_c^2 / size).

    One row moves that of one leaf, by at most one record, either way.

    Parameters
    ----------
    counts : array of shape (..., n_leaves, n_classes)
    """
    size = counts.sum(axis=-1)
    return np.asarray(STEPS * (counts**2).sum(axis=-1) // np.maximum(size, 1))


def pair_scores(first: Ints, second: Ints, max_rows: int) -> Floats:
    """Score of pairs of trees, in steps (Mihelčić and Miettinen 2023, equation 6, times max_rows).

    Sensitivity :data:`PAIR_SCORE` before rounding: with P1 and P2 the purity masses of the tree
    grown for the target and of the tree grown for the leaves of the first,
    (P1 + P1 P2 / max_rows) / 2.

    Parameters
    ----------
    first, second : arrays of shape (n_pairs,)
        Purity masses, in steps; at most STEPS x max_rows.
    """
    return np.asarray((first + first * (second / (STEPS * max_rows))) / 2)


@kernel
def leaf_members(literals: Words, splits: Ints, node: int, everyone: Words, members: Words) -> tuple[int, int]:
    """Bit vectors of the leaves below a node of a complete tree, in heap order.

    Parameters
    ----------
    literals : array of shape (n_literals, n_words)
    splits : array of shape (2^depth - 1,)
        Literal of each inner node.
    node : int
        0 for all leaves.
    everyone : array of shape (n_words,)
    members : array of shape (2^depth, n_words)
        Those of the leaves below the node are overwritten.

    Returns
    -------
    (int, int)
        First of these leaves, and their number.
    """
    inner = splits.shape[0]
    masks = np.empty(2 * inner + 1, dtype=np.uint64)
    first, width = node, 1
    for w in range(everyone.shape[0]):
        here, place = everyone[w], node
        while place > 0:
            parent = (place - 1) // 2
            literal = literals[splits[parent], w]
            here &= literal if place == 2 * parent + 1 else ~literal
            place = parent
        masks[node] = here
        first, width = node, 1
        while first < inner:
            for n in range(first, first + width):
                literal = literals[splits[n], w]
                masks[2 * n + 1] = masks[n] & literal
                masks[2 * n + 2] = masks[n] & ~literal
            first, width = 2 * first + 1, 2 * width
        for n in range(first, first + width):
            members[n - inner, w] = masks[n]
    return first - inner, width


def tree_leaves(literals: Words, splits: Ints, everyone: Words) -> Words:
    """Bit vectors of all leaves of a complete tree: shape (n_leaves, n_words)."""
    members = np.empty((len(splits) + 1, literals.shape[1]), dtype=np.uint64)
    leaf_members(literals, splits, 0, everyone, members)
    return members
