"""Values of every type that a data frame may hold."""

from __future__ import annotations

import datetime
import fractions
import uuid
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import strategies as st

WORDS = [
    "1",
    "-1",
    "2.5",
    "yes",
    "True",
    "a",
    "nan",
    "inf",
    "1+1j",
    "(1+0j)",
    "2020-01-01",
    "b'a'",
    "1e+16",
    "10000000000000000",
    "1 days 00:00:00",
    "[1]",
]


class Silent:
    """An object that has no text."""

    def __str__(self) -> str:
        raise RuntimeError("no text")


class Loud(float):
    """A number whose comparisons fail."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no comparison")

    __hash__ = float.__hash__


#: What one cell of a column of Python objects may hold. Integers are such as floats hold exactly.
PLAIN = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**53), 2**53),
    st.sampled_from([10**15, 10**16, 2**62, -(2**63)]),
    st.floats(),
    st.sampled_from([*WORDS, "", " 1 ", "1_000", "0x1", "1e400", "١", "NA", "18446744073709551615"]),
    st.text(max_size=4),
)
ODD = st.one_of(
    st.integers(-(10**400), 10**400),
    st.integers(2**63, 2**64 - 1),
    st.decimals(),
    st.sampled_from([Decimal("sNaN"), Decimal("1.0"), Decimal("1E+400"), Decimal("-Infinity")]),
    st.fractions(),
    st.just(fractions.Fraction(10**400)),
    st.complex_numbers(),
    st.binary(max_size=3),
    st.dates(),
    st.datetimes(),
    st.datetimes(timezones=st.just(datetime.UTC)),
    st.timedeltas(),
    st.times(),
    st.lists(st.integers(), max_size=2),
    st.tuples(st.integers()),
    st.dictionaries(st.text(max_size=1), st.integers(), max_size=1),
    st.sampled_from(
        [
            pd.NA,
            pd.NaT,
            pd.Timestamp(0),
            pd.Timedelta(1),
            pd.Period("2020"),
            pd.Interval(0, 1),
            np.datetime64("NaT"),
            np.datetime64("2020-01-01"),
            np.timedelta64("NaT"),
            np.timedelta64(1, "D"),
            np.complex64(1),
            np.complex128(complex("nan")),
            np.array([1, 2]),
            np.array(3),
            np.float16(0.1),
            np.float32("nan"),
            np.longdouble("0.1"),
            np.int8(1),
            np.uint64(2**64 - 1),
            np.True_,
            np.str_("yes"),
            np.bytes_(b"a"),
            np.void(b"a"),
            float,
            Ellipsis,
            uuid.UUID(int=1),
            Silent(),
            Loud(1),
            range(2),
            "\ud800",
            bytearray(b"1"),
            memoryview(b"1"),
            datetime.datetime.max,
            pd.Series([1]),
        ]
    ),
)


def objects(values: list[Any]) -> pd.Series:
    """A column of Python objects, each as it is."""
    held = np.empty(len(values), dtype=object)
    for place, value in enumerate(values):
        held[place] = value
    return pd.Series(held, dtype=object)
