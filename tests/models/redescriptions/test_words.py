"""Conditions in words: formal ones are read back, plain ones have one meaning."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from dpcore.domain.columns import RESERVED
from dpcore.domain.conditions import parse_condition
from dpcore.domain.schemas.schema import Schema
from dpcore.models.redescriptions.released.formal import formal
from dpcore.models.redescriptions.released.redescription_words import plain
from dpcore.models.redescriptions.released.simplify import simplified
from dpcore.models.redescriptions.released.tree_pair import Box, Domain
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward

CLINIC = ward(
    {"name": "diabetes_2008", "type": "boolean"},
    {"name": "diabetes_2009", "type": "boolean"},
    {"name": "diabetes_2010", "type": "boolean"},
    {"name": "asthma", "type": "boolean"},
    {"name": "heart_failure_2009", "type": "boolean"},
    {"name": "age", "type": "integer", "lower": 0, "upper": 100, "edges": [30, 60, 61], "unit": "years"},
    {"name": "costs_2008", "type": "real", "lower": 0, "upper": 9000, "unit": "$", "edges": [0, 100, 500]},
    {"name": "costs_2009", "type": "real", "lower": 0, "upper": 9000, "unit": "$", "edges": [0, 100, 500]},
    {"name": "hba1c", "type": "real", "lower": 3, "upper": 15, "unit": "%", "edges": [5.6, 6.4]},
    {"name": "pulse", "type": "integer", "lower": 30, "upper": 200, "unit": "1/min", "edges": [59, 99]},
    {"name": "ldl", "type": "real", "lower": 0.5, "upper": 8, "unit": "mmol/L", "edges": [1.8, 3.4]},
    {"name": "pain", "type": "ordinal", "categories": ["none", "mild", "strong", "worst"]},
    {"name": "ward", "type": "categorical", "categories": ["A", "B", "C", "D"]},
    {"name": "sex", "type": "categorical", "categories": ["female", "male"]},
    {"name": "change", "type": "real", "lower": -50, "upper": 50, "edges": [-5, 0, 5], "unit": "€"},
    name="clinic",
    max_rows=10,
)
DOMAIN = Domain(CLINIC)
YES, NO = 0b0010, 0b1101
HIGH, LOW = 0b11000, 0b00111  # Of four bins: above the last edge or missing; and the rest.


def cells(name: str, *labels: str) -> int:
    """Cells of a column by their labels."""
    known = CLINIC.column(name).cells
    return sum(1 << known.index(label) for label in labels)


def but(name: str, *labels: str) -> int:
    return DOMAIN.everything(name) & ~cells(name, *labels)


@for_each(
    ("boxes", "text"),
    [
        ([{"diabetes_2008": YES}], "diabetes in 2008"),
        ([{"diabetes_2008": YES}, {"diabetes_2009": YES}], "diabetes in 2008 or 2009"),
        ([{"diabetes_2009": YES}, {"diabetes_2010": YES}, {"diabetes_2008": YES}], "diabetes in 2008, 2009 or 2010"),
        ([{"diabetes_2008": YES, "diabetes_2009": YES}], "diabetes in both 2008 and 2009"),
        (
            [{"diabetes_2008": YES, "diabetes_2009": YES, "diabetes_2010": YES}],
            "diabetes in all of 2008, 2009 and 2010",
        ),
        ([{"diabetes_2008": NO, "diabetes_2009": NO}], "diabetes on record in neither 2008 nor 2009"),
        (
            [{"diabetes_2008": NO, "diabetes_2009": NO, "diabetes_2010": NO}],
            "diabetes on record in none of 2008, 2009 and 2010",
        ),
        ([{"diabetes_2008": NO}, {"diabetes_2009": NO}], "diabetes on record in at most one of 2008 and 2009"),
        (
            [{"diabetes_2008": NO}, {"diabetes_2009": NO}, {"diabetes_2010": NO}],
            "diabetes on record in at most two of 2008, 2009 and 2010",
        ),
        ([{"diabetes_2008": NO, "asthma": NO}], "neither diabetes in 2008 nor asthma on record"),
        (
            [{"diabetes_2008": NO, "asthma": NO, "heart_failure_2009": NO}],
            "none of diabetes in 2008, asthma and heart failure in 2009 on record",
        ),
        ([{"diabetes_2008": NO}, {"asthma": NO}], "at most one of diabetes in 2008 and asthma on record"),
        ([{"diabetes_2008": YES}, {"asthma": NO}], "diabetes in 2008 or no asthma on record"),
        (
            [{"diabetes_2008": YES}, {"asthma": NO}, {"heart_failure_2009": NO}],
            "diabetes in 2008 or (at most one of asthma and heart failure in 2009 on record)",
        ),
        (
            [{"diabetes_2008": YES, "diabetes_2009": NO, "asthma": YES}],
            "diabetes in 2008 and no diabetes in 2009 on record and asthma",
        ),
        ([{"costs_2008": LOW}, {"costs_2009": LOW}], "costs at most $500 in 2008 or 2009"),
        ([{"costs_2008": LOW, "costs_2009": LOW}], "costs at most $500 in both 2008 and 2009"),
        ([{"costs_2008": LOW}, {"costs_2009": 0b00011}], "costs at most $500 in 2008 or costs at most $100 in 2009"),
    ],
)
def test_years_and_denials_cannot_be_misread(boxes, text):
    assert plain(boxes, DOMAIN) == text


@for_each(
    ("boxes", "text"),
    [
        (
            [{"asthma": YES, "age": 0b00001}, {"asthma": YES, "ldl": 0b0001}],
            "asthma and (age at most 30 years or ldl at most 1.8 mmol/L)",
        ),
        (
            [{"asthma": YES, "age": 0b00001}, {"ldl": 0b0001}],
            "ldl at most 1.8 mmol/L or (asthma and age at most 30 years)",
        ),
        ([{"asthma": YES, "ward": cells("ward", "A", "B")}], "asthma and (ward A or B)"),
        ([{"asthma": YES}, {"ward": cells("ward", "A", "B")}], "asthma or (ward A or B)"),
        (
            [
                {"asthma": YES, "diabetes_2008": NO, "age": 0b00001},
                {"asthma": YES, "diabetes_2008": NO, "sex": cells("sex", "male")},
                {"ward": cells("ward", "C"), "ldl": 0b0001},
            ],
            "(no diabetes in 2008 on record and asthma and (age at most 30 years or sex male)) or "
            "(ward C and ldl at most 1.8 mmol/L)",
        ),
        # Unknown values: said where they matter once, and at the end where they matter more.
        ([{"age": 0b11000, "asthma": YES}], "age above 61 years (or missing) and asthma"),
        ([{"age": 0b11000}, {"ldl": 0b1100}], "age above 61 years or ldl above 3.4 mmol/L (missing counts as high)"),
        ([{"age": 0b10001, "ldl": 0b1001}], "age at most 30 years and ldl at most 1.8 mmol/L (missing counts as low)"),
        ([{"age": 0b11000}, {"ldl": 0b1001}], "age above 61 years (or missing) or ldl at most 1.8 mmol/L (or missing)"),
        (
            [{"age": 0b11000}, {"pain": but("pain", "none")}],
            "age above 61 years or pain at least mild (other and missing count as high)",
        ),
        (
            [{"age": 0b11000}, {"pain": but("pain", "none", "(other)")}],
            "age above 61 years (or missing) or pain at least mild (or missing)",
        ),
        (
            [{"age": 0b11000}, {"ldl": 0b1100}, {"pulse": 0b0100}],
            "age above 61 years (or missing) or ldl above 3.4 mmol/L (or missing) or pulse above 99/min",
        ),
        ([{"costs_2008": HIGH}, {"costs_2009": HIGH}], "costs above $500 in 2008 or 2009 (or missing)"),
        (
            [{"age": 0b11000}, {"ldl": 0b1100}, {"sex": but("sex", "female")}],
            "age above 61 years or ldl above 3.4 mmol/L or sex not recorded as female (missing counts as high)",
        ),
    ],
)
def test_brackets_what_is_shared_and_what_is_unknown(boxes, text):
    assert plain(boxes, DOMAIN) == text


# Formal texts are read back by a small reader; plain ones must differ if their meanings do.
SMALL = ward(
    {"name": "ill_2008", "type": "boolean"},
    {"name": "ill_2009", "type": "boolean"},
    {"name": "level", "type": "real", "lower": 0, "upper": 9, "edges": [0, 3, 6]},
    {"name": "pain", "type": "ordinal", "categories": ["low", "mid", "high", "top"]},
    {"name": "ward", "type": "categorical", "categories": ["A", "B", "C"]},
    name="small",
    max_rows=10,
)
SMALL_DOMAIN = Domain(SMALL)


@st.composite
def boxes(draw: st.DrawFn) -> Box:
    names = draw(st.lists(st.sampled_from([column.name for column in SMALL]), max_size=3, unique=True))
    return {
        name: draw(st.integers(1, SMALL_DOMAIN.everything(name) - 1)) for name in sorted(names, key=SMALL_DOMAIN.place)
    }


UNIONS = st.lists(boxes(), max_size=4).map(lambda some: simplified(some, SMALL_DOMAIN))
EVERY = [
    dict(zip([column.name for column in SMALL], codes, strict=True))
    for codes in product(*(range(len(column.cells)) for column in SMALL))
]
Meaning = frozenset[int]
PLACES = frozenset(range(len(EVERY)))


@cache
def in_cell(name: str, code: int) -> Meaning:
    """Records of one cell of a column."""
    return frozenset(place for place, record in enumerate(EVERY) if record[name] == code)


def of_column(name: str, held: set[int]) -> Meaning:
    return frozenset().union(*(in_cell(name, code) for code in held))


def of_box(box: Mapping[str, int]) -> Meaning:
    held = {name: {code for code in range(bits.bit_length()) if bits >> code & 1} for name, bits in box.items()}
    return PLACES.intersection(*(of_column(name, codes) for name, codes in held.items()))


def meaning(some: Sequence[Mapping[str, int]]) -> Meaning:
    return frozenset().union(*map(of_box, some))


def split(text: str, link: str) -> list[str]:
    """Parts of a text that are joined by a link outside of all brackets."""
    found, depth, start = [], 0, 0
    for place, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0 and text.startswith(link, place):
            found.append(text[start:place])
            start = place + len(link)
    return [*found, text[start:]]


def read(text: str, last: str = "") -> tuple[Meaning, str]:
    """What a formal text means, and the column that it refers to last."""
    if text in {"everyone", "nobody"}:
        return PLACES if text == "everyone" else frozenset(), ""
    for link, join in ((" or ", frozenset.union), (" and ", frozenset.intersection)):
        parts = split(text, link)
        if len(parts) > 1:
            found, last = read(parts[0], last)
            for part in parts[1:]:
                more, last = read(part, last)
                found = join(found, more)
            return found, last
    if text.startswith("("):
        return read(text[1:-1])
    return condition(text, last)


def condition(text: str, last: str) -> tuple[Meaning, str]:
    denied = re.fullmatch(r"(?P<name>\w+) is (?:not|neither|none of) (?P<cells>.+)", text)
    if denied:
        names = re.split(r", | nor ", denied["cells"])
        name, known = denied["name"], SMALL.column(denied["name"]).cells
        out = {known.index(f"({cell})" if f"({cell})" in RESERVED else cell) for cell in names}
        return of_column(name, set(range(len(known))) - out), name
    named = any(f"{column.name} " in f"{text} " for column in SMALL)
    text = text if named else f"{last} = {text}"
    name, _, value = text.partition(" = ")
    found = parse_condition(f"{name} = ({value})" if f"({value})" in RESERVED else text, SMALL)
    return of_column(found.column, set(range(found.first, found.last + 1))), found.column


@given(UNIONS)
def test_formal_texts_are_read_back(some):
    assert read(formal(some, SMALL_DOMAIN))[0] == meaning(some)


@given(st.lists(UNIONS, min_size=30, max_size=30))
@settings(max_examples=settings.default.max_examples // 2, deadline=None)
def test_different_conditions_never_read_the_same(many):
    told: dict[str, Meaning] = {}
    for some in many:
        text, own = plain(some, SMALL_DOMAIN), meaning(some)
        assert told.setdefault(text, own) == own
        # Brackets match, and "and" and "or" are never side by side without them.
        assert text.count("(") == text.count(")")


SINGLE = [
    {name: held} for name in ("ill_2008", "level", "pain", "ward") for held in range(1, SMALL_DOMAIN.everything(name))
]


def test_every_condition_on_one_column_has_words_of_its_own():
    for words in (plain, formal):
        texts = [words([box], SMALL_DOMAIN) for box in SINGLE]
        assert len(set(texts)) == len(texts)
        pairs = [words([{**one, "ill_2009": YES}], SMALL_DOMAIN) for one in SINGLE] + [
            words([one, {"ill_2009": YES}], SMALL_DOMAIN) for one in SINGLE
        ]
        assert len(set(pairs)) == len(pairs)


def test_words_do_not_speak_of_missing_values_where_there_are_none():
    content = CLINIC.to_mapping()
    for column in content["columns"]:
        column["missing"] = "never"
    whole = Domain(Schema.from_mapping(content))
    age = {"high": {"age": 0b11100}, "low": {"age": 0b00011}, "nobody": {"age": 0b10000}}
    assert plain([age["high"]], whole) == "age above 60 years"
    assert plain([age["low"]], whole) == "age at most 60 years"
    assert "missing" in plain([age["nobody"]], whole)
    assert plain([{"sex": cells("sex", "male", "(other)", "(missing)")}], whole) == plain(
        [{"sex": cells("sex", "male", "(other)")}], whole
    )
    assert plain([{"asthma": NO}], whole) == plain([{"asthma": NO}], DOMAIN)
