"""The scikit-learn estimator of rule lists."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel

from dpcore.domain.schema import Schema
from dpcore.learning.learner import Learner
from dpcore.learning.sklearn_base import PrivateClassifier
from dpcore.models.rules.learning.learner import RuleListLearner
from dpcore.models.rules.released.model import RuleListModel
from dpcore.privacy.accountant import Accountant


class DPRuleListClassifier(PrivateClassifier):
    """Differentially private Bayesian rule list (Belardo 2018, corrected; see ``docs/privacy``).

    Guarantee: pure epsilon-DP, one person added or removed, with the sensitivities of
    :mod:`dpcore.data.queries`; unconditional for ``sampler="pool"``, conditional on convergence for
    ``sampler="mcmc"``. The budget is split over mined antecedents (if any), list and
    estimates. Cost of a fit: O(pool_size x list_length x max_rows / 64).

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
    antecedents, given, max_antecedent_length, max_antecedents, numeric_literals, \
    reserved_literals, min_support, sampler, pool_size, mcmc_steps, tempered_prior, \
    list_length, rule_length, max_rules, alpha, selection_alpha, evaluate
        See :class:`~dpcore.models.rules.released.parameters.RuleListParameters`.
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
    model_ : RuleListModel
    schema_ : Schema
    n_features_in_ : int
    """

    _learner: ClassVar[Learner] = RuleListLearner()
    _model: ClassVar[type[BaseModel]] = RuleListModel

    def __init__(
        self,
        epsilon: Any = 1.0,
        *,
        schema: Schema | None = None,
        target: str | None = None,
        antecedents: str = "public",
        given: tuple[str, ...] = (),
        max_antecedent_length: int = 2,
        max_antecedents: int = 300,
        numeric_literals: str = "thresholds",
        reserved_literals: bool = False,
        min_support: float = 0.05,
        sampler: str = "pool",
        pool_size: int = 100_000,
        mcmc_steps: int = 5_000,
        tempered_prior: bool = False,
        list_length: float = 5.0,
        rule_length: float = 1.0,
        max_rules: int = 30,
        alpha: tuple[float, ...] | None = None,
        selection_alpha: str = "house",
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
        self.pool_size = pool_size
        self.mcmc_steps = mcmc_steps
        self.tempered_prior = tempered_prior
        self.list_length = list_length
        self.rule_length = rule_length
        self.max_rules = max_rules
        self.alpha = alpha
        self.selection_alpha = selection_alpha
        self.evaluate = evaluate
        self.accountant = accountant
        self.random_state = random_state
