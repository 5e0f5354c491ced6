"""Blocks of rows: values are encoded once, and as they are alone."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpcore.domain import encoding as blocks
from dpcore.domain.encoding import Block, bin_numbers, encode
from dpcore.domain.schemas.schema import Schema
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward

SCHEMA = ward(
    {"name": "age", "type": "real", "lower": 0, "upper": 100, "bins": 5},
    {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
)
ROWS = pd.DataFrame(
    {"age": ["-3", "20", "20.1", "old", None, "101"], "sex": ["f", "m", "F", "x", None, ""]}, dtype="str"
)


def test_codes_are_those_of_each_column_alone() -> None:
    block = Block(ROWS)
    for column in SCHEMA.columns:
        codes, numbers = encode(column, ROWS[column.name])
        (encoded,) = block.encoded(column)
        assert encoded.codes.tolist() == codes.tolist()
        if numbers is not None:
            np.testing.assert_array_equal(encoded.numbers, numbers)
    np.testing.assert_array_equal(block.encoded(SCHEMA.column("age"))[0].found, [-3, 20, 20.1, np.nan, np.nan, 101])


def test_a_column_is_encoded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, real = [], blocks.values_of
    monkeypatch.setattr(blocks, "values_of", lambda column, rows: asked.append(column.name) or real(column, rows))
    block = Block.of(Block.of(ROWS))
    block.encoded(*SCHEMA.columns, *SCHEMA.columns)
    assert asked == ["age", "sex"]


@for_each("bins", [2, 7, 33, 60])
def test_few_and_many_bins_are_found_alike(bins: int) -> None:
    column = Schema.from_mapping(
        {"name": "x", "max_rows": 9, "columns": [{"name": "x", "type": "real", "lower": 0, "upper": 1, "bins": bins}]}
    ).column("x")
    edges = np.asarray(column.inner_edges)
    numbers = np.concatenate([edges, np.nextafter(edges, 0), np.nextafter(edges, 1), [0, 1, np.nan]])
    slowly = [sum(edge < number for edge in edges) for number in numbers[:-1]]
    assert bin_numbers(column, numbers).tolist() == [*slowly, len(column.cells) - 1]
