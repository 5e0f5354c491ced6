"""The scikit-learn estimators of explainable boosting machines."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import BaseModel

from dpcore.domain.columns import NumericColumn
from dpcore.errors import RequestError
from dpcore.learning.learner import Learner
from dpcore.learning.sklearn_base import PrivateClassifier, PrivateEstimator, PrivateRegressor
from dpcore.models.ebm.learning.ebm_learner import EBMLearner
from dpcore.models.ebm.released.ebm_model import EBMModel


class _PrivateEBM(PrivateEstimator):
    _learner: ClassVar[Learner] = EBMLearner()
    _model: ClassVar[type[BaseModel]] = EBMModel


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
    def _check_target(cls, column: Any) -> None:
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
