"""What of released trees and forests follows from their questions and noisy counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal
from typing import Final

import numpy as np

from dpcore.models.trees.released.chance_groups import group_chances, group_labels
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.tree_model import ALPHA, MAX_NODES, ROOT_TEXT, TreeModel, TreeNode, supporting
from dpcore.models.trees.released.tree_parameters import ForestParameters, TreeParameters
from dpcore.released.derived import (
    check_certificate,
    check_classes,
    check_counts,
    check_shares,
    count_scales,
    demand,
    is_gaussian,
    margin_within,
    rebuilt_evaluation,
    rebuilt_numbers,
    scales_of_margin,
)
from dpcore.released.noisy_counts import point_estimates
from dpcore.released.release import Release

#: Step of the budget of exact lookahead that counts people.
COUNTS: Final = "leaves"
#: What the sampler of exact lookahead is called.
EXACT: Final = "exact lookahead"
_CLOSE, _LEAST_PART = 1e-9, 1e-3


def rebuilt_tree(release: Release, model: TreeModel) -> TreeModel:
    """The tree with every text and number that follows from the rest."""
    chosen = TreeParameters.model_validate(release.parameters)
    exact = chosen.method == "lookahead"
    check_certificate(release, EXACT if exact else chosen.method)
    blocks = tuple(chosen.blocks or ()) if exact else ()
    demand(model.budget == release.certificate.epsilon and model.blocks == blocks)
    tree = _rebuilt(release, model, prunes=chosen.prunes)
    if not exact:
        tree = tree.model_copy(update={"nodes": tuple(map(_by_counts, tree.nodes))})
    stops = [tree.nodes[position] for position in tree.finals]
    shares, labels = [node.estimates for node in stops], np.array(tree.labels)
    return tree.model_copy(update={"evaluation": rebuilt_evaluation(release, model.evaluation, shares, labels)})


def rebuilt_forest(release: Release, model: ForestModel) -> ForestModel:
    """The forest with every text and number that follows from the rest."""
    chosen, card = ForestParameters.model_validate(release.parameters), release.certificate
    check_certificate(release, chosen.method)
    demand(model.budget == card.epsilon and model.sharing == chosen.sharing and len(model.trees) == chosen.trees)
    demand(model.rows_per_person in {1, release.domain.privacy_unit.max_rows_per_person})
    demand(model.gaussian == is_gaussian(card))
    demand(list(model.cuts) == sorted(set(model.cuts)) and all(0 <= cut <= 1 for cut in model.cuts))
    demand(all(tree.evaluation is None and not tree.blocks for tree in model.trees))
    demand(all(tree.budget <= card.epsilon for tree in model.trees))
    trees = tuple(_rebuilt(release, tree, prunes=chosen.prunes) for tree in model.trees)
    check_classes(release, model.classes)
    forest = model.model_copy(update={"trees": trees})
    evaluation = _forest_evaluation(release, forest)
    return forest.model_copy(update={"evaluation": evaluation})


def _forest_evaluation(release: Release, forest: ForestModel) -> object:
    given = forest.evaluation
    if given is None or not given.group_counts or not forest.cuts:  # Earlier versions counted votes.
        return rebuilt_evaluation(release, given)
    limits = [0.0, *forest.cuts] if len(forest.classes) == 2 else []
    demand(np.allclose(limits, given.group_limits) if len(limits) == len(given.group_limits) else False)
    labels = group_labels(len(forest.classes), forest.cuts)
    return rebuilt_evaluation(release, given, group_chances(forest.trees, forest.cuts), labels)


def _rebuilt(release: Release, tree: TreeModel, *, prunes: bool) -> TreeModel:
    check_classes(release, tree.classes)
    demand(0 < len(tree.nodes) <= MAX_NODES)
    _check_form(release, tree, prunes=prunes)
    told = tree.worded(release.domain)
    older = not any(node.conditions for node in tree.nodes)
    rebuilt = [node.model_copy(update={"conditions": ()}) if older else node for node in told.nodes]
    gaussian, scales = is_gaussian(release.certificate), dict[int, tuple[float, float]]()
    leaves = [0] * len(rebuilt)
    for place in reversed(range(len(rebuilt))):
        node = rebuilt[place]
        below = node.children
        leaves[place] = sum(leaves[child] for child in below) or 1
        scales[place] = _widest([scales[child] for child in below]) if below else _leaf_scales(release, node)
        counts = np.sum([rebuilt[child].noisy_counts for child in below], axis=0).tolist() if below else ()
        own = {"noisy_counts": tuple(counts)} if below else {}
        rebuilt[place] = _numbers(release, node.model_copy(update=own), scales[place], leaves[place], gaussian)
    rebuilt[0] = rebuilt[0].model_copy(update={"text": ROOT_TEXT})
    return told.model_copy(update={"nodes": tuple(rebuilt)})


def _leaf_scales(release: Release, node: TreeNode) -> tuple[float, float]:
    """Of the noise on the counts of a leaf, from the margin that it states; no counts have less than it may buy."""
    gaussian = is_gaussian(release.certificate)
    if COUNTS in release.certificate.budget_split:
        return count_scales(release, COUNTS)
    low, high = scales_of_margin(node.count_margin, gaussian=gaussian)
    demand(node.spent > 0)
    least = _scale_of(release, float(node.spent)) * (1 - _CLOSE)
    demand(high >= least)
    return max(low, least), high


def _scale_of(release: Release, spent: float) -> float:
    """Of the noise on counts that cost a person so much of the certificate's epsilon."""
    card, rows = release.certificate, release.domain.privacy_unit.max_rows_per_person
    if is_gaussian(card):
        return rows / math.sqrt(2 * float(card.rho or 0) * spent / float(card.epsilon))
    return rows / spent


def _widest(scales: Sequence[tuple[float, float]]) -> tuple[float, float]:
    return max(low for low, _ in scales), max(high for _, high in scales)


def _numbers(release: Release, node: TreeNode, scales: tuple[float, float], leaves: int, gaussian: bool) -> TreeNode:
    """A node with its margin and intervals."""
    margin = margin_within(node.count_margin, scales, leaves, gaussian=gaussian)
    if node.noisy_total is not None:  # Bought with a small part of what the node spent.
        widest = _scale_of(release, _LEAST_PART * float(node.spent))
        check_counts([node.noisy_total], widest, release.domain.max_rows)
    check_shares([node.estimates], len(node.noisy_counts))
    demand(0 <= node.label < len(node.estimates) and node.estimates[node.label] >= max(node.estimates) - _CLOSE)
    root, alpha = float(np.sqrt(leaves)), (ALPHA,) * len(node.noisy_counts)
    widened = (scales[0] * root, scales[1] * root)
    own = rebuilt_numbers(release, node, margin, widened, alpha, estimated=False)
    return node.model_copy(update={**own, "count_margin": margin})


def _by_counts(node: TreeNode) -> TreeNode:
    """A node of a greedy tree, whose estimates follow from its counts and its class alone."""
    counts = supporting(np.array([node.noisy_counts]), [node.label])
    (shares,) = point_estimates(counts, (ALPHA,) * counts.shape[1]).tolist()
    return node.model_copy(update={"estimates": tuple(shares)})


def _check_form(release: Release, tree: TreeModel, *, prunes: bool) -> None:
    """Demand a tree whose questions are those of the schema, and whose paths spend no more than it was given."""
    spent: list[Decimal] = []
    expected = 1
    for place, node in enumerate(tree.nodes):
        demand(len(node.noisy_counts) == len(node.intervals) == len(node.estimates) == len(tree.classes))
        demand((node.parent is None) == (place == 0) and node.spent >= 0)
        demand(node.parent is None or place in tree.nodes[node.parent].children)
        above = Decimal(0) if node.parent is None else spent[node.parent]
        spent.append(above + node.spent)
        demand(spent[-1] <= tree.budget)
        demand((node.split is None) == (not node.children) and (prunes or not node.collapsed))
        demand(not node.collapsed or bool(node.children))
        demand(node.children == tuple(range(expected, expected + len(node.children))))
        expected += len(node.children)
        if node.split is not None:
            column = release.domain.column(node.split.column)
            demand(node.split.column != release.target and len(node.split.branches) == len(column.cells))
            demand(set(node.split.branches) == set(range(len(node.children))))
    demand(expected == len(tree.nodes))
