"""Two files about the same people become one row each, whatever their types and order."""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.intake.joins import joining
from dpcore.intake.joins.joining import chunks_for, joint_columns, read_joined, shared_columns
from dpcore.intake.sources.files import read_chunks
from tests.support.rows import for_each

LEFT = "who,diabetes,age\nann,yes,50\nbob,no,60\ncleo,yes,\n"
RIGHT = "age;who;hba1c\n51;cleo;7.1\n61;ann;6.2\n71;dan;5.0\n"
NOBODY = {"", "na", "nan", "null", "none"}
COLUMNS = ["diabetes", "age_left", "age_right", "hba1c"]
SCHEMA = Schema.from_mapping(
    {
        "name": "two",
        "max_rows": 100,
        "holdout_percent": 0,
        "privacy_unit": {"column": "who"},
        "columns": [
            {"name": "diabetes", "type": "boolean", "view": "left"},
            {"name": "hba1c", "type": "real", "lower": 3, "upper": 15, "bins": 4, "view": "right"},
        ],
    }
)


def write(folder: Path, content: str | pd.DataFrame, name: str) -> Path:
    path = folder / name
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    elif path.suffix == ".parquet":
        content.to_parquet(path, index=False)
    else:
        content.to_csv(path, index=False)
    return path


def pair(folder: Path, left: str | pd.DataFrame = LEFT, right: str | pd.DataFrame = RIGHT) -> tuple[Path, Path]:
    names = ["csv" if isinstance(content, str) else "parquet" for content in (left, right)]
    return (write(folder, left, f"left.{names[0]}"), write(folder, right, f"right.{names[1]}"))


def joined(left: Path, right: Path, columns: list[str], key: str = "who") -> dict[str, list[Any]]:
    """What the joined rows say of each person; ``None`` where they say nothing."""
    rows = pd.concat([chunk.astype(object) for chunk in read_joined(left, right, key, columns)])
    assert rows[key].is_unique
    return {
        row[key]: [None if pd.isna(row[name]) else row[name] for name in columns] for row in rows.to_dict("records")
    }


def refusal(left: Path, right: Path, columns: list[str], key: str = "who") -> str:
    with pytest.raises(IngestError) as caught:
        list(read_joined(left, right, key, columns))
    return str(caught.value)


def test_people_in_one_file_only_keep_a_row(tmp_path: Path) -> None:
    assert joined(*pair(tmp_path), COLUMNS) == {
        "ann": ["yes", "50", "61", "6.2"],
        "bob": ["no", "60", None, None],
        "cleo": ["yes", None, "51", "7.1"],
        "dan": [None, None, "71", "5.0"],
    }


@for_each(
    ("left", "right", "both"),
    [
        ([1, 2, 3], [1.0, 3.0, math.nan], {"1", "3"}),
        (["1", " 2 ", "3"], [3, 1, 7], {"1", "3"}),
        ([1.0, math.nan, 3.0], ["3", " 1", "NA"], {"1", "3"}),
        (["P1", "na", None], ["null", "P1 ", ""], {"P1"}),
        ([2**60, 2**60 + 1, 2**60 + 2], [2**60 + 1, 5, 6], {str(2**60 + 1)}),
    ],
)
def test_keys_are_compared_as_persons_are(tmp_path: Path, left: list[Any], right: list[Any], both: set[str]) -> None:
    first = pd.DataFrame({"who": left, "a": "left"})
    second = pd.DataFrame({"who": right, "b": "right"})
    found = joined(*pair(tmp_path, first, second), ["a", "b"])
    assert {who for who, values in found.items() if None not in values} == both
    named = [key for key in (*left, *right) if f"{key}".strip().lower() not in NOBODY]
    assert len(found) == len(named) - len(both)


def test_whole_numbers_stay_exact_beside_gaps(tmp_path: Path) -> None:
    large = 2**60 + 1
    left = pd.DataFrame({"who": [1, 2], "a": [large, large + 1]})
    right = pd.DataFrame({"who": [2, 3], "b": [large + 2, large + 3], "c": [True, False]})
    assert joined(*pair(tmp_path, left, right), ["a", "b", "c"]) == {
        "1": [large, None, None],
        "2": [large + 1, large + 2, True],
        "3": [None, large + 3, False],
    }


KEYS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@given(KEYS, KEYS, st.integers(1, 4))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_two_lists_of_people_are_joined(tmp_path: Path, left: list[str], right: list[str], chunk_rows: int) -> None:
    first = pd.DataFrame({"who": left, "a": [f"a{key}" for key in left]}, dtype=object)
    second = pd.DataFrame({"who": right, "b": [f"b{key}" for key in right]}, dtype=object)
    paths = write(tmp_path, first, "left.csv"), write(tmp_path, second, "right.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joining, "read_chunks", partial(read_chunks, chunk_rows=chunk_rows))
        if not set(left) & set(right):
            assert "No 'who' of one file is found in the other" in refusal(*paths, ["a", "b"])
            return
        assert joined(*paths, ["a", "b"]) == {
            key: [f"a{key}" if key in left else None, f"b{key}" if key in right else None] for key in {*left, *right}
        }


@for_each(
    ("left", "right", "sentence"),
    [
        ("who,a\n1,2\n1,3\n", "who,b\n1,2\n", "In the first file, several rows have the same"),
        ("who,a\n1,2\n", "who,b\n1,2\n2,2\n 1,3\n", "In the second file, several rows have"),
        ("who,a\n1,2\n", "Who,b\n1,2\n", "The second file has no column 'who'"),
        ("id,a\n1,2\n", "who,b\n1,2\n", "The first file has no column 'who'"),
        ("who,a\n1,2\n", "who,b\n2,2\n", "No 'who' of one file is found in the other"),
        ("who,a\n", "who,b\n", "No 'who' of one file is found in the other"),
        ("who,a\n,2\n", "who,b\n,2\n", "No 'who' of one file is found in the other"),
        ("who,a,x\n1,2,3\n", "who,b\n1,2\n", "Neither file has a column 'b_right'"),
        ("", "who,b\n1,2\n", "In the first file: The file is empty"),
        ("who,a\n1,2\n", "who,b,b\n1,2,3\n", "In the second file: Column names must be distinct"),
        ("who,a\n1,2,3\n", "who,b\n1,2\n", "In the first file: Line "),
        ("who,a\n1,2\n", "who,b\n1,2,3\n", "In the second file: Line "),
        ("who,a,x,x_left\n1,2,3,4\n", "who,b,x\n1,2,3\n", "several columns called 'x_left'"),
        ("who,who_left,a\n1,2,3\n", "who,who_left,b\n1,2,3\n", "Neither file has"),
        ("who,who_right,a\n1,2,3\n", "who,who_right,b\n1,2,3\n", "Neither file has"),
    ],
)
@for_each("chunk_rows", [1, 1000])
def test_files_that_cannot_be_joined_get_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, left: str, right: str, sentence: str, chunk_rows: int
) -> None:
    monkeypatch.setattr(joining, "read_chunks", partial(read_chunks, chunk_rows=chunk_rows))
    missing = ["b_right"] if "Neither" in sentence else []
    assert sentence in refusal(*pair(tmp_path, left, right), missing)


def test_refusals_tell_no_value(tmp_path: Path) -> None:
    for right in ("who,b\nsecret,1\nsecret,2\n", "who,b\nother,1\n"):
        assert "secret" not in refusal(*pair(tmp_path, "who,a\nsecret,1\n", right), ["b"])


def test_a_name_of_both_files_is_refused_with_the_names_to_use(tmp_path: Path) -> None:
    assert "'age_left' and 'age_right'" in refusal(*pair(tmp_path), ["age"])
    together = joint_columns(*pair(tmp_path), "who")
    assert together.left == {"diabetes": "diabetes", "age_left": "age"}
    assert together.right == {"age_right": "age", "hba1c": "hba1c"}
    assert together.place("age_right") == ("right", "age")
    assert together.place("diabetes") == ("left", "diabetes")
    assert shared_columns(*pair(tmp_path)) == ["who", "age"]


def test_together_no_more_columns_than_a_file_may_have(tmp_path: Path) -> None:
    many = [",".join(["who", *(f"{side}{i}" for i in range(600))]) + "\n" for side in "ab"]
    with pytest.raises(IngestError, match="1201 columns"):
        joint_columns(*pair(tmp_path, *many), "who")


def test_the_key_is_the_column_of_the_privacy_unit(tmp_path: Path) -> None:
    left, right = pair(tmp_path)
    nobody = Schema.from_mapping(SCHEMA.model_dump() | {"privacy_unit": {}})
    with pytest.raises(IngestError, match="name it in the schema"):
        chunks_for(nobody, left, right)
    with pytest.raises(IngestError, match="Only two files can be joined"):
        chunks_for(SCHEMA, pd.DataFrame({"who": [1]}), right)
