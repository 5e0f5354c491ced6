"""From ``X, y`` and a schema, given or read off them, to one frame and class labels; or a refusal by their form."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.sparse import issparse
from sklearn.exceptions import DataConversionWarning

from dpcore.arrays import Array, Floats, Ints, Values
from dpcore.data.building.ingest import check_columns, check_header
from dpcore.domain.columns import MISSING, OTHER, BooleanColumn, Column
from dpcore.domain.encoding import plain_numbers, texts_of
from dpcore.domain.schemas.names import plain_name
from dpcore.domain.schemas.origins import INFERRED, problem_of
from dpcore.domain.schemas.schema import INFERRED_NAME, Schema
from dpcore.errors import InputError, PrivacyLeakWarning, RequestError

#: What estimators take: the rows of a table, or of several by their names; and a value of the target for each.
Rows: TypeAlias = "pd.DataFrame | npt.ArrayLike | Mapping[str, pd.DataFrame]"
Labels: TypeAlias = "Values | npt.ArrayLike | None"


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
    X: Rows,  # noqa: N803
    y: Labels,
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


def _target_name(y: Labels, schema: Schema | None) -> str:
    # A frame may have a column that is called "name", and would answer with its values.
    named = getattr(y, "name", None) if getattr(y, "ndim", 1) == 1 else None
    if schema is None:
        return str(named) if named is not None else "target"
    if named is not None and any(column.name == plain_name(str(named)) for column in schema):
        return str(named)
    if len(schema.targets) == 1:
        return schema.targets[0]
    raise RequestError("Say which column of the schema is the target: target='...'.")


def features_of(X: Rows, schema: Schema | None, target: str) -> pd.DataFrame:  # noqa: N803
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


def prediction_frame(X: Rows, schema: Schema, target: str) -> pd.DataFrame:  # noqa: N803
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


def labels_of(y: Any) -> Values:
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


_BINS = 10
#: Name of this package; warnings point outside of it.
_ENGINE = __name__.partition(".")[0]


def domain_of(frame: pd.DataFrame, schema: Schema | None, target: str, *, numeric_target: bool = False) -> Schema:
    """The schema, read off the data if none is given. Warns if no result with it is private.

    Raises
    ------
    SchemaError, InputError
        If there is none and the data cannot be described.
    """
    if schema is None:
        warn_of(problem_of([INFERRED]), "Pass schema=... with facts known without the records.")
        return infer_schema(frame, target, numeric_target=numeric_target)
    warn_of(schema.problem)
    return schema


def warn_of(problem: str, advice: str = "") -> None:
    """Warn, at the first line outside this package, if there is a problem."""
    if problem:
        words = f"The result is not differentially private. {problem} {advice}".strip()
        warnings.warn(words, PrivacyLeakWarning, stacklevel=level_outside())


def level_outside() -> int:
    """The first line outside this package: ``stacklevel`` of a warning of the caller."""
    level, frame = 2, sys._getframe(2)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).partition(".")[0] == _ENGINE:
        level, frame = level + 1, frame.f_back
    return level


def infer_schema(frame: pd.DataFrame, target: str, *, numeric_target: bool) -> Schema:
    """Read a schema off the data. Convenient, not private, and its ``origin`` says so.

    The target becomes a column of categories, or of numbers if ``numeric_target``.

    Raises
    ------
    SchemaError
        If the data cannot be described, such as a column with too many categories.
    InputError
        If the target is not of the kind asked for, has one class alone, or a column is complex.
    """
    columns = []
    for name in frame:
        values, is_target = frame[name].infer_objects(), str(name) == target
        if pd.api.types.is_complex_dtype(values.dtype):
            raise InputError(f"Complex data not supported: column '{name}' holds complex numbers.")
        if is_target:
            fields = _infer_target(values, numeric=numeric_target)
        else:
            fields = (_infer_numbers if _is_numeric(values) else _infer_categories)(values)
        columns.append({"name": str(name), "target": is_target, **fields})
    return Schema.from_mapping(
        {
            "name": INFERRED_NAME,
            "max_rows": max(1, len(frame)),
            "columns": columns,
            "origin": INFERRED,
        }
    )


def _infer_target(values: Values, *, numeric: bool) -> dict[str, object]:
    if numeric:
        if not len(_finite(values)):
            raise InputError("y holds no numbers: use a classifier.")
        return _infer_numbers(values)
    if pd.api.types.is_float_dtype(values.dtype) and (_finite(values) % 1 != 0).any():
        raise InputError(
            "Unknown label type: y is continuous. Use a regressor, or pass y as text if every number is a class."
        )
    fields = _infer_categories(values)
    if len(fields.get("categories", (False, True))) < 2:
        raise InputError("y has only one class: a classifier needs at least 2.")
    return fields


def _finite(values: Values) -> Floats:
    numbers = plain_numbers(values)
    return numbers[np.isfinite(numbers)]


def _is_numeric(values: Values) -> bool:
    numeric = pd.api.types.is_numeric_dtype(values.dtype)
    return bool(numeric and not pd.api.types.is_bool_dtype(values.dtype) and len(_finite(values)))


def _infer_numbers(values: Values) -> dict[str, object]:
    numbers = _finite(values)
    low, high = float(numbers.min()), float(numbers.max())
    high = high if high > low else low + 1
    return {"type": "real", "lower": low, "upper": high, "bins": _BINS}


def _infer_categories(values: Values) -> dict[str, Any]:
    if pd.api.types.is_bool_dtype(values.dtype):
        return {"type": "boolean"}
    found = set(texts_of(values)) - {"", MISSING, OTHER} or {"none"}
    return {"type": "categorical", "categories": sorted(found, key=int if are_whole(found) else None)}


#: Largest class that becomes a number.
_MOST = 2**53


def class_labels(column: Column) -> Array:
    """Class labels of a target, ascending: a function of the schema alone, never of the labels in ``y``.

    ``False`` and ``True`` for a boolean column; integers for categories that are all written as
    integers are, such as 0, 1 and 2; text for everything else.
    """
    return np.sort(_labels(column))


def class_places(column: Column) -> Ints:
    """Place in the schema of each of :func:`class_labels`: shape (n_classes,)."""
    return np.argsort(_labels(column), kind="stable")


def _labels(column: Column) -> Array:
    """Class labels in the order of the schema, which models keep."""
    if isinstance(column, BooleanColumn):
        return np.array([False, True])
    if are_whole(column.classes):
        return np.array([int(label) for label in column.classes])
    return np.array(column.classes, dtype=object)


def are_whole(labels: Iterable[str]) -> bool:
    """Whether all labels are integers in their only spelling: not ``01``, not ``1.0``."""
    return all(map(_is_whole, labels))


def _is_whole(label: str) -> bool:
    digits = label.removeprefix("-")
    plain = digits.isascii() and digits.isdigit() and len(digits) < 17
    return plain and str(int(label)) == label and abs(int(label)) <= _MOST
