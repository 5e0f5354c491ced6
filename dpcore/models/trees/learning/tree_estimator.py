"""The scikit-learn estimators of trees and forests."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from dpcore.learning.learner import Learner
from dpcore.learning.sklearn_base import PrivateClassifier
from dpcore.models.trees.learning.forest_learner import ForestLearner
from dpcore.models.trees.learning.tree_learner import TreeLearner
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.tree_model import TreeModel


class DPTreeClassifier(PrivateClassifier):
    """Differentially private decision tree.

    Guarantee: pure epsilon-DP, one person added or removed, unconditional for every method;
    sensitivities and proofs in ``docs/privacy/trees.md``. Cost of a fit with
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
    _model: ClassVar[type[BaseModel]] = TreeModel


class DPForestClassifier(PrivateClassifier):
    """Differentially private forest: trees whose chances are averaged.

    Guarantee: pure epsilon-DP, one person added or removed, unconditional; sensitivities and
    proofs in ``docs/privacy/trees.md``. Cost of a fit: O(n_nodes x n_cells x n_classes x
    max_rows / 64) over the nodes of all trees.

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
