"""Out of core: rows are put down by partition on their way, and the table is the same."""

from __future__ import annotations

from io import FileIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.data.building import division, row_buffer
from dpcore.data.building.ingest import partitions_of
from dpcore.data.building.row_buffer import largest_file
from dpcore.data.partition import Partition
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.privacy.randomness import SeededRandom

COLUMNS = [
    {"name": "row", "type": "integer", "lower": 0, "upper": 10_000, "edges": [10, 500]},
    {"name": "kind", "type": "categorical", "categories": ["a", "b"], "target": True},
    {"name": "share", "type": "real", "lower": 0, "upper": 1, "bins": 3},
]


def schema(unit: dict[str, Any] | None, max_rows: int = 900, children: bool = False) -> Schema:
    visit = {"name": "visit", "max_rows_per_person": 2, "columns": [COLUMNS[0]]}
    content = {"name": "d", "max_rows": max_rows, "holdout_percent": 40, "columns": COLUMNS}
    further = {"children": [visit]} if children else {}
    return Schema.from_mapping(content | further | ({} if unit is None else {"privacy_unit": unit}))


def rows(count: int, people: int) -> pd.DataFrame:
    draw = np.random.default_rng(count)
    who = draw.integers(-1, people, count)
    return pd.DataFrame(
        {
            "who": pd.Series([None if number < 0 else f"person {number}" for number in who], dtype="str"),
            "row": range(count),
            "kind": draw.choice(["a", "b", None, "c"], count),
            "share": draw.random(count).round(3).astype(str),
        }
    )


def pieces(frame: pd.DataFrame, size: int) -> list[pd.DataFrame]:
    return [frame.iloc[start : start + size] for start in range(0, len(frame), size)]


@pytest.fixture(params=[100, 10_000], ids=["partitions", "one partition"])
def _divided(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(division, "PARTITION_ROWS", request.param)


CASES = {
    "people": (schema({"column": "who", "max_rows_per_person": 2}), rows(1200, 300), None),
    "rows": (schema(None), rows(850, 9), None),
    "children": (
        schema({"column": "who"}, children=True),
        rows(900, 10**6),
        pd.DataFrame({"who": rows(900, 10**6)["who"].sample(2000, replace=True, random_state=1), "row": range(2000)}),
    ),
}


def made(case: str, size: int, folder: Path | None = None) -> list[Partition]:
    domain, main, child = CASES[case]
    children = None if child is None else {"visit": pieces(child, size)}
    return list(partitions_of(pieces(main, size), domain, SeededRandom(3), children, folder))


@pytest.mark.crossed
@pytest.mark.usefixtures("_divided")
@pytest.mark.parametrize(
    ("size", "held"),
    [(7, 0), (101, 20_000), (5000, 0)]
    + [pytest.param(*slow, marks=pytest.mark.slow) for slow in ((7, 20_000), (101, 0), (5000, 20_000))],
)
@pytest.mark.parametrize("case", CASES)
def test_a_table_is_the_same_whatever_is_held_of_it(
    case: str, size: int, held: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same records with the same random numbers and parts, so the same releases."""
    expected = made(case, 10**6)
    monkeypatch.setattr(row_buffer, "_HELD", held)
    monkeypatch.setattr(row_buffer, "_CALM", 50)
    found = made(case, size, tmp_path)
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        assert one.arrays.keys() == other.arrays.keys()
        for name in one.arrays:
            np.testing.assert_array_equal(one.arrays[name], other.arrays[name])


class Halting(FileIO):
    """A file of which one call reads a few bytes, as Linux reads at most 2 GiB."""

    def readinto(self, buffer: Any) -> int:
        return super().readinto(memoryview(buffer)[:1000]) or 0


def test_rows_are_read_to_their_end_however_few_bytes_come_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (expected,) = made("people", 10**6)
    monkeypatch.setattr(row_buffer, "_HELD", 0)
    monkeypatch.setattr(Path, "open", lambda path, mode, **_: Halting(path, mode))
    (found,) = made("people", 100, tmp_path)
    for name in expected.arrays:
        np.testing.assert_array_equal(found.arrays[name], expected.arrays[name])


def test_what_is_held_in_memory_does_not_grow_with_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(division, "PARTITION_ROWS", 100)
    monkeypatch.setattr(row_buffer, "_HELD", 10_000)
    held: list[int] = []
    put = row_buffer.Rows._put

    def watched(self: Any, *arguments: Any) -> None:
        put(self, *arguments)
        held.append(sum(piece.nbytes for pieces in self._pieces for piece in pieces))

    monkeypatch.setattr(row_buffer.Rows, "_put", watched)
    domain = schema({"column": "who", "max_rows_per_person": 5}, 8000)
    partitions_of(pieces(rows(6000, 3600), 50), domain, SeededRandom(0), None, tmp_path)
    assert len(held) == 120
    assert max(held) <= 10_000
    assert sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()) > 200_000


def test_names_are_not_put_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_buffer, "_HELD", 0)
    made("people", 100, tmp_path)
    files = [file for file in tmp_path.rglob("*") if file.is_file()]
    assert files
    assert not any(b"person" in file.read_bytes() for file in files)


@pytest.mark.usefixtures("_divided")
def test_rows_without_end_are_let_go_of_as_they_come(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One person's rows, or those of people whom the main table does not know, take no room."""
    monkeypatch.setattr(row_buffer, "_HELD", 0)
    monkeypatch.setattr(row_buffer, "_CALM", 300)
    sizes: list[int] = []

    def many(first: pd.DataFrame, count: int) -> Any:
        yield first
        for number in range(count):
            sizes.append(sum(file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()))
            yield first.assign(who=[f"nobody {number} {i}" for i in range(len(first))])

    domain, main, child = CASES["children"]
    assert child is not None
    few = domain.model_copy(update={"max_rows": 1000})
    partitions_of([main], few, SeededRandom(0), {"visit": many(child.iloc[:500], 200)}, tmp_path)
    files = [file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()]
    assert max(files) <= largest_file(few)
    room = division.partition_count(few.max_rows) * largest_file(few)
    assert max(sizes) <= room < 100 * 500 * row_buffer.row_type(few.children[0]).itemsize  # Half of what came.


@pytest.mark.usefixtures("_divided")
def test_too_many_people_are_noticed_on_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_buffer, "_CALM", 100)
    read = 0

    def endless() -> Any:
        nonlocal read
        while True:
            yield rows(500, 10**9).assign(who=[f"p{read + i}" for i in range(500)])
            read += 500

    domain = schema({"column": "who", "max_rows_per_person": 3}, 200)
    with pytest.raises(IngestError, match="declared limit of 200"):
        partitions_of(endless(), domain, SeededRandom(0), None, tmp_path)
    assert read < 5000


def test_names_that_are_no_text_elsewhere_are_people_too() -> None:
    names = pd.Series(["\ud800", "\udfff", "\ud800"], dtype=object)
    odd = pd.DataFrame({"who": names, "row": range(3), "kind": "a", "share": 0.5})
    domain = schema({"column": "who", "max_rows_per_person": 1})
    table = PrivateTable(domain, list(partitions_of([odd], domain, SeededRandom(0))))
    assert len(table.public_frame()) == 2
