"""What the questions of a forest tell about its target, column by column, and what noise alone would tell."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from statistics import NormalDist
from typing import Final

import numpy as np

from dpcore.arrays import Floats
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.numerals import percent
from dpcore.privacy.randomness import SeededRandom, public_generator

#: Times that people without any association are made up.
_REDRAWS: Final = 200
_QUANTILE: Final = 0.95
#: Margins of geometric noise, 95 %, in scales, and of Gaussian noise in standard deviations: about.
_MARGIN, _GAUSSIAN_MARGIN = math.log(20), NormalDist().inv_cdf(0.975)


@dataclass(frozen=True)
class ColumnUse:
    """A column that a forest asks about."""

    column: str
    told: float
    """Share of the spread of the classes that the questions about it account for: that of the noisy counts, from 0 to
    1, the mean over all trees."""
    by_chance: float
    """What it reaches in 19 of 20 cases if the target goes with nothing: by noise, and by who happens to be there."""

    @property
    def clear(self) -> bool:
        """Whether the column tells more than noise alone would."""
        return self.told > self.by_chance


@lru_cache(maxsize=32)
def columns_used(
    trees: tuple[TreeModel, ...], rows_per_person: int = 1, *, gaussian: bool = False
) -> tuple[ColumnUse, ...]:
    """Columns that the trees ask about, what tells most first.

    Parameters
    ----------
    rows_per_person : int
        Most records of one person.
    gaussian : bool
        Whether the noise on counts is Gaussian; else two-sided geometric.
    """
    told, redrawn = dict[str, float](), dict[str, Floats]()
    source = SeededRandom(0)
    for tree in trees:
        counts = np.array([node.noisy_counts for node in tree.nodes], dtype=float)
        for column, share in _told(tree, counts[None]).items():
            told[column] = told.get(column, 0.0) + float(share[0]) / len(trees)
        alike = _without_association(tree, source, rows_per_person, gaussian=gaussian)
        for column, shares in _told(tree, alike).items():
            redrawn[column] = redrawn.get(column, np.zeros(_REDRAWS)) + shares / len(trees)
    found = [ColumnUse(name, told[name], float(np.quantile(redrawn[name], _QUANTILE))) for name in told]
    return tuple(sorted(found, key=lambda use: (-use.told, use.column)))


def _told(tree: TreeModel, counts: Floats) -> dict[str, Floats]:
    """Share of the spread that the splits on each column account for, from counts (n_draws, n_nodes, n_classes)."""
    people = np.maximum(counts, 0.0)
    sizes = people.sum(axis=-1)
    shares = people / np.maximum(sizes, 1.0)[..., None]
    spread = np.maximum(sizes[:, 0] * (1 - (shares[:, 0] ** 2).sum(axis=-1)), 1.0)
    found = dict[str, Floats]()
    for place in sorted({p for final in tree.finals for p in tree.path(final)[:-1]}):
        node = tree.nodes[place]
        if node.split is None:
            continue
        below = list(node.children)
        # The children's own mean, so that counts which do not quite add up tell nothing by that.
        whole = np.maximum(sizes[:, below].sum(axis=1), 1.0)
        mean = people[:, below].sum(axis=1) / whole[:, None]
        apart = (sizes[:, below] * ((shares[:, below] - mean[:, None]) ** 2).sum(axis=-1)).sum(axis=1)
        column = node.split.column
        found[column] = found.get(column, np.zeros(len(counts))) + np.minimum(apart / spread, 1.0)
    return found


def _without_association(tree: TreeModel, source: SeededRandom, rows_per_person: int, *, gaussian: bool) -> Floats:
    """Noisy counts of all nodes if everybody had the root's chances: shape (n_draws, n_nodes, n_classes).

    Records come in people of as many as one may have, and those of one person have one class: so chance does most.
    """
    noise, margins = (source.gaussian_noise, _GAUSSIAN_MARGIN) if gaussian else (source.geometric_noise, _MARGIN)
    root = np.maximum(np.array(tree.nodes[0].noisy_counts, dtype=float), 0.0) + 1.0
    chances, people = root / root.sum(), public_generator(0)
    counts = np.zeros((_REDRAWS, len(tree.nodes), len(chances)))
    for place in (place for place, node in enumerate(tree.nodes) if not node.children):
        node = tree.nodes[place]
        whole, rest = divmod(max(0, sum(node.noisy_counts)), rows_per_person)
        counts[:, place] = rows_per_person * people.multinomial(whole, chances, _REDRAWS)
        if rest:
            counts[:, place] += rest * people.multinomial(1, chances, _REDRAWS)
        if scale := node.count_margin / margins:
            counts[:, place] += noise(scale, _REDRAWS * len(chances)).reshape(_REDRAWS, -1)
    for place in reversed(range(len(tree.nodes))):
        if tree.nodes[place].children:
            counts[:, place] = counts[:, list(tree.nodes[place].children)].sum(axis=1)
    return counts


def use_sentence(used: Sequence[ColumnUse]) -> str:
    """Say which columns tell more than noise alone would."""
    clear = [f"{use.column} ({percent(use.told)})" for use in used if use.clear]
    if not clear:
        return "No column tells more than noise alone would."
    return f"Columns that tell more than noise alone would: {', '.join(clear)}."
