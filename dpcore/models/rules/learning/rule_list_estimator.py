"""The scikit-learn estimator of rule lists."""

from __future__ import annotations

from typing import ClassVar

from pydantic import BaseModel

from dpcore.learning.learner import Learner
from dpcore.learning.sklearn_base import PrivateClassifier
from dpcore.models.rules.learning.rule_list_learner import RuleListLearner
from dpcore.models.rules.released.rule_list_model import RuleListModel


class DPRuleListClassifier(PrivateClassifier):
    """Differentially private Bayesian rule list (Belardo 2018, corrected; see ``docs/privacy``).

    Guarantee: pure epsilon-DP, one person added or removed, with the sensitivities of
    :mod:`dpcore.data.queries`; unconditional for ``sampler="lookahead"``, which is the default, and ``"pool"``,
    conditional on convergence for ``"mcmc"``. The budget is split over mined antecedents (if any), list and
    estimates. Cost of a fit: O(blocks x max_antecedents^2 x max_rows / 64), or by the pool
    O(pool_size x list_length x max_rows / 64).

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    release_ : Release
        Model and certificate; safe to publish if its certificate is private.
    model_ : RuleListModel
    schema_ : Schema
    n_features_in_ : int
    """

    _learner: ClassVar[Learner] = RuleListLearner()
    _model: ClassVar[type[BaseModel]] = RuleListModel
