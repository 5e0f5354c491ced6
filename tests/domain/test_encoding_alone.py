"""The code of a value is a function of that value alone, whatever other people's values are."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpcore.domain import encoding
from dpcore.domain.columns import COLUMN_ADAPTER
from dpcore.domain.encoding import people_of
from dpcore.intake.sources.files import read_chunks
from tests.support.tables.odd_values import ODD, PLAIN, WORDS, objects


def column(kind: str, **fields: Any) -> Any:
    return COLUMN_ADAPTER.validate_python({"name": "c", "type": kind, **fields})


COLUMNS = [
    column("boolean"),
    column("categorical", categories=WORDS),
    column("ordinal", categories=WORDS),
    column("integer", lower=-5, upper=5, bins=10),
    column("real", lower=-1, upper=10**17, edges=[-0.5, 0, 0.1, 1, 3, 100, 10**16 - 1]),
]


ANYTHING = st.one_of(PLAIN, ODD)


def codes(made: Any, values: pd.Series) -> list[tuple[int, float]]:
    """Code of each row, and the clamped number or 0 for none."""
    found, numbers = encoding.encode(made, values)
    known = np.zeros(len(found)) if numbers is None else np.nan_to_num(numbers, nan=-99)
    return list(zip(found.tolist(), known.tolist(), strict=True))


def alone(made: Any, values: list[Any]) -> list[tuple[int, float]]:
    return [codes(made, objects([value]))[0] for value in values]


@pytest.mark.parametrize("made", COLUMNS, ids=lambda made: made.type)
@given(st.lists(ANYTHING, max_size=5))
@example(["5", 7, 3j])
@example([0.5, float("inf"), "x"])
@example([Decimal("sNaN"), 1])
@example([-1, "18446744073709551615", "9007199254740993"])
def test_no_value_changes_the_code_of_another(made: Any, values: list[Any]) -> None:
    assert codes(made, objects(values)) == alone(made, values)


@given(st.lists(ANYTHING, max_size=5))
def test_no_value_changes_the_name_of_another_person(values: list[Any]) -> None:
    together = [people_of(objects([value])).tolist()[0] for value in values]
    assert people_of(objects(values)).tolist() == together


@pytest.mark.parametrize("made", COLUMNS, ids=lambda made: made.type)
@given(
    st.lists(
        PLAIN
        | st.datetimes(datetime.datetime(1700, 1, 1), datetime.datetime(2200, 1, 1))
        | st.timedeltas(datetime.timedelta(-99), datetime.timedelta(99))
        | st.dates()
        # pandas itself changes a complex number that is infinite
        | st.complex_numbers(allow_nan=False, allow_infinity=False),
        min_size=1,
        max_size=5,
    )
)
@example([1, None])
@example([True, None])
@example([1, 2.5])
@example([1, 2j])
@example(["1", complex(0, float("nan"))])
@example([10**16, None])
@example([float("inf"), 1.0])
@example([datetime.timedelta(1)])
def test_nor_does_the_type_that_pandas_guesses_for_a_column(made: Any, values: list[Any]) -> None:
    assert codes(made, pd.Series(values)) == alone(made, values)


WHOLE = st.integers(-100, 100)
TYPES: list[tuple[Any, Any]] = [
    ("Int8", WHOLE),
    ("UInt64", st.integers(0, 2**64 - 1)),
    ("Int64", st.integers(-(2**63), 2**63 - 1)),
    ("Float64", st.floats()),
    ("boolean", st.booleans()),
    ("string", st.text(max_size=3)),
    ("str", st.text(st.characters(exclude_categories=["Cs"]), max_size=3)),
    ("category", PLAIN.filter(lambda value: value == value)),
    (pd.ArrowDtype(pa.int16()), WHOLE),
    (pd.ArrowDtype(pa.bool_()), st.booleans()),
    (pd.ArrowDtype(pa.float64()), st.floats()),
    (pd.ArrowDtype(pa.string()), st.text(st.characters(exclude_categories=["Cs"]), max_size=3)),
    (pd.ArrowDtype(pa.decimal128(9, 2)), st.decimals(-999, 999, places=2)),
]


@pytest.mark.crossed
@pytest.mark.parametrize("made", COLUMNS, ids=lambda made: made.type)
@pytest.mark.parametrize(("dtype", "kind"), TYPES, ids=lambda value: str(value)[:24])
def test_nor_does_an_extension_type(made: Any, dtype: Any, kind: Any) -> None:
    @given(st.lists(st.none() | kind, max_size=4))
    @settings(max_examples=settings().max_examples // 6)
    def check(values: list[Any]) -> None:
        typed = pd.Series(values, dtype=dtype)
        assert codes(made, typed) == alone(made, typed.tolist())
        missing = [code for code, value in zip(codes(made, typed), values, strict=True) if value is None]
        assert set(missing) <= set(alone(made, [None]))

    check()


FIELDS = st.one_of(
    st.sampled_from([*WORDS, "", " 1 ", "1.0", "x", "1e400", "NA", "TRUE", '"a"', '" "', "-0"]),
    st.integers().map(str),
    st.floats().map(repr),
)


@given(st.lists(FIELDS, min_size=1, max_size=6), FIELDS)
@example(["1", "1.0"], "x")
@settings(max_examples=25, deadline=None)
def test_nor_does_a_line_of_a_file(tmp_path_factory: pytest.TempPathFactory, fields: list[str], other: str) -> None:
    folder = tmp_path_factory.mktemp("csv")

    def of_file(lines: list[str]) -> list[list[tuple[int, float]]]:
        path = Path(folder / "data.csv")
        path.write_text("\n".join(["c,d", *(f"{line},0" for line in lines)]) + "\n", "utf-8")
        chunks = list(read_chunks(path, chunk_rows=2))
        return [[code for chunk in chunks for code in codes(made, chunk["c"])] for made in COLUMNS]

    before = of_file(fields)
    assert [found[1:] for found in of_file([other, *fields])] == before
    assert [found[:-1] for found in of_file([*fields, other])] == before
    assert [found[1:] for found in of_file([other, *fields[1:]])] == [found[1:] for found in before]
