"""Names of columns with line breaks, or with blanks at an end, are those that a schema can have."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dpcore.domain.schemas.names import plain_name
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.intake.joins.relations import check_headers, read_headers, read_table, rows_for
from dpcore.intake.sources.files import read_chunks, read_header
from tests.support.rows import for_each
from tests.support.tables.database_files import database_file
from tests.support.tables.workbooks import workbook

FRAME = pd.DataFrame({"id": [1, 2], "age ": [44, 50], "Stay\n(days)": [3, 9], "two  blanks": [0, 1]})
NAMES = ["id", "age", "Stay (days)", "two  blanks"]
COLUMNS: list[dict[str, Any]] = [
    {"name": name, "type": "integer", "lower": 0, "upper": 110, "bins": 11} for name in NAMES[1:]
]
SCHEMA = Schema.from_mapping({"name": "stays", "max_rows": 100, "entity": "stay", "columns": COLUMNS})


def written(folder: Path, kind: str, frame: pd.DataFrame = FRAME) -> Path:
    path = folder / f"stays.{kind}"
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path, index=False)
    elif kind == "xlsx":
        workbook(path, {"stays": [list(frame), *frame.to_numpy().tolist()]})
    else:
        database_file(path, {"stay": frame})
    return path


@for_each("kind", ["csv", "parquet", "xlsx", "sqlite", "duckdb"])
def test_a_column_is_called_as_a_schema_can_have_it(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, kind)
    [header] = read_headers(path if kind in {"sqlite", "duckdb"} else {"stay": path}).values()
    assert list(header.columns) == NAMES
    check_headers(SCHEMA, path)
    main, _ = rows_for(SCHEMA, path)
    rows = pd.concat(list(main))
    assert {name: rows[name].astype(float).tolist() for name in NAMES[1:]} == {
        "age": [44, 50],
        "Stay (days)": [3, 9],
        "two  blanks": [0, 1],
    }
    source = path if kind in {"sqlite", "duckdb"} else {"stay": path}
    [piece] = read_table(source, "stay", ["Stay (days)"])
    assert list(piece) == ["Stay (days)"]


def test_files_of_one_table_may_differ_in_blanks(tmp_path: Path) -> None:
    folder = tmp_path / "stays"
    (folder / "year=2024").mkdir(parents=True)
    (folder / "year=2025").mkdir()
    written(folder / "year=2024", "parquet")
    written(folder / "year=2025", "parquet", FRAME.rename(columns=plain_name))
    assert read_header(folder) == [*NAMES, "year"]
    rows = pd.concat(list(read_chunks(folder, ["age", "year"])))
    assert rows["age"].tolist() == [44, 50, 44, 50]
    assert rows["year"].tolist() == ["2024", "2024", "2025", "2025"]


@for_each("kind", ["parquet", "sqlite", "duckdb"])
def test_names_that_would_become_the_same_are_refused(tmp_path: Path, kind: str) -> None:
    path = written(tmp_path, kind, pd.DataFrame({"age": [1], "age ": [2]}))
    with pytest.raises(IngestError, match="'age' and 'age ' differ in blanks or line breaks only: give one of them"):
        read_headers(path if kind != "parquet" else {"stay": path})
