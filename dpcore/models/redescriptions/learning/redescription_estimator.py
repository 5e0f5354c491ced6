"""The scikit-learn estimator of redescriptions."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import ClassVar, Self

import numpy as np
import pandas as pd
from sklearn.base import TransformerMixin
from sklearn.utils.validation import check_is_fitted

from dpcore.arrays import Flags, Texts
from dpcore.data.building.ingest import check_columns, check_header
from dpcore.domain.columns import View
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import InputError, RequestError
from dpcore.learning.learner import Learner
from dpcore.learning.sklearn_base import LearnerEstimator
from dpcore.learning.sklearn_frames import Rows, check_size, domain_of, features_of, prediction_frame
from dpcore.models.redescriptions.learning.redescription_learner import RedescriptionLearner
from dpcore.models.redescriptions.released.extraction import Constraints
from dpcore.models.redescriptions.released.redescription_model import RedescriptionModel
from dpcore.models.redescriptions.released.redescription_parameters import (
    PairSampler,
    PairSensitivity,
    RedescriptionMethod,
)
from dpcore.models.redescriptions.released.redescription_set import Redescription, RedescriptionSet
from dpcore.privacy.accountant import Accountant
from dpcore.released.release import Release
from dpcore.validation import validated


class RedescriptionMiner(TransformerMixin, LearnerEstimator):  # type: ignore[misc]
    """Differentially private redescriptions between two views of the same people.

    Guarantee: pure epsilon-DP, one person added or removed; unconditional for the default
    method; proofs in ``docs/privacy/redescriptions.md``.

    Attributes
    ----------
    redescriptions_ : RedescriptionSet
        What the release says under the default constraints; :meth:`extract` reads it again.
    release_ : Release
        Model and certificate; safe to publish if its certificate is private.
    model_ : RedescriptionModel
    schema_ : Schema
    n_features_in_ : int
    """

    _learner: ClassVar[Learner] = RedescriptionLearner()

    def __init__(
        self,
        epsilon: float | Decimal = 1.0,
        *,
        schema: Schema | None = None,
        method: RedescriptionMethod = "exact_pairs",
        left: Sequence[str] | None = None,
        right: Sequence[str] | None = None,
        depth: int | None = None,
        starts: int | None = None,
        rounds: int = 1,
        tree_share: float | None = None,
        margins: bool | None = None,
        sampler: PairSampler = "chain",
        steps: int = 10000,
        pool_size: int = 20000,
        sensitivity: PairSensitivity = "proved",
        reserved_splits: bool = False,
        accountant: Accountant | None = None,
        random_state: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.schema = schema
        self.method = method
        self.left = left
        self.right = right
        self.depth = depth
        self.starts = starts
        self.rounds = rounds
        self.tree_share = tree_share
        self.margins = margins
        self.sampler = sampler
        self.steps = steps
        self.pool_size = pool_size
        self.sensitivity = sensitivity
        self.reserved_splits = reserved_splits
        self.accountant = accountant
        self.random_state = random_state

    def fit(self, X: Rows, y: Rows | None = None) -> Self:
        """Spend ``epsilon`` and mine.

        Parameters
        ----------
        X : DataFrame or array of shape (n_rows, n_columns)
            Columns of both views, or of the left view.
        y : DataFrame or array of shape (n_rows, n_right_columns) or None
            Columns of the right view, row by row the same people. The two frames are then the
            views, unless ``left``, ``right`` or the schema name others.

        Raises
        ------
        RequestError, SchemaError
            If parameters, schema and columns do not fit together. Nothing is charged.
        BudgetError
            If the accountant has too little left. Nothing is charged.
        IngestError
            If the rows do not fit the schema.
        """
        frame, views, domain = _prepared(X, y, self.schema)
        own = {"left": self.left, "right": self.right}
        named = {side: columns for side, columns in views.items() if own[side] is None and not domain.view(side)}
        release, model = self._run(self._plan(domain, "", **named), frame)
        return self._read(release, model, frame.shape[1])

    @classmethod
    def from_release(cls, release: Release) -> Self:
        """Fitted estimator of a release, without any data.

        Raises
        ------
        RequestError
            If the release is of another learner.
        """
        miner, model = cls._of(release)
        return miner._read(release, model, len(release.domain.columns))

    def extract(self, **constraints: object) -> RedescriptionSet:
        """Read the release again under other constraints. Free.

        Parameters
        ----------
        **constraints
            Fields of :class:`~dpcore.models.redescriptions.released.extraction.Constraints`.

        Raises
        ------
        RequestError
            If one of them cannot be used.
        """
        check_is_fitted(self)
        model: RedescriptionModel = self.model_
        return model.extract(self.schema_, validated(Constraints, constraints))

    def transform(self, X: Rows) -> Flags:
        """Whether both sides of each redescription hold for each row.

        Returns
        -------
        bool array of shape (n_rows, n_redescriptions)
            Redescriptions in the order of ``redescriptions_``.
        """
        check_is_fitted(self)
        frame = prediction_frame(X, self.schema_, "")
        leaves = [
            (pair.left.apply(frame, self.schema_), pair.right.apply(frame, self.schema_)) for pair in self.model_.pairs
        ]

        def holds(item: Redescription) -> Flags:
            left, right = leaves[item.pair]
            return np.isin(left, item.left_leaves) & np.isin(right, item.right_leaves)

        found = [holds(item) for item in self.redescriptions_.found]
        return np.stack(found, axis=1) if found else np.zeros((len(frame), 0), dtype=np.bool_)

    def get_feature_names_out(self, input_features: object = None) -> Texts:  # noqa: ARG002
        """Both conditions of each redescription, in the order of :meth:`transform`."""
        check_is_fitted(self)
        return np.array([item.text for item in self.redescriptions_.found], dtype=object)

    def _read(self, release: Release, model: RedescriptionModel, features: int) -> Self:
        found = {"redescriptions_": model.extract(release.domain)}
        return self._fitted(release, model, found, features)


def _prepared(
    X: Rows, y: Rows | None, schema: Schema | None
) -> tuple[pd.DataFrame, dict[View, tuple[str, ...]], Schema]:
    """One frame of both views, the columns of each if there were two, and the schema."""
    frame, views = _joined(X, y, schema)
    check_size(frame)
    check_header([str(column) for column in frame.columns])
    domain = domain_of(frame, schema, "")
    check_columns(frame, domain)
    return frame, views, domain


def _joined(X: Rows, y: Rows | None, schema: Schema | None) -> tuple[pd.DataFrame, dict[View, tuple[str, ...]]]:
    if y is None:
        return features_of(X, schema, ""), {}
    frame, other = _side(X, schema, "left"), _side(y, schema, "right")
    if len(frame) != len(other):
        raise InputError(f"The views have {len(frame)} and {len(other)} rows: row by row they must be the same people.")
    common = [name for name in frame.columns if name in other.columns]
    if common:
        raise RequestError(f"Both views have a column '{common[0]}': rename one of them.")
    views: dict[View, tuple[str, ...]] = {
        "left": tuple(frame.columns),
        "right": tuple(other.columns),
    }
    return pd.concat([frame, other], axis=1), views


def _side(values: Rows, schema: Schema | None, side: View) -> pd.DataFrame:
    """One view as a frame; an array takes the names that the schema puts on that side."""
    frame = features_of(values, None, "")
    if isinstance(values, pd.DataFrame):
        return frame
    if schema is None:
        return frame.set_axis([f"{side}_{place}" for place in range(frame.shape[1])], axis=1)
    names = schema.view(side)
    if len(names) != frame.shape[1]:
        raise InputError(
            f"The {side} view has {frame.shape[1]} columns and the schema puts {len(names)} on "
            "that side: name the columns with a data frame."
        )
    return frame.set_axis(list(names), axis=1)
