"""What every scikit-learn estimator shares: from ``X, y`` and a schema to a private table."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pydantic import BaseModel
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from dpcore.columns import NumericColumn
from dpcore.encoding import NO_WORDS, YES_WORDS, texts_of
from dpcore.errors import PrivacyLeakWarning, RequestError
from dpcore.ingest import check_columns, check_header, frame_chunks, ingest
from dpcore.plan import Learner, RunPlan, no_progress
from dpcore.privacy import parse_epsilon
from dpcore.randomness import source_for
from dpcore.release import Release, make_release
from dpcore.schema import Schema

_BINS = 10


class LearnerEstimator(BaseEstimator):  # type: ignore[misc]
    """A scikit-learn estimator over one learner of this engine.

    A subclass names its learner and the model that the learner releases, and takes the
    learner's parameters as keyword arguments beside ``epsilon``, ``schema``, ``accountant``,
    ``random_state`` and perhaps ``target``.
    """

    _learner: ClassVar[Learner]
    _model: ClassVar[type[BaseModel]]

    def _plan(self, schema: Schema, target: str, **changes: Any) -> RunPlan:
        """Plan of a fit: parameters of the learner, some of them changed."""
        settings = self.get_params()
        known = self._learner.parameters.model_fields
        given = {name: value for name, value in settings.items() if name in known}
        epsilon = parse_epsilon(settings["epsilon"])
        return self._learner.plan(schema, target, epsilon, given | changes)

    def _run(
        self,
        plan: RunPlan,
        frame: pd.DataFrame,
        children: Mapping[str, pd.DataFrame] | None = None,
    ) -> tuple[Release, Any]:
        """Charge the accountant, then read the records; ``children`` are further tables."""
        settings = self.get_params()
        if settings["accountant"] is not None:
            settings["accountant"].spend(plan.epsilon, self._learner.title, plan.delta)
        randomness = source_for(settings["random_state"])
        further = {name: frame_chunks(rows) for name, rows in (children or {}).items()}
        table = ingest(frame_chunks(frame), plan.schema, randomness, further)
        model = self._learner.run(table, plan, randomness, no_progress)
        release = make_release(self._learner.name, plan, model, secure=randomness.secure)
        return release, model

    @classmethod
    def _of(cls, release: Release, **settings: Any) -> tuple[Self, Any]:
        """Estimator with the parameters of a release, and the released model.

        Raises
        ------
        RequestError
            If the release is of another learner.
        """
        if release.kind != cls._learner.name:
            raise RequestError(
                f"This release is a '{release.kind}' and {cls.__name__} reads "
                f"a '{cls._learner.name}': use the estimator that made it."
            )
        parameters = dict(cls._learner.parameters.model_validate(release.parameters))
        known = {name: parameters[name] for name in cls._get_param_names() if name in parameters}
        estimator = cls(
            epsilon=release.certificate.epsilon, schema=release.domain, **settings, **known
        )
        return estimator, cls._model.model_validate(release.model)

    def _fitted(
        self, release: Release, model: Any, outputs: Mapping[str, Any], features: int
    ) -> Self:
        self.release_ = release
        self.model_ = model
        self.schema_ = release.domain
        self.n_features_in_ = features
        for name, value in outputs.items():
            setattr(self, name, value)
        return self


class PrivateEstimator(LearnerEstimator):
    """A :class:`LearnerEstimator` that predicts a target."""

    #: Whether the target is a number; else it is one of a list of classes.
    _numeric_target: ClassVar[bool] = False

    def fit(self, X: Any, y: Any) -> Self:  # noqa: N803
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
        settings = self.get_params()
        prepared = prepare_fit(
            X, y, settings["schema"], settings["target"], numeric_target=self._numeric_target
        )
        self._check_target(prepared.schema.column(prepared.target))
        plan = self._plan(prepared.schema, prepared.target)
        outputs = {} if self._numeric_target else {"classes_": class_labels(plan.classes, y)}
        release, model = self._run(plan, prepared.frame)
        return self._fitted(release, model, outputs, np.shape(X)[1])

    @classmethod
    def from_release(cls, release: Release) -> Self:
        """Fitted estimator of a release, for prediction without any data.

        Its parameters are those of the release. Classes are text, as in the schema.

        Raises
        ------
        RequestError
            If the release is of another learner or predicts another kind of target.
        """
        estimator, model = cls._of(release, target=release.target)
        cls._check_target(release.domain.column(release.target))
        outputs = {} if cls._numeric_target else {"classes_": np.array(model.classes, dtype=object)}
        return estimator._fitted(release, model, outputs, len(release.domain.columns) - 1)

    @classmethod
    def _check_target(cls, column: Any) -> None:
        """Refuse a target that this estimator does not predict."""

    def _features(self, X: Any) -> pd.DataFrame:  # noqa: N803
        check_is_fitted(self)
        return features_of(X, self.schema_, self.release_.target)


class PrivateClassifier(ClassifierMixin, PrivateEstimator):  # type: ignore[misc]
    """A :class:`PrivateEstimator` that predicts classes.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels in the type of ``y``; text if made from a release.
    """

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Class probabilities, columns in the order of ``classes_``: shape (n_rows, n_classes)."""
        return np.asarray(self.model_.predict_proba(self._features(X), self.schema_))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Predicted class of each row."""
        codes = self.model_.predict(self._features(X), self.schema_)
        return np.asarray(self.classes_[codes])


class PrivateRegressor(RegressorMixin, PrivateEstimator):  # type: ignore[misc]
    """A :class:`PrivateEstimator` that predicts a number within public bounds."""

    _numeric_target: ClassVar[bool] = True

    def predict(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Predicted number of each row: shape (n_rows,)."""
        return np.asarray(self.model_.predict(self._features(X), self.schema_))

    @classmethod
    def _check_target(cls, column: Any) -> None:
        if not isinstance(column, NumericColumn):
            raise RequestError(
                f"The target '{column.name}' is not a number in the schema: use a classifier."
            )


@dataclass(frozen=True)
class PreparedFit:
    """A frame that holds features and target, with the schema that describes it."""

    frame: pd.DataFrame
    schema: Schema
    target: str


def prepare_fit(
    X: Any,  # noqa: N803
    y: Any,
    schema: Schema | None,
    target: str | None,
    *,
    numeric_target: bool,
) -> PreparedFit:
    """Join ``X`` and ``y`` under the names of the schema.

    Raises
    ------
    RequestError
        If lengths differ or the target cannot be told.
    IngestError
        If a column of the schema is missing.
    """
    if len(X) != len(y):
        raise RequestError(f"X has {len(X)} rows and y has {len(y)}: they must be the same.")
    name = target or _target_name(y, schema)
    frame = features_of(X, schema, name).copy(deep=False)
    if name in frame.columns:
        raise RequestError(f"X must not hold the target '{name}'.")
    frame[name] = np.asarray(y)
    domain = schema or infer_schema(frame, name, numeric_target=numeric_target)
    check_header([str(column) for column in frame.columns])
    check_columns(frame, domain)
    return PreparedFit(frame, domain, name)


def _target_name(y: Any, schema: Schema | None) -> str:
    named = getattr(y, "name", None)
    if schema is None:
        return str(named) if named is not None else "target"
    if named is not None and any(column.name == str(named) for column in schema):
        return str(named)
    if len(schema.targets) == 1:
        return schema.targets[0]
    raise RequestError("Say which column of the schema is the target: target='...'.")


def features_of(X: Any, schema: Schema | None, target: str) -> pd.DataFrame:  # noqa: N803
    """``X`` as a frame with text names; an array takes the schema's feature names in order."""
    if isinstance(X, pd.DataFrame):
        return X.set_axis([str(name) for name in X.columns], axis=1).reset_index(drop=True)
    array = np.asarray(X)
    if array.ndim != 2:
        raise RequestError("X must have two dimensions: rows and features.")
    names = [f"x{i}" for i in range(array.shape[1])]
    if schema is not None:
        features = [column.name for column in schema if column.name != target]
        if len(features) != array.shape[1]:
            raise RequestError(
                f"X has {array.shape[1]} columns and the schema describes {len(features)} features."
            )
        names = features
    return pd.DataFrame(array, columns=names)


def infer_schema(frame: pd.DataFrame, target: str, *, numeric_target: bool) -> Schema:
    """Read a schema off the data. Convenient, not private: warns each time.

    The target becomes a column of categories, or of numbers if ``numeric_target``.

    Raises
    ------
    SchemaError
        If the data cannot be described, such as a column with too many categories.
    """
    warnings.warn(
        "No schema was given, so categories, bounds and the number of rows were read off the "
        "data: the result is not differentially private. Pass schema=... to keep the guarantee.",
        PrivacyLeakWarning,
        stacklevel=4,
    )
    columns = []
    for name in frame:
        as_number = numeric_target if str(name) == target else _is_numeric(frame[name])
        fields = (_infer_numbers if as_number else _infer_categories)(frame[name])
        columns.append({"name": str(name), "target": str(name) == target, **fields})
    return Schema.from_mapping(
        {"name": "inferred", "max_rows": max(1, len(frame)), "columns": columns}
    )


def _is_numeric(values: pd.Series[Any]) -> bool:
    numeric = pd.api.types.is_numeric_dtype(values.dtype)
    return bool(numeric and not pd.api.types.is_bool_dtype(values.dtype) and values.notna().any())


def _infer_numbers(values: pd.Series[Any]) -> dict[str, Any]:
    numbers = pd.to_numeric(values, errors="coerce").astype(float)
    if not np.isfinite(numbers).any():
        raise RequestError("y holds no numbers: use a classifier.")
    low, high = float(numbers.min()), float(numbers.max())
    high = high if high > low else low + 1
    return {"type": "real", "lower": low, "upper": high, "bins": _BINS}


def _infer_categories(values: pd.Series[Any]) -> dict[str, Any]:
    if pd.api.types.is_bool_dtype(values.dtype):
        return {"type": "boolean"}
    found = sorted(set(texts_of(values)) - {""}) or ["none"]
    return {"type": "categorical", "categories": found}


def class_labels(classes: tuple[str, ...], y: Any) -> NDArray[Any]:
    """Class labels in the type of ``y``; only its dtype is looked at."""
    kind = np.asarray(y).dtype
    if kind.kind == "b":
        return np.array([label in YES_WORDS for label in classes])
    if kind.kind in "iuf":
        return np.array([_number(label) for label in classes]).astype(kind)
    return np.array(classes, dtype=object)


def _number(label: str) -> float:
    if label in YES_WORDS and label not in {"1"}:
        return 1.0
    if label in NO_WORDS and label not in {"0"}:
        return 0.0
    try:
        return float(label)
    except ValueError:
        raise RequestError(f"y is numeric, but the schema has a class '{label}'.") from None
