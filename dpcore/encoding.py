"""From raw values to members of the public domain: clamp, ``(other)``, ``(missing)``."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpcore.columns import (
    MISSING,
    OTHER,
    BooleanColumn,
    IntegerColumn,
    NumericColumn,
    format_number,
)
from dpcore.schema import Schema

#: Spellings of an absent value, unless the schema lists them as a category.
MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", "none", "<na>", "nat"})
YES_WORDS = frozenset({"yes", "true", "1", "1.0", "y", "t"})
NO_WORDS = frozenset({"no", "false", "0", "0.0", "n", "f"})

Codes = NDArray[np.uint16]


def texts_of(values: pd.Series[Any]) -> list[str]:
    """Values as stripped text; whole floats lose their ``.0``, absent values become ``""``."""
    if pd.api.types.is_bool_dtype(values.dtype):
        return ["" if pd.isna(value) else ("yes" if value else "no") for value in values]
    if pd.api.types.is_integer_dtype(values.dtype):
        return ["" if pd.isna(value) else str(value) for value in values]
    if pd.api.types.is_numeric_dtype(values.dtype):
        numbers = pd.to_numeric(values).to_numpy(dtype=float, na_value=np.nan)
        return [format_number(v) if np.isfinite(v) else "" for v in numbers]
    return [_text(value) for value in values]


def _text(value: Any) -> str:
    if not pd.api.types.is_scalar(value):
        return str(value).strip()
    if pd.isna(value):
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating) and np.isfinite(value):
        return format_number(float(value))
    return str(value).strip()


def encode_categories(column: Any, values: pd.Series[Any]) -> Codes:
    """Codes into ``column.cells`` of a boolean, categorical or ordinal column."""
    texts = pd.Series(texts_of(values), dtype=object)
    boolean = isinstance(column, BooleanColumn)
    lookup = _boolean_lookup() if boolean else _lookup(column)
    if boolean:
        texts = texts.str.lower()
    other, missing = column.cells.index(OTHER), column.cells.index(MISSING)
    folded = {text: _code(text, lookup, other, missing) for text in texts.unique()}
    return texts.map(folded).to_numpy(dtype=np.uint16)


def _lookup(column: Any) -> dict[str, int]:
    return {cell: code for code, cell in enumerate(column.cells)}


def _boolean_lookup() -> dict[str, int]:
    return dict.fromkeys(NO_WORDS, 0) | dict.fromkeys(YES_WORDS, 1) | {OTHER: 2, MISSING: 3}


def _code(text: str, lookup: dict[str, int], other: int, missing: int) -> int:
    if text in lookup:
        return lookup[text]
    return missing if text.lower() in MISSING_WORDS else other


def clamp_numbers(column: Any, values: pd.Series[Any]) -> NDArray[np.float64]:
    """Numbers clamped to the column's bounds; what is no number becomes NaN."""
    if values.dtype.kind in "mM":  # pandas would count the nanoseconds of a date
        return np.full(len(values), np.nan)
    numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    if isinstance(column, IntegerColumn):
        numbers = np.rint(numbers)
    return np.asarray(np.clip(numbers, column.lower, column.upper))


def bin_numbers(column: Any, numbers: NDArray[np.float64]) -> Codes:
    """Codes into ``column.cells`` of clamped numbers: the bin, or ``(missing)`` for NaN."""
    codes = np.searchsorted(np.asarray(column.inner_edges), numbers, side="left")
    codes[np.isnan(numbers)] = len(column.cells) - 1
    return codes.astype(np.uint16)


def encode(column: Any, values: pd.Series[Any]) -> tuple[Codes, NDArray[np.float64] | None]:
    """Codes of a column, and its clamped numbers if it is numeric."""
    if isinstance(column, NumericColumn):
        numbers = clamp_numbers(column, values)
        return bin_numbers(column, numbers), numbers
    return encode_categories(column, values), None


def cell_of(column: Any, value: object) -> int:
    """Code of one value typed by a user; absent values are ``(missing)``."""
    codes, _ = encode(column, pd.Series([value], dtype=object))
    return int(codes[0])


def encode_columns(
    frame: pd.DataFrame, schema: Schema, names: Iterable[str]
) -> dict[str, NDArray[np.int64]]:
    """Cell codes of some columns of a frame; a column that it lacks counts as missing."""
    absent = pd.Series([None] * len(frame), dtype=object)
    return {
        name: encode(
            schema.column(name),
            frame[name].reset_index(drop=True) if name in frame.columns else absent,
        )[0].astype(np.int64)
        for name in names
    }
