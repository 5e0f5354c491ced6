"""The custodian is told who counts as a person, and what speaks against it, before anything is stored."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any
from uuid import UUID

import numpy as np
import pandas as pd
import pytest

from dpcore.domain.identifiers import plain_key
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import LossError
from dpcore.intake.columns.corrections import corrected
from dpcore.intake.joins.row_findings import RowFinding
from dpcore.intake.process.storing import examine_table
from dpcore.service import Service
from tests.oracles.keys import alike_by_pairs
from tests.support.rows import for_each
from tests.support.texts import lacking

AGE = {"name": "age", "type": "integer", "lower": 0, "upper": 120, "bins": 6}
RANDOM = np.random.default_rng(5)


def schema(column: str | None = "pid", **unit: Any) -> Schema:
    content = {"name": "s", "max_rows": 10_000, "columns": [AGE]}
    return Schema.from_mapping({**content, "privacy_unit": {"column": column, **unit}})


def table(key: str, ids: Any, /, **more: Any) -> pd.DataFrame:
    ages = [30 + n % 50 for n in range(len(ids))]
    return pd.DataFrame({key: pd.Series(list(ids), dtype=object), "age": ages, **more})


def found(declared: Schema, source: Any, *more: Any) -> dict[str, RowFinding]:
    """What is said of people, by its kind."""
    rows = [each for each in examine_table(declared, source, *more) if not each.of_values]
    return {each.place.partition(":")[2]: each for each in rows if isinstance(each, RowFinding)}


def asked(declared: Schema, source: Any, *more: Any) -> set[str]:
    return {kind for kind, each in found(declared, source, *more).items() if each.needs_yes}


def test_people_and_their_rows_are_counted_exactly() -> None:
    ids = [n for n in range(300) for _ in range(1 + (n < 40) + 5 * (n == 7))]
    said = found(schema(max_rows_per_person=2), table("pid", [*ids, None, ""]))
    assert set(said) == {"people", ""}
    assert said["people"].sentence == (
        "'pid' names 300 people in 345 rows: 1 row of each (median), at most 7. 5 rows are beyond the 2 kept of a "
        "person."
    )
    assert not said["people"].needs_yes


@pytest.mark.parametrize(("rows", "yes"), [(104, False), (107, True)])
def test_rows_beyond_the_limit_need_a_yes_above_a_twentieth(rows: int, yes: bool) -> None:
    ids = [*range(100), *range(rows - 100)]
    assert asked(schema(), table("pid", ids)) == ({"rows-dropped"} if yes else set())
    assert asked(schema(max_rows_per_person=2), table("pid", ids)) == set()


def test_rows_that_are_summed_up_or_chosen_by_their_order_are_not_lost() -> None:
    visits = table("pid", [*range(60)] * 3, day=[*range(180)])
    assert asked(schema(), visits) == {"rows-dropped"}
    assert not asked(schema(keep="last", order_by="day"), visits)
    mean = Schema.from_mapping(
        {"name": "s", "max_rows": 999, "privacy_unit": {"column": "pid"}, "columns": [{**AGE, "summary": "mean"}]}
    )
    assert not asked(mean, visits)


@for_each("ward", ["ward", "Abteilung", "klinikum", "sex"])
def test_a_column_of_few_values_is_no_person(ward: str) -> None:
    rows = table(ward, [f"{ward} {n % 7}" for n in range(900)], mrn=[n // 2 for n in range(900)])
    said = found(schema(ward, max_rows_per_person=200), rows)
    assert said["few-people"].needs_yes
    assert "has 7 different values in 900 rows" in said["few-people"].sentence
    assert said["few-people"].corrections[0].words == "Name 'mrn' as the person"


@for_each(
    "ids",
    [
        [f"1.2345{n % 3}E+15" for n in range(200)],
        [f"{n % 9},{n % 7}E+11" for n in range(200)],
        ["1E+09", *range(1000, 1199)],
        ["#REF!", *range(1000, 1199)],
        [12345_000_000_000 + 10**6 * (n % 5) for n in range(200)],
        [str(1_234_567_890_000_000 + 10 * (n * 7919 % 10**6)) for n in range(200)],
        [int(float(10**17 + 7919 * 10**9 * n + n)) for n in range(200)],
        np.asarray([2e7 + 7 * n for n in range(200)], dtype=np.float32),
    ],
)
def test_identifiers_that_a_spreadsheet_has_spoiled_need_a_yes(ids: Any) -> None:
    kind = ids.dtype if isinstance(ids, np.ndarray) else object
    rows = pd.DataFrame({"pid": pd.Series(ids, dtype=kind), "age": 30})
    assert "mangled" in asked(schema(max_rows_per_person=200), rows)


@for_each(
    "ids",
    [
        [f"{n:04x}e{n % 90 + 10}" for n in range(200)],
        [100_000 + 100 * n for n in range(200)],
        [str(10**15 + 7919 * n * 10**6 + 31 * n + 1) for n in range(200)],
        [f"2024-{n:05d}" for n in range(200)],
        range(200),
    ],
)
def test_other_identifiers_are_not_taken_for_spoiled_ones(ids: Any) -> None:
    assert not asked(schema(), table("pid", ids))


@for_each(
    ("placeholder", "times"),
    [
        ("unknown", 3),
        ("9999999", 40),
        ("0", 40),
        ("keine Angabe", 4),
        ("inconnu", 4),
        ("DESCONOCIDO", 4),
        ("-1", 30),
        ("onbekend", 2),
        ("XXXXX", 2),
        ("Mme Dupont", 9),
        ("40404", 60),
    ],
)
def test_identifiers_that_stand_for_nobody_need_a_yes(placeholder: str, times: int) -> None:
    rows = table("pid", [*(str(70_000 + n) for n in range(300)), *[placeholder] * times])
    said = found(schema(max_rows_per_person=100), rows)
    assert said["placeholders"].needs_yes
    assert f"'{placeholder}' ({times} rows)" in said["placeholders"].sentence
    change = said["placeholders"].corrections[0].change
    better = corrected(schema(max_rows_per_person=100), {"person:placeholders": change})
    told = found(better, rows)
    assert "placeholders" not in told
    assert told["people"].sentence.startswith("'pid' names 300 people in 300 rows")


@for_each(
    "ids",
    [
        [n for n in range(300) for _ in range(1 + n % 4)],
        [n for n in range(200) for _ in range(1 + (n < 9) * n)],
        [f"anon{n}" for n in range(200) for _ in range(3)],
        [name for name in ("x", "y", "z", "sin", "Singh", "Nullmeier") for _ in range(2)],
        [f"{n:03d}" for n in range(1000)],
    ],
)
def test_people_who_come_often_are_not_placeholders(ids: Any) -> None:
    assert not asked(schema(max_rows_per_person=20), table("pid", ids)) - {"few-people"}


SPELLINGS = [
    ("{:05d}", "{}", "leading zeros", 90),
    ("P{:04d}", "P{}", "leading zeros", 90),
    ("ab{}", "AB{}", "upper and lower case", 100),
    ("{}", "{}.0", "an ending such as '.0'", 100),
    ("{}", "\u200b{}\ufeff", "invisible letters", 100),
    ("{}", "{}\u00ad\u2060", "invisible letters", 100),
    ("A {}", "A  {}", "blanks", 100),
    ("é{}", "e\u0301{}", "their Unicode form", 100),
    ("A-{}", "A\u2011{}", "their Unicode form", 100),
]


@for_each(("one", "other", "what", "people"), SPELLINGS)
def test_identifiers_that_look_alike_need_a_yes(one: str, other: str, what: str, people: int) -> None:
    numbers = range(1, 101)
    rows = table("pid", [*map(one.format, numbers), *map(other.format, numbers)])
    said = found(schema(max_rows_per_person=2), rows)["look-alike"]
    assert said.needs_yes
    assert not lacking(said.sentence, what, "200 people as they are written, 100 if spelling does not count")
    better = corrected(schema(max_rows_per_person=2), {said.place: said.corrections[0].change})
    assert found(better, rows)["people"].sentence.startswith("'pid' names 100 people in 200 rows")
    assert not asked(better, rows)


def test_alike_identifiers_are_counted_as_by_comparing_all_pairs() -> None:
    parts = ["", "0", "00", "\u200b", " "], ["a", "A", "7", "1.5", "15"], ["", ".0", "é", "e\u0301"]
    ids = ["".join(RANDOM.choice(part) for part in parts) for _ in range(300)]
    several, groups = alike_by_pairs({text.strip() for text in ids}, plain_key)
    said = found(schema(max_rows_per_person=300), table("pid", ids))
    people = len({text.strip() for text in ids})
    assert f"{several:,} identifiers differ" in said["look-alike"].sentence
    assert f"{people} people as they are written, {people - several + groups} if" in said["look-alike"].sentence


@for_each("pair", [("1.5", "15"), ("1.05", "1.5"), ("a1", "a-1"), ("10", "1"), ("P7", "Q7")])
def test_identifiers_that_differ_otherwise_are_two(pair: tuple[str, str]) -> None:
    assert plain_key(pair[0])[0] != plain_key(pair[1])[0]


PEOPLE = [f"P{100_007 + 3 * (n // 2)}" for n in range(600)]
UUIDS = [str(UUID(int=(n // 3 + 5) * 7**40 % 2**128)) for n in range(600)]


@for_each(
    ("name", "ids"),
    [
        ("Pat.-Nr.", PEOPLE),
        ("PATIENT", [n // 2 for n in range(600)]),
        ("patientennummer", [n // 2 for n in range(600)]),
        ("id", [n // 2 for n in range(600)]),
        ("Numéro patient", [n // 2 for n in range(600)]),
        ("henkilötunnus", [f"{n // 2:06d}-123A" for n in range(600)]),
        ("x17", UUIDS),
        ("x17", PEOPLE),
        ("kontakt", [f"p{n // 2}@example.org" for n in range(600)]),
        ("Fnr", [f"0101{n // 2:03d}1234" for n in range(600)]),
    ],
)
@for_each("kind", ["csv", "parquet", "frame"])
def test_an_identifier_that_was_left_out_and_repeats_is_proposed(
    tmp_path: Path, name: str, ids: list[Any], kind: str
) -> None:
    rows: Any = table(name, ids)
    if kind != "frame":
        rows = rows.astype({name: str})
        file = tmp_path / f"a.{kind}"
        rows.to_csv(file, index=False) if kind == "csv" else rows.to_parquet(file)
        rows = file
    said = found(schema(None), rows)["other-identifier"]
    assert said.needs_yes
    assert f"'{name}' looks like an identifier and repeats: {len(set(ids))} different values in 600" in said.sentence
    better = corrected(schema(None), {said.place: said.corrections[0].change})
    assert better.privacy_unit.column == name
    assert not found(better, rows).keys() & {"other-identifier"}


def test_what_is_made_of_the_person_is_no_column_any_more() -> None:
    made = {"name": "made", "type": "integer", "lower": 0, "upper": 9, "derive": {"column": "mrn"}, "bins": 2}
    kept = {"name": "mrn_2", "type": "integer", "lower": 0, "upper": 9, "bins": 2}
    declared = Schema.from_mapping({"name": "s", "max_rows": 99, "columns": [AGE, made, kept]})
    named = corrected(declared, {"person:other-identifier": {"privacy_unit": {"column": "mrn"}}})
    assert [column.name for column in named] == ["age", "mrn_2"]


def test_a_number_of_visits_is_not_the_person_where_another_column_names_people() -> None:
    visits = table("Id", [str(UUID(int=n * 7**40 % 2**128)) for n in range(600)], PATIENT=UUIDS)
    said = found(schema("Id"), visits)["other-identifier"]
    assert said.corrections[0].change == {"privacy_unit": {"column": "PATIENT"}}
    assert not asked(schema("PATIENT", max_rows_per_person=3), visits)
    cases = table("Fallnummer", range(600), Pat=PEOPLE)
    assert "other-identifier" in asked(schema("Fallnummer"), cases)


@for_each(
    "more",
    [
        {"hospital_id": [n % 40 for n in range(600)]},
        {"family_id": [n // 3 for n in range(600)]},
        {"climate_point_id": [f"P{10_000 + n // 2}" for n in range(600)]},
        {"weight": [50 + n % 70 for n in range(600)]},
        {"fnlwgt": [12_000 + 37 * (n // 2) for n in range(600)]},
        {"ticket": [f"PC {17_000 + n // 2}" for n in range(600)]},
        {"name": [f"Smith, Mr. John {n // 2}" for n in range(600)]},
        {"admitted": [f"2024-01-{n % 28 + 1:02d}" for n in range(600)]},
        {"postcode": [10_000 + n // 2 for n in range(600)]},
        {"diagnosis": [f"E11{n % 9}" for n in range(600)]},
        {"price": [250_000 + 500 * (n // 2) for n in range(600)]},
        {"patient_weight": [60 + n % 40 for n in range(600)]},
        {"subject": ["maths", "art", "music"] * 200},
        {"id": range(600)},
    ],
)
@for_each("each_row", [True, False])
def test_what_identifies_nobody_or_repeats_nothing_needs_no_yes(more: dict[str, Any], each_row: bool) -> None:
    rows = table("patient_id", [f"p{n}" for n in range(600)], **more)
    declared = schema("patient_id")
    if each_row:
        rows, declared = rows.drop(columns="patient_id"), schema(None)
    assert not asked(declared, rows)


def test_files_that_are_joined_and_data_bases_are_looked_at_too(tmp_path: Path) -> None:
    left, right = tmp_path / "a.csv", tmp_path / "b.csv"
    table("visit", range(600), patient_id=PEOPLE).to_csv(left, index=False)
    pd.DataFrame({"visit": range(600), "x": 1}).to_csv(right, index=False)
    assert "other-identifier" in asked(schema("visit"), left, right)
    file = tmp_path / "a.sqlite"
    with closing(sqlite3.connect(file)) as base:
        table("visit", range(600), patient_id=PEOPLE).to_sql("person", base, index=False)
    assert "other-identifier" in asked(schema("visit"), file)
    assert "rows-dropped" in asked(schema("patient_id"), file)


@pytest.mark.parametrize("as_file", [True, False])
def test_nothing_is_stored_without_a_yes_to_who_a_person_is(tmp_path: Path, as_file: bool) -> None:
    rows: Any = table("mrn", [n // 2 for n in range(400)])
    if as_file:
        rows.to_csv(tmp_path / "a.csv", index=False)
        rows = tmp_path / "a.csv"
    told: list[str] = []
    with closing(Service(tmp_path / "home", workers=0)) as service:
        with pytest.raises(LossError, match=r"'mrn' looks like an identifier.*\(accept: person:other-identifier\)"):
            service.add_dataset(rows, schema(None), budget=Decimal(1))
        with pytest.raises(LossError, match="200 of 400 rows"):
            service.add_dataset(rows, schema("mrn"), budget=Decimal(1), accepted=["person:other-identifier"])
        assert not service.datasets()
        [yes] = [each.yes for each in service.examine(rows, schema("mrn")) if each.needs_yes]
        first = service.add_dataset(rows, schema("mrn"), budget=Decimal(1), accepted=[yes], tell=told.append)
        assert told[0].startswith("'mrn' names 200 people in 400 rows")
        with pytest.raises(LossError, match="200 of 400 rows"):
            service.add_dataset(rows, schema("mrn"), replaces=first.id)
        assert [info.id for info in service.datasets()] == [first.id]


def test_further_rows_are_counted_with_those_that_are_stored(tmp_path: Path) -> None:
    with closing(Service(tmp_path / "home", workers=0)) as service:
        old = service.add_dataset(table("pid", range(100)), schema(), budget=Decimal(1), keep_keys=True)
        again = table("pid", range(10, 30))
        [said] = [each for each in service.examine(again, schema(), after=old.id) if each.needs_yes]
        assert "20 of 120 rows (17%)" in said.sentence
        with pytest.raises(LossError, match="20 of 120 rows"):
            service.append_rows(old.id, again)
        with pytest.raises(LossError, match=r"1\.5E\+10"):
            service.append_rows(old.id, table("pid", ["1.5E+10"]))
        padded = table("pid", [f"{n:06d}" for n in range(50)])
        with pytest.raises(LossError, match="look-alike"):
            service.append_rows(old.id, padded)
        told: list[str] = []
        service.append_rows(old.id, table("pid", range(100, 120)), tell=told.append)
        assert "'pid' names 120 people in 120 rows" in told[0]


def test_memory_grows_with_people_alone_and_counts_stay_exact() -> None:
    """Keys come again in many blocks, in any order."""
    ids = RANDOM.permutation(np.repeat(np.arange(50_000), 6))
    rows = pd.DataFrame({"pid": ids, "age": 30})
    declared = Schema.from_mapping(schema(max_rows_per_person=6).to_mapping() | {"max_rows": 1_000_000})
    assert found(declared, rows)["people"].sentence == (
        "'pid' names 50,000 people in 300,000 rows: 6 rows of each (median), at most 6."
    )
