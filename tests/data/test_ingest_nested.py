"""Rows that belong to rows of another table: linked to a kept row of the same person, whatever the order of arrival."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dpcore.data.building.division as division
import dpcore.data.building.row_buffer as arriving
from dpcore.data.building.ingest import ingest, partitions_of
from dpcore.data.building.people import People
from dpcore.data.packing import unpack
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.intake.joins.relations import rows_for
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.support.rows import for_each

MANY = 60
#: A whole table is stored for each example.
SOME = settings().max_examples // 5
NUMBER: dict[str, Any] = {"name": "row", "type": "categorical", "categories": [str(i) for i in range(MANY)]}


def schema(stays: int = 2, tests: int = 3, max_rows: int = 200, **test: Any) -> Schema:
    """People, their stays in hospital and tests made in a stay; every row has a number of its own."""
    return Schema.from_mapping(
        {
            "name": "clinic",
            "max_rows": max_rows,
            "privacy_unit": {"column": "who"},
            "columns": [{**NUMBER, "name": "person"}],
            "children": [
                # The tests are declared first: order does not matter.
                {
                    "name": "test",
                    "parent": "stay",
                    "parent_key": "in_stay",
                    "max_rows_per_person": tests,
                    "columns": [NUMBER],
                    **test,
                },
                {"name": "stay", "row_key": "stay_id", "max_rows_per_person": stays, "columns": [NUMBER]},
            ],
        }
    )


def people(count: int) -> pd.DataFrame:
    return pd.DataFrame({"who": [f"p{i}" for i in range(count)], "person": range(count)})


def drawn(seed: int, count: int = 6) -> dict[str, pd.DataFrame]:
    """Stays are numbered within each person, so numbers of different people are alike."""
    rng = np.random.default_rng(seed)
    who = rng.choice([f"p{i}" for i in range(count)], MANY)
    stays = pd.DataFrame({"who": who, "row": range(MANY)})
    stays["stay_id"] = stays.groupby("who").cumcount()
    links = rng.integers(-1, 5, MANY)
    tests = pd.DataFrame({"who": rng.choice([*who, "stranger"], MANY), "row": range(MANY)})
    tests["in_stay"] = np.where(links < 0, None, links.astype(object))
    return {"stay": stays, "test": tests}


def make(main: pd.DataFrame, rows: dict[str, pd.DataFrame], made: Schema, seed: int = 0, size: int = 7) -> PrivateTable:
    pieces = {name: [frame.iloc[i : i + size] for i in range(0, len(frame), size)] for name, frame in rows.items()}
    return ingest([main], made, SeededRandom(seed), pieces)


def linked(table: PrivateTable) -> dict[int, tuple[set[int], dict[int, int]]]:
    """By person: the stays that are kept, and the stay of each test that is, read from the arrays themselves."""
    found = {}
    for whole in table.partitions:
        stay, test = whole.children["stay"], whole.children["test"]
        held = {
            name: np.stack([unpack(slot, whole.rows) for slot in whole.children[name].rows]) for name in whole.children
        }
        assert test.links is not None
        assert stay.links is None
        assert test.links.shape == held["test"].shape
        assert test.links.dtype == np.uint16
        assert not test.links[~held["test"]].any()
        for place in whole.present:
            stays = {slot: int(stay.codes[0, slot, place]) for slot in np.flatnonzero(held["stay"][:, place])}
            tests = np.flatnonzero(held["test"][:, place])
            of = {int(test.codes[0, slot, place]): stays[int(test.links[slot, place])] for slot in tests}
            found[int(whole.codes[0, place])] = (set(stays.values()), of)
    return found


def check(found: dict[int, tuple[set[int], dict[int, int]]], rows: dict[str, pd.DataFrame], made: Schema) -> None:
    """Of each person as many stays as may be, and of the tests of these as many as may be, each with its own stay."""
    limits = {child.name: child.max_rows_per_person for child in made.children}
    for person, (stays, tests) in found.items():
        own = rows["stay"][rows["stay"]["who"] == f"p{person}"]
        assert len(stays) == min(len(own), limits["stay"])
        assert stays <= set(own["row"])
        kept = own[own["row"].isin(stays)].set_index("stay_id")["row"].to_dict()
        mine = rows["test"][(rows["test"]["who"] == f"p{person}") & rows["test"]["in_stay"].isin(list(kept))]
        assert len(tests) == min(len(mine), limits["test"])
        expected = {int(row): kept[stay] for row, stay in zip(mine["row"], mine["in_stay"], strict=True)}
        assert tests.items() <= expected.items()


@settings(max_examples=SOME)
@given(st.integers(0, 10**6), st.integers(1, 4), st.integers(1, 6), st.integers(1, 70))
def test_rows_stay_with_a_kept_row_of_the_same_person(seed: int, stays: int, tests: int, size: int) -> None:
    made, rows = schema(stays, tests), drawn(seed)
    check(linked(make(people(6), rows, made, seed, size)), rows, made)


@settings(max_examples=SOME)
@given(st.integers(0, 10**6))
def test_any_order_of_arrival_links_the_same_rows(seed: int) -> None:
    made, rows = schema(MANY, MANY), drawn(seed)
    mixed = {name: frame.sample(frac=1, random_state=seed) for name, frame in rows.items()}
    assert linked(make(people(6), rows, made)) == linked(make(people(6), mixed, made, 1, 3))


@for_each("gone", [0, 2, 5])
def test_without_a_person_exactly_that_persons_rows_are_gone(gone: int) -> None:
    made, rows, main = schema(MANY, MANY), drawn(3), people(6)
    everybody = linked(make(main, rows, made))
    fewer = {name: frame[frame["who"] != f"p{gone}"] for name, frame in rows.items()}
    left = linked(make(main[main["who"] != f"p{gone}"], fewer, made, 1))
    assert left == {person: own for person, own in everybody.items() if person != gone}


def test_rows_put_down_in_files_and_in_many_partitions_are_linked_alike(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made, rows = schema(MANY, MANY, max_rows=4000), drawn(5)
    whole = linked(make(people(6), rows, made))
    monkeypatch.setattr(arriving, "_HELD", 0)
    monkeypatch.setattr(arriving, "_CALM", 2)
    monkeypatch.setattr(division, "PARTITION_ROWS", 1000)
    pieces = {name: [frame.iloc[i : i + 5] for i in range(0, len(frame), 5)] for name, frame in rows.items()}
    parts = list(partitions_of([people(6)], made, SecureRandom(), pieces, folder=tmp_path))
    assert len(parts) == 4
    assert linked(PrivateTable(made, parts)) == whole


def test_of_rows_with_the_same_key_one_is_the_parent() -> None:
    rows = {
        "stay": pd.DataFrame({"who": ["p0"] * 2, "row": [0, 1], "stay_id": ["7", 7.0]}),
        "test": pd.DataFrame({"who": ["p0", "p1", None, "p0"], "row": range(4), "in_stay": [7, 7, 7, ""]}),
    }
    found = linked(make(people(2), rows, schema()))
    assert set(found[0][1]) == {0}
    assert found[0][1][0] in {0, 1}
    assert found[1] == (set(), {})


def test_shapes_and_files_tell_nothing_of_links(tmp_path: Path) -> None:
    sizes = set()
    for count, seed in ((1, 0), (6, 1)):
        folder = tmp_path / str(count)
        folder.mkdir()
        table = make(people(count), drawn(seed, count), schema())
        table.save(folder)
        PrivateTable.check_files(folder, table.schema)
        assert linked(PrivateTable.open(folder)) == linked(table)
        sizes.add(tuple(sorted((item.name, item.stat().st_size) for item in folder.rglob("*") if item.is_file())))
        assert b"stay_id" not in b"".join(item.read_bytes() for item in folder.rglob("*.arrow"))
    assert len(sizes) == 1


def test_tables_of_files_and_of_a_database_are_linked_alike(tmp_path: Path) -> None:
    made, tables = schema(MANY, MANY), {"person": people(6), **drawn(4)}
    expected = linked(make(tables["person"], {name: tables[name] for name in ("stay", "test")}, made))
    with sqlite3.connect(tmp_path / "all.sqlite") as base:
        for name, frame in tables.items():
            frame.to_csv(tmp_path / f"{name}.csv", index=False)
            frame.astype({"in_stay": str} if name == "test" else {}).to_parquet(tmp_path / f"{name}.parquet")
            frame.to_sql(name, base, index=False)
    base.close()
    for source in (
        {name: tmp_path / f"{name}.csv" for name in tables},
        {name: tmp_path / f"{name}.parquet" for name in tables},
        tmp_path / "all.sqlite",
    ):
        main, children = rows_for(made, source)
        assert linked(ingest(main, made, SeededRandom(0), children)) == expected


@for_each(
    ("table", "column", "sentence"),
    [
        ("test", "in_stay", "'test' has no column 'in_stay'"),
        ("test", "who", "'test' has no column 'who'"),
        ("stay", "stay_id", "'stay' has no column 'stay_id'"),
    ],
)
def test_keys_that_are_missing_are_named(table: str, column: str, sentence: str) -> None:
    rows = drawn(0)
    rows[table] = rows[table].drop(columns=column)
    with pytest.raises(IngestError, match=sentence):
        make(people(6), rows, schema())


def test_rows_of_nobody_and_kept_keys_are_refused_in_a_sentence() -> None:
    rows = drawn(0)
    rows["test"]["in_stay"] = "secret"
    with pytest.raises(IngestError, match="No row of the table 'test' belongs to a row of 'stay'") as caught:
        make(people(6), rows, schema())
    assert "secret" not in str(caught.value)
    with pytest.raises(IngestError, match="no rows can be appended"):
        list(
            partitions_of(
                [people(6)], schema(), SecureRandom(), {k: [v] for k, v in drawn(0).items()}, people=People.new()
            )
        )
