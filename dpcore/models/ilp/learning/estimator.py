"""The scikit-learn-like estimator of relational rules."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from pydantic import BaseModel
from scipy.sparse import issparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from dpcore.arrays import Floats, Ints
from dpcore.data.ingest import check_children
from dpcore.domain.schema import Schema
from dpcore.errors import RequestError
from dpcore.learning.learner import Learner
from dpcore.learning.sklearn_base import (
    Labelling,
    LearnerEstimator,
    class_labels,
    features_of,
    prepare_fit,
)
from dpcore.models.ilp.learning.learner import ILPLearner
from dpcore.models.ilp.released.model import Frames, ILPModel, split_tables
from dpcore.privacy.accountant import Accountant
from dpcore.released.release import Release


class DPILPClassifier(Labelling, LearnerEstimator):
    """Differentially private inductive logic programming (Zeng et al. 2013, corrected).

    Guarantee: pure epsilon-DP, one person with all child rows added or removed, unconditional;
    proofs in ``docs/privacy/ilp.md``. Cost of a fit: O(clauses x lattice x max_rows / 64).

    Parameters
    ----------
    epsilon : float or Decimal
        Cost of one call of ``fit``.
    schema : Schema or None
        Public domain, with its child tables. ``None`` infers one for a single data frame,
        which leaks: a :class:`~dpcore.errors.PrivacyLeakWarning` says so, and so does the
        release, which is not private.
    target : str or None
        Name of the target in ``schema``; ``None`` takes the name of ``y``, or the only column
        that the schema marks as target.
    positive, method, literals, max_literals, max_variables, negation, clauses, \
    positive_weight, negative_weight, count_share, length_prior, criterion, min_share, \
    reserved_literals, evaluate
        See :class:`~dpcore.models.ilp.language.parameters.ILPParameters`.
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
    model_ : ILPModel
    schema_ : Schema
    n_features_in_ : int
        Columns of the main table, its key among them.
    """

    _learner: ClassVar[Learner] = ILPLearner()
    _model: ClassVar[type[BaseModel]] = ILPModel

    def __init__(
        self,
        epsilon: Any = 1.0,
        *,
        schema: Schema | None = None,
        target: str | None = None,
        positive: str | None = None,
        method: str = "noisy_max",
        literals: tuple[str, ...] | None = None,
        max_literals: int = 3,
        max_variables: int = 2,
        negation: bool = False,
        clauses: int = 2,
        positive_weight: int = 1,
        negative_weight: int = 1,
        count_share: Any = 0.2,
        length_prior: bool = True,
        criterion: str = "best",
        min_share: float = 0.05,
        reserved_literals: bool = False,
        evaluate: bool = False,
        accountant: Accountant | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.target = target
        self.positive = positive
        self.method = method
        self.literals = literals
        self.max_literals = max_literals
        self.max_variables = max_variables
        self.negation = negation
        self.clauses = clauses
        self.positive_weight = positive_weight
        self.negative_weight = negative_weight
        self.count_share = count_share
        self.length_prior = length_prior
        self.criterion = criterion
        self.min_share = min_share
        self.reserved_literals = reserved_literals
        self.evaluate = evaluate
        self.accountant = accountant
        self.random_state = random_state

    def __sklearn_tags__(self) -> Tags:
        """A theory is about one class: it cannot tell the others from each other."""
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags

    def fit(self, X: Any, y: Any) -> Self:
        """Spend ``epsilon`` and learn a theory.

        Parameters
        ----------
        X : mapping of str to DataFrame, or DataFrame
            Tables by their names in the schema; the main one is called ``schema.entity``. A
            single frame is the main table.
        y : Series or array of shape (n_people,)
            Target of each row of the main table.

        Raises
        ------
        RequestError, SchemaError
            If parameters, schema and tables do not fit together. Nothing is charged.
        BudgetError
            If the accountant has too little left. Nothing is charged.
        IngestError
            If the rows do not fit the schema.
        """
        main, children = _tables(X, self.schema)
        prepared = prepare_fit(main, y, self.schema, self.target, numeric_target=False)
        check_children(children, prepared.schema)
        plan = self._plan(prepared.schema, prepared.target)
        classes = class_labels(prepared.schema.column(prepared.target))
        release, model = self._run(plan, prepared.frame, children)
        return self._fitted(release, model, {"classes_": classes}, prepared.features)

    @classmethod
    def from_release(cls, release: Release) -> Self:
        """Fitted estimator of a release, for prediction without any data.

        Raises
        ------
        RequestError
            If the release is of another learner.
        """
        estimator, model = cls._of(release, target=release.target)
        classes = class_labels(release.domain.column(release.target))
        keys = int(release.domain.privacy_unit.column is not None)
        features = len(release.domain.columns) - 1 + keys
        return estimator._fitted(release, model, {"classes_": classes}, features)

    def _codes(self, X: Any) -> Ints:
        """The first clause that covers a person decides."""
        frames = self._frames(X)
        return np.asarray(self.model_.predict(frames, self.schema_))

    def predict_proba(self, X: Any) -> Floats:
        """Noisy class shares of each person's group: shape (n_people, n_classes)."""
        frames = self._frames(X)
        return np.asarray(self.model_.predict_proba(frames, self.schema_))

    def theory(self) -> str:
        """The theory in Prolog notation."""
        check_is_fitted(self)
        return str(self.model_.prolog(self.schema_, self.release_.target))

    def _frames(self, X: Any) -> Frames:
        check_is_fitted(self)
        main, children = _tables(X, self.schema_)
        own = features_of(main, self.schema_, self.release_.target)
        return {self.schema_.entity: own, **children}


def _tables(X: Any, schema: Schema | None) -> tuple[Any, dict[str, pd.DataFrame]]:
    """The main table, which may be an array if it is the only one, and the others."""
    if not isinstance(X, Mapping) or issparse(X):  # Some sparse arrays are dictionaries.
        return X, {}
    if schema is None:
        raise RequestError("Several tables need a schema that describes them: schema=...")
    return split_tables({str(name): frame for name, frame in X.items()}, schema)
