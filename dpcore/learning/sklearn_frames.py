"""From ``X, y`` and a schema to one frame: what estimators take, made ready or refused by its form."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning

from dpcore.arrays import Array
from dpcore.data.building.ingest import check_columns, check_header
from dpcore.domain.schemas.names import plain_name
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import InputError, RequestError
from dpcore.learning.inferred_schema import domain_of, level_outside


@dataclass(frozen=True)
class PreparedFit:
    """A frame that holds features and target, with the schema that describes it."""

    frame: pd.DataFrame
    schema: Schema
    target: str

    @property
    def features(self) -> int:
        """Columns beside the target."""
        return self.frame.shape[1] - 1


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
    InputError
        If one of them is not of the form that is asked for, or a feature of the schema is missing.
    RequestError
        If the target cannot be told.
    IngestError
        If the column that names the person is missing.
    """
    name = plain_name(target or _target_name(y, schema))
    frame, labels = features_of(X, schema, name).copy(deep=False), labels_of(y)
    check_lengths(len(frame), len(labels))
    if name in frame.columns:
        raise RequestError(f"X must not hold the target '{name}'.")
    check_size(frame)
    frame[name] = labels
    check_header(list(frame.columns))
    domain = domain_of(frame, schema, name, numeric_target=numeric_target)
    check_columns(frame, domain)
    return PreparedFit(frame, domain, name)


def check_lengths(rows: int, labels: int) -> None:
    """Refuse labels that are not as many as the rows.

    Raises
    ------
    InputError
        Naming both numbers.
    """
    if rows != labels:
        raise InputError(f"X has {rows} rows and y has {labels}: they must be the same.")


def _target_name(y: Any, schema: Schema | None) -> str:
    # A frame may have a column that is called "name", and would answer with its values.
    named = getattr(y, "name", None) if getattr(y, "ndim", 1) == 1 else None
    if schema is None:
        return str(named) if named is not None else "target"
    if named is not None and any(column.name == plain_name(str(named)) for column in schema):
        return str(named)
    if len(schema.targets) == 1:
        return schema.targets[0]
    raise RequestError("Say which column of the schema is the target: target='...'.")


def features_of(X: Any, schema: Schema | None, target: str) -> pd.DataFrame:  # noqa: N803
    """``X`` as a frame with text names; an array takes the schema's feature names in order.

    Names have no blanks at their ends and no line breaks, as those of files. Only form is looked at.
    Values are all members of the schema's domain, so no value is refused.

    Raises
    ------
    InputError
        If it has not two dimensions, is sparse, or lacks a feature of the schema.
    """
    features = None if schema is None else [own.name for own in schema if own.name != target]
    if isinstance(X, pd.DataFrame):
        frame = X.set_axis([plain_name(str(name)) for name in X.columns], axis=1).reset_index(drop=True)
        absent = [] if schema is None else schema.lacking([*frame.columns, target])
        if absent:
            names = ", ".join(f"'{name}'" for name in absent[:10])
            raise InputError(f"X has no column {names}, which the schema describes.")
        return frame
    array = _rows(X)
    if array.ndim != 2:
        raise InputError(
            "X must have two dimensions: rows and features. Reshape your data: "
            "X.reshape(-1, 1) if it is one feature, X.reshape(1, -1) if it is one row."
        )
    if features is None:
        features = [f"x{i}" for i in range(array.shape[1])]
    if len(features) != array.shape[1]:
        raise InputError(
            f"X has {array.shape[1]} features, but Frostglass is expecting {len(features)} "
            "features as input: those of the schema, in its order."
        )
    return pd.DataFrame(array, columns=features)


def told_of(X: Any, schema: Schema, target: str) -> pd.DataFrame:  # noqa: N803
    """``X`` as :func:`features_of` gives it, to be predicted: a header that no fit takes is refused here too.

    Raises
    ------
    InputError
        See there.
    IngestError
        If columns have one name.
    """
    frame = features_of(X, schema, target)
    check_header(list(frame.columns))
    return frame


def _rows(X: Any) -> Array:  # noqa: N803
    """Rows as an array; nested lists keep the type of each value."""
    if issparse(X):
        raise InputError("X is sparse, which is not supported: pass X.toarray().")
    if hasattr(X, "__array__"):
        return np.asarray(X)
    try:
        rows = list(X)
        if any(isinstance(row, str | bytes) for row in rows):
            return np.array(rows, dtype=object)  # A text is one value, not a row of letters.
        return np.array([list(row) for row in rows], dtype=object)
    except (TypeError, ValueError):
        return np.array(None)


def labels_of(y: Any) -> pd.Series[Any]:
    """A target by place. A list stays what it is: one value must not change the type of others.

    Raises
    ------
    InputError
        If there is none, or it has not one dimension.
    """
    if y is None:
        raise InputError("This estimator requires y to be passed, but the target y is None.")
    if hasattr(y, "__array__") and not isinstance(y, pd.Series | pd.DataFrame):
        y = np.asarray(y)
    if getattr(y, "ndim", 1) == 2 and y.shape[1] == 1:
        words = "A column-vector y was passed when a 1d array was expected: pass y.ravel()."
        warnings.warn(words, DataConversionWarning, stacklevel=level_outside())
        y = y.iloc[:, 0] if isinstance(y, pd.DataFrame) else y[:, 0]
    single = isinstance(y, str | bytes) or not isinstance(y, Iterable)
    if single or getattr(y, "ndim", 1) != 1:
        raise InputError("y must have one dimension: one value for each row of X.")
    if hasattr(y, "dtype"):
        return pd.Series(y).reset_index(drop=True)
    return pd.Series(list(y), dtype=object)


def check_size(frame: pd.DataFrame) -> None:
    """Refuse a frame without rows or columns.

    Raises
    ------
    InputError
        Naming what there is none of.
    """
    for count, what in zip(frame.shape, ("sample(s)", "feature(s)"), strict=True):
        if count == 0:
            raise InputError(f"X has 0 {what} (shape={frame.shape}) while a minimum of 1 is required.")
