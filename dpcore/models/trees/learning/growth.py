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
from dpcore.released.noisy_counts import holding, noise_intervals, point_estimates, sum_tails


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

    def below(self) -> Iterator[Grown]:
        """This node, and all that are below."""
        yield self
        for child in self.children:
            yield from child.below()

    def counts(self) -> Ints:
        """Noisy class counts: a leaf's own, or the sum over the leaves below."""
        if not self.children:
            return np.asarray(self.noisy_counts, dtype=np.int64)
        return np.asarray(np.sum([child.counts() for child in self.children], axis=0))

    def scale_spending(self, factor: Decimal) -> None:
        """State what was spent here and below in another unit."""
        for node in self.below():
            node.spent *= factor

    def most_spent(self) -> Decimal:
        """Largest row-level budget of a path from here to a leaf below."""
        below = (child.most_spent() for child in self.children)
        return self.spent + max(below, default=Decimal(0))


@dataclass(frozen=True)
class NodeTable:
    """The nodes of a grown tree, parents first, with what the leaves below each add up to; pruning is ignored.

    Attributes
    ----------
    nodes : list of Grown
    parents : list of int or None
    children : list of range
    counts : array of shape (n_nodes, n_classes)
        Noisy class counts.
    leaves : array of shape (n_nodes,)
    scales : array of shape (n_nodes,)
        Scale of the widest noise on a leaf, so that margins of mixed sums are stated on the safe side.
    gaussian : bool
        Whether that noise is Gaussian: all of a tree is of one kind.
    """

    nodes: list[Grown]
    parents: list[int | None]
    children: list[range]
    counts: Ints
    leaves: Ints
    scales: Floats
    gaussian: bool

    @classmethod
    def of(cls, root: Grown) -> NodeTable:
        """The nodes from a root on."""
        nodes, parents, children = [root], list[int | None]([None]), list[range]()
        for place, node in enumerate(nodes):
            children.append(range(len(nodes), len(nodes) + len(node.children)))
            parents += [place] * len(node.children)
            nodes += node.children
        counts, leaves, scales = [np.zeros(0, np.int64)] * len(nodes), [1] * len(nodes), [0.0] * len(nodes)
        gaussian = any(node.count_deviation is not None for node in nodes)
        for place, node in reversed(list(enumerate(nodes))):
            if below := children[place]:
                own = slice(below.start, below.stop)
                counts[place] = np.sum(counts[own], axis=0)
                leaves[place], scales[place] = sum(leaves[own]), max(scales[own])
            else:
                counts[place] = np.asarray(node.noisy_counts, dtype=np.int64)
                scales[place] = node.count_deviation or 1.0 / float(node.count_epsilon or math.inf)
        return cls(nodes, parents, children, np.stack(counts), np.array(leaves), np.array(scales), gaussian)

    @property
    def labels(self) -> list[int]:
        """Class drawn for each node, or its most frequent one."""
        most = np.argmax(self.counts, axis=1).tolist()
        return [own if node.label is None else node.label for node, own in zip(self.nodes, most, strict=True)]

    def intervals(self) -> Floats:
        """95 % intervals of the class shares for the noise alone: (n_nodes, n_classes, 2)."""
        # A sum of n noises has the spread of one with sqrt(n) times the scale, and no heavier tails.
        scales = self.scales * np.sqrt(self.leaves)
        return noise_intervals(self.counts, (ALPHA,) * self.counts.shape[1], scales, gaussian=self.gaussian)

    def deviations(self) -> Floats:
        """Standard deviation of the noise on each class count, at most: shape (n_nodes,)."""
        return np.asarray(self.scales * np.sqrt((1 if self.gaussian else 2) * self.leaves))

    def estimates(self) -> tuple[Floats, list[int]]:
        """Class shares of each node, and the class that is predicted there."""
        labels = self.labels
        shares = point_estimates(supporting(self.counts, labels), (ALPHA,) * self.counts.shape[1])
        told = [place for place, node in enumerate(self.nodes) if node.expected is not None]
        if told:
            expected = np.array([self.nodes[place].expected for place in told])
            shares[told] = pulled_shares(self.counts[told], expected, self.deviations()[told])
        for place in told:
            labels[place] = int(np.argmax(shares[place]))
        return shares, labels


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
    table = NodeTable.of(root)
    estimates, labels = table.estimates()
    # Pooling moves an estimate; an interval that still holds it covers no less than before.
    intervals = holding(table.intervals(), estimates)
    margins = sum_tails(table.scales, table.leaves, 0.95, gaussian=table.gaussian)
    nodes = [
        TreeNode(
            parent=table.parents[place],
            split=grown.split,
            children=tuple(table.children[place]),
            collapsed=grown.collapsed,
            noisy_total=grown.noisy_total,
            noisy_counts=table.counts[place].tolist(),
            count_margin=int(margins[place]),
            estimates=estimates[place].tolist(),
            intervals=intervals[place].tolist(),
            label=labels[place],
            spent=grown.spent * rows,
        )
        for place, grown in enumerate(table.nodes)
    ]
    return TreeModel(classes=tuple(classes), nodes=tuple(nodes), budget=budget, blocks=blocks).worded(schema)


def fold_alike(root: Grown) -> None:
    """Collapse splits whose sides predict the same class and differ by no more than noise.

    Post-processing of noisy counts, bottom up: a side that is itself a split stays if that
    split stays. Classes that are predicted, or that were drawn, do not change.
    """
    table = NodeTable.of(root)
    labels, intervals = table.labels, table.intervals()
    for place, node in reversed(list(enumerate(table.nodes))):
        sides = slice(table.children[place].start, table.children[place].stop)
        own, predicted = intervals[sides], set(labels[sides])
        if len(predicted) != 1 or any(side.children and not side.collapsed for side in node.children):
            continue
        # The noise intervals of the sides' class shares overlap, for every class.
        if (own[..., 0].max(axis=0) <= own[..., 1].min(axis=0)).all():
            node.collapsed, node.label, labels[place] = True, labels[sides][0], labels[sides][0]
            expected = [side.expected for side in node.children if side.expected is not None]
            node.expected = np.asarray(np.mean(expected, axis=0)) if expected else None


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
