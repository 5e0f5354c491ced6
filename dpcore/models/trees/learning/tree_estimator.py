"""The scikit-learn estimators of trees and forests."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar

from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Learner
from dpcore.learning.sklearn_base import PrivateClassifier
from dpcore.models.trees.learning.forest_learner import ForestLearner
from dpcore.models.trees.learning.tree_learner import TreeLearner
from dpcore.models.trees.released.tree_parameters import Criterion, ForestMethod, Sharing, TreeCriterion, TreeMethod
from dpcore.privacy.accountant import Accountant


class DPTreeClassifier(PrivateClassifier):
    """Differentially private decision tree.

    Guarantee: pure epsilon-DP, or (epsilon, delta)-DP if an accountant has it composed; one person added or
    removed, unconditional for every method. Sensitivities and proofs: ``docs/privacy/trees.md``. Cost of a fit with
    ``method="lookahead"``: O(n_splits^3 / 6 x n_classes x max_rows / 64) for a block of depth
    3; of the other methods O(n_nodes x n_cells x n_classes x max_rows / 64).

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    release_ : Release
        Model and certificate; safe to publish if its certificate is private.
    model_ : TreeModel
    schema_ : Schema
    n_features_in_ : int
    """

    _learner: ClassVar[Learner] = TreeLearner()

    def __init__(
        self,
        epsilon: float | Decimal = 1.0,
        *,
        schema: Schema | None = None,
        target: str | None = None,
        method: TreeMethod = "lookahead",
        criterion: TreeCriterion = "balanced",
        blocks: Sequence[int] | None = None,
        leaf_share: float | None = None,
        depth: int = 5,
        threshold: float = 0.01,
        spend_rest: bool = True,
        reserved_splits: bool = False,
        prune: bool | None = None,
        cut_points: Sequence[str] = (),
        cuts_from: str = "",
        evaluate: bool = False,
        accountant: Accountant | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.target = target
        self.method = method
        self.criterion = criterion
        self.blocks = blocks
        self.leaf_share = leaf_share
        self.depth = depth
        self.threshold = threshold
        self.spend_rest = spend_rest
        self.reserved_splits = reserved_splits
        self.prune = prune
        self.cut_points = cut_points
        self.cuts_from = cuts_from
        self.evaluate = evaluate
        self.accountant = accountant
        self.random_state = random_state


class DPForestClassifier(PrivateClassifier):
    """Differentially private forest: trees whose chances are averaged.

    Guarantee: pure epsilon-DP, or (epsilon, delta)-DP if an accountant has it composed; one person added or
    removed, unconditional. Sensitivities and proofs: ``docs/privacy/trees.md``. Cost of a fit:
    O(n_nodes x n_cells x n_classes x max_rows / 64) over the nodes of all trees.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    release_ : Release
        Model and certificate; safe to publish if its certificate is private.
    model_ : ForestModel
    schema_ : Schema
    n_features_in_ : int
    """

    _learner: ClassVar[Learner] = ForestLearner()

    def __init__(
        self,
        epsilon: float | Decimal = 1.0,
        *,
        schema: Schema | None = None,
        target: str | None = None,
        method: ForestMethod = "random_trees",
        criterion: Criterion = "gini",
        sharing: Sharing = "split",
        trees: int | None = None,
        depth: int = 3,
        attributes: int | None = None,
        threshold: float = 0.01,
        spend_rest: bool = True,
        prune: bool | None = None,
        cut_points: Sequence[str] = (),
        cuts_from: str = "",
        evaluate: bool = False,
        accountant: Accountant | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.target = target
        self.method = method
        self.criterion = criterion
        self.sharing = sharing
        self.trees = trees
        self.depth = depth
        self.attributes = attributes
        self.threshold = threshold
        self.spend_rest = spend_rest
        self.prune = prune
        self.cut_points = cut_points
        self.cuts_from = cuts_from
        self.evaluate = evaluate
        self.accountant = accountant
        self.random_state = random_state
