from __future__ import annotations

import datetime
import math
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from dpcore.domain import encoding
from dpcore.domain.columns import COLUMN_ADAPTER, OTHER, NumericColumn
from tests.oracles import encoding_oracle
from tests.support.rows import for_each
from tests.support.strategies import columns

ANYTHING = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20), 10**20),
    st.floats(),
    st.text(max_size=5),
    st.sampled_from(["yes", "NO", "1.0", " 3 ", "nan", "(other)", "(missing)", "1e400", "0x1"]),
    st.decimals(allow_nan=False, places=2),
    st.dates(),
    st.binary(max_size=3),
    st.lists(st.integers(), max_size=2),
)


def column(kind: str, **fields):
    return COLUMN_ADAPTER.validate_python({"name": "c", "type": kind, **fields})


def cells(made, values, dtype: object = object) -> list[str]:
    codes, _ = encoding.encode(made, pd.Series(values, dtype=dtype))
    return [made.cells[code] for code in codes]


COLOURS = column("categorical", categories=["red", "Blue", "1"])
AGE = column("integer", lower=0, upper=100, edges=[18, 60])
SICK = column("boolean")


@given(columns("c"), st.lists(ANYTHING, max_size=8))
def test_every_value_lands_in_the_public_domain(fields, values):
    made = COLUMN_ADAPTER.validate_python(fields)
    codes, numbers = encoding.encode(made, pd.Series(values, dtype=object))
    assert codes.dtype == np.uint16
    assert len(codes) == len(values)
    assert all(code < len(made.cells) for code in codes)
    assert (numbers is not None) == isinstance(made, NumericColumn)
    if numbers is not None:
        known = numbers[~np.isnan(numbers)]
        assert ((known >= made.lower) & (known <= made.upper)).all()
        assert (np.isnan(numbers) == (codes == len(made.cells) - 1)).all()


@given(columns("c"), st.lists(st.floats(allow_nan=True), min_size=1))
def test_bins_match_oracle(fields, values):
    made = COLUMN_ADAPTER.validate_python(fields)
    if not isinstance(made, NumericColumn):
        return
    values = [*values, *made.inner_edges, made.lower, made.upper]
    if made.type == "integer":
        values = [v if not math.isfinite(v) else float(round(v)) for v in values]
    codes, _ = encoding.encode(made, pd.Series(values, dtype=float))
    expected = [encoding_oracle.bin_of(v, made.lower, made.upper, made.inner_edges) for v in values]
    assert codes.tolist() == expected


def test_an_edge_belongs_to_the_bin_below():
    assert cells(AGE, [17, 18, 19, 60, 61]) == ["[0, 18]", "[0, 18]", "(18, 60]", "(18, 60]", "(60, 100]"]


def test_out_of_bounds_numbers_are_clamped():
    clamped = encoding.clamp_numbers(AGE, pd.Series([-5, 500, math.inf, -math.inf]))
    assert clamped.tolist() == [0, 100, 100, 0]
    huge = encoding.clamp_numbers(AGE, pd.Series(["1e400", "-1e400", str(10**40)]))
    assert huge.tolist() == [100, 0, 100]


@for_each("value", ["", "abc", "1,5", "nan", None, math.nan, [1], datetime.date(2020, 1, 1), b"x"])
def test_what_is_no_number_is_missing(value):
    assert cells(AGE, [value]) == ["(missing)"]


def test_dates_are_no_numbers():
    dates = pd.to_datetime(pd.Series(["2020-01-01", None]))
    assert np.isnan(encoding.clamp_numbers(AGE, dates)).all()
    assert np.isnan(encoding.clamp_numbers(AGE, dates - dates[0])).all()


@for_each(
    ("value", "cell"),
    [
        *[(word, "yes") for word in ("yes", "YES", " Yes ", "true", "T", "y", "1", "1.0")],
        *[(word, "no") for word in ("no", "No", "FALSE", "f", "N", "0", "0.0")],
        *[(value, "yes") for value in (True, np.True_, 1, 1.0, np.float32(1))],
        *[(value, "no") for value in (False, np.False_, 0, 0.0, -0.0)],
        *[(value, "(missing)") for value in ("", " ", "NA", "null", None, math.nan, pd.NA)],
        *[(value, "(other)") for value in ("maybe", "2", 2, "(other)", [1, 2], math.inf)],
    ],
)
def test_booleans(value, cell):
    assert cells(SICK, [value]) == [cell]


@for_each(
    ("value", "cell"),
    [
        ("red", "red"),
        (" RED ", OTHER),
        ("Blue", "Blue"),
        ("1", "1"),
        (1, "1"),
        (1.0, "1"),
        ("green", "(other)"),
        ("(missing)", "(missing)"),
        ("N/A", "(missing)"),
        ("None", "(missing)"),
        (None, "(missing)"),
        ([1, 2], "(other)"),
        ({"a": 1}, "(other)"),
        (Decimal(1), "1"),
    ],
)
def test_categories(value, cell):
    assert cells(COLOURS, [value]) == [cell]


def test_a_listed_category_wins_over_the_spelling_of_missing():
    made = column("categorical", categories=["None", "na"])
    assert cells(made, ["None", "na", "none", "NA"]) == ["None", "na", "(missing)", "(missing)"]


@for_each(
    ("values", "dtype", "expected"),
    [
        ([1, 2], "int8", ["1", "2"]),
        ([1, None], "Int64", ["1", ""]),
        ([2**63 + 1], "uint64", ["9223372036854775809"]),
        ([2**53 + 1], "int64", ["9007199254740993"]),
        ([1.0, 2.5, math.nan], "float64", ["1", "2.5", ""]),
        ([True, False], "bool", ["yes", "no"]),
        ([True, None], "boolean", ["yes", ""]),
        ([" a ", None], "str", ["a", ""]),
        (["a", None], "category", ["a", ""]),
        ([1, 1.0, "1"], "object", ["1", "1", "1"]),
    ],
)
def test_texts_of_every_type(values, dtype, expected):
    assert encoding.texts_of(pd.Series(values, dtype=dtype)) == expected


@given(st.integers(-(2**63), 2**63 - 1))
def test_whole_numbers_keep_every_digit(value):
    assert encoding.texts_of(pd.Series([value])) == [str(value)]


NUMBERS = st.from_regex(
    r"[-+ ]?([0-9]{0,25}\.?[0-9]{0,25}([eE][-+]?[0-9]{1,3})?|inf|Infinity|nan|nan\(1\)|0x1)\s?", fullmatch=True
)
TEXTS = st.one_of(st.none(), NUMBERS, st.text(max_size=4), st.sampled_from(["NA", " yes", "1_0", "٣"]))
WIDE = column("real", lower=-8e307, upper=8e307, bins=2)


@settings(max_examples=2 * settings().max_examples)
@given(columns("c"), st.one_of(st.lists(TEXTS), st.lists(NUMBERS)))
@example(WIDE, ["4.35", "0.1", "1e-320", "179769313486231580793728971405301e276", "1e999", "-0"])
@example(WIDE, ["9007199254740993", "2.2250738585072011e-308", "0.30000000000000001665334536937734810635447502136"])
def test_columns_of_text_are_encoded_value_by_value(made, values):
    text, objects = pd.Series(values, dtype="str"), pd.Series(values, dtype=object)
    for one in (COLUMN_ADAPTER.validate_python(made), WIDE):
        for found, expected in zip(encoding.encode(one, text), encoding.encode(one, objects), strict=True):
            np.testing.assert_array_equal(found, expected)
    assert encoding.people_of(text).tolist() == encoding.people_of(objects).tolist()


def listed(**more):
    return column("categorical", categories=["Fémale", "two  words", "11"], **more)


@for_each("value", ["female", "FÉMALE", " Fe\u0301male ", "TWO words", "Two   Words"])
def test_loose_matching_ignores_case_accents_and_spaces(value):
    loose = listed(matching="loose")
    assert cells(loose, [value])[0] in {"Fémale", "two  words"}
    assert cells(listed(), [value]) == [OTHER]


def test_loose_matching_must_tell_categories_apart():
    for pair in (["a", "A"], ["é", "e"], ["(Other)", "b"]):
        column("categorical", categories=pair)
        with pytest.raises(ValidationError, match="cannot tell"):
            column("categorical", categories=pair, matching="loose")


def test_codes_for_missing_values():
    listing = listed(missing_codes=["99", "?", "Refused"])
    assert cells(listing, [99, "99", 99.0, "?", "refused"]) == ["(missing)"] * 5
    assert cells(listing, ["11"]) == ["11"]
    answer = column("boolean", missing_codes=["9", "0"])
    assert cells(answer, [0, 1, 9]) == ["(missing)", "yes", "(missing)"]
    number = column("real", lower=0, upper=10, bins=2, missing_codes=["-9", "?"])
    found = encoding.clamp_numbers(number, pd.Series([-9, "-9.0", "?", -8, 3]))
    assert np.isnan(found).tolist() == [True, True, True, False, False]
    with pytest.raises(ValidationError, match="as a category and as a code"):
        listed(missing_codes=["11"])


def test_labels_belong_to_categories():
    assert [(each.category, each.label) for each in listed(labels={11: "died"}).labels] == [("11", "died")]
    for wrong in ({"12": "alive"}, [{"category": "11", "label": "a"}, {"category": "11", "label": "b"}]):
        with pytest.raises(ValidationError, match="label"):
            listed(labels=wrong)
