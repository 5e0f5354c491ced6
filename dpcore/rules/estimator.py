"""The scikit-learn estimator of rule lists."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from dpcore.accountant import Accountant
from dpcore.estimation import class_labels, features_of, prepare_fit
from dpcore.plan import no_progress
from dpcore.privacy import parse_epsilon
from dpcore.randomness import source_for
from dpcore.release import make_release
from dpcore.rules.learner import RuleListLearner
from dpcore.rules.model import RuleListModel
from dpcore.rules.parameters import RuleListParameters
from dpcore.schema import Schema


class DPRuleListClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Differentially private Bayesian rule list (Belardo 2018, corrected; see ``docs/privacy``).

    Guarantee: pure epsilon-DP, one person added or removed, with the sensitivities of
    :mod:`dpcore.queries`; unconditional for ``sampler="pool"``, conditional on convergence for
    ``sampler="mcmc"``. The budget is split over mined antecedents (if any), list and
    estimates. Cost of a fit: O(pool_size x list_length x max_rows / 64).

    Parameters
    ----------
    epsilon : float or Decimal
        Cost of one call of ``fit``.
    schema : Schema or None
        Public domain. ``None`` infers one from the data, which leaks: a
        :class:`~dpcore.errors.PrivacyLeakWarning` says so.
    target : str or None
        Name of the target in ``schema``; ``None`` takes the name of ``y``, or the only column
        that the schema marks as target.
    antecedents, given, max_antecedent_length, max_antecedents, numeric_literals, \
    reserved_literals, min_support, sampler, pool_size, mcmc_steps, tempered_prior, \
    list_length, rule_length, max_rules, alpha, selection_alpha, evaluate
        See :class:`~dpcore.rules.parameters.RuleListParameters`.
    accountant : Accountant or None
        Charged before each fit. Clones share it.
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

    def fit(self, X: Any, y: Any) -> Self:
        """Spend ``epsilon`` and fit.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_features)
        y : Series or array of shape (n_rows,)

        Raises
        ------
        RequestError, SchemaError
            If parameters, schema and columns do not fit together. Nothing is charged.
        BudgetError
            If the accountant has too little left. Nothing is charged.
        IngestError
            If the rows do not fit the schema, such as more rows than ``max_rows``.
        """
        learner = RuleListLearner()
        prepared = prepare_fit(X, y, self.schema, self.target)
        given = {n: v for n, v in self.get_params().items() if n in RuleListParameters.model_fields}
        epsilon = parse_epsilon(self.epsilon)
        plan = learner.plan(prepared.schema, prepared.target, epsilon, given)
        if self.accountant is not None:
            self.accountant.spend(epsilon, learner.title)
        randomness = source_for(self.random_state)
        table = prepared.ingest(randomness)
        self.model_: RuleListModel = learner.run(table, plan, randomness, no_progress)
        self.release_ = make_release(learner.name, plan, self.model_, secure=randomness.secure)
        self.schema_ = prepared.schema
        self.classes_ = class_labels(self.model_.classes, y)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities, columns in the order of ``classes_``: shape (n_rows, n_classes)."""
        check_is_fitted(self)
        frame = features_of(X, self.schema_, self.release_.target)
        return self.model_.predict_proba(frame, self.schema_)

    def predict(self, X: Any) -> NDArray[Any]:
        """Most probable class of each row."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])
