"""Groups of people by the chance that a forest tells them: public, made of the released trees alone.

A hold-out check counts people by group. What chances a forest gives is seen from cases that are made up:
the cells of every column are drawn on their own, in the shares that the first questions of the trees tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from dpcore.arrays import Array, Floats, Ints
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.privacy.randomness import SeededRandom, uniforms

#: Cases that are made up.
_CASES: Final = 4000
_TWO, _HALF = 2, 0.5


def mean_chances(trees: Sequence[TreeModel], codes: Mapping[str, Array], rows: int) -> Floats:
    """Mean over the trees of the chances where each row stops: shape (rows, n_classes)."""
    total = np.zeros((rows, len(trees[0].classes)))
    for tree in trees:
        total += np.array([node.estimates for node in tree.nodes])[tree.apply_codes(codes, rows)]
    return np.asarray(total / len(trees))


def made_up_chances(trees: Sequence[TreeModel]) -> Floats:
    """Chances that the trees give to made-up cases: shape (n_cases, n_classes)."""
    source = SeededRandom(0)
    codes = {
        name: np.minimum(np.searchsorted(np.cumsum(shares), uniforms(source, _CASES), side="right"), len(shares) - 1)
        for name, shares in _cell_shares(trees).items()
    }
    return mean_chances(trees, codes, _CASES)


def _cell_shares(trees: Sequence[TreeModel]) -> dict[str, Floats]:
    """Shares of the cells of each column: even, but for what the first question of a tree counted."""
    splits = [(tree, node) for tree in trees for node in tree.nodes if node.split is not None]
    shares = {node.split.column: np.ones(len(node.split.branches)) for _, node in splits if node.split is not None}
    for tree in trees:
        root = tree.nodes[0]
        if root.split is None:
            continue
        own, branches = shares[root.split.column], np.asarray(root.split.branches)
        counts = np.array([max(1, sum(tree.nodes[child].noisy_counts)) for child in root.children], dtype=float)
        mass = np.bincount(branches, weights=own, minlength=len(counts))
        shares[root.split.column] = own * (counts / counts.sum() / mass)[branches]
    return {name: own / own.sum() for name, own in shares.items()}


def chance_cuts(trees: Sequence[TreeModel], groups: int) -> tuple[float, ...]:
    """Chances that part so many groups: of the second of two classes, or of the likeliest of more; ascending."""
    chances = made_up_chances(trees)
    two = chances.shape[1] == _TWO
    told = chances[:, 1] if two else chances.max(axis=1)
    quantiles = np.quantile(told, np.arange(1, groups) / groups)
    return tuple(np.unique(np.concatenate([[_HALF], quantiles]) if two else quantiles).tolist())


def groups_of(chances: Floats, cuts: Sequence[float]) -> Ints:
    """Group of each row: by its chance of the second of two classes; of more by the likeliest and how likely it is."""
    told = chances[:, 1] if chances.shape[1] == _TWO else chances.max(axis=1)
    level = np.searchsorted(np.asarray(cuts, dtype=float), told, side="left")
    return np.asarray(level if chances.shape[1] == _TWO else chances.argmax(axis=1) * (len(cuts) + 1) + level)


def group_labels(classes: int, cuts: Sequence[float]) -> Ints:
    """Class that is predicted for each group."""
    if classes > _TWO:
        return np.repeat(np.arange(classes), len(cuts) + 1)
    return (np.array([-1.0, *cuts]) >= _HALF).astype(np.int64)


def group_chances(trees: Sequence[TreeModel], cuts: Sequence[float]) -> Floats:
    """Mean chances of the made-up cases in each group: shape (n_groups, n_classes). No group is empty."""
    chances, classes = made_up_chances(trees), len(trees[0].classes)
    sums = _first_guess(classes, cuts)
    np.add.at(sums, groups_of(chances, cuts), chances)
    return np.asarray(sums / sums.sum(axis=1, keepdims=True))


def _first_guess(classes: int, cuts: Sequence[float]) -> Floats:
    """A case in the middle of each group: the ends that no made-up case reaches have one too."""
    ends = np.array([0.0, *cuts, 1.0]) if classes == _TWO else np.array([1 / classes, *cuts, 1.0])
    middles = (ends[:-1] + ends[1:]) / 2
    if classes == _TWO:
        return np.stack([1 - middles, middles], axis=1) * 1e-3
    found = np.repeat((1 - middles)[:, None] / (classes - 1), classes, axis=1)
    every = np.tile(found, (classes, 1))
    every[np.arange(len(every)), np.repeat(np.arange(classes), len(middles))] = np.tile(middles, classes)
    return every * 1e-3
