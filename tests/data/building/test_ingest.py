from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from dpcore.data.building.ingest import check_header, frame_chunks, ingest
from dpcore.data.packing import unpack
from dpcore.data.table import PrivateTable
from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.support.rows import for_each
from tests.support.strategies import schemas

FALSE_ALARM = 1e-6


def schema(rows_per_person: int | None = None, **fields) -> Schema:
    content = {
        "name": "ward",
        "max_rows": 2000,
        "holdout_percent": 0,
        "columns": [
            {"name": "row", "type": "integer", "lower": 0, "upper": 10_000, "bins": 4},
            {"name": "sex", "type": "categorical", "categories": ["f", "m"]},
        ],
    }
    if rows_per_person is not None:
        content["privacy_unit"] = {"column": "who", "max_rows_per_person": rows_per_person}
    return Schema.from_mapping({**content, **fields})


def frame(people) -> pd.DataFrame:
    people = list(people)
    sexes = ["f", "m"] * len(people)
    return pd.DataFrame({"who": people, "row": range(len(people)), "sex": sexes[: len(people)]})


def chunked(whole: pd.DataFrame, size: int) -> list[pd.DataFrame]:
    return [whole.iloc[i : i + size] for i in range(0, len(whole), size)]


def kept_rows(table: PrivateTable, part: str = "all") -> list[int]:
    """Numbers of the input rows in a part, through the column ``row``."""
    present = unpack(table.partitions[0].members(part), table.partitions[0].rows)
    return table.partitions[0].numbers[0][present].astype(int).tolist()


def make(whole: pd.DataFrame, made: Schema, size: int = 10**6, seed: int = 0) -> PrivateTable:
    return ingest(chunked(whole, size), made, SeededRandom(seed))


PEOPLE = st.lists(st.sampled_from(["ann", "bob", "cleo", "", None, 7]), min_size=1, max_size=40)


@given(PEOPLE, st.integers(1, 4), st.integers(1, 9), st.integers(0, 10**6))
def test_contribution_bound(people, limit, size, seed):
    named = [None if who == "" else who for who in people]
    available = pd.Series(named, dtype=object).value_counts()
    if available.empty:
        with pytest.raises(IngestError, match="No row names a person"):
            make(frame(people), schema(limit), size, seed)
        return
    kept = kept_rows(make(frame(people), schema(limit), size, seed))
    assert len(kept) == len(set(kept))
    found = pd.Series([named[row] for row in kept], dtype=object).value_counts()
    assert found.to_dict() == available.clip(upper=limit).to_dict()


@for_each("nobody", ["", " ", None, math.nan, "NA", "null", "None", "<NA>"])
def test_rows_of_nobody_are_dropped(nobody):
    kept = kept_rows(make(frame(["ann", nobody, nobody, "bob"]), schema(5)))
    assert sorted(kept) == [0, 3]


def test_one_person_spelled_alike_in_several_chunks_and_types_is_one():
    pieces = [[7, 7], [7.0, math.nan], ["7", " 7 "]]
    chunks = [frame(piece) for piece in pieces]
    table = ingest(chunks, schema(2), SeededRandom(0))
    assert len(kept_rows(table)) == 2


def test_long_numbers_are_different_people():
    table = make(frame([2**60, 2**60 + 1, 2**60 + 2]), schema(1))
    assert len(kept_rows(table)) == 3


@pytest.mark.parametrize("size", [3, 1000])
def test_rows_of_a_person_are_chosen_uniformly(size):
    alike = 100  # An Ann has rows in places 0, 2, 4, 6, 8; a row of each of them comes before anybody's next.
    people = [f"{name}{i}" for name in ["ann", "bob"] * 4 + ["ann"] for i in range(alike)]
    counts = np.zeros(9)
    source = SecureRandom()
    for _ in range(6):
        table = ingest(chunked(frame(people), size * alike), schema(2), source)
        np.add.at(counts, np.array(kept_rows(table)) // alike, 1)
    ann, bob = counts[0::2], counts[1::2]
    assert ann.sum() == bob.sum() == 1200
    for rows in (ann, bob):
        expected = rows.sum() / len(rows)
        statistic = ((rows - expected) ** 2 / expected).sum()  # conservative: without replacement
        assert statistic < chi2.isf(FALSE_ALARM, len(rows) - 1)


def test_stored_order_says_nothing_about_file_order():
    orders = np.array([kept_rows(make(frame("abcdef"), schema(), seed=seed)) for seed in range(180)])
    counts = (orders[:, :, None] == np.arange(6)).sum(axis=0)
    # Every row is in one place: of 36 deviations 25 are free.
    assert 5 / 6 * ((counts - 30) ** 2 / 30).sum() < chi2.isf(FALSE_ALARM, 25)


@for_each("size", [1, 4, 10**6])
def test_holdout_coin_is_tossed_once_per_person(size):
    people = [f"p{i % 50}" for i in range(400)]
    table = make(frame(people), schema(8, holdout_percent=50), size)
    train = {people[row] for row in kept_rows(table, "train")}
    holdout = {people[row] for row in kept_rows(table, "holdout")}
    assert not train & holdout
    assert len(train | holdout) == 50
    assert train
    assert holdout
    assert len(kept_rows(table)) == 400


@for_each(
    ("people", "columns", "fields", "sentence"),
    [
        (["ann"], ["who", "row"], {}, "no column 'sex'"),
        (["ann"], ["row", "sex"], {"rows_per_person": 1}, "no column 'who'"),
        (["ann"], ["who"], {}, "no column 'row', 'sex'"),
        ([], ["who", "row", "sex"], {}, "no rows"),
        ([None, ""], ["who", "row", "sex"], {"rows_per_person": 1}, "No row names a person"),
        (["a", "b", "c"], ["who", "row", "sex"], {"max_rows": 2}, "declared limit of 2"),
    ],
)
@for_each("size", [1, 10])
def test_data_that_cannot_be_used(people, columns, fields, sentence, size):
    with pytest.raises(IngestError, match=sentence):
        make(frame(people)[columns], schema(**fields), size)


def test_a_column_missing_in_a_later_chunk():
    chunks = [frame(["ann"]), frame(["bob"]).drop(columns="sex")]
    with pytest.raises(IngestError, match="no column 'sex'"):
        ingest(chunks, schema(), SeededRandom(0))


def test_max_rows_counts_what_is_kept():
    assert len(kept_rows(make(frame(["ann"] * 9 + ["bob"]), schema(1, max_rows=2)))) == 2
    assert len(kept_rows(make(frame("ab"), schema(max_rows=2)))) == 2


@for_each(
    ("target", "values", "sentence"),
    [
        ({"type": "boolean"}, [None, ""], "is one of its categories"),
        ({"type": "boolean"}, ["maybe", "perhaps"], "is one of its categories"),
        ({"type": "categorical", "categories": ["x"]}, ["z", "y"], "is one of its categories"),
        ({"type": "integer", "lower": 0, "upper": 1, "bins": 1}, ["?", None], "is a number"),
    ],
)
def test_a_target_without_any_value(target, values, sentence):
    made = schema(columns=[{"name": "y", "target": True, **target}])
    with pytest.raises(IngestError, match=f"'y' {sentence}"):
        make(pd.DataFrame({"y": values}), made)
    # The same column is no fault when it is not a target, or holds one value.
    make(pd.DataFrame({"y": values}), schema(columns=[{"name": "y", **target}]))
    good = {"boolean": "yes", "categorical": "x", "integer": 1}[target["type"]]
    make(pd.DataFrame({"y": [*values, good]}), made)


def test_values_outside_the_schema_are_mapped():
    messy = pd.DataFrame({"row": ["-3", "99999", "x", "5"], "sex": ["f", "d", "", "m"]})
    table = make(messy, schema())
    found = table.public_frame().sort_values(["row", "sex"], ignore_index=True)
    assert found["sex"].tolist() == ["f", "m", "(other)", "(missing)"]
    assert found["row"].fillna(-1).tolist() == [0, 5, 10_000, -1]


VALUES = st.one_of(st.none(), st.booleans(), st.integers(-2000, 2000), st.floats(), st.text(max_size=3))


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(schemas(), st.data())
def test_every_value_lands_in_exactly_one_cell(made, data):
    count = data.draw(st.integers(1, min(8, made.max_rows)))
    rows = st.lists(VALUES, min_size=count, max_size=count)
    whole = pd.DataFrame({c.name: pd.Series(data.draw(rows), dtype=object) for c in made})
    table = make(whole, made, size=data.draw(st.integers(1, 8)))
    held = table.partitions[0]
    members = unpack(held.members("all"), held.rows)
    assert members.sum() == count
    for i, column in enumerate(made):
        cells = np.stack([unpack(held.in_cells(column.name, [k]), held.rows) for k in range(len(column.cells))])
        assert (cells.sum(axis=0) == members).all()
        assert (cells.argmax(axis=0)[members] == held.codes[i][members]).all()
    for numbers, column in zip(held.numbers, (c for c in made if isinstance(c, NumericColumn)), strict=True):
        known = numbers[~np.isnan(numbers)]
        assert ((known >= column.lower) & (known <= column.upper)).all()


def test_frame_chunks_keep_the_frame_and_check_its_header():
    numbered = pd.DataFrame([[1, 2]])
    (chunk,) = frame_chunks(numbered)
    assert list(chunk.columns) == ["0", "1"]
    assert list(numbered.columns) == [0, 1]
    with pytest.raises(IngestError, match="repeats '1'"):
        list(frame_chunks(pd.DataFrame([[1, 2]], columns=[1, "1"])))


@for_each(
    ("names", "sentence"),
    [
        ([], "empty or has no header"),
        (["", " "], "empty or has no header"),
        (["a", " "], "A column has no name"),
        (["a", "b", "b", "a", "a"], "repeats 'a', 'b'"),
        ([f"c{i}" for i in range(1001)], "1001 columns"),
    ],
)
def test_headers_that_no_schema_describes(names, sentence):
    with pytest.raises(IngestError, match=sentence):
        check_header(names)


def test_no_message_holds_a_value():
    canary = "CANARY-7731"
    made = schema(columns=[{"name": "y", "type": "boolean", "target": True}], max_rows=1)
    for values in ([canary], [canary, "yes"]):
        with pytest.raises(IngestError) as caught:
            make(pd.DataFrame({"y": values}), made)
        assert canary not in str(caught.value)
