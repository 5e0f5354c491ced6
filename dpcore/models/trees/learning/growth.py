"""A tree while it grows, its pruning on noisy counts, and its freezing into the released model.

Pruning is post-processing and costs no budget. Noisy counts contradict each other, so two passes make them consistent
first (Friedman, Schuster 2010, section 4.3); then nodes are replaced by leaves as in C4.5 (Quinlan 1993, chapter 4).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError
from dpcore.learning.exact_draws.balance import pulled_shares
from dpcore.models.trees.released.splits import Split
from dpcore.models.trees.released.tree_model import ALPHA, TreeModel, TreeNode, supporting
from dpcore.released.noisy_counts import noise_intervals, point_estimates, sum_tail


@dataclass
class Grown:
    """One node of a growing tree. Holds released (noisy) values only.

    Attributes
    ----------
    split : Split or None
        ``None`` for a leaf.
    children : list of Grown
        One per branch of ``split``.
    spent : Decimal
        Row-level budget spent at this node.
    noisy_total : int or None
        Noisy count of all records here, if one was bought.
    noisy_counts : array of shape (n_classes,) or None
        Noisy class counts; set for leaves, the sum of the children's otherwise.
    count_epsilon : Decimal or None
        Row-level budget that ``noisy_counts`` of a leaf cost, if their noise is geometric.
    count_deviation : float or None
        Standard deviation of that noise, if it is Gaussian.
    label : int or None
        Class drawn with the tree; ``None`` takes the most frequent one of ``noisy_counts``.
    expected : array of shape (n_classes,) or None
        Class shares to be expected before the node's own counts are seen: those that the draw of the tree
        lets expect, if ``label`` is the class that is more frequent here than elsewhere; in a forest
        those of all people.
    collapsed : bool
        Pruning made this node a leaf.
    """

    split: Split | None = None
    children: list[Grown] = field(default_factory=list)
    spent: Decimal = Decimal(0)
    noisy_total: int | None = None
    noisy_counts: Ints | None = None
    count_epsilon: Decimal | None = None
    count_deviation: float | None = None
    label: int | None = None
    expected: Floats | None = None
    collapsed: bool = False

    def leaves(self) -> Iterator[Grown]:
        """Leaves below, this node itself if it is one; pruning is ignored."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()

    def below(self) -> Iterator[Grown]:
        """This node, and all that are below."""
        yield self
        for child in self.children:
            yield from child.below()

    def counts(self) -> Ints:
        """Noisy class counts: a leaf's own, or the sum over the leaves below."""
        leaves = [leaf.noisy_counts for leaf in self.leaves()]
        return np.asarray(np.asarray(leaves, dtype=np.int64).sum(axis=0))

    def scale_spending(self, factor: Decimal) -> None:
        """State what was spent here and below in another unit."""
        for node in self.below():
            node.spent *= factor

    def most_spent(self) -> Decimal:
        """Largest row-level budget of a path from here to a leaf below."""
        below = (child.most_spent() for child in self.children)
        return self.spent + max(below, default=Decimal(0))


def freeze(
    root: Grown,
    schema: Schema,
    classes: Sequence[str],
    budget: Decimal,
    *,
    blocks: tuple[int, ...] = (),
) -> TreeModel:
    """Number the nodes, parents first, and derive estimates, intervals and margins.

    Parameters
    ----------
    budget : Decimal
        Budget per person that the tree was given.

    Raises
    ------
    BudgetError
        If some path spends more than ``budget``: an error of this program, never of a user.
    """
    rows = schema.privacy_unit.max_rows_per_person
    if root.most_spent() * rows > budget:
        raise BudgetError("A path of the tree would spend more than it was given.")
    order: list[tuple[Grown, int | None]] = [(root, None)]
    children: list[tuple[int, ...]] = []
    for position, (grown, _) in enumerate(order):
        children.append(tuple(range(len(order), len(order) + len(grown.children))))
        order += [(child, position) for child in grown.children]
    nodes = tuple(_node(grown, parent, below, rows) for (grown, parent), below in zip(order, children, strict=True))
    return TreeModel(classes=tuple(classes), nodes=nodes, budget=budget, blocks=blocks).worded(schema)


def drawn_label(grown: Grown) -> int:
    """Class drawn for a node, or its most frequent one."""
    return int(np.argmax(grown.counts())) if grown.label is None else grown.label


def share_intervals(grown: Grown) -> Floats:
    """95 % intervals of the class shares at a node for the noise alone: (n_classes, 2)."""
    counts, leaves = grown.counts(), sum(1 for _ in grown.leaves())
    scale, gaussian = _widest_noise(grown)
    # A sum of n noises has the spread of one with sqrt(n) times the scale, and no heavier tails.
    scale *= math.sqrt(leaves)
    return np.asarray(noise_intervals(counts[None], (ALPHA,) * len(counts), scale, gaussian=gaussian)[0])


def _widest_noise(grown: Grown) -> tuple[float, bool]:
    """Scale of the widest noise below, and whether it is Gaussian: all of a tree is of one kind.

    Margins of mixed sums are stated on the safe side.
    """
    deviations = [own for leaf in grown.leaves() if (own := leaf.count_deviation) is not None]
    if deviations:
        return max(deviations), True
    costs = [leaf.count_epsilon for leaf in grown.leaves()]
    return max(1.0 / float(cost) for cost in costs if cost is not None), False


def _node(grown: Grown, parent: int | None, children: tuple[int, ...], rows: int) -> TreeNode:
    counts, (estimates, label) = grown.counts(), _estimates(grown)
    ends = share_intervals(grown)
    # Pooling moves an estimate; an interval that still holds it covers no less than before.
    lows, highs = np.minimum(ends[:, 0], estimates), np.maximum(ends[:, 1], estimates)
    leaves = sum(1 for _ in grown.leaves())
    scale, gaussian = _widest_noise(grown)
    return TreeNode(
        parent=parent,
        split=grown.split,
        children=children,
        collapsed=grown.collapsed,
        noisy_total=grown.noisy_total,
        noisy_counts=tuple(int(count) for count in counts),
        count_margin=sum_tail(scale, leaves, 0.95, gaussian=gaussian),
        estimates=tuple(float(share) for share in estimates),
        intervals=tuple((float(low), float(high)) for low, high in zip(lows, highs, strict=True)),
        label=label,
        spent=grown.spent * rows,
    )


def _estimates(grown: Grown) -> tuple[Floats, int]:
    """Class shares of a node, and the class that is predicted there."""
    counts, label = grown.counts(), drawn_label(grown)
    if grown.expected is None:
        return point_estimates(supporting(counts, label)[None], (ALPHA,) * len(counts))[0], label
    shares = pulled_shares(counts, grown.expected, count_deviation(grown))
    return shares, int(np.argmax(shares))


def count_deviation(grown: Grown) -> float:
    """Standard deviation of the noise on each class count of a node, at most."""
    scale, gaussian = _widest_noise(grown)
    return scale * math.sqrt((1 if gaussian else 2) * sum(1 for _ in grown.leaves()))


#: Confidence factor of C4.5: chance that a leaf errs more often than its limit.
CONFIDENCE = 0.25
#: A leaf replaces a subtree that is predicted to save at most so many errors, as C4.5 does.
SLACK = 0.1


@dataclass
class Consistent:
    """Counts of one node that agree with its parent's and its children's.

    Attributes
    ----------
    grown : Grown
    total : float
        Records; the children's sum to it.
    counts : array of shape (n_classes,)
        Records per class, summing to ``total``; the children's sum to them.
    children : list of Consistent
    """

    grown: Grown
    total: float
    counts: Floats
    children: list[Consistent] = field(default_factory=list)


def prune(root: Grown) -> None:
    """Mark nodes that are better leaves as ``collapsed``; noisy counts stay as they are."""
    _prune(consistent(root))


def consistent(root: Grown) -> Consistent:
    """Totals from the root down, then class counts from the leaves up."""
    return _consistent(root, max(0.0, float(_own_total(root))))


def _own_total(grown: Grown) -> int:
    """The count bought for this node, or else the sum of the class counts below."""
    return int(grown.counts().sum()) if grown.noisy_total is None else grown.noisy_total


def _consistent(grown: Grown, total: float) -> Consistent:
    if not grown.children:
        return Consistent(grown, total, scaled(grown.counts(), total))
    totals = scaled(np.array([_own_total(child) for child in grown.children]), total)
    children = [_consistent(child, float(share)) for child, share in zip(grown.children, totals, strict=True)]
    counts = np.sum([child.counts for child in children], axis=0)
    return Consistent(grown, total, counts, children)


def scaled(noisy: Ints, total: float) -> Floats:
    """Counts in proportion to noisy ones, negatives as 0, that sum to ``total``.

    Where no noisy count is positive they are equal.
    """
    positive = np.maximum(noisy, 0).astype(np.float64)
    whole = positive.sum()
    return positive * (total / whole) if whole > 0 else np.full(len(noisy), total / len(noisy))


def _prune(node: Consistent) -> float:
    """Errors predicted for what is left of a subtree, once it is pruned."""
    as_leaf = predicted_errors(node.total, node.total - float(node.counts.max()))
    if not node.children:
        return as_leaf
    below = sum(_prune(child) for child in node.children)
    if as_leaf <= below + SLACK:
        node.grown.collapsed = True
        return as_leaf
    return below


def predicted_errors(total: float, errors: float) -> float:
    """Errors of a leaf at the upper confidence limit of its error rate.

    The limit is the rate at which so few errors have a chance of :data:`CONFIDENCE`: exact for
    the binomial distribution, and between whole numbers the beta distribution's.
    """
    from scipy.special import betaincinv

    errors = max(errors, 0.0)
    if total - errors <= 0:
        return total
    return total * float(betaincinv(errors + 1.0, total - errors, 1.0 - CONFIDENCE))
