"""The scikit-learn estimators of explainable boosting machines."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar

from dpcore.domain.columns import Column, NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.learning.learner import Learner
from dpcore.learning.sklearn_base import PrivateClassifier, PrivateEstimator, PrivateRegressor
from dpcore.models.ebm.learning.ebm_learner import EBMLearner
from dpcore.models.ebm.released.ebm_parameters import EBMMethod
from dpcore.privacy.accountant import Accountant


class _PrivateEBM(PrivateEstimator):
    _learner: ClassVar[Learner] = EBMLearner()

    def __init__(
        self,
        epsilon: float | Decimal = 1.0,
        *,
        schema: Schema | None = None,
        target: str | None = None,
        method: EBMMethod = "all_bins",
        delta: float | Decimal | None = None,
        max_bins: int | None = None,
        epochs: int | None = None,
        learning_rate: float | None = None,
        leaves: int = 3,
        bin_share: float | None = None,
        pairs: int = 0,
        increasing: Sequence[str] = (),
        decreasing: Sequence[str] = (),
        replicates: int = 5,
        evaluate: bool = False,
        accountant: Accountant | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.target = target
        self.method = method
        self.delta = delta
        self.max_bins = max_bins
        self.epochs = epochs
        self.learning_rate = learning_rate
        self.leaves = leaves
        self.bin_share = bin_share
        self.pairs = pairs
        self.increasing = increasing
        self.decreasing = decreasing
        self.replicates = replicates
        self.evaluate = evaluate
        self.accountant = accountant
        self.random_state = random_state


class DPEBMClassifier(PrivateClassifier, _PrivateEBM):
    """Differentially private explainable boosting machine for classes (Nori et al. 2021).

    Guarantee: (epsilon, delta)-DP, one person added or removed, unconditional for every method;
    sensitivities and proofs in ``docs/privacy/ebm.md``. Cost of a fit: O(epochs x replicates x
    n_features x n_outputs x max_rows), with one output for two classes and one per class
    otherwise.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
    release_ : Release
        Model and certificate; safe to publish if its certificate is private.
    model_ : EBMModel
    schema_ : Schema
    n_features_in_ : int
    """

    @classmethod
    def _check_target(cls, column: Column) -> None:
        if isinstance(column, NumericColumn):
            raise RequestError(f"The target '{column.name}' is a number in the schema: use DPEBMRegressor.")


class DPEBMRegressor(PrivateRegressor, _PrivateEBM):
    """Differentially private explainable boosting machine for a number (Nori et al. 2021).

    Guarantee and cost are those of :class:`DPEBMClassifier`. Values of the target beyond the
    bounds of its column count as the bounds, and predictions stay within them.

    Attributes
    ----------
    release_ : Release
        Model and certificate; safe to publish if its certificate is private.
    model_ : EBMModel
    schema_ : Schema
    n_features_in_ : int
    """
