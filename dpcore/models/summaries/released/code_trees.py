"""Counts down a hierarchy of codes: parents are the sums of their children. Post-processing: costs nothing.

Every level above the cells of a column was counted with noise of its own. The best estimates of all levels together
are found from below (each group by its own count and the sum of its children, weighted by their precision) and
then from above (what a group has more than its children is shared among them), as in Hay, Rastogi, Miklau, Suciu
(2010), for levels of any width and noise. Proof: ``docs/privacy/summaries.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.frozen import FrozenModel
from dpcore.released.noisy_counts import nearest


class CodeLevelTable(FrozenModel):
    """Noisy counts of the groups of one level.

    Attributes
    ----------
    name : str
        Of the level, for people.
    cells : tuple of str
        Its groups for people.
    groups : tuple of int
        Group of each cell of the column.
    counts : tuple of float
    deviation : float
        Standard deviation of the noise on each.
    """

    name: str
    cells: tuple[str, ...]
    groups: tuple[int, ...]
    counts: tuple[float, ...]
    deviation: float


class CodeTree(FrozenModel):
    """Levels of groups above the cells of one column, the coarsest first.

    Attributes
    ----------
    axis : int
        Place of the column in the model's ``axes``.
    """

    axis: int
    levels: tuple[CodeLevelTable, ...]


@dataclass(frozen=True)
class Level:
    """Best estimates of one level, the cells of the column being the last.

    Attributes
    ----------
    parents : array of shape (n_groups,)
        Group of the level above that each is in; 0 at the coarsest.
    counts, deviations : array of shape (n_groups,)
        Estimates without bias that add up, and the standard deviations of their noise.
    values : array of shape (n_groups,)
        Counts that are not negative, and add up.
    """

    parents: Ints
    counts: Floats
    deviations: Floats
    values: Floats


def fitted(tree: CodeTree, cells: Floats, variance: float, total: float, total_variance: float) -> tuple[Level, ...]:
    """All levels of a tree, from the coarsest to the cells of the column.

    Parameters
    ----------
    cells : array of shape (n_cells,)
        What other tables tell of the cells of the column, with the sum ``total``.
    variance : float
        Of the noise on each, but for what they have in common.
    """
    parents = parents_of(tree, len(cells))
    known = [np.asarray(level.counts, dtype=np.float64) for level in tree.levels]
    noise = [level.deviation**2 for level in tree.levels]
    # From below: what each group and all that is under it tell of it.
    means, variances = [np.asarray(cells)], [np.full(len(cells), variance)]
    for place in range(len(known) - 1, -1, -1):
        width, below = len(known[place]), parents[place + 1]
        under = np.bincount(below, means[0], width), np.bincount(below, variances[0], width)
        precision = 1 / noise[place] + 1 / under[1]
        means.insert(0, (known[place] / noise[place] + under[0] / under[1]) / precision)
        variances.insert(0, 1 / precision)
    # From above: what is left of a group is shared among its children.
    counts, spread, values = np.array([total]), np.array([total_variance]), np.array([max(total, 0.0)])
    made = []
    for own, mean, each in zip(parents, means, variances, strict=True):
        sums, whole = np.bincount(own, mean, len(counts)), np.bincount(own, each, len(counts))
        part = each / whole[own]
        values = _within(mean + part * (counts - sums)[own], own, values)
        counts, spread = (
            mean + part * (counts - sums)[own],
            np.maximum(each - part**2 * (whole - spread)[own], 0.0),
        )
        made.append(Level(own, counts, np.sqrt(spread), values))
    return tuple(made)


def parents_of(tree: CodeTree, cells: int) -> list[Ints]:
    """Group of the level above of each group of every level, and of the cells of the column."""
    below = [np.asarray(level.groups, dtype=np.int64) for level in tree.levels] + [np.arange(cells)]
    found = [np.zeros(len(tree.levels[0].cells), dtype=np.int64)]
    for above, own in pairwise(below):
        parent = np.zeros(int(own.max()) + 1, dtype=np.int64)
        parent[own] = above
        found.append(parent)
    return found


def _within(counts: Floats, parents: Ints, wholes: Floats) -> Floats:
    """The nearest counts that are not negative and add up to those of their parents."""
    made = np.zeros(len(counts))
    for place, whole in enumerate(wholes):
        own = parents == place
        if own.any():
            made[own] = nearest(counts[own], float(whole))
    return made
