"""The scikit-learn estimators of trees and forests."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel

from dpcore.domain.schema import Schema
from dpcore.learning.learner import Learner
from dpcore.learning.sklearn_base import PrivateClassifier
from dpcore.models.trees.learning.forest_learner import ForestLearner
from dpcore.models.trees.learning.learner import TreeLearner
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.model import TreeModel
from dpcore.privacy.accountant import Accountant


class DPTreeClassifier(PrivateClassifier):
    """Differentially private decision tree.

    Guarantee: pure epsilon-DP, one person added or removed, unconditional for every method;
    sensitivities and proofs in ``docs/privacy/trees.md``. Cost of a fit with
    ``method="lookahead"``: O(n_splits^3 / 6 x n_classes x max_rows / 64) for a block of depth
    3; of the other methods O(n_nodes x n_cells x n_classes x max_rows / 64).

    Parameters
    ----------
    epsilon : float or Decimal
        Cost of one call of ``fit``.
    schema : Schema or None
        Public domain. ``None`` infers one from the data, which leaks: a
        :class:`~dpcore.errors.PrivacyLeakWarning` says so, and so does the release, which is not
        private.
    target : str or None
        Name of the target in ``schema``; ``None`` takes the name of ``y``, or the only column
        that the schema marks as target.
    method, criterion, blocks, leaf_share, depth, threshold, spend_rest, reserved_splits, \
    prune, evaluate
        See :class:`~dpcore.models.trees.released.parameters.TreeParameters`.
    accountant : Accountant or None
        Charged before each fit, so once for each fold of a cross-validation. Clones share it.
        Scores are charged to nobody: on private records they are exact, and **not private**.
        ``model_.evaluation`` is the private check, if ``evaluate`` asks for it.
    random_state : int or None
        ``None`` uses the operating system's secure source. A seed makes the result
        reproducible and **not private**.

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
    _model: ClassVar[type[BaseModel]] = TreeModel

    def __init__(
        self,
        epsilon: Any = 1.0,
        *,
        schema: Schema | None = None,
        target: str | None = None,
        method: str = "lookahead",
        criterion: str = "error",
        blocks: tuple[int, ...] | None = None,
        leaf_share: float | None = None,
        depth: int = 5,
        threshold: float = 0.01,
        spend_rest: bool = True,
        reserved_splits: bool = False,
        prune: bool | None = None,
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
        self.evaluate = evaluate
        self.accountant = accountant
        self.random_state = random_state


class DPForestClassifier(PrivateClassifier):
    """Differentially private forest: trees that vote.

    Guarantee: pure epsilon-DP, one person added or removed, unconditional; sensitivities and
    proofs in ``docs/privacy/trees.md``. Cost of a fit: O(n_nodes x n_cells x n_classes x
    max_rows / 64) over the nodes of all trees.

    Parameters
    ----------
    epsilon, schema, target, accountant, random_state
        As for :class:`DPTreeClassifier`.
    method, criterion, sharing, trees, depth, attributes, threshold, spend_rest, prune, evaluate
        See :class:`~dpcore.models.trees.released.parameters.ForestParameters`.

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
    _model: ClassVar[type[BaseModel]] = ForestModel

    def __init__(
        self,
        epsilon: Any = 1.0,
        *,
        schema: Schema | None = None,
        target: str | None = None,
        method: str = "rfdiffp",
        criterion: str = "gini",
        sharing: str = "parts",
        trees: int = 10,
        depth: int = 5,
        attributes: int | None = None,
        threshold: float = 0.01,
        spend_rest: bool = True,
        prune: bool | None = None,
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
        self.evaluate = evaluate
        self.accountant = accountant
        self.random_state = random_state
