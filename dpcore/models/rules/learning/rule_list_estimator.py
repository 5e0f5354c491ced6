"""The scikit-learn estimator of rule lists."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar, Literal

from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Learner
from dpcore.learning.sklearn_base import PrivateClassifier
from dpcore.models.rules.learning.rule_list_learner import RuleListLearner
from dpcore.models.rules.released.rule_list_parameters import BudgetShares
from dpcore.privacy.accountant import Accountant


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

    def __init__(
        self,
        epsilon: float | Decimal = 1.0,
        *,
        schema: Schema | None = None,
        target: str | None = None,
        antecedents: Literal["public", "dp_fim", "given"] = "public",
        given: Sequence[str] = (),
        max_antecedent_length: int | None = None,
        max_antecedents: int | None = None,
        numeric_literals: Literal["thresholds", "intervals"] = "thresholds",
        reserved_literals: bool = False,
        min_support: float = 0.05,
        sampler: Literal["lookahead", "pool", "mcmc"] = "lookahead",
        rules: int | None = None,
        pool_size: int = 100000,
        mcmc_steps: int = 5000,
        tempered_prior: bool = False,
        list_length: float = 5.0,
        rule_length: float = 1.0,
        max_rules: int = 30,
        alpha: Sequence[float] | None = None,
        selection_alpha: Literal["house", "same"] = "house",
        shares: BudgetShares | None = None,
        cut_points: Sequence[str] = (),
        cuts_from: str = "",
        evaluate: bool = False,
        accountant: Accountant | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.target = target
        self.antecedents = antecedents
        self.given = given
        self.max_antecedent_length = max_antecedent_length
        self.max_antecedents = max_antecedents
        self.numeric_literals = numeric_literals
        self.reserved_literals = reserved_literals
        self.min_support = min_support
        self.sampler = sampler
        self.rules = rules
        self.pool_size = pool_size
        self.mcmc_steps = mcmc_steps
        self.tempered_prior = tempered_prior
        self.list_length = list_length
        self.rule_length = rule_length
        self.max_rules = max_rules
        self.alpha = alpha
        self.selection_alpha = selection_alpha
        self.shares = shares
        self.cut_points = cut_points
        self.cuts_from = cuts_from
        self.evaluate = evaluate
        self.accountant = accountant
        self.random_state = random_state
