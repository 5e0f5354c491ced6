"""One row of a person out of several: the first, the last, or what is made of all."""

from __future__ import annotations

import math
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare

from dpcore.data.building import division, row_buffer
from dpcore.data.building.ingest import ingest, partitions_of
from dpcore.data.building.row_buffer import largest_file
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import SchemaError
from dpcore.intake.joins.relations import check_headers, rows_for
from dpcore.privacy.randomness import SecureRandom, SeededRandom
from tests.support.rows import for_each
from tests.support.tables.small_tables import ward

FALSE_ALARM = 1e-6
#: A whole table is stored for each example.
SOME = settings().max_examples // 2
STAGE = {"type": "ordinal", "categories": ["low", "mid", "high"], "derive": {"column": "stage"}}
VALUE = {"derive": {"column": "value"}}
NUMBER = {"type": "integer", "lower": 0, "upper": 1000, "edges": [2, 10, 500]}
SUMMARIES: dict[str, dict[str, Any]] = {
    "rows": {"type": "integer", "lower": 2, "upper": 6, "edges": [3, 4], "summary": "count"},
    "any": {"type": "boolean", "derive": {"column": "flag"}, "summary": "any"},
    "all": {"type": "boolean", "derive": {"column": "flag"}, "summary": "all"},
    "least": {**NUMBER, **VALUE, "summary": "minimum"},
    "most": {**NUMBER, **VALUE, "summary": "maximum"},
    "mean": {"type": "real", "lower": 0, "upper": 1000, "edges": [0.3, 2], **VALUE, "summary": "mean"},
    "early": {**NUMBER, **VALUE, "summary": "first"},
    "late": {"type": "categorical", "categories": ["a", "b"], "derive": {"column": "kind"}, "summary": "last"},
    "mild": {**STAGE, "summary": "minimum"},
    "worst": {**STAGE, "summary": "maximum"},
}
PLAIN = {"name": "row", **NUMBER}


def schema(columns: Sequence[str] = (), rows_each: int = 1, max_rows: int = 500, **unit: Any) -> Schema:
    return ward(
        PLAIN,
        *({"name": name, **SUMMARIES[name]} for name in columns),
        name="d",
        max_rows=max_rows,
        privacy_unit={"column": "who", "max_rows_per_person": rows_each, **unit},
    )


def stored(whole: pd.DataFrame, domain: Schema, size: int = 10**6, source: Any = None) -> list[tuple[Any, ...]]:
    """Rows as they are kept, in an order of their own."""
    pieces = [whole.iloc[start : start + size] for start in range(0, len(whole), size)]
    frame = ingest(pieces, domain, source or SeededRandom(0)).public_frame()
    return sorted((tuple(row) for row in frame.astype(object).where(frame.notna(), None).values), key=repr)


def visits(*rows: tuple[str, Any, int]) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["who", "day", "row"])


@pytest.mark.parametrize(("keep", "expected"), [("first", [2, 5]), ("last", [3, 4])])
def test_the_first_or_the_last_row_is_kept(keep: str, expected: list[int]) -> None:
    rows = visits(
        ("ann", "2024-03-01", 1),
        ("ann", "2024-01-31T10:00", 2),
        ("ann", "2024-11-01", 3),
        ("ann", "31.12.1999", 7),
        ("bob", None, 8),
        ("bob", "2020-01-02", 4),
        ("bob", "2020-01-01 23:59", 5),
    )
    kept = stored(rows, schema(keep=keep, order_by="day"))
    assert sorted(row[0] for row in kept) == sorted(expected)


def test_numbers_and_other_formats_tell_the_order() -> None:
    numbered = visits(("ann", "10", 1), ("ann", "9", 2), ("ann", 8.5, 3))
    assert stored(numbered, schema(keep="last", order_by="day")) == [(1.0,)]
    written = visits(("ann", "02.01.2024", 1), ("ann", "01.02.2024", 2))
    assert stored(written, schema(keep="last", order_by="day", order_format="%d.%m.%Y")) == [(2.0,)]


def test_the_last_rows_of_several_are_kept() -> None:
    rows = visits(*(("ann", number, number) for number in (3, 9, 1, 7)), ("bob", 2, 2))
    assert sorted(row[0] for row in stored(rows, schema(rows_each=2, keep="last", order_by="day"))) == [2, 7, 9]


@pytest.mark.parametrize("keep", ["first", "last"])
def test_chance_decides_among_rows_that_come_at_once(keep: str) -> None:
    """The place of a row in the file tells nothing; a false alarm once in a million."""
    rows = visits(*((f"p{person}", "2024-01-01", row) for person in range(900) for row in range(3)))
    kept = [
        int(row[0]) for row in stored(rows, schema(max_rows=1000, keep=keep, order_by="day"), source=SecureRandom())
    ]
    assert chisquare(np.bincount(kept, minlength=3)).pvalue > FALSE_ALARM


VISIT = st.fixed_dictionaries(
    {
        "who": st.sampled_from(["ann", "bob", "cleo", "dan"]),
        "flag": st.sampled_from(["yes", "no", "?", None]),
        "value": st.none() | st.integers(-5, 1200) | st.sampled_from([0.1, 0.3, 2.5]),
        "kind": st.sampled_from(["a", "b", "c", None]),
        "stage": st.sampled_from(["low", "mid", "high", "none of these", None]),
    }
)


def visits_of(rows: list[dict[str, Any]]) -> pd.DataFrame:
    """Visits with days that all differ, so that nothing is left to chance."""
    return pd.DataFrame(rows).assign(day=range(len(rows)), row=range(len(rows))).astype(object)


@given(st.lists(VISIT, min_size=1, max_size=12), st.randoms(use_true_random=False), st.sampled_from(["first", "last"]))
@settings(max_examples=SOME, suppress_health_check=[HealthCheck.too_slow])
def test_the_order_of_a_file_tells_nothing(rows: list[dict[str, Any]], order: Any, keep: str) -> None:
    frame, domain = visits_of(rows), schema(tuple(SUMMARIES), keep=keep, order_by="day")
    places = list(range(len(frame)))
    order.shuffle(places)
    assert stored(frame.iloc[places].reset_index(drop=True), domain, size=3) == stored(frame, domain)


@given(st.lists(VISIT, min_size=1, max_size=12))
@settings(max_examples=SOME, suppress_health_check=[HealthCheck.too_slow])
def test_a_person_changes_the_own_row_alone(rows: list[dict[str, Any]]) -> None:
    frame, domain = visits_of(rows), schema(tuple(SUMMARIES), keep="last", order_by="day")
    apart = [row for _, own in frame.groupby("who") for row in stored(own, domain)]
    assert stored(frame, domain) == sorted(apart, key=repr)


@given(st.lists(VISIT, min_size=1, max_size=8))
@settings(max_examples=SOME, suppress_health_check=[HealthCheck.too_slow])
def test_summaries_are_what_they_say(rows: list[dict[str, Any]]) -> None:
    frame = visits_of([{**row, "who": "ann"} for row in rows])
    domain = schema(tuple(SUMMARIES), keep="first", order_by="day")
    (found,) = stored(frame, domain)
    known = dict(zip((column.name for column in domain), found, strict=True))
    numbers = [min(max(float(row["value"]), 0), 1000) for row in rows if row["value"] is not None]
    whole = [float(np.rint(number)) for number in numbers]
    flags, stages = [row["flag"] for row in rows], [row["stage"] for row in rows]
    assert known["rows"] == min(max(len(rows), 2), 6)
    assert (known["any"] == "yes", known["all"] == "no") == ("yes" in flags, "no" in flags)
    assert known["least"] == (min(whole) if whole else None)
    assert known["most"] == (max(whole) if whole else None)
    assert known["early"] == (whole[0] if whole else None)
    assert known["late"] == next((_cell(row["kind"]) for row in reversed(rows) if row["kind"] is not None), "(missing)")
    staged = [stage for stage in ("low", "mid", "high") if stage in stages]
    if staged:
        assert (known["mild"], known["worst"]) == (staged[0], staged[-1])
    if numbers:
        assert math.isclose(known["mean"], sum(numbers) / len(numbers), abs_tol=1e-5)


def _cell(kind: str) -> str:
    return kind if kind in {"a", "b"} else "(other)"


def test_one_row_is_its_own_summary() -> None:
    """Values at an edge stay in their bin."""
    frame = visits_of([{"who": "ann", "flag": "no", "value": 0.3, "kind": "b", "stage": "mid"}])
    partition = next(partitions_of([frame], schema(("mean", "least")), SeededRandom(0)))
    assert [codes[0] for codes in partition.codes[1:]] == [0, 0]
    assert partition.numbers[1][0] == 0.3


@pytest.mark.parametrize("partitions", [50, 10_000])
def test_rows_put_down_on_their_way_give_the_same(
    partitions: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(division, "PARTITION_ROWS", partitions)
    draw = np.random.default_rng(0)
    frame = visits_of([{"who": f"p{draw.integers(80)}", "flag": draw.choice(["yes", "no"]),
                        "value": int(draw.integers(1000)), "kind": draw.choice(["a", "b"]),
                        "stage": draw.choice(["low", "high"])} for _ in range(2000)])  # fmt: skip
    domain = schema(tuple(SUMMARIES), max_rows=100, keep="last", order_by="day")
    expected = stored(frame, domain)
    monkeypatch.setattr(row_buffer, "_HELD", 0)
    monkeypatch.setattr(row_buffer, "_CALM", 100)
    pieces = [frame.iloc[start : start + 90] for start in range(0, len(frame), 90)]
    rows = partitions_of(pieces, domain, SeededRandom(1), None, tmp_path)
    sizes = [file.stat().st_size for file in tmp_path.rglob("*") if file.is_file()]
    assert max(sizes) <= largest_file(domain)
    found = [row for partition in rows for row in _rows_of(partition)]
    assert sorted(found) == sorted(row[0] for row in expected)


def _rows_of(partition: Any) -> list[float]:
    present = np.unpackbits(partition.members("all").view(np.uint8), bitorder="little")[: partition.rows].astype(bool)
    return [float(number) for number in partition.numbers[0][present]]


@for_each(
    ("changes", "sentence"),
    [
        ({"privacy_unit": {"column": "who", "keep": "last"}}, "say with 'order_by'"),
        ({"privacy_unit": {"keep": "last", "order_by": "day"}}, "there is nothing to order"),
        ({"privacy_unit": {"column": "who", "order_by": "day", "order_format": "%d"}}, "a format needs day"),
        ({"privacy_unit": {}}, "must name the person"),
        ({"privacy_unit": {"column": "who", "max_rows_per_person": 2}}, "one row per person is kept"),
        ({"columns": [{**PLAIN, "summary": "last"}]}, "needs privacy_unit.order_by"),
        ({"columns": [{"name": "a", "type": "boolean", "summary": "mean"}]}, "one of first, last, any, all"),
        ({"columns": [{**PLAIN, "summary": "any"}]}, "one of first, last, minimum, maximum, mean, count"),
        ({"columns": [{**PLAIN, "summary": "count", "derive": {"column": "a"}}]}, "made of no column"),
    ],
)
def test_faulty_ways_to_keep_rows(changes: dict[str, Any], sentence: str) -> None:
    content = {"name": "d", "max_rows": 9, "privacy_unit": {"column": "who"}}
    with pytest.raises(SchemaError) as caught:
        Schema.from_mapping({**content, "columns": [{**PLAIN, "summary": "minimum"}], **changes})
    assert sentence in str(caught.value)


ADMISSIONS: dict[str, Any] = {
    "name": "d",
    "entity": "patient",
    "max_rows": 100,
    "privacy_unit": {"column": "who", "keep": "last", "order_by": "day"},
    "columns": [PLAIN, {"name": "stays", **SUMMARIES["rows"]}],
    "children": [{"name": "stay", "from_rows": True, "max_rows_per_person": 2, "keep": "first", "order_by": "day",
                  "columns": [{"name": "kind", "type": "categorical", "categories": ["a", "b"]}, PLAIN]}],
}  # fmt: skip
STAYS = pd.DataFrame(
    {
        "who": ["ann", "bob", "ann", "ann"],
        "day": ["2024-01-03", "2024-01-01", "2024-01-01", "2024-01-02"],
        "row": [1, 2, 3, 4],
        "kind": ["c", "b", "a", "b"],
        "notes": ["private"] * 4,
    }
)


@for_each("ending", ["csv", "parquet", "sqlite", "frame"])
def test_repeated_rows_are_a_child_table_too(ending: str, tmp_path: Path) -> None:
    domain, path = Schema.from_mapping(ADMISSIONS), tmp_path / f"stays.{ending}"
    if ending == "csv":
        STAYS.to_csv(path, index=False)
    elif ending == "parquet":
        STAYS.to_parquet(path)
    elif ending == "sqlite":
        with closing(sqlite3.connect(path)) as database:
            STAYS.to_sql("patient", database, index=False)
    if ending != "frame":
        check_headers(domain, path)
    rows, children = rows_for(domain, STAYS if ending == "frame" else path)
    tables = ingest(rows, domain, SeededRandom(0), children).public_tables()
    main = tables["patient"].set_index("who")
    assert sorted(zip(main["row"], main["stays"], strict=True)) == [(1.0, 3.0), (2.0, 2.0)]
    owners = tables["stay"]["who"].map(main["row"])
    assert sorted(zip(owners, tables["stay"]["kind"], strict=True)) == [(1.0, "a"), (1.0, "b"), (2.0, "b")]


def test_a_person_s_rows_are_counted_whatever_a_column_of_their_name_says(tmp_path: Path) -> None:
    """From a frame, which has the column, as from a file, of which it is not read."""
    domain = Schema.from_mapping(ADMISSIONS)
    frame, path = STAYS.assign(stays=[7, 0, 3, None]), tmp_path / "stays.csv"
    frame.to_csv(path, index=False)
    found = []
    for source in (frame, path):
        rows, children = rows_for(domain, source)
        found.append(sorted(ingest(rows, domain, SeededRandom(0), children).public_frame()["stays"]))
    assert found == [[2, 3], [2, 3]]
    assert "stays" not in domain.file_columns


def test_ways_to_keep_rows_are_written_and_read_again() -> None:
    made = schema(tuple(SUMMARIES), keep="last", order_by="day", order_format="%d.%m.%Y")
    assert Schema.from_text(made.to_yaml()) == made == Schema.from_text(made.to_json())
    assert made.hash != schema(tuple(SUMMARIES), keep="first", order_by="day", order_format="%d.%m.%Y").hash
