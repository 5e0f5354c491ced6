"""One table in several files: a list, a folder, a pattern, folders that say a value."""

from __future__ import annotations

import gzip
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.intake.process.uploads import Incoming, ask
from dpcore.intake.sources.files import declared_types, read_chunks, read_header
from dpcore.intake.sources.parts import Files, parts_of

SCHEMA = Schema.from_text(
    """
name: visits
max_rows: 1000
privacy_unit: {column: who, max_rows_per_person: 2}
columns:
  - {name: a, type: integer, lower: 0, upper: 5, bins: 5}
  - {name: year, type: categorical, categories: ["2023", "2024"]}
"""
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Two CSV files, and what other programs leave."""
    made = tmp_path / "visits"
    (made / "later").mkdir(parents=True)
    (made / "1.csv").write_text("who,a,year\nann,1,2023\nbob,2,2023\n")
    (made / "later" / "2.csv.gz").write_bytes(gzip.compress(b"year;a;who\n2024;3;ann\n2024;4;ann\n"))
    (made / "_SUCCESS.csv").write_text("x")
    (made / ".1.csv").write_text("x")
    (made / "readme.md").write_text("x")
    return made


def rows(files: Files, columns: list[str] | None = None) -> list[list[object]]:
    whole = pd.concat(read_chunks(files, columns, 1), ignore_index=True)
    values = whole[sorted(whole.columns)].astype(object)
    return sorted(values.where(values.notna(), None).to_numpy().tolist())


ALL = [["1", "ann", "2023"], ["2", "bob", "2023"], ["3", "ann", "2024"], ["4", "ann", "2024"]]


def test_a_folder_is_a_table(folder: Path) -> None:
    assert read_header(folder) == ["who", "a", "year"]
    assert rows(folder) == ALL
    assert rows(folder, ["a"]) == [["1"], ["2"], ["3"], ["4"]]


def test_a_list_and_a_pattern_are_tables(folder: Path) -> None:
    files = [folder / "later" / "2.csv.gz", folder / "1.csv"]
    assert rows(files) == ALL
    assert rows(folder / "**" / "[12].csv*") == ALL
    assert [part.name for part in parts_of(folder / "*.csv")] == ["1.csv", "_SUCCESS.csv"]


def test_a_name_that_looks_like_a_pattern_is_a_name(tmp_path: Path) -> None:
    (tmp_path / "a[1].csv").write_text("a\n7\n")
    (tmp_path / "a1.csv").write_text("a\n8\n")
    assert rows(tmp_path / "a[1].csv") == [["7"]]


def test_folders_may_say_a_value(tmp_path: Path) -> None:
    table = pa.table(
        {"who": ["ann", "bob", "ann"], "a": [1, 2, 3], "year": [2023, 2023, 2024], "b": ["x/y", None, "z"]}
    )
    pq.write_to_dataset(table, tmp_path / "visits", partition_cols=["year", "b"])
    expected = [[1, "x/y", "ann", "2023"], [2, None, "bob", "2023"], [3, "z", "ann", "2024"]]
    assert rows(tmp_path / "visits") == expected
    assert declared_types(tmp_path / "visits") == {"year": "text", "b": "text", "who": "text", "a": "integer"}
    assert rows(tmp_path / "visits", ["year"]) == [["2023"], ["2023"], ["2024"]]


@pytest.mark.parametrize("given", ["list", "folder", "pattern"])
def test_several_files_are_stored_as_one_table(folder: Path, tmp_path: Path, given: str) -> None:
    files = [folder / "1.csv", folder / "later" / "2.csv.gz"]
    source: Files = {"list": files, "folder": folder, "pattern": folder / "**" / "[12].csv*"}[given]
    (tmp_path / "out").mkdir()
    Incoming(source, SCHEMA, accepted=["person:rows-dropped"]).save(tmp_path / "out")
    frame = PrivateTable.open(tmp_path / "out").public_frame()
    assert len(frame) == 3, "of Ann, two of three rows"
    assert 2 in set(frame["a"])
    if given != "list":
        assert set(ask("header", [source], path=source)) == {"who", "a", "year"}


def refused(files: Files) -> str:
    with pytest.raises(IngestError) as caught:
        list(read_chunks(files, ["a"]))
    return str(caught.value)


def test_mistakes_name_the_file_and_the_column(folder: Path) -> None:
    (folder / "later" / "3.csv").write_text("who,year\nann,1\n")
    assert "file 'later/3.csv' has no column 'a', which '1.csv' has" in refused(folder)
    (folder / "later" / "3.csv").write_text("who,a,year,more\nann,1,2,3\n")
    assert "file '1.csv' has no column 'more', which 'later/3.csv' has" in refused(folder)
    (folder / "later" / "3.csv").write_text("who,a,year\nann,1\n")
    assert "In the file 'later/3.csv': Line 2 of the file has 2 fields" in refused(folder)
    (folder / "later" / "3.csv").write_text("")
    assert "In the file 'later/3.csv': The file is empty" in refused(folder)
    (folder / "later" / "3.csv").unlink()
    pq.write_table(pa.table({"a": [1]}), folder / "later" / "3.parquet")
    assert "CSV as well as Parquet" in refused(folder)


def test_types_that_differ_name_the_file_and_the_column(tmp_path: Path) -> None:
    for number, values in enumerate(([1, 2], [0.5], [1])):
        pq.write_table(pa.table({"a": values}), tmp_path / f"{number}.parquet")
    assert declared_types(tmp_path) == {"a": "real"}
    assert rows(tmp_path) == [[0.5], [1], [1], [2]]
    pq.write_table(pa.table({"a": ["x"]}), tmp_path / "9.parquet")
    assert "column 'a' is text in the file '9.parquet' and real in '1.parquet'" in refused(tmp_path)
    (tmp_path / "9.parquet").write_bytes(b"PAR1")
    assert "In the file '9.parquet': The file is not a readable Parquet" in refused(tmp_path)


def test_a_mistake_stores_nothing(folder: Path, tmp_path: Path) -> None:
    (folder / "3.csv").write_text('who,a,year\nann,1,2023\n"')
    (tmp_path / "out").mkdir()
    with pytest.raises(IngestError, match=r"In the file '3\.csv': The file is not a well-formed CSV"):
        Incoming(folder, SCHEMA).save(tmp_path / "out")
    assert not list((tmp_path / "out").iterdir())
