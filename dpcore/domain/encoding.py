"""From raw values to members of the public domain: clamp, ``(other)``, ``(missing)``; once for every block of rows."""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable, Iterable
from datetime import datetime, time, timedelta
from decimal import Decimal
from functools import cache
from numbers import Real
from typing import Any, Final, NamedTuple

import numpy as np
import pandas as pd

from dpcore.arrays import Array, Cells, Floats, Ints, Values
from dpcore.domain.columns import (
    MISSING,
    OTHER,
    BooleanColumn,
    Column,
    IntegerColumn,
    ListedColumn,
    NumberColumn,
    NumericColumn,
    folded,
)
from dpcore.domain.dates import moment_of
from dpcore.domain.derivations import Renamed
from dpcore.domain.schemas.schema import ChildTable, PrivacyUnit, Schema

#: Spellings of an absent value, unless the schema lists them as a category.
MISSING_WORDS = frozenset({"", "na", "n/a", "nan", "null", "none", "<na>", "nat"})
YES_WORDS = frozenset({"yes", "true", "1", "1.0", "y", "t"})
NO_WORDS = frozenset({"no", "false", "0", "0.0", "n", "f"})

#: Whole numbers that a column of integers can hold: as floats they are written the same.
_WHOLE: Final = 2**64
_PLAIN: Final = frozenset({int, float, bool})
#: Types of whole columns of such numbers.
_NUMBERS: Final = (np.dtype(np.int64), np.dtype(np.float64), np.dtype(np.bool_))
#: Up to so many cut points, comparing with each is faster than a search.
_FEW_EDGES: Final = 32
#: Text of an object that has none; no category is called so.
_NO_TEXT: Final = OTHER


def texts_of(values: Values) -> list[str]:
    """Values as stripped text; whole floats lose their ``.0``, absent values become ``""``.

    The text of a value is a function of that value alone, whatever stands beside it and whatever
    type the column has for its sake: one odd value must not change the code of other people.
    """
    return [_text(value) for value in values.tolist()]


def _text(value: object) -> str:
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


def _real(value: object) -> object:
    """The real number that a complex one without imaginary part is, or else the value itself.

    A single complex number makes complex ones of all numbers of a column.
    """
    if isinstance(value, complex | np.complexfloating) and value.imag == 0:
        return float(value.real)
    return value


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


def _text_of_other(value: object) -> str:
    """Text of anything else; pandas' own for times, because pandas replaces other kinds of them."""
    try:
        if isinstance(value, datetime | np.datetime64):
            value = pd.Timestamp(value)
        elif isinstance(value, timedelta | np.timedelta64):
            value = pd.Timedelta(value)
        return str(value).strip()
    except Exception:  # noqa: BLE001  whatever an object does, it must not stop the others
        return _NO_TEXT


def encode_categories(column: BooleanColumn | ListedColumn, values: Values) -> Cells:
    """Codes into ``column.cells`` of a boolean, categorical or ordinal column."""
    distinct, places = _distinct(values)
    texts, code_of = texts_of(distinct), cache(_reader(column))
    return np.asarray(np.fromiter(map(code_of, texts), np.uint16, len(texts))[places])


def _distinct(values: Values) -> tuple[Values, Ints | slice]:
    """Texts or plain numbers that differ, and which of them each value is; values of other types as they are."""
    if not isinstance(values.dtype, pd.StringDtype) and values.dtype not in _NUMBERS:
        return values, slice(None)
    places, distinct = pd.factorize(values, use_na_sentinel=False)
    return pd.Series(distinct), places


def _reader(column: BooleanColumn | ListedColumn) -> Callable[[str], int]:
    """How a text becomes a code of a column that lists its values."""
    plain, lookup = _spellings(column)
    other: int = column.cells.index(OTHER)
    missing: int = column.cells.index(MISSING)
    absent = {code.lower() for code in column.missing_codes}

    def code_of(text: str) -> int:
        if text.lower() in absent:
            return missing
        found = lookup.get(plain(text))
        if found is not None:
            return found
        return missing if text.lower() in MISSING_WORDS else other

    return code_of


def _spellings(column: BooleanColumn | ListedColumn) -> tuple[Callable[[str], str], dict[str, int]]:
    """What of a text counts, and the codes of all texts of which only that is left."""
    if isinstance(column, BooleanColumn):
        return str.lower, dict.fromkeys(NO_WORDS, 0) | dict.fromkeys(YES_WORDS, 1) | {OTHER: 2, MISSING: 3}
    plain = folded if column.matching == "loose" else str
    return plain, {plain(cell): code for code, cell in enumerate(column.cells)}


def clamp_numbers(column: NumberColumn, values: Values) -> Floats:
    """Numbers clamped to the column's bounds; what is not a number becomes NaN.

    As in :func:`texts_of`, each is a function of its own value.
    """
    return np.asarray(np.clip(numbers_of(column, values), column.lower, column.upper))


def numbers_of(column: Column, values: Values) -> Floats:
    """Numbers of a numeric column before they are clamped; NaN for what is none, or stands for none."""
    numbers = plain_numbers(values)
    if column.missing_codes:
        numbers[np.isin(numbers, [_number_of_text(code) for code in column.missing_codes])] = math.nan
    return np.rint(numbers) if isinstance(column, IntegerColumn) else numbers


def plain_numbers(values: Values) -> Floats:
    """Numbers that values are or write; NaN for what is none, dates and times among it."""
    if values.dtype.kind in "fiub":  # the same conversion for each value
        return np.array(values.to_numpy(dtype=np.float64, na_value=np.nan))
    if isinstance(values.dtype, pd.StringDtype) and (numbers := _all_numbers(values)) is not None:
        return numbers
    distinct, places = _distinct(values)
    return np.asarray(np.fromiter(map(_number, distinct.tolist()), np.float64, len(distinct))[places])


def _all_numbers(values: Values) -> Floats | None:
    """Numbers that texts write, ``None`` if one writes none; the nearest floats, as Python's own."""
    import pyarrow as pa

    try:
        return np.array(pa.array(values).cast(pa.float64()).to_numpy(zero_copy_only=False))
    except pa.ArrowInvalid:
        return None


def _number(value: Any) -> float:
    if isinstance(value, str):
        return _number_of_text(value)
    if type(value) not in _PLAIN and not _is_number(value := _real(value)):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _is_number(value: object) -> bool:
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


def bin_numbers(column: NumberColumn, numbers: Floats) -> Cells:
    """Codes into ``column.cells`` of clamped numbers: the bin, or ``(missing)`` for NaN."""
    edges = np.asarray(column.inner_edges)
    if len(edges) > _FEW_EDGES:
        codes = np.searchsorted(edges, numbers, side="left").astype(np.uint16)
    else:
        codes = np.zeros(len(numbers), dtype=np.uint16)
        for edge in edges:
            codes += numbers > edge
    codes[np.isnan(numbers)] = len(column.cells) - 1
    return codes


def encode_numbers(column: NumberColumn, found: Floats) -> tuple[Cells, Floats]:
    """Codes of a numeric column, and its numbers clamped to the bounds, from what :func:`numbers_of` gives."""
    numbers = np.asarray(np.clip(found, column.lower, column.upper))
    return bin_numbers(column, numbers), numbers


def encode(column: Column, values: Values) -> tuple[Cells, Floats | None]:
    """Codes of a column, and its clamped numbers if it is numeric."""
    if isinstance(column, NumericColumn):
        return encode_numbers(column, numbers_of(column, values))
    return encode_categories(column, values), None


def values_of(column: Any, frame: pd.DataFrame) -> Values:
    """Values of a column in rows that hold it or else what it is made of; each of its own row.

    A case may hold how many rows a person has; whose own rows these are, they are counted: see ``Block.values``.
    """
    made = column.derive
    if column.summary == "count" and column.name not in frame.columns:
        return pd.Series(np.ones(len(frame)))
    itself = made is None or (column.name in frame.columns and column.name not in made.sources)
    if itself or isinstance(made, Renamed):
        values: Values = frame[column.name if itself else column.sources[0]]
        return values
    parts = [_read(column, frame[source]) for source in made.sources]
    rows = np.empty(len(frame), dtype=object)
    rows[:] = [made.made(*row) for row in zip(*parts, strict=True)]
    return pd.Series(rows, dtype=object)


def order_of(values: Values, written: str) -> Floats:
    """Numbers that put dates, or else numbers, in order; NaN for what is neither."""
    distinct, places = _distinct(values)
    found = (_place_in_order(value, written) for value in distinct.tolist())
    return np.asarray(np.fromiter(found, np.float64, len(distinct))[places])


def _place_in_order(value: object, written: str) -> float:
    moment = moment_of(value, written)
    if moment is None:
        return _number(value)
    clock = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
    return (clock - datetime(1970, 1, 1)) / timedelta(seconds=1)


def _read(column: Any, values: Values) -> list[object]:
    """What counts of each value of a source; nothing of those that stand for none."""
    distinct, places = _distinct(values)
    absent = {code.lower() for code in column.missing_codes}
    absent |= MISSING_WORDS - {code.lower() for code in column.derive.known}
    found = np.empty(len(distinct), dtype=object)
    found[:] = [
        None if text.lower() in absent else column.derive.read(value, text)
        for value, text in zip(distinct.tolist(), texts_of(distinct), strict=True)
    ]
    read: list[object] = found[places].tolist()
    return read


def cell_of(column: Column, value: object) -> int:
    """Code of one value typed by a user; absent values are ``(missing)``."""
    codes, _ = encode(column, pd.Series([value], dtype=object))
    return int(codes[0])


def encode_columns(frame: pd.DataFrame, table: Schema | ChildTable, names: Iterable[str]) -> dict[str, Ints]:
    """Cell codes of some columns of a frame; a column that it lacks counts as missing."""
    return {
        name: encode(column, given_values(column, frame))[0].astype(np.int64)
        for name in names
        for column in [table.column(name)]
    }


def is_given(column: Column, frame: pd.DataFrame) -> bool:
    """Whether a frame holds a column, or else all that it is made of."""
    given = frame.columns
    return column.name in given or all(source in given for source in column.sources)


def given_values(column: Column, frame: pd.DataFrame) -> Values:
    """Values of a column by place, as in :func:`values_of`; a column that is not given counts as missing."""
    if is_given(column, frame):
        return values_of(column, frame).reset_index(drop=True)
    return pd.Series([None] * len(frame), dtype=object)


def people_of(values: Values, unit: PrivacyUnit | None = None) -> Values:
    """Name of each row's person as text, so that 1, 1.0 and ``"1"`` are one; ``None``: nobody.

    A ``unit`` says which further texts name nobody, and whether spelling counts.
    """
    distinct, places = _distinct(values)
    names = [None if text.lower() in MISSING_WORDS else text for text in texts_of(distinct)]
    if unit is not None:
        names = unit.named(names)
    return pd.Series(np.array(names, dtype=object)[places], dtype=object)


class Encoded(NamedTuple):
    """The values of one column."""

    codes: Cells
    """Into ``column.cells``: shape (n_rows,)."""
    numbers: Floats | None
    """Of a numeric column, clamped to its bounds; NaN for none: shape (n_rows,)."""
    found: Floats | None
    """The same before they were clamped: shape (n_rows,)."""


class Block:
    """Some rows of one table.

    Attributes
    ----------
    frame : DataFrame
        As they were read.
    """

    def __init__(self, frame: pd.DataFrame) -> None:
        self.frame = frame
        self._encoded: dict[str, Encoded] = {}
        self._order: dict[tuple[str, str], Floats] = {}
        self._named: dict[tuple[str, bool], tuple[Ints, Array]] = {}

    @classmethod
    def of(cls, rows: pd.DataFrame | Block) -> Block:
        """Rows, whether or not somebody has looked at them already."""
        return rows if isinstance(rows, Block) else cls(rows)

    def __len__(self) -> int:
        return len(self.frame)

    def values(self, column: Column) -> Values:
        """Values of a column of the table: see :func:`dpcore.domain.encoding.values_of`.

        Of a count of rows each is 1, also where a column of the file is called like it.
        """
        return pd.Series(np.ones(len(self))) if column.summary == "count" else values_of(column, self.frame)

    def encoded(self, *columns: Column) -> list[Encoded]:
        """Codes and numbers of some columns of the table."""
        for column in columns:
            if column.name not in self._encoded:
                self._encoded[column.name] = _encoded(column, self.values(column))
        return [self._encoded[column.name] for column in columns]

    def order(self, column: str, written: str) -> Floats:
        """Numbers that put the rows in order: see :func:`dpcore.domain.encoding.order_of`."""
        if (column, written) not in self._order:
            self._order[column, written] = order_of(self.frame[column], written)
        return self._order[column, written]

    def named(self, column: str, unit: PrivacyUnit | None = None) -> tuple[Ints, Array]:
        """Which of its names each row has in a column of keys, -1 for none, and the names: see ``people_of``."""
        kept = column, unit is not None
        if kept not in self._named:
            places, names = pd.factorize(people_of(self.frame[column], unit))
            self._named[kept] = places, np.asarray(names, dtype=object)
        return self._named[kept]


def _encoded(column: Column, values: Values) -> Encoded:
    if not isinstance(column, NumericColumn):
        return Encoded(encode_categories(column, values), None, None)
    found = numbers_of(column, values)
    return Encoded(*encode_numbers(column, found), found)
