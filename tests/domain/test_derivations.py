"""Columns that are made of the columns of a file: what they hold, and that each row stands alone."""

from __future__ import annotations

import datetime
import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpcore import DPTreeClassifier
from dpcore.data.building.ingest import ingest
from dpcore.domain.codes import TABLES, group_of
from dpcore.domain.columns import COLUMN_ADAPTER
from dpcore.domain.encoding import encode, encode_columns, values_of
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import InputError, SchemaError
from dpcore.intake.joins.relations import rows_for
from dpcore.privacy.randomness import SeededRandom
from dpcore.rehearsal.synthetic import synthetic_tables
from tests.support.rows import for_each
from tests.support.tables.odd_values import ODD, PLAIN, objects

DAYS = {"type": "integer", "lower": -10, "upper": 60, "bins": 7}


def column(derive: dict[str, Any], **fields: Any) -> Any:
    facts = fields or {"type": "integer", "lower": -5000, "upper": 5000, "bins": 4}
    return COLUMN_ADAPTER.validate_python({"name": "made", **facts, "derive": derive})


def schema(*columns: dict[str, Any], **fields: Any) -> Schema:
    return Schema.from_mapping({"name": "d", "max_rows": 100, "columns": list(columns), **fields})


def cells(made: Any, **raw: list[Any]) -> list[str]:
    frame = pd.DataFrame({name: objects(values) for name, values in raw.items()})
    return [made.cells[code] for code in encode(made, values_of(made, frame))[0]]


def numbers(derive: dict[str, Any], **raw: list[Any]) -> list[float | None]:
    made = column(derive)
    frame = pd.DataFrame({name: objects(values) for name, values in raw.items()})
    found = encode(made, values_of(made, frame))[1]
    assert found is not None
    return [None if np.isnan(number) else float(number) for number in found]


@pytest.mark.crossed
@pytest.mark.parametrize(
    ("part", "expected"), [("year", 2024), ("quarter", 2), ("month", 5), ("weekday", 4), ("hour", 23)]
)
@pytest.mark.parametrize(
    "written",
    [
        "2024-05-09T23:15",
        " 2024-05-09 23:15:59.5 ",
        "2024-05-09T23:15+02:00",
        pd.Timestamp("2024-05-09 23:15", tz="Asia/Tokyo"),
        datetime.datetime(2024, 5, 9, 23, 15),
        np.datetime64("2024-05-09T23:15:00.000000001"),
    ],
)
def test_parts_of_a_date(part: str, expected: int, written: Any) -> None:
    assert numbers({"part": part, "of": "day"}, day=[written]) == [expected]


NO_DATES = [
    None,
    "",
    "unknown",
    "45421",
    45421,
    45421.5,
    20240509,
    "09.05.2024",
    "2024-5-9",
    "2024-02-30",
    "2024-05-09 25:00",
    "9999-12-31",
    "1899-12-31",
    "0000-00-00",
    pd.NaT,
    np.datetime64("NaT"),
    np.datetime64("-5000-01-01"),
    np.datetime64(2**62, "s"),
    datetime.timedelta(3),
    True,
]


@for_each("value", NO_DATES)
def test_what_is_no_date_in_its_range_is_missing(value: Any) -> None:
    assert numbers({"part": "year", "of": "day"}, day=[value, "2024-05-09"]) == [None, 2024]


def test_dates_in_another_format() -> None:
    written = ["31.12.2023", "2023-12-31", "1.2.2024", "31.02.2024", ""]
    found = numbers({"part": "month", "of": "day", "format": "%d.%m.%Y"}, day=written)
    assert found == [12, None, 2, None, None]


def test_days_between_dates() -> None:
    derive = {"days_from": "admitted", "to": "discharged"}
    found = numbers(
        derive,
        admitted=["2024-02-28", "2024-03-01T23:00", "2024-03-01", None],
        discharged=["2024-03-01T01:00", "2024-03-02T00:30", "2024-02-29", "2024-02-29"],
    )
    assert found == [2, 1, -1, None]


def test_age_at_an_event_and_on_a_day_that_everybody_knows() -> None:
    born = ["1980-05-09", "1980-05-10", "2000-02-29", "2024-05-09"]
    assert numbers({"years_from": "born", "to": "seen"}, born=born, seen=["2024-05-09"] * 4) == [44, 43, 24, 0]
    assert numbers({"years_from": "born", "to": "2024-02-28"}, born=born) == [43, 43, 23, -1]
    assert numbers({"days_from": datetime.date(2020, 1, 1), "to": "born"}, born=["2020-01-31"]) == [30]


CHAPTERS = {"type": "categorical"}


@for_each(
    ("system", "level", "code", "group"),
    [
        ("icd10", "chapter", "I21.9", "IX"),
        ("icd10", "chapter", "i219", "IX"),
        ("icd10", "block", "E11.4†", "E10-E14"),
        ("icd10", "block", "A09", "A00-A09"),
        ("icd10", "block", "A10", "(other)"),
        ("icd10", "chapter", "heart", "(other)"),
        ("icd10", "chapter", "?", "(other)"),
        ("icd10", "chapter", None, "(missing)"),
        ("icd9", "chapter", "250.83", "240-279"),
        ("icd9", "chapter", 428.0, "390-459"),
        ("icd9", "chapter", "8", "001-139"),
        ("icd9", "block", "V57", "V50-V59"),
        ("icd9", "block", "E9091", "E900-E909"),
        ("icd9", "block", "4280", "420-429"),
        ("atc", 1, "C09AA05", "C"),
        ("atc", 2, "c09aa05", "C09"),
        ("atc", 2, "C", "(other)"),
    ],
)
def test_groups_of_codes(system: str, level: Any, code: Any, group: str) -> None:
    made = column({"code": "diag", "system": system, "level": level}, **CHAPTERS)
    assert cells(made, diag=[code]) == [group]
    assert cells(made, diag=[group]) == [group]


def test_groups_that_are_not_listed_are_named_by_the_schema() -> None:
    categories = {"type": "categorical", "categories": ["I21", "I50"]}
    made = column({"code": "diag", "system": "icd10", "level": "category"}, **categories)
    assert cells(made, diag=["I21.9", "I500", "I10"]) == ["I21", "I50", "(other)"]
    drugs = column({"code": "drug", "system": "atc", "level": "4"}, type="categorical", categories=["C09AA"])
    assert cells(drugs, drug=["C09AA05", "C09A"]) == ["C09AA", "(other)"]
    short = column({"code": "zip", "prefix": 2}, type="categorical", categories=["12", "99"])
    assert cells(short, zip=["12345", 99123, "5"]) == ["12", "99", "(other)"]


def test_a_mapping_of_codes() -> None:
    derive = {"code": "ward", "mapping": {"1a": "surgery", "1b": "surgery", "7": "neurology"}}
    made = column(derive, type="categorical")
    assert made.categories == ("surgery", "neurology")
    assert cells(made, ward=["1a", 7, "7.0", "9", ""]) == ["surgery", "neurology", "(other)", "(other)", "(missing)"]
    words = column({"code": "ward", "mapping": {"NA": "north"}}, type="categorical")
    assert cells(words, ward=["NA", "null"]) == ["north", "(missing)"]
    short = column({"code": "ward", "prefix": 1}, type="categorical", categories=["N"])
    assert cells(short, ward=["NA", "Nx"]) == ["(missing)", "N"]
    renamed = column({"column": "Aufnahmeart"}, type="categorical", categories=["a", "b"])
    assert cells(renamed, Aufnahmeart=["b", "c"]) == ["b", "(other)"]


def test_codes_for_missing_values_count_before() -> None:
    made = column({"part": "year", "of": "born"}, **DAYS | {"upper": 3000, "missing_codes": ["1900-01-01"]})
    assert cells(made, born=["1900-01-01"]) == ["(missing)"]
    diag = column({"code": "diag", "system": "icd9", "level": "chapter"}, **CHAPTERS, missing_codes=["?", "799.9"])
    assert cells(diag, diag=["?", "799.9", "799.8"]) == ["(missing)", "(missing)", "780-799"]


def test_classifications_fill_in_categories_labels_and_origin() -> None:
    made = schema({"name": "chapter", **CHAPTERS, "derive": {"code": "diag", "system": "icd10", "level": "chapter"}})
    chapter = made.column("chapter")
    assert len(chapter.categories) == 22
    assert {each.category: each.label for each in chapter.labels}["IX"] == "Diseases of the circulatory system"
    assert made.origins == ("declared", "standard table")
    own = {
        "name": "c",
        **CHAPTERS,
        "categories": ["IX"],
        "derive": {"code": "d", "system": "icd10", "level": "chapter"},
    }
    assert schema(own).column("c").categories == ("IX",)
    assert schema(own).origins == ("declared",)


def test_parts_of_dates_fill_in_what_they_can_be() -> None:
    month = column({"part": "month", "of": "day"}, type="integer")
    assert (month.lower, month.upper, len(month.cells)) == (1, 12, 13)
    binned = column({"part": "month", "of": "day"}, type="integer", bins=2)
    assert binned.cells == ("[1, 6]", "(6, 12]", "(missing)")
    weekday = column({"part": "weekday", "of": "day"}, type="ordinal")
    assert cells(weekday, day=["2024-05-09"]) == ["4"]
    assert weekday.labels[3].label == "Thursday"
    weekend = column({"part": "weekday", "of": "day"}, type="categorical", categories=["6", "7"])
    assert cells(weekend, day=["2024-05-11", "2024-05-10"]) == ["6", "(other)"]


def test_months_and_quarters_of_many_years_are_listed_in_their_order() -> None:
    days = {"earliest": "2023-11-15", "latest": "2024-02-01"}
    month = column({"part": "year-month", "of": "day", **days}, type="ordinal")
    assert month.categories == ("2023-11", "2023-12", "2024-01", "2024-02")
    assert [label.label for label in month.labels] == ["Nov 2023", "Dec 2023", "Jan 2024", "Feb 2024"]
    assert cells(month, day=["2024-01-31", "2024-02-02", None]) == ["2024-01", "(missing)", "(missing)"]
    quarter = column({"part": "year-quarter", "of": "day", **days}, type="ordinal")
    assert quarter.categories == ("2023-Q4", "2024-Q1")
    assert cells(quarter, day=["2023-12-31"]) == ["2023-Q4"]


@for_each("system", TABLES)
def test_tables_of_codes_are_sound(system: str) -> None:
    for level, groups in TABLES[system].items():
        assert len({group.name for group in groups}) == len({group.label for group in groups}) == len(groups)
        for group in groups:
            assert group_of(system, level, group.first) == group_of(system, level, group.last) == group.name
            assert group_of(system, level, group.name) == group.name
            assert group.first <= group.last


@pytest.mark.parametrize("system", ["icd10", "icd9"])
def test_a_block_lies_in_one_chapter(system: str) -> None:
    for block in TABLES[system]["block"]:
        assert group_of(system, "chapter", block.first) == group_of(system, "chapter", block.last) != block.first


DERIVED = [
    column({"part": "year", "of": "a"}),
    column({"part": "hour", "of": "a", "format": "%d.%m.%Y %H:%M"}),
    column({"days_from": "a", "to": "b"}),
    column({"years_from": "a", "to": "2020-02-29"}),
    column({"part": "weekday", "of": "b"}, type="categorical"),
    *(column({"code": "a", "system": name, "level": levels[1]}, **CHAPTERS) for name, levels in
      {"icd10": ("", "block"), "icd9": ("", "block"), "atc": ("", "2")}.items()),
    column({"code": "a", "mapping": {"1": "one", "a": "letter"}}, type="ordinal"),
    column({"code": "a", "prefix": 1}, type="categorical", categories=["1", "a", "-"]),
    column({"column": "b"}),
]  # fmt: skip
DATES = st.one_of(
    st.dates().map(str),
    st.datetimes().map(str),
    st.datetimes(timezones=st.just(datetime.UTC)).map(datetime.datetime.isoformat),
    st.datetimes().map(lambda when: when.strftime("%d.%m.%Y %H:%M")),
    st.sampled_from([value for value in NO_DATES if not isinstance(value, float)]),
)
CODES = st.sampled_from(["I21.9", "e119", "250.83", "V57", "E849", "8", "C09AA05", "C", "IX", "I20-I25", "?", "1", "a"])
VALUES = st.one_of(DATES, CODES, PLAIN, ODD)


@pytest.mark.parametrize("made", DERIVED, ids=lambda made: "-".join(map(str, made.derive.sources)) + made.type)
@given(st.lists(st.tuples(VALUES, VALUES), max_size=5))
@example([("2024-05-09", "2024-05-10"), (3j, object()), ("09.05.2024 10:00", 45421)])
@settings(max_examples=settings.default.max_examples // 2)
def test_no_row_changes_what_is_made_of_another(made: Any, rows: list[tuple[Any, Any]]) -> None:
    def codes(own: list[tuple[Any, Any]]) -> list[tuple[int, float]]:
        frame = pd.DataFrame({"a": objects([a for a, _ in own]), "b": objects([b for _, b in own])})
        found, known = encode(made, values_of(made, frame))
        numbers = np.zeros(len(own)) if known is None else np.nan_to_num(known, nan=-99)
        return list(zip(found.tolist(), numbers, strict=True))

    assert codes(rows) == [codes([row])[0] for row in rows]


@given(st.lists(st.sampled_from(["2024-05-09", "1.5", "", "x"]) | DATES, min_size=1, max_size=5))
def test_nor_does_the_type_that_pandas_gives_a_column(values: list[Any]) -> None:
    made = column({"part": "month", "of": "a"})
    whole = pd.DataFrame({"a": pd.Series(values)})
    found = encode(made, values_of(made, whole))[0].tolist()
    assert found == [encode(made, values_of(made, pd.DataFrame({"a": objects([value])})))[0][0] for value in values]


AGE = {"name": "age", "type": "integer", "lower": 0, "upper": 100, "bins": 4,
       "derive": {"years_from": "born", "to": "admitted"}}  # fmt: skip
CHAPTER = {"name": "diag", "type": "categorical", "derive": {"code": "diag", "system": "icd10", "level": "chapter"}}
BLOCK = {"name": "block", "type": "categorical", "derive": {"code": "diag", "system": "icd10", "level": "block"}}
RAW = pd.DataFrame(
    {
        "who": ["ann", "bob", "cleo"],
        "born": ["1950-01-01", "1980-06-15", "unknown"],
        "admitted": ["2020-01-01", "2020-06-14", "2020-01-01"],
        "diag": ["I21.9", "E11.9", "?"],
        "notes": ["private", "private", "private"],
    }
)
MADE = {"age": ["(50, 75]", "(25, 50]", "(missing)"], "diag": ["IX", "IV", "(other)"]}


def stored(table: pd.DataFrame, name: str) -> list[Any]:
    return sorted(map(str, table[name].tolist()))


@for_each("ending", ["csv", "csv.gz", "parquet"])
def test_files_are_read_by_the_columns_that_derivations_name(tmp_path: Path, ending: str) -> None:
    path = tmp_path / f"data.{ending}"
    if ending == "parquet":
        dates = {name: pd.to_datetime(RAW[name], errors="coerce") for name in ("born", "admitted")}
        RAW.assign(**dates).to_parquet(path)
    else:
        text = RAW.to_csv(index=False)
        path.write_bytes(gzip.compress(text.encode()) if ending.endswith("gz") else text.encode())
    domain = schema(AGE, CHAPTER, BLOCK, privacy_unit={"column": "who"})
    assert domain.file_columns == ("born", "admitted", "diag")
    chunks, children = rows_for(domain, path)
    frame = ingest(chunks, domain, SeededRandom(0), children).public_frame()
    assert list(frame.columns) == ["age", "diag", "block"]
    assert stored(frame, "diag") == ["(other)", "IV", "IX"]
    assert stored(frame, "block") == ["(other)", "E10-E14", "I20-I25"]
    assert stored(frame, "age") == ["39.0", "70.0", "nan"]


def test_frames_hold_what_a_column_is_made_of_or_the_column_itself() -> None:
    domain = schema(AGE, CHAPTER, BLOCK)
    raw = encode_columns(RAW, domain, ["age", "diag", "block"])
    assert {name: [domain.column(name).cells[code] for code in raw[name]] for name in MADE} == MADE
    typed = pd.DataFrame({name: [domain.column(name).cells[code] for code in raw[name]] for name in ("diag", "block")})
    again = encode_columns(typed.assign(age=[70, 39, None]), domain, ["age", "diag", "block"])
    assert {name: codes.tolist() for name, codes in again.items()} == {name: c.tolist() for name, c in raw.items()}
    assert encode_columns(RAW[["born"]], domain, ["age"])["age"].tolist() == [4, 4, 4]


@for_each("content", [AGE, CHAPTER, BLOCK, {**AGE, "derive": {**AGE["derive"], "earliest": "1920-01-01"}}])
def test_schemas_with_derivations_are_written_and_read_again(content: dict[str, Any]) -> None:
    made = schema(content)
    assert Schema.from_text(made.to_yaml()) == made == Schema.from_text(made.to_json())
    assert Schema.from_text(made.to_yaml()).hash == made.hash


def test_days_that_yaml_takes_for_dates() -> None:
    text = "{name: d, max_rows: 9, columns: [{name: a, type: integer, lower: 0, upper: 9, bins: 3, derive: %s}]}"
    made = Schema.from_text(text % "{years_from: born, to: 2024-12-31, earliest: 1920-01-01}")
    assert made.file_columns == ("born",)
    assert Schema.from_text(made.to_json()) == made


@for_each(
    ("derive", "sentence"),
    [
        ({"part": "minute", "of": "a"}, "column 'x', derive"),
        ({"when": "a"}, "needs one of: part"),
        ({"part": "month", "of": "x"}, "needs a name of its own"),
        ({"part": "month", "of": "a", "format": "%d.%m."}, "a format needs day, month and year"),
        ({"part": "month", "of": "a", "format": "%Q"}, "a format needs day, month and year"),
        ({"part": "hour", "of": "a", "format": "%d.%m.%Y"}, "have no hour"),
        ({"part": "year", "of": "a", "earliest": "2020-01-01", "latest": "2019-01-01"}, "must not be after"),
        ({"days_from": "2020-01-01", "to": "2021-01-01"}, "must be a column"),
        ({"code": "a", "system": "icd10", "level": 2}, "levels of icd10 are chapter, block, category"),
        ({"code": "a", "mapping": {"1": "2", "2": "3"}}, "'2' is the group of a code"),
    ],
)
def test_faulty_derivations(derive: dict[str, Any], sentence: str) -> None:
    with pytest.raises(SchemaError) as caught:
        schema({"name": "x", **DAYS, "derive": derive})
    assert sentence in str(caught.value)


def test_a_name_means_one_thing() -> None:
    raw_age = {"name": "age at home", **DAYS, "derive": {"column": "age"}}
    with pytest.raises(SchemaError, match="'age at home' is made of the file's column 'age'"):
        schema(AGE, raw_age)


def test_an_estimator_takes_raw_rows() -> None:
    domain = schema(AGE, CHAPTER, {"name": "died", "type": "boolean"}, privacy_unit={"column": "who"})
    died = np.array([True, False, False])
    model = DPTreeClassifier(epsilon=1, schema=domain, target="died").fit(RAW, died)
    assert model.predict(RAW).tolist() == model.predict(typed_rows()).tolist()
    with pytest.raises(InputError, match="no column 'born', 'admitted'"):
        model.predict(RAW[["who", "diag"]])


def typed_rows() -> pd.DataFrame:
    return pd.DataFrame({"who": [1, 2, 3], "age": [70, 39, None], "diag": MADE["diag"]})


def test_invented_records_hold_the_columns_themselves() -> None:
    domain = schema(AGE, CHAPTER, BLOCK, {"name": "died", "type": "boolean"}, privacy_unit={"column": "who"})
    rows, _ = synthetic_tables(domain, "died", 50, seed=0)
    frame = ingest([rows], domain, SeededRandom(0)).public_frame()
    for name in ("age", "diag", "block"):
        assert stored(frame.round(6), name) == stored(rows, name)


@for_each(
    ("fields", "words"),
    [
        ({"derive": {"years_from": "born", "to": "2024-12-31"}}, "full years from 'born' to 2024-12-31"),
        ({"derive": {"days_from": "a", "to": "b"}, "summary": "mean"}, "mean of a person's rows: days from 'a' to 'b'"),
        ({"derive": {"part": "year", "of": "day"}}, "the year of 'day'"),
        ({"derive": {"code": "d", "system": "atc", "level": 2}}, "the level 2 of 'd' in ATC"),
        ({"derive": {"code": "d", "system": "icd9", "level": "block"}}, "the block of 'd' in ICD-9-CM"),
        ({"derive": {"code": "d", "mapping": {"a": "b"}}}, "the group of 'd' by a mapping of 1 codes"),
        ({"derive": {"code": "d", "prefix": 2}}, "the first 2 signs of 'd'"),
        ({"derive": {"column": "d"}}, "'d' of the file"),
        ({"summary": "maximum"}, "maximum of a person's rows: 'made'"),
        ({"summary": "count"}, "the number of a person's rows"),
        ({}, ""),
    ],
)
def test_what_a_column_is_made_of_is_told(fields: dict[str, Any], words: str) -> None:
    assert COLUMN_ADAPTER.validate_python({"name": "made", **DAYS, **fields}).made == words
