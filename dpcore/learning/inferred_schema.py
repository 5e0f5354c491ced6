"""A schema read off the records, for estimators that were given none: convenient, never private."""

from __future__ import annotations

import sys
import warnings
from types import FrameType
from typing import Any

import numpy as np
import pandas as pd

from dpcore.arrays import Floats
from dpcore.domain.columns import MISSING, OTHER
from dpcore.domain.encoding import plain_numbers, texts_of
from dpcore.domain.schemas.origins import INFERRED, problem_of
from dpcore.domain.schemas.schema import INFERRED_NAME, Schema
from dpcore.errors import InputError, PrivacyLeakWarning
from dpcore.learning.labels import are_whole

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
    while frame.f_back is not None and _package(frame) == _ENGINE:
        level, frame = level + 1, frame.f_back
    return level


def _package(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", "")).partition(".")[0]


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


def _infer_target(values: pd.Series[Any], *, numeric: bool) -> dict[str, Any]:
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


def _finite(values: pd.Series[Any]) -> Floats:
    numbers = plain_numbers(values)
    return numbers[np.isfinite(numbers)]


def _is_numeric(values: pd.Series[Any]) -> bool:
    numeric = pd.api.types.is_numeric_dtype(values.dtype)
    return bool(numeric and not pd.api.types.is_bool_dtype(values.dtype) and len(_finite(values)))


def _infer_numbers(values: pd.Series[Any]) -> dict[str, Any]:
    numbers = _finite(values)
    low, high = float(numbers.min()), float(numbers.max())
    high = high if high > low else low + 1
    return {"type": "real", "lower": low, "upper": high, "bins": _BINS}


def _infer_categories(values: pd.Series[Any]) -> dict[str, Any]:
    if pd.api.types.is_bool_dtype(values.dtype):
        return {"type": "boolean"}
    found = set(texts_of(values)) - {"", MISSING, OTHER} or {"none"}
    return {"type": "categorical", "categories": sorted(found, key=int if are_whole(found) else None)}
