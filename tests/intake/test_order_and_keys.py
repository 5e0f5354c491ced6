"""The custodian is told where rows are lost by their keys, or lose their order, before anything is stored."""

from __future__ import annotations

from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import LossError
from dpcore.intake.check.examination import Examination
from dpcore.intake.joins.row_findings import RowFinding
from dpcore.intake.process.storing import examine_table
from dpcore.service import Service
from tests.support.rows import for_each

COLUMNS = [{"name": "ward", "type": "categorical", "categories": ["a", "b"]}]


def schema(columns: list[dict[str, Any]] = COLUMNS, children: Any = (), **unit: Any) -> Schema:
    content = {"name": "s", "max_rows": 1000, "columns": columns, "children": list(children)}
    return Schema.from_mapping({**content, "privacy_unit": {"column": "pid", **unit}})


def stays(*when: Any) -> pd.DataFrame:
    return pd.DataFrame({"pid": range(len(when)), "ward": ["a", "b"] * (len(when) // 2), "admitted": when})


def of_rows(found: list[Any]) -> list[RowFinding]:
    return [each for each in found if not each.of_values and each.place != "person:people"]


def findings(declared: Schema, rows: pd.DataFrame, whole: bool = True, **children: pd.DataFrame) -> list[RowFinding]:
    """What is said of rows, beside how many people they are of."""
    looking = Examination(declared, whole=whole)
    for name, frame in {"": rows, **children}.items():
        for start in range(0, len(frame), 7):
            list(looking.of(iter([frame.iloc[start : start + 7]]), name))
    return of_rows(looking.findings())


@pytest.mark.parametrize("written", ["%d.%m.%Y", "%m/%d/%Y"])
def test_dates_in_another_format_than_the_declared_one_need_a_yes(written):
    days = pd.date_range("2024-01-01", periods=40)
    rows = stays(*[f"{day:{written}}" for day in days])
    [found] = findings(schema(keep="last", order_by="admitted"), rows)
    assert found.needs_yes
    assert found.place == "admitted"
    assert found.sentence.startswith("'admitted' tells no order in 40 of the 40 rows with a value, such as '01")
    assert "say how its dates are written" in found.sentence
    assert not findings(schema(keep="last", order_by="admitted", order_format=written), rows)


@for_each("when", [[*range(40)], ["2024-01-01", ""] * 20, [None, 3.5] * 20])
def test_what_tells_an_order_or_is_missing_says_nothing(when):
    assert not findings(schema(keep="first", order_by="admitted"), stays(*when))


def test_the_order_behind_a_summary_and_in_a_child_table_is_looked_at():
    last = [{**COLUMNS[0], "summary": "last"}]
    [found] = findings(schema(last, order_by="admitted"), stays(*["31.01.2024"] * 40))
    assert found.needs_yes
    child = {"name": "stay", "max_rows_per_person": 2, "keep": "first", "order_by": "admitted", "columns": COLUMNS}
    rows = stays(*["31.01.2024"] * 40)
    [found] = findings(schema(children=[child]), rows, stay=rows)
    assert found.place == "stay.admitted"


def test_a_yes_to_a_column_is_a_yes_to_its_order_only_by_name():
    """The column may be stored, too: each of the two losses has a yes of its own."""
    admitted = {"name": "admitted", "type": "categorical", "categories": ["soon"]}
    looking = Examination(schema([*COLUMNS, admitted], keep="last", order_by="admitted"))
    list(looking.of(iter([stays(*["31.01.2024"] * 40)])))
    both = [found for found in looking.findings() if found.place == "admitted"]
    assert len({found.yes for found in both}) == 2


LAB = {"name": "lab", "max_rows_per_person": 2, "columns": COLUMNS}
STAY = {"name": "stay", "max_rows_per_person": 2, "row_key": "stay_id", "columns": COLUMNS}
OF_STAY = {**LAB, "parent": "stay", "parent_key": "stay_id"}


def people(*names: Any, **more: Any) -> pd.DataFrame:
    wards = ["ab"[number % 2] for number in range(len(names))]
    return pd.DataFrame({"pid": pd.Series(names, dtype=object), "ward": wards, **more})


def test_rows_that_name_nobody_need_a_yes():
    [found] = findings(schema(), people(*range(70), *[None] * 15, *["", " NA "] * 7, "nan"))
    assert found.needs_yes
    assert found.place == "person"
    assert found.sentence.startswith("'person': 30 of 100 rows name nobody in 'pid'. These rows would be left out.")
    assert not findings(schema(), people(*range(100)))
    [few] = findings(schema(), people(*range(99), None))
    assert not few.needs_yes
    assert "1 of 100 rows names nobody" in few.sentence


def test_child_rows_about_people_who_are_written_otherwise_need_a_yes():
    main = people(*[f"{number:06d}" for number in range(99_980, 100_020)])
    lab = people(*[number for number in range(99_980, 100_020) for _ in range(3)], None, None)
    [found] = findings(schema(children=[LAB]), main, lab=lab)
    assert found.needs_yes
    assert found.place == "lab"
    assert "2 of 122 rows name nobody in 'pid'" in found.sentence
    assert "60 of 122 rows name somebody in 'pid' who is not in the main table" in found.sentence
    assert "leading zeros" in found.sentence
    assert not findings(schema(children=[LAB]), people(*range(99_980, 100_020)), lab=lab.dropna(ignore_index=True))


def test_further_rows_may_be_about_people_who_are_stored():
    lab = people(*range(40), *[None] * 20)
    [found] = findings(schema(children=[LAB]), people(*range(5)), whole=False, lab=lab)
    assert "20 of 60 rows name nobody" in found.sentence
    assert "main table" not in found.sentence


@for_each(("written", "as_file"), [("{:05d}", True), ("{:05d}", False), ("{}.0", False)])
def test_further_child_rows_about_people_who_are_nowhere_need_a_yes(tmp_path: Path, written: str, as_file: bool):
    declared = schema(children=[{**LAB, "max_rows_per_person": 3}])
    old = {"person": people(*map(str, range(20))), "lab": people(*map(str, range(20)))}
    lab = people(*(written.format(number) for number in range(20)), "n1", "7")
    further: dict[str, Any] = {"person": people("n1", "n2", "n2", "3"), "lab": lab}
    if as_file:
        for name, frame in further.items():
            further[name] = tmp_path / f"{name}.csv"
            frame.to_csv(further[name], index=False)
    with closing(Service(tmp_path / "home", workers=0)) as service:
        first = service.add_dataset(old, declared, budget=Decimal(1), keep_keys=True).id
        said = {each.place: each for each in of_rows(service.examine(further, declared, after=first))}
        assert list(said) == ["person:rows-dropped", "lab"]
        assert said["lab"].needs_yes
        lost = "20 of 22 rows name somebody in 'pid' who is not in the main table, nor stored before"
        assert lost in said["lab"].sentence
        with pytest.raises(LossError, match=lost):
            service.append_rows(first, further)
        told: list[str] = []
        service.append_rows(first, further, accepted=[each.yes for each in said.values()], tell=told.append)
        assert told[0].startswith("'person': 1 of 4 rows names somebody in 'pid' who was stored before.")


def test_rows_of_rows_that_are_not_there_need_a_yes():
    declared = schema(children=[OF_STAY, STAY])
    stay = people(*range(40), 77, stay_id=[f"s{number}" for number in range(41)])
    labs = people(*range(40), 77, stay_id=[*(f"s{number}" for number in range(30)), *["s1"] * 7, *[None] * 3, "s40"])
    rows = {"person": people(*range(40)), "stay": stay, "lab": labs}
    said = {each.place: each for each in of_rows(examine_table(declared, rows))}
    assert set(said) == {"stay", "lab"}
    assert not said["stay"].needs_yes
    assert said["lab"].needs_yes
    assert "1 of 41 rows names somebody in 'pid' who is not in the main table" in said["lab"].sentence
    assert "3 of 41 rows name no row of 'stay' in 'stay_id'" in said["lab"].sentence
    assert "7 of 41 rows name a row of 'stay' in 'stay_id' that is not there" in said["lab"].sentence


def test_rows_of_the_main_file_are_told_once():
    again = {"name": "visit", "from_rows": True, "max_rows_per_person": 2, "columns": COLUMNS}
    said = examine_table(schema(children=[again]), people(*range(20), *[None] * 20))
    assert [each.place for each in said if each.needs_yes] == ["person"]


@for_each(
    ("left", "right", "asks", "words"),
    [
        (range(100), range(100), False, ""),
        (range(100), range(70), False, "30 of 100 people of the first file are not in the second, and 0 of 70"),
        (range(100), [*range(50), *(f"0{n}" for n in range(50, 100))], True, "50 of 100 people of the first file are"),
        ([*range(70), *[None] * 30], range(70), True, "30 of 100 rows of the first file name nobody in 'pid'"),
        (range(70), [*range(70), "NA"], False, "1 of 71 rows of the second file names nobody in 'pid'"),
    ],
)
def test_people_of_two_files_who_do_not_meet_need_a_yes(tmp_path: Path, left: Any, right: Any, asks: bool, words: str):
    files = tmp_path / "a.csv", tmp_path / "b.csv"
    people(*left).to_csv(files[0], index=False)
    people(*right).rename(columns={"ward": "unit"}).to_csv(files[1], index=False)
    unit = {"name": "unit", "type": "categorical", "categories": ["a", "b"]}
    said = [each for each in of_rows(examine_table(schema([*COLUMNS, unit]), *files)) if ":" not in each.place]
    assert [each.needs_yes for each in said] == ([asks] if words else [])
    assert all(words in each.sentence and each.place == "person" for each in said)
