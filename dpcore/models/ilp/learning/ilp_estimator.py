"""The scikit-learn-like estimator of relational rules."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import ClassVar, Self

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from dpcore.arrays import Floats, Ints
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.learning.learner import Learner
from dpcore.learning.sklearn_base import Labelling, LearnerEstimator
from dpcore.learning.sklearn_frames import Labels, Rows, class_labels, prediction_frame, prepare_fit
from dpcore.models.ilp.language.forms import Quantifier
from dpcore.models.ilp.language.ilp_parameters import Criterion, Method
from dpcore.models.ilp.learning.ilp_learner import ILPLearner
from dpcore.models.ilp.released.ilp_tables import Frames, split_tables
from dpcore.privacy.accountant import Accountant
from dpcore.released.release import Release


class DPILPClassifier(Labelling, LearnerEstimator):
    """Differentially private inductive logic programming (Zeng et al. 2013, corrected).

    Guarantee: pure epsilon-DP, one person with all child rows added or removed, unconditional;
    proofs in ``docs/privacy/ilp.md``. Cost of a fit: O(clauses x lattice x max_rows / 64).

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

    def __init__(
        self,
        epsilon: float | Decimal = 1.0,
        *,
        schema: Schema | None = None,
        target: str | None = None,
        positive: str | None = None,
        method: Method = "noisy_max",
        literals: Sequence[str] | None = None,
        max_literals: int = 3,
        max_variables: int = 2,
        negation: bool = False,
        quantifiers: Sequence[Quantifier] | None = None,
        most_counted: int = 3,
        clauses: int = 2,
        weigh_alike: bool | None = None,
        positive_weight: int = 1,
        negative_weight: int = 1,
        strict_first: bool | None = None,
        count_share: float | Decimal = 0.2,
        length_prior: bool = True,
        criterion: Criterion = "best",
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
        self.quantifiers = quantifiers
        self.most_counted = most_counted
        self.clauses = clauses
        self.weigh_alike = weigh_alike
        self.positive_weight = positive_weight
        self.negative_weight = negative_weight
        self.strict_first = strict_first
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

    def fit(self, X: Rows, y: Labels) -> Self:
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

    def _codes(self, X: Rows) -> Ints:
        """The first clause that covers a person decides."""
        frames = self._frames(X)
        return np.asarray(self.model_.predict(frames, self.schema_))

    def _chances(self, X: Rows) -> Floats:
        """Noisy class shares of each person's group: shape (n_people, n_classes)."""
        frames = self._frames(X)
        return np.asarray(self.model_.predict_proba(frames, self.schema_))

    def theory(self) -> str:
        """The theory in Prolog notation."""
        check_is_fitted(self)
        return str(self.model_.prolog(self.schema_, self.release_.target))

    def _frames(self, X: Rows) -> Frames:
        check_is_fitted(self)
        main, children = _tables(X, self.schema_)
        own = prediction_frame(main, self.schema_, self.release_.target)
        return {self.schema_.entity: own, **children}


def _tables(X: Rows, schema: Schema | None) -> tuple[Rows, dict[str, pd.DataFrame]]:
    """The main table, which may be an array if it is the only one, and the others."""
    if not isinstance(X, Mapping) or issparse(X):  # Some sparse arrays are dictionaries.
        return X, {}
    if schema is None:
        raise RequestError("Several tables need a schema that describes them: schema=...")
    return split_tables({str(name): frame for name, frame in X.items()}, schema)
