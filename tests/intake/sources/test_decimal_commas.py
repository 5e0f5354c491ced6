"""Numbers with decimal commas, and points between thousands, where columns hold numbers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpcore.domain.encoding import numbers_of
from dpcore.domain.schemas.schema import Schema
from dpcore.intake.joins.relations import rows_for
from dpcore.intake.process.uploads import ask
from dpcore.intake.profile.column_profiles import profile_columns
from dpcore.intake.sources import csv_files
from dpcore.intake.sources.choices import Choices, choosing
from dpcore.intake.sources.decimal_commas import as_numbers
from tests.support.rows import for_each

ROWS = (
    "id;ferritin;code\n1.001;950;1.234\n1.002;1.234;5.678\n1.003;12.500,5;1.234\n1.004;1,234;5.678\n1.005;0.5;1.234\n"
)
TRUE = [950, 1234, 12500.5, 1.234, 0.5]
FERRITIN = {"name": "ferritin", "type": "real", "lower": 0, "upper": 20_000, "bins": 5}
CODE = {"name": "code", "type": "categorical", "categories": ["1.234", "5.678"]}


@pytest.fixture(autouse=True)
def decimal_comma() -> Iterator[None]:
    with choosing(Choices(decimal=",")):
        yield


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "lab.csv"
    path.write_text(ROWS, encoding="utf-8")
    return path


def schema(*columns: dict[str, Any], **more: Any) -> Schema:
    content = {"name": "lab", "max_rows": 100, "privacy_unit": {"column": "id"}, "columns": list(columns)}
    return Schema.from_mapping(content | more)


def values(made: Schema, rows: Iterator[pd.DataFrame]) -> list[float]:
    whole = pd.concat(list(rows))
    assert whole["id"].tolist() == ["1.001", "1.002", "1.003", "1.004", "1.005"]
    column = made.columns[0]
    return numbers_of(column, whole[column.sources[0]]).tolist()


@for_each(
    ("written", "meant"),
    [
        ("950", "950"),
        ("1.234", "1234"),
        (" -12.500,5 ", " -12500.5 "),
        ("+1.234.567,89", "+1234567.89"),
        ("1,234", "1.234"),
        ("0.123", "0.123"),
        ("1.23", "1.23"),
        ("1.2345", "1.2345"),
        ("1234.567", "1234.567"),
        ("01.234", "01.234"),
        ("1.234,", "1.234,"),
        ("1,2,3", "1,2,3"),
        ("10.11.2024", "10.11.2024"),
    ],
)
def test_points_between_groups_of_three_digits_are_of_thousands(written: str, meant: str) -> None:
    for dtype in ("str", object):
        assert as_numbers(pd.Series([written, None], dtype=dtype)).tolist()[0] == meant


@pytest.mark.parametrize("strictly", [False, True])
def test_columns_of_numbers_are_read_so_and_no_others(path: Path, strictly: bool) -> None:
    made = schema(FERRITIN, CODE)
    with pytest.MonkeyPatch.context() as patch:
        if strictly:
            patch.setattr(csv_files, "rows_of", lambda block, *_: None)
        [rows] = rows_for(made, path)[0]
        assert values(made, iter([rows])) == TRUE
        assert rows["code"].tolist() == ["1.234", "5.678", "1.234", "5.678", "1.234"]


def test_a_column_under_another_name_in_several_tables_and_in_joined_files_too(path: Path, tmp_path: Path) -> None:
    made = schema(FERRITIN | {"name": "iron", "derive": {"column": "ferritin"}}, CODE)
    assert values(made, rows_for(made, path)[0]) == TRUE
    child = {"name": "value", "max_rows_per_person": 5, "columns": [FERRITIN]}
    both = schema(CODE, entity="person", children=[child])
    _, rows = rows_for(both, {"person": path, "value": path})
    assert values(Schema.from_mapping({"name": "x", "max_rows": 9, "columns": [FERRITIN]}), rows["value"]) == TRUE
    other = tmp_path / "other.csv"
    other.write_text(ROWS.replace("ferritin", "iron"), encoding="utf-8")
    joined = schema(FERRITIN, CODE | {"name": "code_left"})
    assert values(joined, rows_for(joined, other, path)[0]) == TRUE


@pytest.mark.parametrize("place", ["file", "table", "joined"])
def test_a_draft_goes_by_what_is_read(path: Path, tmp_path: Path, place: str) -> None:
    rows = "".join(f"{n};{n // 1000}.{n % 1000:03};{1 + n % 3}.000\n" for n in range(1000, 9000, 40))
    path.write_text("id;amount;code\n" + rows, encoding="utf-8")
    kinds: dict[str, str | None] = {"amount": None, "code": None}
    if place == "joined":
        other = tmp_path / "other.csv"
        other.write_text("id;x\n1;2\n", encoding="utf-8")
        found = profile_columns(path, kinds, right=other, key="id")
    elif place == "table":
        found = profile_columns({"lab": path}, kinds, table="lab")
    else:
        found = profile_columns(path, kinds)
    amount, code = found.columns
    assert (amount["lower"], amount["upper"]) == (1000, 9000)
    assert code["categories"] == ["1.000", "2.000", "3.000"]


def test_the_check_finds_what_is_stored(path: Path) -> None:
    made = schema(FERRITIN | {"lower": 900}, CODE)
    ferritin, code, *_ = ask("examine", [path], source=path, schema=made)
    assert (ferritin["unmatched"], ferritin["below"], code["unmatched"]) == (0, 2, 0)
