"""What every scikit-learn estimator shares: from ``X, y`` and a schema to a private table."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from dpcore.encoding import NO_WORDS, YES_WORDS, texts_of
from dpcore.errors import PrivacyLeakWarning, RequestError
from dpcore.ingest import check_columns, check_header, frame_chunks, ingest
from dpcore.plan import Learner, no_progress
from dpcore.privacy import parse_epsilon
from dpcore.randomness import RandomSource, source_for
from dpcore.release import Release, make_release
from dpcore.schema import Schema
from dpcore.table import PrivateTable

_BINS = 10


class PrivateClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn classifier over one learner of this engine.

    A subclass names its learner and takes the learner's parameters as keyword arguments beside
    ``epsilon``, ``schema``, ``target``, ``accountant`` and ``random_state``.
    """

    _learner: ClassVar[Learner]

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
        prepared = prepare_fit(X, y, settings["schema"], settings["target"])
        known = self._learner.parameters.model_fields
        given = {name: value for name, value in settings.items() if name in known}
        epsilon = parse_epsilon(settings["epsilon"])
        plan = self._learner.plan(prepared.schema, prepared.target, epsilon, given)
        if settings["accountant"] is not None:
            settings["accountant"].spend(epsilon, self._learner.title)
        randomness = source_for(settings["random_state"])
        table = prepared.ingest(randomness)
        model: Any = self._learner.run(table, plan, randomness, no_progress)
        self.release_: Release = make_release(
            self._learner.name, plan, model, secure=randomness.secure
        )
        self.model_ = model
        self.schema_ = prepared.schema
        self.classes_ = class_labels(self.model_.classes, y)
        self.n_features_in_ = np.shape(X)[1]
        return self

    def predict_proba(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Class probabilities, columns in the order of ``classes_``: shape (n_rows, n_classes)."""
        return np.asarray(self.model_.predict_proba(self._features(X), self.schema_))

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """Predicted class of each row."""
        codes = self.model_.predict(self._features(X), self.schema_)
        return np.asarray(self.classes_[codes])

    def _features(self, X: Any) -> pd.DataFrame:  # noqa: N803
        check_is_fitted(self)
        return features_of(X, self.schema_, self.release_.target)


@dataclass(frozen=True)
class PreparedFit:
    """A frame that holds features and target, with the schema that describes it."""

    frame: pd.DataFrame
    schema: Schema
    target: str

    def ingest(self, randomness: RandomSource) -> PrivateTable:
        """Encode the records. Call after the budget was charged."""
        return ingest(frame_chunks(self.frame), self.schema, randomness)


def prepare_fit(X: Any, y: Any, schema: Schema | None, target: str | None) -> PreparedFit:  # noqa: N803
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
    domain = schema or infer_schema(frame, name)
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


def infer_schema(frame: pd.DataFrame, target: str) -> Schema:
    """Read a schema off the data. Convenient, not private: warns each time.

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
    columns = [_infer_column(frame[name], str(name), str(name) == target) for name in frame]
    return Schema.from_mapping(
        {"name": "inferred", "max_rows": max(1, len(frame)), "columns": columns}
    )


def _infer_column(values: pd.Series[Any], name: str, is_target: bool) -> dict[str, Any]:
    numeric = pd.api.types.is_numeric_dtype(values.dtype)
    if pd.api.types.is_bool_dtype(values.dtype):
        return {"name": name, "type": "boolean", "target": is_target}
    if numeric and not is_target and values.notna().any():
        low, high = float(values.min()), float(values.max())
        high = high if high > low else low + 1
        return {"name": name, "type": "real", "lower": low, "upper": high, "bins": _BINS}
    found = sorted(set(texts_of(values)) - {""}) or ["none"]
    return {"name": name, "type": "categorical", "categories": found, "target": is_target}


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
