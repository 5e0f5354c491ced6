"""Rows of child tables at ingestion: bounded per person, in slots whose shape is public."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2

from dpcore.data.building.ingest import ingest
from dpcore.data.packing import unpack
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.privacy.randomness import RandomSource, SecureRandom, SeededRandom
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward

FALSE_ALARM = 1e-6
MANY = 40


def schema(kept: int = 2, max_rows: int = 200, **child: Any) -> Schema:
    """People with a number of their own, and visits each of which has a number of its own."""
    row = {"type": "categorical", "categories": [str(i) for i in range(MANY)]}
    visit = {"name": "visit", "max_rows_per_person": kept, "columns": [{"name": "row", **row}]}
    return ward(
        {"name": "person", **row},
        name="clinic",
        max_rows=max_rows,
        holdout_percent=50,
        privacy_unit={"column": "who"},
        children=[visit | child],
    )


def people(count: int) -> pd.DataFrame:
    return pd.DataFrame({"who": [f"p{i}" for i in range(count)], "person": range(count)})


def visits(owners: list[Any]) -> pd.DataFrame:
    return pd.DataFrame({"who": owners, "row": range(len(owners))})


def make(main: pd.DataFrame, child: pd.DataFrame, made: Schema, source: RandomSource, size: int = 7) -> PrivateTable:
    pieces = [child.iloc[i : i + size] for i in range(0, max(len(child), 1), size)]
    return ingest([main], made, source, {"visit": pieces})


def kept(table: PrivateTable) -> dict[int, list[int]]:
    """Numbers of the visits that are kept of each person, read from the arrays themselves."""
    (whole,) = table.partitions
    child, present = whole.children["visit"], whole.present
    held = np.stack([unpack(slot, whole.rows) for slot in child.rows])
    assert not held[:, np.setdiff1d(np.arange(whole.rows), present)].any()
    return {
        int(whole.codes[0, place]): sorted(int(child.codes[0, slot, place]) for slot in np.flatnonzero(held[:, place]))
        for place in present
    }


OWNERS = st.lists(st.sampled_from(["p0", "p1", "p2", "p9", "", None, " p1 "]), max_size=MANY)


@given(OWNERS, st.integers(1, 5), st.integers(1, 9), st.integers(0, 10**6))
def test_of_each_person_at_most_so_many_rows_are_kept(owners: list[Any], limit: int, size: int, seed: int) -> None:
    child, named = visits(owners), [str(owner or "").strip() for owner in owners]
    rows = {i: [n for n, who in enumerate(named) if who == f"p{i}"] for i in range(3)}
    if not any(rows.values()):
        with pytest.raises(IngestError, match=r"is found in the main table|but no rows"):
            make(people(3), child, schema(limit), SeededRandom(seed), size)
        return
    found = kept(make(people(3), child, schema(limit), SeededRandom(seed), size))
    assert found.keys() == rows.keys()
    for person, numbers in found.items():
        assert len(numbers) == min(limit, len(rows[person]))
        assert set(numbers) <= set(rows[person])


@pytest.mark.parametrize("size", [3, 1000])
def test_rows_of_a_person_are_chosen_uniformly(size: int) -> None:
    """Every other person has visits as the first, the others as the second; one of each comes before the next."""
    turns, pairs, repeats = [0, 1, None] * 4 + [0], 20, 600
    owners = ["nobody" if turn is None else f"p{2 * pair + turn}" for turn in turns for pair in range(pairs)]
    child = pd.DataFrame({"who": owners, "row": np.repeat(range(len(turns)), pairs)})
    counts, source = np.zeros(len(turns)), SecureRandom()
    for _ in range(repeats // pairs):
        found = kept(make(people(2 * pairs), child, schema(2), source, size * pairs))
        np.add.at(counts, np.concatenate(list(found.values())), 1)
    assert counts.sum() == 4 * repeats
    for person in (0, 1):
        numbers = [place for place, turn in enumerate(turns) if turn == person]
        expected = 2 * repeats / len(numbers)
        # Conservative: within one draw the kept rows differ from each other.
        statistic = ((counts[numbers] - expected) ** 2 / expected).sum()
        assert statistic < chi2.isf(FALSE_ALARM, len(numbers) - 1)


def test_slots_are_filled_at_random_too() -> None:
    """Which row stands in the first slot says nothing about the order of the file."""
    first, source = np.zeros(4), SecureRandom()
    child = pd.DataFrame({"who": [f"p{i}" for i in range(MANY)] * 4, "row": np.repeat(range(4), MANY)})
    for _ in range(400 // MANY):
        table = make(people(MANY), child, schema(4), source, 7 * MANY)
        places = np.flatnonzero(unpack(table.partitions[0].members("all"), 200))
        np.add.at(first, table.partitions[0].children["visit"].codes[0, 0, places], 1)
    assert ((first - 100) ** 2 / 100).sum() < chi2.isf(FALSE_ALARM, 3)


@for_each("gone", [0, 3, 7])
def test_without_a_person_exactly_its_slots_are_gone(gone: int) -> None:
    draw = np.random.default_rng(0)
    owners = [f"p{i}" for i in draw.integers(0, 8, MANY)]
    everybody = kept(make(people(8), visits(owners), schema(MANY), SeededRandom(1)))
    main, child = people(8), visits(owners)
    fewer = kept(
        make(main[main["who"] != f"p{gone}"], child[child["who"] != f"p{gone}"], schema(MANY), SeededRandom(2))
    )
    assert fewer == {person: rows for person, rows in everybody.items() if person != gone}
    # Rows of somebody whom the main table does not know change nothing.
    stray = kept(make(main[main["who"] != f"p{gone}"], child, schema(MANY), SeededRandom(3)))
    assert stray == fewer


@pytest.mark.parametrize("limit", [1, 5])
def test_shapes_and_types_depend_on_the_schema_alone(limit: int, tmp_path: Path) -> None:
    made, sizes = schema(limit), set()
    for count, owners in ((1, ["p0"]), (30, [f"p{i % 30}" for i in range(MANY)])):
        table = make(people(count), visits(owners), made, SeededRandom(0))
        child = table.partitions[0].children["visit"]
        assert child.codes.shape == (1, limit, 256)
        assert child.rows.shape == (limit, 4)
        assert (child.codes.dtype, child.rows.dtype) == (np.uint8, np.uint64)
        held = np.stack([unpack(slot, 256) for slot in child.rows])
        assert not child.codes[0][~held].any()
        folder = tmp_path / str(count)
        folder.mkdir()
        table.save(folder)
        sizes.add(tuple(sorted((item.name, item.stat().st_size) for item in folder.rglob("*") if item.is_file())))
    assert len(sizes) == 1


def test_a_saved_table_is_opened_as_it_was(tmp_path: Path) -> None:
    table = make(people(5), visits(["p0", "p0", "p4"]), schema(2), SeededRandom(0))
    table.save(tmp_path)
    PrivateTable.check_files(tmp_path, table.schema)
    again = PrivateTable.open(tmp_path)
    assert kept(again) == kept(table) == {0: [0, 1], 1: [], 2: [], 3: [], 4: [2]}
    for part in ("train", "holdout", "all"):
        rows, owners = table.public_child("visit", part)
        rows_again, owners_again = again.public_child("visit", part)
        pd.testing.assert_frame_equal(rows, rows_again)
        assert owners.tolist() == owners_again.tolist()
    stored = b"".join(item.read_bytes() for item in tmp_path.rglob("*") if item.is_file())
    assert b"p0" not in stored


def test_a_part_holds_the_rows_of_its_people() -> None:
    table = make(people(30), visits([f"p{i % 30}" for i in range(MANY)]), schema(3), SeededRandom(4))
    everybody = kept(table)
    for part in ("train", "holdout"):
        members = table.public_frame(part)["person"].astype(int).tolist()
        rows, owners = table.public_child("visit", part)
        assert sorted(rows["row"].astype(int)) == sorted(number for person in members for number in everybody[person])
        for number, owner in zip(rows["row"].astype(int), owners, strict=True):
            assert number in everybody[members[owner]]


def test_keys_are_compared_as_persons_are() -> None:
    main = pd.DataFrame({"who": [1, 2, 3], "person": [1, 2, 3]})
    child = pd.DataFrame({"of": ["1", " 2.5 ", "2 ", "NA", None], "row": range(5)})
    pieces = [child, pd.DataFrame({"of": [3.0, np.nan], "row": [5, 6]})]
    table = ingest([main], schema(3, key="of"), SeededRandom(0), {"visit": pieces})
    assert kept(table) == {1: [0], 2: [2], 3: [5]}


@for_each(
    ("children", "sentence"),
    [
        (None, "'visit' of the schema is missing"),
        ({}, "'visit' of the schema is missing"),
        ({"visit": [visits(["p0"])], "lab": [visits(["p0"])]}, "no further table 'lab'"),
        ({"visit": [visits(["p0"]).drop(columns="row")]}, "'visit' has no column 'row'"),
        ({"visit": [visits(["p0"]).drop(columns="who")]}, "'visit' has no column 'who'"),
        ({"visit": [visits(["secret"])]}, "No 'who' of the table 'visit' is found"),
        ({"visit": []}, "'visit' holds a header but no rows"),
    ],
)
def test_faults_are_sentences_without_values(children: Any, sentence: str) -> None:
    with pytest.raises(IngestError) as caught:
        ingest([people(3)], schema(), SeededRandom(0), children)
    assert sentence in str(caught.value)
    assert "secret" not in str(caught.value)
