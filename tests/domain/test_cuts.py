"""Cut points: read from texts, written as texts, and what conditions make of them."""

from __future__ import annotations

from itertools import pairwise

import pytest

from dpcore.domain.conditions import (
    ALL_CUTS,
    cell_conditions,
    cut_text,
    cuts_of,
    read_cuts,
    schema_conditions,
    threshold_conditions,
)
from dpcore.errors import RequestError
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward

SCHEMA = ward(
    {"name": "age", "type": "integer", "lower": 0, "upper": 100, "bins": 10},
    {"name": "dose: morning", "type": "real", "lower": -1, "upper": 1, "edges": [-0.5, 0, 0.25]},
    {"name": "stage", "type": "ordinal", "categories": ["I", "II", "III"]},
    {"name": "flat", "type": "real", "lower": 0, "upper": 1, "bins": 1},
    {"name": "ill", "type": "boolean", "target": True},
)


def test_what_is_written_is_read_back() -> None:
    texts = [cut_text(SCHEMA.column("age"), (1, 6)), cut_text(SCHEMA.column("dose: morning"), (0, 2))]
    assert texts == ["age: 20, 70", "dose: morning: -0.5, 0.25"]
    assert read_cuts(SCHEMA, texts) == {"age": (1, 6), "dose: morning": (0, 2)}
    assert read_cuts(SCHEMA, ["age:70,20 , 20.0"]) == {"age": (1, 6)}
    assert read_cuts(SCHEMA, []) == ALL_CUTS


@for_each(
    ("texts", "fault"),
    [
        (["height: 3"], "names no column of numbers"),
        (["stage: 1"], "names no column of numbers"),
        (["age"], "names no column of numbers"),
        (["age: 25"], "'25' is not a cut point of 'age'. Those of the data set: 10, 20"),
        (["age: 100"], "'100' is not a cut point"),
        (["age: "], "'' is not a cut point"),
        (["age: nan"], "'nan' is not a cut point"),
        (["age: inf"], "'inf' is not a cut point"),
        (["flat: 0.5"], "It has none."),
        (["age: 20", "age: 30"], "given twice"),
    ],
)
def test_what_cannot_be_read_is_a_sentence(texts: list[str], fault: str) -> None:
    with pytest.raises(RequestError) as told:
        read_cuts(SCHEMA, texts)
    assert fault in str(told.value)


def test_conditions_use_no_other_cuts() -> None:
    cuts, age = {"age": (1, 6)}, SCHEMA.column("age")
    assert list(cuts_of(SCHEMA.column("stage"), cuts)) == [0, 1]
    told = [item.text(SCHEMA) for item in threshold_conditions(age, reserved=False, cuts=cuts)]
    assert told == ["age <= 20", "age > 20", "age <= 70", "age > 70"]
    ranges = [item.text(SCHEMA) for item in cell_conditions(age, reserved=True, cuts=cuts)]
    assert ranges == ["age <= 20", "20 < age <= 70", "age > 70", "age = (missing)"]
    for thresholds in (True, False):
        made = schema_conditions(SCHEMA, "ill", thresholds=thresholds, reserved=False, cuts=cuts)
        plain = schema_conditions(SCHEMA, "ill", thresholds=thresholds, reserved=False)
        others = [item for item in plain if item.column != "age"]
        assert [item for item in made if item.column != "age"] == others


def test_every_value_is_in_one_range() -> None:
    age = SCHEMA.column("age")
    for places in ((0,), (8,), (0, 4, 8), tuple(range(9))):
        ranges = cell_conditions(age, reserved=True, cuts={"age": places})
        assert [one.last + 1 for one in ranges[:-1]] == [other.first for _, other in pairwise(ranges)]
        assert (ranges[0].first, ranges[-1].last) == (0, len(age.cells) - 1)
