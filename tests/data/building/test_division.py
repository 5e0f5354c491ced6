"""Partitions: sizes are public, people stay together, and an overflow stores nothing."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom

import dpcore.data.building.ingest as intake
from dpcore.data.building import division
from dpcore.data.building.division import hashes_of, new_key, partition_count, partition_rows, scaled
from dpcore.data.building.ingest import ingest
from dpcore.data.packing import unpack
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.support.rows import for_each


def ward(max_rows: int, rows_per_person: int = 3) -> Schema:
    visit = {"name": "visit", "key": "who", "max_rows_per_person": 2}
    numbers = {"type": "integer", "lower": 0, "upper": 1000, "bins": 4}
    content = {
        "name": "ward",
        "max_rows": max_rows,
        "holdout_percent": 30,
        "columns": [{"name": "person", **numbers}],
        "privacy_unit": {"column": "who", "max_rows_per_person": rows_per_person},
    }
    if rows_per_person == 1:
        content["children"] = [visit | {"columns": [{"name": "owner", **numbers}]}]
    return Schema.from_mapping(content)


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(division, "PARTITION_ROWS", 100)


def held(partition):
    return partition.numbers[0][partition.present].astype(int)


def test_rows_of_a_person_lie_together(small):
    people = np.repeat(np.arange(200), 3)
    frame = pd.DataFrame({"who": [f"p{person}" for person in people], "person": people})
    table = ingest([frame], ward(800), SeededRandom(0))
    assert len(table.partitions) == 8
    found = [held(partition) for partition in table.partitions]
    assert sorted(np.concatenate(found)) == sorted(people)
    owners = [set(own) for own in found]
    assert sum(map(len, owners)) == len(set.union(*owners)) == 200
    for partition in table.partitions:
        for person in set(held(partition)):
            sides = unpack(partition.parts[1], partition.rows)[partition.present][held(partition) == person]
            assert len(set(sides)) == 1


def test_child_rows_lie_with_their_person(small):
    people = np.arange(300)
    main = pd.DataFrame({"who": [f"p{person}" for person in people], "person": people})
    child = pd.DataFrame({"who": np.repeat(main["who"], 3), "owner": np.repeat(people, 3)})
    whole = ward(300, 1)
    table = ingest([main], whole, SeededRandom(0), {"visit": [child]})
    assert len(table.partitions) == 3
    frame, (rows, owners) = table.public_frame(), table.public_child("visit")
    assert len(rows) == 600
    edges = np.array([*whole.columns[0].inner_edges, whole.columns[0].upper])
    assert (np.floor(edges)[np.searchsorted(edges, frame["person"].to_numpy()[owners])] == rows["owner"]).all()


def test_rows_that_are_people_are_spread_too(small):
    schema = Schema.from_mapping({"name": "d", "max_rows": 1000, "columns": [{"name": "sex", "type": "boolean"}]})
    table = ingest([pd.DataFrame({"sex": ["yes", "no"] * 500})], schema, SeededRandom(0))
    sizes = [len(partition.present) for partition in table.partitions]
    assert len(sizes) == 10
    assert sum(sizes) == 1000
    assert min(sizes) > 50


def test_all_partitions_have_the_same_public_size(small):
    frames = [pd.DataFrame({"who": [f"p{i}" for i in range(n)], "person": range(n)}) for n in (1, 800)]
    tables = [ingest([frame], ward(800), SecureRandom()) for frame in frames]
    rows = {partition.rows for table in tables for partition in table.partitions}
    assert rows == {partition_rows(800, 3, 8)}


def test_an_overflow_stores_nothing(small, monkeypatch):
    monkeypatch.setattr(intake, "partition_rows", lambda *_: 64)
    frame = pd.DataFrame({"who": [f"p{i}" for i in range(800)], "person": range(800)})
    with pytest.raises(IngestError, match="try again"):
        ingest([frame], ward(800), SeededRandom(0))


@for_each("max_rows", [1, 63, 64, 65, 2**18, 2**18 + 1, 10**6, 10**8])
def test_partitions_have_room_for_everybody(max_rows):
    count = partition_count(max_rows)
    for each in (1, 10, 1000):
        rows = partition_rows(max_rows, each, count)
        assert rows % 64 == 0
        assert count * rows >= max_rows
        assert rows <= 64 * math.ceil(max_rows / 64)


@for_each(("max_rows", "count"), [(10**6, 4), (10**8, 382), (5000, 64)])
def test_the_room_is_enough_and_not_far_too_much(max_rows, count):
    rows = partition_rows(max_rows, 1, count)
    overflow = binom.logsf(rows, max_rows, 1 / count) + math.log(count)
    assert overflow < -64 * math.log(2)
    half = max_rows / count + (rows - max_rows / count) / 2
    assert binom.logsf(half, max_rows, 1 / count) + math.log(count) > -64 * math.log(2)


def test_where_somebody_goes_depends_on_name_and_key_alone():
    names = np.array([f"p{i}" for i in range(5000)], dtype=object)

    def homes_of(people, key):
        return scaled(hashes_of(people, [key])[:, 0], 7)

    homes = homes_of(names, "0123456789abcdef")
    assert (homes_of(names[::-1], "0123456789abcdef")[::-1] == homes).all()
    assert (homes_of(names, "0123456789abcdee") != homes).mean() > 0.8
    assert np.abs(np.bincount(homes, minlength=7) - 5000 / 7).max() < 6 * math.sqrt(5000 / 7)
    assert new_key(SecureRandom()) != new_key(SecureRandom())
    assert scaled(np.array([0, 2**64 - 1], dtype=np.uint64), 7).tolist() == [0, 6]
