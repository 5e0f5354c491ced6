"""Near-duplicates among redescriptions, told from released numbers and the schema alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpcore.redescriptions.consistent import PairCounts
from dpcore.redescriptions.extraction import Candidates
from dpcore.redescriptions.families import unions
from dpcore.redescriptions.pair import Tree
from dpcore.redescriptions.regions import intersection, share
from dpcore.schema import Schema

Floats = NDArray[np.float64]
Members = NDArray[np.bool_]
#: Redescriptions whose people, or whose conditions, overlap by this much count as one.
OVERLAP = 0.8


def leaves_of(
    candidates: Candidates, counts: PairCounts, disjuncts: int
) -> tuple[Members, Members]:
    """Leaves of each candidate: bool arrays (n_candidates, n_leaves), left and right."""
    left, right = counts.counts.shape
    return (
        unions(left, disjuncts).members[candidates.left],
        unions(right, disjuncts).members[candidates.right],
    )


def merge_in_pair(counts: PairCounts, sides: tuple[Members, Members]) -> NDArray[np.int64]:
    """Representative of each candidate of one pair of trees: itself, or a better one.

    Candidates come best first. Two are alike if the people for whom both sides hold overlap,
    as far as the noisy table tells.
    """
    left, right = sides
    size = np.einsum("ij,ij->i", left @ counts.counts, right)
    owner = np.arange(len(left))
    kept: list[int] = []
    for place in range(len(left)):
        if kept:
            shared = (
                (left[kept] & left[place]) @ counts.counts * (right[kept] & right[place])
            ).sum(axis=1)
            either = size[kept] + size[place] - shared
            alike = np.flatnonzero(shared > OVERLAP * either)
            if len(alike):
                owner[place] = kept[alike[0]]
                continue
        kept.append(place)
    return owner


def query_overlap(
    one: Tree, one_leaves: Members, other: Tree, other_leaves: Members, schema: Schema
) -> Floats:
    """Overlap of the conditions of two trees, every combination of public cells counting the same.

    Parameters
    ----------
    one_leaves, other_leaves : bool arrays of shape (n, n_leaves) and (m, n_leaves)

    Returns
    -------
    array of shape (n, m)
        Size of what satisfies both over size of what satisfies either.
    """
    boxes = one.boxes(schema), other.boxes(schema)
    common = np.array([[share(intersection(a, b), schema) for b in boxes[1]] for a in boxes[0]])
    both = one_leaves @ common @ other_leaves.T
    sizes = [
        leaves @ np.array([share(box, schema) for box in side])
        for leaves, side in zip((one_leaves, other_leaves), boxes, strict=True)
    ]
    either = sizes[0][:, None] + sizes[1][None, :] - both
    return np.asarray(np.divide(both, either, out=np.zeros_like(either), where=either > 0))


def merge_across(
    trees: Sequence[tuple[Tree, Tree]],
    sides: Sequence[tuple[Members, Members]],
    jaccards: Sequence[Floats],
    schema: Schema,
) -> list[NDArray[np.int64]]:
    """Representative of each redescription, those of better ones in other pairs of trees included.

    Parameters
    ----------
    trees : sequence of (left tree, right tree), one per pair
    sides : sequence of (left leaves, right leaves), one per pair
    jaccards : sequence of arrays, one per pair

    Returns
    -------
    list of arrays
        For each redescription of each pair, its own number or that of a better one that says
        nearly the same on both sides. Numbers run through all pairs.
    """
    first = np.concatenate([[0], np.cumsum([len(values) for values in jaccards])]).astype(int)
    alike = np.zeros((first[-1], first[-1]), dtype=bool)
    for i in range(len(trees)):
        for j in range(i + 1, len(trees)):
            near = np.ones((len(jaccards[i]), len(jaccards[j])), dtype=bool)
            for side in (0, 1):
                near &= (
                    query_overlap(
                        trees[i][side], sides[i][side], trees[j][side], sides[j][side], schema
                    )
                    > OVERLAP
                )
            alike[first[i] : first[i + 1], first[j] : first[j + 1]] = near
    alike |= alike.T
    owner = np.arange(first[-1])
    taken = np.zeros(first[-1], dtype=bool)
    order = np.argsort(-np.concatenate([*jaccards, np.zeros(0)]), kind="stable")
    for place in order:
        if taken[place]:
            continue
        taken[place] = True
        close = np.flatnonzero(alike[place] & ~taken)
        owner[close], taken[close] = place, True
    return [owner[first[i] : first[i + 1]] for i in range(len(trees))]
