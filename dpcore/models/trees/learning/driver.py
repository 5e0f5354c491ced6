"""How greedy trees grow: level by level, every path within its budget.

The learners differ in what they do at a node (:data:`Visit`); the rest is here: which node
comes next, what its path has left, and the noisy counts that are bought.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal
from functools import lru_cache

import numpy as np

from dpcore.arrays import Ints, Words
from dpcore.errors import BudgetError
from dpcore.models.trees.learning.contingency import Region
from dpcore.models.trees.learning.growth import Grown
from dpcore.models.trees.released.splits import Split
from dpcore.privacy.budgets import EPSILON_STEP
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.privacy.randomness import RandomSource

#: No tree grows beyond this: multi-way splits of small, noisy nodes would hardly ever end.
MAX_NODES = 500


def class_totals(members: Words) -> Ints:
    """Records per class: shape (n_classes,)."""
    return np.asarray(np.bitwise_count(members).sum(axis=1, dtype=np.int64))


@lru_cache(maxsize=1024)
def geometric(epsilon: Decimal, sensitivity: int = 1) -> GeometricMechanism:
    """Mechanism for a budget; nodes that pay the same share one."""
    return GeometricMechanism(sensitivity, epsilon)


def share_of(budget: Decimal, parts: int) -> Decimal:
    """One of so many equal parts, rounded down to a step.

    Raises
    ------
    BudgetError
        If nothing is left of it.
    """
    share = (budget / parts).quantize(EPSILON_STEP, rounding=ROUND_DOWN)
    if share <= 0:
        raise BudgetError("This epsilon is too small to be split over the steps of a run.")
    return share


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

    def pay(self, epsilon: Decimal) -> Decimal:
        """Spend some of what is left on this node's records.

        Raises
        ------
        BudgetError
            If there is not enough: an error of this program, never of a user.
        """
        if not 0 < epsilon <= self.left:
            raise BudgetError("A path of the tree would spend more than it was given.")
        self.left -= epsilon
        self.grown.spent += epsilon
        return epsilon


class LeafCounts:
    """Class counts of leaves, to be released with noise; those of one price are drawn at once."""

    def __init__(self) -> None:
        self._waiting: dict[Decimal, list[tuple[Grown, Ints]]] = defaultdict(list)

    def add(self, place: Place, epsilon: Decimal, members: Words) -> None:
        """Make a node a leaf and charge its class counts; a record is in one class."""
        place.grown.count_epsilon = place.pay(epsilon)
        self._waiting[epsilon].append((place.grown, class_totals(members)))

    def release(self, randomness: RandomSource) -> None:
        """Add the noise and hand the leaves their counts."""
        for epsilon, leaves in self._waiting.items():
            exact = np.stack([counts for _, counts in leaves])
            noisy = geometric(epsilon).release(exact, randomness)
            for (grown, _), counts in zip(leaves, noisy, strict=True):
                grown.noisy_counts = counts
        self._waiting.clear()


def noisy_total(place: Place, epsilon: Decimal, members: Words, randomness: RandomSource) -> int:
    """Buy a count of a node's records."""
    exact = class_totals(members).sum(keepdims=True)
    total = int(geometric(place.pay(epsilon)).release(exact, randomness)[0])
    place.grown.noisy_total = total
    return total


#: Visits a node, with the number of nodes that the tree may still get: the split to apply, or
#: ``None`` once the node has been added to the leaves.
Visit = Callable[[Place, int, LeafCounts], Split | None]


def grow(budget: Decimal, visit: Visit, randomness: RandomSource) -> Grown:
    """Grow a tree level by level, each child with what its parent's path has left.

    Breadth first, so that a full tree (:data:`MAX_NODES`) is cut at the bottom. That the tree
    is full is seen in what is released.
    """
    root = Place(Grown(), Region(), budget)
    waiting, nodes, leaves = deque([root]), 1, LeafCounts()
    while waiting:
        place = waiting.popleft()
        split = visit(place, MAX_NODES - nodes, leaves)
        if split is None:
            continue
        place.grown.split = split
        nodes += split.branch_count
        for branch in range(split.branch_count):
            child = Grown()
            place.grown.children.append(child)
            region = place.region.narrowed(split, branch)
            spread = place.spread * split.branch_count
            waiting.append(Place(child, region, place.left, place.depth + 1, spread))
    leaves.release(randomness)
    return root.grown
