"""Numbers with a decimal comma in CSV files: how they are read, and what is said where nobody said that they are so.

Where they are, points stand between thousands. Whether ``1.234`` is such a number, or a code, only its column tells.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Final

import pandas as pd

from dpcore.arrays import Values
from dpcore.domain.columns import NumericColumn
from dpcore.domain.derivations import Renamed
from dpcore.domain.schemas.schema import ChildTable, Schema

#: A number with a decimal comma, and nothing else.
_DECIMAL_COMMA: Final = r"^(\s*[+-]?\d+),(\d+\s*)$"
#: A number with points between groups of three digits.
_GROUPED: Final = r"\s*[+-]?[1-9]\d{0,2}(?:\.\d{3})+(?:,\d+)?\s*"
#: Share of the values that have to be numbers, with or without a comma.
_MOST: Final = 0.95
_PLAIN: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_WITH_COMMA: Final = re.compile(r"[+-]?(\d+|[1-9]\d{0,2}(\.\d{3})+),\d+")
#: With a comma that may as well stand between thousands.
_UNCLEAR: Final = re.compile(r"[+-]?[1-9]\d{0,2},\d{3}")
_DECIMALS = (
    "holds numbers with a decimal comma: tick 'Decimal comma' (--decimal-comma) for a CSV file, or export a file of "
    "another kind with numbers"
)
_EITHER = (
    "holds numbers with a comma that may stand before decimals or between thousands: tick 'Decimal comma' "
    "(--decimal-comma) if decimals follow it, or else export the file without it"
)


def comma_in(texts: Mapping[str, int]) -> str:
    """What is wrong where texts are numbers with a comma, and what to do; empty if they are none.

    Parameters
    ----------
    texts : mapping of str to int
        Texts, and how often each occurs.
    """
    commas = [text for text in texts if _WITH_COMMA.fullmatch(text)]
    numbers = sum(texts[text] for text in [*commas, *filter(_PLAIN.fullmatch, texts)])
    if not commas or numbers < _MOST * sum(texts.values()):
        return ""
    return _EITHER if all(map(_UNCLEAR.fullmatch, commas)) else _DECIMALS


def number_columns(table: Schema | ChildTable, keys: Collection[str]) -> frozenset[str]:
    """Columns of a file that hold numbers, by their names there; keys of people and rows are none."""
    numeric = [column for column in table.columns if isinstance(column, NumericColumn)]
    plain = [column for column in numeric if column.derive is None or isinstance(column.derive, Renamed)]
    return frozenset(source for column in plain for source in column.sources).difference(keys)


def with_points(rows: pd.DataFrame, numbers: Collection[str]) -> pd.DataFrame:
    """Numbers with a decimal comma as they are written elsewhere; other texts as they are.

    Parameters
    ----------
    numbers : collection of str
        Columns in which points between groups of three digits are of thousands.
    """
    return rows.assign(**{str(name): (as_numbers if name in numbers else as_texts)(rows[name]) for name in rows})


def as_texts(values: Values) -> Values:
    """Texts of a column that may hold anything, with decimal points in numbers."""
    return values.str.replace(_DECIMAL_COMMA, r"\1.\2", regex=True)


def as_numbers(values: Values) -> Values:
    """Texts of a column of numbers, with decimal points and nothing between thousands."""
    grouped = values.str.fullmatch(_GROUPED).fillna(value=False).astype(bool)
    if grouped.any():
        values = values.mask(grouped, values.str.replace(".", "", regex=False))
    return as_texts(values)
