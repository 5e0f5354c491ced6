"""How greedy trees grow: level by level, every path within its budget.

The learners differ in what they do at a node (:data:`Visit`); the rest is here: which node
comes next, what its path has left, and the noisy counts that are bought.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

import numpy as np

from dpcore.arrays import Ints
from dpcore.errors import BudgetError
from dpcore.models.trees.learning.contingency import NodeData, Region, Routes
from dpcore.models.trees.learning.growth import Grown
from dpcore.models.trees.learning.path_form import PathForm
from dpcore.models.trees.released.splits import Split
from dpcore.models.trees.released.tree_model import MAX_NODES
from dpcore.privacy.randomness import RandomSource


@dataclass
class Place:
    """A node that waits to be visited.

    Attributes
    ----------
    grown : Grown
    region : Region
    left : Decimal
        Row-level budget that the path has not spent yet.
    depth : int
        Number of splits above.
    spread : int
        Nodes on this level if all above were split as those on the path: their branch counts
        multiplied.
    """

    grown: Grown
    region: Region
    left: Decimal
    depth: int = 0
    spread: int = 1

    def pay(self, amount: Decimal) -> Decimal:
        """Spend some of what is left on this node's records.

        Raises
        ------
        BudgetError
            If there is not enough: an error of this program, never of a user.
        """
        if not 0 < amount <= self.left:
            raise BudgetError("A path of the tree would spend more than it was given.")
        self.left -= amount
        self.grown.spent += amount
        return amount


class Level:
    """The nodes that are equally deep, with their records: asked for together, if one is asked for."""

    def __init__(self, data: NodeData, root: Grown, places: Sequence[Place]) -> None:
        self._data, self._root, self._most = data, root, data.most_at_once()
        self._nodes = [place.grown for place in places]
        self._numbers = {id(node): number for number, node in enumerate(self._nodes)}
        self._known: tuple[int, Ints] | None = None

    @property
    def form(self) -> PathForm:
        """How what is asked of them is paid for."""
        return self._data.form

    def cell_counts(self, place: Place) -> Ints:
        """Records of a node per cell of every feature and class: shape (n_cells, n_classes)."""
        batch, number = divmod(self._numbers[id(place.grown)], self._most)
        if self._known is None or self._known[0] != batch:
            asked = self._nodes[batch * self._most : (batch + 1) * self._most]
            routes = Routes.to(asked, self._root, self._data.schema)
            self._known = batch, self._data.cell_counts(routes)
        return np.asarray(self._known[1][number])

    def total(self, place: Place) -> Ints:
        """Records of a node that has candidates: shape (1,)."""
        counts = self._data.of_column(self.cell_counts(place), self._data.features[0])
        return np.array([counts.sum()])


def buy_leaf_counts(
    data: NodeData, root: Grown, leaves: Sequence[tuple[Grown, Decimal]], randomness: RandomSource
) -> None:
    """Give leaves their noisy class counts; those of one price are drawn at once."""
    exact = data.class_counts(Routes.to([grown for grown, _ in leaves], root, data.schema))
    for price in dict.fromkeys(price for _, price in leaves):
        alike = [number for number, (_, own) in enumerate(leaves) if own == price]
        noisy = data.form.noise(price).release(exact[alike], randomness)
        for number, counts in zip(alike, noisy, strict=True):
            leaves[number][0].noisy_counts = counts


def noisy_total(place: Place, price: Decimal, level: Level, randomness: RandomSource) -> int:
    """Buy a count of a node's records."""
    total = int(level.form.noise(place.pay(price)).release(level.total(place), randomness)[0])
    place.grown.noisy_total = total
    return total


#: Visits a node of a level, with the number of nodes that the tree may still get: the split to
#: apply; or what its class counts cost, if it is a leaf.
Visit = Callable[[Place, int, Level], Split | Decimal]


def grow(data: NodeData, budget: Decimal, visit: Visit, randomness: RandomSource) -> Grown:
    """Grow a tree level by level, each child with what its parent's path has left.

    Breadth first, so that a full tree (:data:`MAX_NODES`) is cut at the bottom. That the tree
    is full is seen in what is released.
    """
    root = Place(Grown(), Region(), budget)
    waiting, nodes, leaves = [root], 1, list[tuple[Grown, Decimal]]()
    while waiting:
        level, below = Level(data, root.grown, waiting), list[Place]()
        for place in waiting:
            chosen = visit(place, MAX_NODES - nodes, level)
            if isinstance(chosen, Decimal):
                noise = data.form.count_noise("a class count", place.pay(chosen))
                place.grown.count_epsilon, place.grown.count_deviation = noise.epsilon, noise.deviation
                leaves.append((place.grown, chosen))
                continue
            nodes += chosen.branch_count
            below += _children(place, chosen)
        waiting = below
    buy_leaf_counts(data, root.grown, leaves, randomness)
    return root.grown


def _children(place: Place, split: Split) -> list[Place]:
    """The nodes to which a split leads."""
    grown, branches = place.grown, range(split.branch_count)
    grown.split, grown.children = split, [Grown() for _ in branches]
    spread = place.spread * split.branch_count
    return [
        Place(grown.children[branch], place.region.narrowed(split, branch), place.left, place.depth + 1, spread)
        for branch in branches
    ]
