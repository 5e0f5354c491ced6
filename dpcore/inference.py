"""A schema read off the records, for estimators that were given none: convenient, never private."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpcore.encoding import texts_of
from dpcore.errors import PrivacyLeakWarning, RequestError
from dpcore.origins import INFERRED, problem_of
from dpcore.schema import INFERRED_NAME, Schema

_BINS = 10
#: Where the code of this package is; warnings point outside of it.
_ENGINE = str(Path(__file__).parent)


def domain_of(
    frame: pd.DataFrame, schema: Schema | None, target: str, *, numeric_target: bool = False
) -> Schema:
    """The schema, read off the data if none is given. Warns if no result with it is private.

    Raises
    ------
    SchemaError, RequestError
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
        warnings.warn(words, PrivacyLeakWarning, stacklevel=_level_outside())


def _level_outside() -> int:
    """The first line outside this package, as :func:`warn_of` counts levels of the stack."""
    level, frame = 2, sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_ENGINE):
        level, frame = level + 1, frame.f_back
    return level


def infer_schema(frame: pd.DataFrame, target: str, *, numeric_target: bool) -> Schema:
    """Read a schema off the data. Convenient, not private, and its ``origin`` says so.

    The target becomes a column of categories, or of numbers if ``numeric_target``.

    Raises
    ------
    SchemaError
        If the data cannot be described, such as a column with too many categories.
    """
    columns = []
    for name in frame:
        as_number = numeric_target if str(name) == target else _is_numeric(frame[name])
        fields = (_infer_numbers if as_number else _infer_categories)(frame[name])
        columns.append({"name": str(name), "target": str(name) == target, **fields})
    return Schema.from_mapping(
        {
            "name": INFERRED_NAME,
            "max_rows": max(1, len(frame)),
            "columns": columns,
            "origin": INFERRED,
        }
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
