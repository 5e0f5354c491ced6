"""Rows that are appended: as if all had come at once, and nobody changes sides."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.data.building import row_buffer
from dpcore.data.building.ingest import frame_chunks, partitions_of
from dpcore.data.building.people import People
from dpcore.data.packing import unpack
from dpcore.data.stored.storage import check_contents, open_partitions, save_partitions, stored_people
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError, SchemaError
from dpcore.privacy.randomness import SecureRandom

#: Rows a person may keep, and child rows.
EACH, SLOTS = 2, 3


def schema(max_rows: int = 4000, each: int = EACH, *, children: bool = False) -> Schema:
    found: dict[str, Any] = {
        "name": "ward",
        "max_rows": max_rows,
        "holdout_percent": 30,
        "privacy_unit": {"column": "who", "max_rows_per_person": each},
        "columns": [{"name": "row", "type": "integer", "lower": 0, "upper": 100_000, "bins": 4}],
    }
    if children:
        column = {"name": "drug", "type": "categorical", "categories": [f"d{i}" for i in range(50)]}
        found["children"] = [{"name": "drug", "max_rows_per_person": SLOTS, "columns": [column]}]
    return Schema.from_mapping(found)


def store(
    folder: Path,
    declared: Schema,
    rows: pd.DataFrame,
    children: Mapping[str, pd.DataFrame] | None = None,
    people: People | None = None,
) -> Path:
    folder.mkdir()
    kept = people or People.new()
    more = {name: frame_chunks(frame) for name, frame in (children or {}).items()}
    save_partitions(folder, declared, partitions_of(frame_chunks(rows), declared, SecureRandom(), more, people=kept))
    kept.save(folder)
    check_contents(folder)
    return folder


def rows_of(first: int, last: int, times: int = 1) -> pd.DataFrame:
    """``times`` rows of each person from one to another, each with a number of its own."""
    who = np.repeat(np.arange(first, last), times)
    return pd.DataFrame({"who": who, "row": np.arange(len(who)) + 1000 * first % 90_000})


def people_in(folder: Path) -> dict[tuple[int, int], tuple[set[float], set[bool]]]:
    """Rows of each person, and on which sides they are."""
    found: dict[tuple[int, int], tuple[set[float], set[bool]]] = {}
    for partition, people in stored_people(folder):
        aside = unpack(partition.parts[1], partition.rows)
        for place in partition.present:
            numbers, sides = found.setdefault((int(people[0, place]), int(people[1, place])), (set(), set()))
            numbers.add(float(partition.numbers[0, place]))
            sides.add(bool(aside[place]))
    return found


@pytest.mark.parametrize("larger", [4000, 900_000])
def test_appended_rows_keep_the_bound_and_everybody_s_side(larger: int, tmp_path: Path) -> None:
    first = store(tmp_path / "a", schema(), rows_of(0, 600, 3))
    second = store(tmp_path / "b", schema(larger), rows_of(300, 900, 3), people=People.of(first))
    before, after = people_in(first), people_in(second)
    assert (len(before), len(after)) == (600, 900)
    assert all(len(numbers) == EACH and len(sides) == 1 for numbers, sides in after.values())
    assert all(after[who][1] == sides for who, (_, sides) in before.items())
    assert 150 < sum(sides == {True} for _, sides in after.values()) < 390, "30 of 100, within 7 deviations"
    assert len(open_partitions(second, schema(larger))) == (1 if larger == 4000 else 4)
    only_old = [who for who in before if before[who][0] == after[who][0]]
    assert len(only_old) >= 300, "who has no new rows keeps the old ones"


def test_old_and_new_rows_are_kept_alike(tmp_path: Path) -> None:
    """Of 2 old rows and 4 new ones, a single one stays, each with the same chance."""
    first = store(tmp_path / "a", schema(each=1), rows_of(0, 3000, 2))
    new = rows_of(0, 3000, 4).assign(row=lambda frame: frame["row"] + 50_000)
    second = store(tmp_path / "b", schema(each=1), new, people=People.of(first))
    old = sum(max(numbers) < 50_000 for numbers, _ in people_in(second).values())
    assert abs(old - 1000) < 5 * np.sqrt(3000 * 2 / 9), "a false alarm in 1.7 million"


def test_child_rows_are_appended_to_those_of_before(tmp_path: Path) -> None:
    declared = schema(each=1, children=True)

    def drugs(kinds: list[str], people: range) -> pd.DataFrame:
        return pd.DataFrame({"who": [p for p in people for _ in kinds], "drug": [k for _ in people for k in kinds]})

    first = store(tmp_path / "a", declared, rows_of(0, 40), {"drug": drugs(["d1", "d2"], range(40))})
    more = {"drug": drugs(["d3", "d4"], range(20, 60))}
    second = store(tmp_path / "b", declared, rows_of(40, 60), more, People.of(first))
    kept: dict[int, int] = {}
    for partition, _ in stored_people(second):
        child = partition.children["drug"]
        held = np.stack([unpack(slot, partition.rows) for slot in child.rows])
        for place in partition.present:
            labels = {int(code) for code in child.codes[0, held[:, place], place]}
            assert len(labels) == held[:, place].sum(), "no row twice"
            kept[len(labels)] = kept.get(len(labels), 0) + 1
    assert kept == {2: 40, 3: 20}, "whoever has four keeps three"


def test_what_is_put_down_on_the_way_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(row_buffer, "_HELD", 1)
    monkeypatch.setattr(row_buffer, "_CALM", 10)
    first = store(tmp_path / "a", schema(900_000), rows_of(0, 300, 3))
    between = tmp_path / "between"
    between.mkdir()
    kept, declared = People.of(first), schema(900_000)
    made = partitions_of(frame_chunks(rows_of(100, 400, 3)), declared, SecureRandom(), folder=between, people=kept)
    (tmp_path / "b").mkdir()
    save_partitions(tmp_path / "b", declared, made)
    before, after = people_in(first), people_in(tmp_path / "b")
    assert len(after) == 400
    assert all(after[who][1] == sides for who, (_, sides) in before.items())


def test_sizes_of_what_is_kept_are_public(tmp_path: Path) -> None:
    few = store(tmp_path / "a", schema(), rows_of(0, 3))
    many = store(tmp_path / "b", schema(), rows_of(0, 900, 2))
    sizes = [{p.relative_to(f): p.stat().st_size for p in f.rglob("*.arrow")} for f in (few, many)]
    assert sizes[0] == sizes[1]
    assert any(name.name == "people.arrow" for name in sizes[0])


def test_by_default_nobody_can_be_found_again(tmp_path: Path) -> None:
    declared = schema()
    save_partitions(tmp_path, declared, partitions_of(frame_chunks(rows_of(0, 9)), declared, SecureRandom()))
    assert {path.name for path in tmp_path.rglob("*") if path.is_file()} == {
        "schema.json",
        "partitions.json",
        "records.arrow",
        "bits.arrow",
    }
    with pytest.raises(IngestError, match="without keys"):
        People.of(tmp_path)


def test_a_changed_file_of_people_is_noticed(tmp_path: Path) -> None:
    folder = store(tmp_path / "a", schema(), rows_of(0, 9))
    [file] = folder.rglob("people.arrow")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with pytest.raises(SchemaError, match="has changed"):
        check_contents(folder)


@pytest.mark.parametrize(
    "unit", [{"keep": "last", "order_by": "row"}, {"max_rows_per_person": 1}], ids=["last row", "summary"]
)
def test_what_is_made_of_all_rows_at_once_keeps_no_keys(unit: dict[str, Any]) -> None:
    rows = {"name": "rows", "type": "integer", "lower": 0, "upper": 9, "edges": [2], "summary": "count"}
    declared = schema(each=1).model_dump(mode="json")
    declared["columns"] += [rows] if "keep" not in unit else []
    declared["privacy_unit"] |= unit
    with pytest.raises(IngestError, match="from all rows at once"):
        partitions_of(frame_chunks(rows_of(0, 9)), Schema.from_mapping(declared), SecureRandom(), people=People.new())
