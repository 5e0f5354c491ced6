"""Error-based pruning on noisy counts. Post-processing: costs no budget.

Noisy counts contradict each other, so two passes make them consistent first (Friedman, Schuster
2010, section 4.3); then nodes are replaced by leaves as in C4.5 (Quinlan 1993, chapter 4).
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dpcore.arrays import Floats, Ints
from dpcore.models.trees.learning.growth import Grown

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
