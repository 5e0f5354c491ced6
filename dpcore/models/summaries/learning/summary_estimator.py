"""First looks for programs, in the form of scikit-learn's estimators."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar, Self

import pandas as pd
from sklearn.utils.validation import check_is_fitted

from dpcore.data.building.ingest import check_columns, check_header
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.learner import Learner
from dpcore.learning.sklearn_base import LearnerEstimator
from dpcore.learning.sklearn_frames import Rows, check_size, domain_of, features_of
from dpcore.models.summaries.learning.summary_learner import SummaryLearner
from dpcore.models.summaries.released.reading import cut_points
from dpcore.models.summaries.released.summary_model import SummaryModel
from dpcore.models.summaries.released.summary_parameters import SummaryMethod
from dpcore.models.summaries.released.summary_reading import (
    association_frame,
    cell_frame,
    code_frame,
    number_frame,
    table_one_frame,
)
from dpcore.privacy.accountant import Accountant
from dpcore.released.release import Release


class DPSummary(LearnerEstimator):
    """Differentially private distributions of all columns, of groups and of pairs.

    Guarantee: pure epsilon-DP, or with ``delta`` (epsilon, delta)-DP by Gaussian noise; one person added
    or removed, unconditional; proofs in ``docs/privacy/summaries.md``.

    Attributes
    ----------
    cells_ : DataFrame
        Count and share of every cell of every column, each with a 95 % interval for noise.
    numbers_ : DataFrame
        Mean and quantiles of the columns of numbers, in the same way.
    release_ : Release
        Model and certificate; safe to publish if its certificate is private.
    model_ : SummaryModel
    schema_ : Schema
    n_features_in_ : int
    """

    _learner: ClassVar[Learner] = SummaryLearner()

    def __init__(
        self,
        epsilon: float | Decimal = 1.0,
        *,
        schema: Schema | None = None,
        method: SummaryMethod = "weighted",
        columns: Sequence[str] | None = None,
        by: str | None = None,
        crosstabs: Sequence[str] = (),
        codes: Sequence[str] = (),
        finer: Sequence[str] = (),
        pairs: int = 0,
        records: bool = False,
        delta: float | Decimal | None = None,
        accountant: Accountant | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.method = method
        self.columns = columns
        self.by = by
        self.crosstabs = crosstabs
        self.codes = codes
        self.finer = finer
        self.pairs = pairs
        self.records = records
        self.delta = delta
        self.accountant = accountant
        self.random_state = random_state

    def fit(self, X: Rows, y: object = None) -> Self:  # noqa: ARG002
        """Spend ``epsilon`` and count.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
        y : None
            Ignored, as by every estimator that predicts nothing.

        Raises
        ------
        RequestError, SchemaError
            If parameters, schema and columns do not fit together. Nothing is charged.
        BudgetError
            If the accountant has too little left. Nothing is charged.
        IngestError
            If the rows do not fit the schema.
        """
        frame = features_of(X, self.schema, "")
        check_size(frame)
        check_header([str(column) for column in frame.columns])
        domain = domain_of(frame, self.schema, "")
        check_columns(frame, domain)
        release, model = self._run(self._plan(domain, ""), frame)
        return self._read(release, model, frame.shape[1])

    @classmethod
    def from_release(cls, release: Release) -> Self:
        """Fitted estimator of a release, without any data.

        Raises
        ------
        RequestError
            If the release is of another learner.
        """
        own, model = cls._of(release)
        return own._read(release, model, len(release.domain.columns))

    def table_one(self) -> pd.DataFrame:
        """All columns by the groups of ``by``: one row for each line of a table 1. Free.

        A group has the columns ``value of``, ``low of`` and ``high of`` its name, the latter two for its interval.

        Raises
        ------
        ValueError
            If no groups were asked for.
        """
        check_is_fitted(self)
        return table_one_frame(self.model_, self.schema_)

    def associations(self) -> pd.DataFrame:
        """How strongly the pairs that were counted go together. Free."""
        check_is_fitted(self)
        return association_frame(self.model_, self.schema_)

    def code_groups(self) -> pd.DataFrame:
        """Columns of codes from the coarsest groups down, the branches that stand out of the noise. Free."""
        check_is_fitted(self)
        return code_frame(self.model_, self.schema_)

    def cut_points(self) -> tuple[str, ...]:
        """Cut points with about equally many people between them: ``cut_points`` of trees, forests, rule lists. Free.

        Pass ``release_.id`` as ``cuts_from`` too, and their certificates say where these come from. An estimator cannot
        look that up: if this look is not private, neither are points that it told, whatever such a certificate says.
        """
        check_is_fitted(self)
        return cut_points(self.model_, self.schema_)

    def _read(self, release: Release, model: SummaryModel, features: int) -> Self:
        found = {"cells_": cell_frame(model, release.domain), "numbers_": number_frame(model, release.domain)}
        return self._fitted(release, model, found, features)
