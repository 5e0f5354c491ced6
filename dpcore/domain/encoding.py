"""From raw values to members of the public domain: clamp, ``(other)``, ``(missing)``."""

from __future__ import annotations

import cmath
import math
from collections.abc import Iterable
from datetime import datetime, timedelta
from decimal import Decimal
from numbers import Real
from typing import Any, Final

import numpy as np
import pandas as pd

from dpcore.arrays import Cells, Floats, Ints
from dpcore.domain.columns import MISSING, OTHER, BooleanColumn, IntegerColumn, NumericColumn
from dpcore.domain.schema import Schema

#: Spellings of an absent value, unless the schema lists them as a category.
MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", "none", "<na>", "nat"})
YES_WORDS = frozenset({"yes", "true", "1", "1.0", "y", "t"})
NO_WORDS = frozenset({"no", "false", "0", "0.0", "n", "f"})

#: Whole numbers that a column of integers can hold: as floats they are written the same.
_WHOLE: Final = 2**64
_PLAIN: Final = frozenset({int, float, bool})
#: Text of an object that has none; no category is called so.
_NO_TEXT: Final = OTHER


def texts_of(values: pd.Series[Any]) -> list[str]:
    """Values as stripped text; whole floats lose their ``.0``, absent values become ``""``.

    The text of a value is a function of that value alone, whatever stands beside it and whatever
    type the column has for its sake: one odd value must not change the code of other people.
    """
    return [_text(value) for value in values.tolist()]


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value.strip()
    if type(value) is int:
        return str(value)
    value = _real(value)
    if _absent(value):
        return ""
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if isinstance(value, float | np.floating):
        return _text_of_float(float(value))
    return _text_of_other(value)


def _real(value: Any) -> Any:
    """The real number that a complex one without imaginary part is, or else the value itself.

    A single complex number makes complex ones of all numbers of a column.
    """
    plain = isinstance(value, complex | np.complexfloating) and value.imag == 0
    return float(value.real) if plain else value


def _absent(value: Any) -> bool:
    """Whether a value stands for none at all."""
    if value is None or value is pd.NA or value is pd.NaT:
        return True
    if isinstance(value, Decimal):
        return value.is_nan()
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    inexact = isinstance(value, float | complex | np.inexact)
    return inexact and cmath.isnan(value)


def _text_of_float(value: float) -> str:
    """A whole number as an integer writes it, since one missing value makes floats of integers."""
    if value.is_integer() and abs(value) <= _WHOLE:
        return str(int(value))
    return repr(value)


def _text_of_other(value: Any) -> str:
    """Text of anything else; pandas' own for times, because pandas replaces other kinds of them."""
    try:
        if isinstance(value, datetime | np.datetime64):
            value = pd.Timestamp(value)
        elif isinstance(value, timedelta | np.timedelta64):
            value = pd.Timedelta(value)
        return str(value).strip()
    except Exception:  # noqa: BLE001  whatever an object does, it must not stop the others
        return _NO_TEXT


def encode_categories(column: Any, values: pd.Series[Any]) -> Cells:
    """Codes into ``column.cells`` of a boolean, categorical or ordinal column."""
    texts = texts_of(values)
    boolean = isinstance(column, BooleanColumn)
    lookup = _boolean_lookup() if boolean else _lookup(column)
    if boolean:
        texts = [text.lower() for text in texts]
    other, missing = column.cells.index(OTHER), column.cells.index(MISSING)
    folded = {text: _code(text, lookup, other, missing) for text in set(texts)}
    return np.fromiter((folded[text] for text in texts), np.uint16, len(texts))


def _lookup(column: Any) -> dict[str, int]:
    return {cell: code for code, cell in enumerate(column.cells)}


def _boolean_lookup() -> dict[str, int]:
    return dict.fromkeys(NO_WORDS, 0) | dict.fromkeys(YES_WORDS, 1) | {OTHER: 2, MISSING: 3}


def _code(text: str, lookup: dict[str, int], other: int, missing: int) -> int:
    if text in lookup:
        return lookup[text]
    return missing if text.lower() in MISSING_WORDS else other


def clamp_numbers(column: Any, values: pd.Series[Any]) -> Floats:
    """Numbers clamped to the column's bounds; what is not a number becomes NaN.

    As in :func:`texts_of`, each is a function of its own value.
    """
    numbers = _numbers(values)
    if isinstance(column, IntegerColumn):
        numbers = np.rint(numbers)
    return np.asarray(np.clip(numbers, column.lower, column.upper))


def _numbers(values: pd.Series[Any]) -> Floats:
    if values.dtype.kind in "fiub":  # the same conversion for each value
        return np.array(values.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.fromiter(map(_number, values.tolist()), np.float64, len(values))


def _number(value: Any) -> float:
    if isinstance(value, str):
        return _number_of_text(value)
    if type(value) not in _PLAIN and not _is_number(value := _real(value)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_number(value: Any) -> bool:
    if _absent(value) or isinstance(value, np.timedelta64):  # numpy counts times as integers
        return False
    return isinstance(value, Real | Decimal | np.bool_)


def _number_of_text(text: str) -> float:
    """Number that a text writes in the plain way: no ``1_000``, no digits of other scripts."""
    if not text.isascii() or "_" in text:
        return math.nan
    try:
        return float(text)
    except ValueError:
        return math.nan


def bin_numbers(column: Any, numbers: Floats) -> Cells:
    """Codes into ``column.cells`` of clamped numbers: the bin, or ``(missing)`` for NaN."""
    codes = np.searchsorted(np.asarray(column.inner_edges), numbers, side="left")
    codes[np.isnan(numbers)] = len(column.cells) - 1
    return codes.astype(np.uint16)


def encode(column: Any, values: pd.Series[Any]) -> tuple[Cells, Floats | None]:
    """Codes of a column, and its clamped numbers if it is numeric."""
    if isinstance(column, NumericColumn):
        numbers = clamp_numbers(column, values)
        return bin_numbers(column, numbers), numbers
    return encode_categories(column, values), None


def cell_of(column: Any, value: object) -> int:
    """Code of one value typed by a user; absent values are ``(missing)``."""
    codes, _ = encode(column, pd.Series([value], dtype=object))
    return int(codes[0])


def encode_columns(frame: pd.DataFrame, schema: Schema, names: Iterable[str]) -> dict[str, Ints]:
    """Cell codes of some columns of a frame; a column that it lacks counts as missing."""
    absent = pd.Series([None] * len(frame), dtype=object)
    return {
        name: encode(
            schema.column(name),
            frame[name].reset_index(drop=True) if name in frame.columns else absent,
        )[0].astype(np.int64)
        for name in names
    }


def people_of(values: pd.Series[Any]) -> pd.Series[Any]:
    """Name of each row's person as text, so that 1, 1.0 and ``"1"`` are one; ``None``: nobody."""
    names = [None if text.lower() in MISSING_WORDS else text for text in texts_of(values)]
    return pd.Series(names, dtype=object)
