"""What columns are, by their values: one pass, nothing of a column lost by what is proposed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.intake.check.examination import Examination
from dpcore.intake.process.uploads import ask
from dpcore.intake.profile.column_profiles import drafts_of, profile_columns
from tests.support.rows import for_each
from tests.support.tables.admissions import admissions


def look(values: list[Any], name: str = "x", kind: str | None = None, pieces: int = 1) -> tuple[dict[str, Any], str]:
    """The last draft of a column, and what is said of it."""
    frame = pd.DataFrame({name: values})
    size = -(-len(frame) // pieces)
    found = drafts_of((frame.iloc[i : i + size] for i in range(0, len(frame), size)), {name: kind})
    return (found.columns[-1] if found.columns else {}), " ".join(found.notes)


def categories(*values: str) -> list[str]:
    return list(look([*values] * 20)[0]["categories"])


@for_each(
    ("values", "expected"),
    [
        (["Y", "N", "n", ""], {"type": "boolean"}),
        (["1", "0"], {"type": "boolean"}),
        (["NO", ">30", "<30"], {"type": "categorical", "categories": ["<30", ">30", "NO"]}),
        (["female", "Female", "male"], {"type": "categorical", "matching": "loose"}),
        (["red", "?", "blue"], {"type": "categorical", "missing_codes": ["?"]}),
        ([f"[{low}-{low + 10})" for low in range(0, 110, 10)], {"type": "ordinal"}),
        (["2", "1", "11", "3"], {"type": "categorical", "categories": ["1", "2", "3", "11"]}),
        (["I21.4", "J44.1", "e119", "?"], {"derive": {"code": "x", "system": "icd10", "level": "chapter"}}),
        (["A02BC01", "N02BE01"], {"derive": {"code": "x", "system": "atc", "level": "1"}}),
        (["2019-03-31", "2024-01-01"], {"name": "x year", "lower": 2019, "upper": 2024}),
        (["31.03.2019 12:30", "01.01.2020 00:00"], {"name": "x month", "type": "ordinal"}),
        ([str(n) for n in range(50)], {"type": "integer"}),
        ([f"{n / 7:.3f}" for n in range(50)], {"type": "real"}),
    ],
)
def test_values_tell_what_a_column_is(values: list[str], expected: dict[str, Any]) -> None:
    found, note = look(values * 20)
    assert not note
    assert expected.items() <= found.items(), found


@for_each(("far", "codes"), [("-9", ["-9"]), ("999", ["999"]), ("130", [])])
def test_numbers_far_off_that_stand_for_none_are_told_apart(far: str, codes: list[str]) -> None:
    found, _ = look([str(60 + n) for n in range(80)] * 5 + [far] * 9)
    assert found.get("missing_codes", []) == codes
    assert found["lower"] >= 60 or not codes


def days(*years: int, form: str = "{}-03-01", times: int = 20) -> list[str]:
    return [form.format(year) for year in years] * times


def test_years_of_a_long_time_have_cells_of_equal_width() -> None:
    found, _ = look(days(*range(1925, 2011)))
    assert (found["lower"], found["upper"]) == (1925, 2010)
    assert 20 <= len(found["edges"]) <= 30
    cells = np.diff([1924, *found["edges"], 2010])
    assert cells[:-1].tolist() == [cells[0]] * (len(cells) - 1)
    assert cells[-1] <= cells[0]
    few, _ = look(days(*range(2000, 2020)))
    assert few["edges"] == list(range(2000, 2019))


def test_single_days_far_off_do_not_make_the_limits() -> None:
    found, _ = look([*days(*range(2019, 2025), times=60), "2109-03-01", "1913-01-01"])
    assert (found["lower"], found["upper"], found["edges"]) == (2019, 2024, [2019, 2020, 2021, 2022, 2023])


@pytest.mark.parametrize("form", ["{}-12-31", "31.12.{} 10:15"])
def test_days_that_stand_for_none_are_missing(form: str) -> None:
    open_end = form.format(9999)
    found, _ = look(days(*range(2019, 2025), form=form) + [open_end] * 50)
    assert (found["lower"], found["upper"]) == (2019, 2024)
    assert found["missing_codes"] == [open_end]
    nothing, note = look([open_end] * 50 + [form.format(9998)] * 50)
    assert nothing == {"name": "x", "type": "leave out"}
    assert "before 1900 or after 2299" in note


@pytest.mark.parametrize("form", ["%Y-%m-%d %H:%M:%S", "%d.%m.%Y %H:%M"])
def test_a_file_in_the_order_of_time_shows_all_its_years(form: str) -> None:
    moments = pd.date_range("2014-01-01", "2024-12-31", 60_000).strftime(form)
    found, _ = look(moments.tolist(), pieces=6)
    assert found["derive"]["part"] == "year"
    assert (found["lower"], found["upper"]) == (2014, 2024)


SHARES = [str(n) for n in range(21)]


@for_each(
    ("values", "codes"),
    [
        ([*SHARES, "97", "98", "99"], ["97", "98", "99"]),
        ([*SHARES, "996", "997", "998"], ["996", "997", "998"]),
        ([*SHARES, "-1", "-2"], ["-2", "-1"]),
        (["1", "2", "3", "4", "5", "6", "-1", "-2", "-3"], ["-3", "-2", "-1"]),
        (["1", "2", "3", "4", "5", "6", "9"], ["9"]),
        (["0", "1", "2", "3", "4", "-1", "-8", "-9"], ["-9", "-8", "-1"]),
        ([str(n) for n in range(105)], []),
        ([str(n) for n in range(98)], []),
        ([str(n) for n in range(94, 100)], []),
        ([str(n) for n in range(-9, 10)], []),
        ([str(n) for n in range(10)], []),
        ([str(n) for n in range(0, 1000, 9)], []),
    ],
)
def test_codes_of_surveys_are_told_apart_from_numbers_that_are_the_same(values: list[str], codes: list[str]) -> None:
    found, _ = look(values * 20, kind="integer")
    assert found.get("missing_codes", []) == codes
    real = [float(value) for value in values if value not in codes]
    assert found["lower"] <= min(real)
    assert found["upper"] >= max(real)
    assert found["upper"] < 1.2 * max(real) or not codes


def test_limits_are_rounded_outward_and_come_from_a_table_where_it_has_them() -> None:
    found, _ = look([str(n) for n in range(1001, 2001)])
    assert (found["lower"], found["upper"], found["origin"]) == (1000, 2000, "looked up")
    known, _ = look([str(n) for n in range(100, 180)], "systolic_bp")
    assert (known["lower"], known["upper"], known["origin"]) == (60, 260, "standard table")
    other, _ = look([str(n) for n in range(1000, 1800)], "systolic_bp")
    assert other["origin"] == "looked up"
    few, _ = look(["0", "1", "-1", "2", "3", "-41"])
    assert few["lower"] <= -41


@for_each(
    ("values", "sentence"),
    [
        ([f"seen by {n}" for n in range(500)], "free text"),
        (["", None, "NA"], "Every value of 'x' is missing"),
        (["01/02/2020", "03/04/2021"] * 20, "which of their numbers is the day"),
    ],
)
def test_what_cannot_be_stored_is_left_out_with_the_reason(values: list[Any], sentence: str) -> None:
    found, note = look(values)
    assert found == {"name": "x", "type": "leave out"}
    assert sentence in note


TICK = "tick 'Decimal comma' (--decimal-comma)"


@for_each("kind", [None, "real", "categorical"])
@for_each(
    ("values", "sentence"),
    [
        (["36,7", "37,1", "38", "?"], "'x' holds numbers with a decimal comma: tick"),
        (["950", "1.234", "12.500,5"], "'x' holds numbers with a decimal comma: tick"),
        ([f"{n},{n}" for n in range(30)] + ["none"], "'x' holds numbers with a decimal comma: tick"),
        (["1,250", "2,750"], "'x' holds numbers with a comma that may stand before decimals or between thousands"),
    ],
)
def test_numbers_with_a_comma_are_no_categories(values: list[str], sentence: str, kind: str | None) -> None:
    found, note = look(values * 20, kind=kind)
    assert found == ({} if kind else {"name": "x", "type": "leave out"})
    assert note.startswith(sentence)
    assert TICK in note


@for_each("values", [["1,2,3", "1,3", "2"], ["a,1", "b,2"], ["1,5", "high", "low"]])
def test_texts_that_hold_a_comma_are_categories(values: list[str]) -> None:
    assert look(values * 20)[0]["type"] == "categorical"


def test_a_single_number_with_a_comma_is_no_reason_to_leave_a_column_out() -> None:
    found, note = look([*[f"{n}.5" for n in range(60)], "7,5"])
    assert (found["type"], note) == ("real", "")


def test_identifiers_are_left_out_and_counts_are_numbers() -> None:
    rows = admissions(600).astype(str)
    found = {column["name"]: column for column in drafts_of([rows], dict.fromkeys(rows)).columns}
    left = {name for name, column in found.items() if column["type"] == "leave out"}
    assert left == {"encounter_id", "patient_nbr", "discharge_note", "admission_date", "discharge_date"}
    assert {found[name]["type"] for name in ("time_in_hospital", "number_inpatient", "num_medications")} == {"integer"}
    assert found["admission_type_id"]["type"] == found["discharge_disposition_id"]["type"] == "categorical"
    assert found["systolic_bp"]["missing_codes"] == ["-9"]
    assert found["creatinine_mg_dl"]["missing_codes"] == ["99"]


def test_many_columns_are_read_at_once_and_joined_ones_too(tmp_path: Path) -> None:
    left, right = tmp_path / "a.csv", tmp_path / "b.csv"
    left.write_text("id,age,ward\n" + "".join(f"{n},{n % 90},w{n % 3}\n" for n in range(300)))
    right.write_text("id,age,urate\n" + "".join(f"{n},{n % 50},{n}\n" for n in range(300)))
    one = ask("look", [left], source=left, kinds={"age": None, "ward": None})
    assert [column["type"] for column in one["columns"]] == ["integer", "categorical"]
    both = profile_columns(left, {"urate": None, "age_left": None}, right=right, key="id")
    assert [(column["name"], column["view"]) for column in both.columns] == [("urate", "right"), ("age_left", "left")]
    with pytest.raises(IngestError, match="no column 'y'"):
        profile_columns(left, {"y": None})


def test_a_date_of_one_of_two_files_is_made_of_the_joined_column(tmp_path: Path) -> None:
    left, right = tmp_path / "a.csv", tmp_path / "b.csv"
    for file, year in ((left, 2019), (right, 2010)):
        rows = (f"{n},{year + n % 5}-03-31\n" for n in range(100))
        file.write_text("id,seen\n" + "".join(rows))
    found = profile_columns(left, {"seen_right": None, "seen_left": None}, right=right, key="id").columns
    assert [column["name"] for column in found] == ["seen_right", "seen_right year", "seen_left", "seen_left year"]
    assert [column["view"] for column in found] == ["right", "right", "left", "left"]
    assert found[1]["derive"] == {"part": "year", "of": "seen_right"}
    assert (found[1]["lower"], found[3]["lower"]) == (2010, 2019)


def test_more_values_than_are_held_give_nearly_the_same_limits() -> None:
    numbers = np.random.default_rng(1).normal(100, 10, 450_000).round(3)
    found, _ = look(numbers.tolist(), pieces=9)
    true = np.quantile(numbers, np.arange(0.1, 0.95, 0.1))
    assert np.abs(np.asarray(found["edges"]) - true).max() < 0.5


@pytest.mark.parametrize("kind", [None, "boolean"])
def test_what_stands_for_no_answer_is_missing_in_a_column_of_yes_and_no_too(kind: str | None) -> None:
    found = drafts_of([pd.DataFrame({"x": ["yes", "no", "?"] * 5})], {"x": kind})
    assert found.columns == [{"name": "x", "type": "boolean", "missing_codes": ["?"], "origin": "looked up"}]


CELL = st.one_of(
    st.integers(-1000, 1000).map(str),
    st.sampled_from(["a", "B", "b ", "?", "-9", "99", "", "NA", "yes", "no", "[1-2)", "<30", "2020-01-02", "I21.4"]),
    st.floats(-1e6, 1e6).map(lambda value: f"{value:.4g}"),
    st.text(max_size=4),
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(CELL, min_size=1, max_size=40), st.integers(1, 5), st.integers(1, 3))
def test_nothing_is_lost_by_what_is_proposed(cells: list[str], times: int, pieces: int) -> None:
    """Whatever the values, a column that is kept loses hardly any of them."""
    frame = pd.DataFrame({"x": cells * times})
    found = drafts_of([frame.iloc[i::pieces] for i in range(pieces)], {"x": None})
    kept = [column for column in found.columns if column["type"] != "leave out"]
    if not kept:
        return
    schema = Schema.from_mapping({"name": "d", "max_rows": 1000, "columns": kept})
    examination = Examination(schema)
    list(examination.of(iter([frame])))
    assert not [finding.sentence for finding in examination.findings() if finding.loses]


@for_each("values", [[[1], [2, 3]], [{"a": 1}, None], [np.array([1, 2]), np.array([3])]])
def test_a_column_of_lists_is_left_out_with_the_reason(values: list[Any]) -> None:
    """Parquet files and data bases may have such columns."""
    column, note = look(values)
    assert column["type"] == "leave out"
    assert "'x' holds lists" in note
