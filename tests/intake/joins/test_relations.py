"""Several tables come in from files, frames, SQLite and DuckDB alike; faults become sentences."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd
import pytest

from dpcore.data.building.ingest import ingest
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import IngestError
from dpcore.intake.joins.relations import check_headers, read_headers, read_table, rows_for
from dpcore.intake.process.answers import _describe
from dpcore.intake.sources.sql_files import database_description
from dpcore.privacy.randomness import SeededRandom
from tests.support.rows import for_each
from tests.support.tables.database_files import database_file

TRAINS = pd.DataFrame({"train_id": [1, 2, 3], "direction": ["west", "east", None]})
CARS = pd.DataFrame(
    {
        "train_id": [1, 1, 2, 9],
        "length": ["short", "long", "long", "short"],
        "wheels": [2, 3, None, 3],
        "note": ["x", "y", "z", "w"],
    }
)
SCHEMA = Schema.from_mapping(
    {
        "name": "trains",
        "entity": "train",
        "max_rows": 100,
        "holdout_percent": 0,
        "privacy_unit": {"column": "train_id"},
        "columns": [{"name": "direction", "type": "categorical", "categories": ["west", "east"]}],
        "children": [
            {
                "name": "car",
                "max_rows_per_person": 4,
                "columns": [
                    {"name": "length", "type": "categorical", "categories": ["short", "long"]},
                    {"name": "wheels", "type": "integer", "lower": 2, "upper": 3, "edges": [2]},
                ],
            }
        ],
    }
)
PLAIN = SCHEMA.model_copy(update={"children": ()})
KINDS = ("sqlite", "duckdb")


def make_database(folder: Path, kind: str, tables: dict[str, pd.DataFrame]) -> Path:
    return database_file(folder / f"records.{kind}", tables)


def run_sql(path: Path, *statements: str) -> None:
    if path.suffix == ".duckdb":
        with duckdb.connect(str(path)) as duck:
            for statement in statements:
                duck.execute(statement)
        return
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


def files(folder: Path) -> dict[str, Path]:
    TRAINS.to_csv(folder / "main.csv", index=False)
    CARS.to_parquet(folder / "further.parquet", index=False)
    return {"train": folder / "main.csv", "car": folder / "further.parquet"}


def source_of(folder: Path, kind: str) -> Any:
    if kind == "files":
        return files(folder)
    if kind == "frames":
        return {"train": TRAINS, "car": CARS}
    return make_database(folder, kind, {"train": TRAINS, "car": CARS})


def cars_by_direction(source: Any) -> list[tuple[str, str, str]]:
    """Every stored car beside the direction of its train."""
    main, children = rows_for(SCHEMA, source)
    table = ingest(main, SCHEMA, SeededRandom(0), children)
    trains = table.public_frame()
    cars, places = table.public_child("car")
    return sorted(
        (trains["direction"].iloc[place], car["length"], str(car["wheels"]))
        for place, car in zip(places, cars.to_dict("records"), strict=True)
    )


def read_all(source: Any, schema: Schema, **more: Any) -> None:
    main, children = rows_for(schema, source, **more)
    for rows in (main, *children.values()):
        list(rows)


def refusal(source: Any, schema: Schema = SCHEMA, **more: Any) -> str:
    with pytest.raises(IngestError) as caught:
        read_all(source, schema, **more)
    return str(caught.value)


@for_each("kind", ["files", "frames", *KINDS])
def test_every_source_makes_the_same_table(tmp_path: Path, kind: str) -> None:
    source = source_of(tmp_path, kind)
    check_headers(SCHEMA, source)
    assert cars_by_direction(source) == [("east", "long", "nan"), ("west", "long", "3.0"), ("west", "short", "2.0")]


@for_each("kind", ["files", *KINDS])
def test_only_wanted_columns_are_read_in_chunks(tmp_path: Path, kind: str) -> None:
    chunks = list(read_table(source_of(tmp_path, kind), "car", ["wheels", "train_id"], 3))
    assert all(set(chunk.columns) == {"wheels", "train_id"} for chunk in chunks)
    assert [len(chunk) for chunk in chunks] == [3, 1]


@pytest.mark.parametrize("kind", KINDS)
def test_many_rows_of_a_database_come_in_pieces(tmp_path: Path, kind: str) -> None:
    path = make_database(tmp_path, kind, {"n": pd.DataFrame({"x": range(10_000)})})
    chunks = list(read_table(path, "n", ["x"], 3000))
    assert max(len(chunk) for chunk in chunks) <= 3000
    assert [int(x) for chunk in chunks for x in chunk["x"]] == list(range(10_000))


@pytest.mark.parametrize("kind", KINDS)
def test_values_keep_their_meaning(tmp_path: Path, kind: str) -> None:
    path = make_database(tmp_path, kind, {})
    large, bytes_of = 2**60 + 1, "x'ff00'" if kind == "sqlite" else r"'\xFF\x00'::BLOB"
    run_sql(
        path,
        "CREATE TABLE v (n BIGINT, t VARCHAR, b BLOB, d DATE, m DECIMAL(5, 2))",
        f"INSERT INTO v VALUES ({large}, 'é', {bytes_of}, '2020-01-02', 1.5), (NULL, NULL, NULL, NULL, NULL)",
    )
    [chunk] = read_table(path, "v", ["n", "t", "b", "d", "m"])
    first = chunk.iloc[0]
    assert int(first["n"]) == large
    assert first["t"] == "é"
    assert isinstance(first["b"], str)
    assert str(first["d"]) == "2020-01-02"
    assert float(first["m"]) == 1.5
    assert chunk.iloc[1].isna().all()


@pytest.mark.parametrize("kind", KINDS)
def test_headers_tell_names_types_and_keys_but_no_value(tmp_path: Path, kind: str) -> None:
    path = make_database(tmp_path, kind, {})
    run_sql(
        path,
        'CREATE TABLE "a ""table""" (id INTEGER PRIMARY KEY, "x y" DOUBLE, flag BOOLEAN, '
        "t VARCHAR, twice INTEGER GENERATED ALWAYS AS (id * 2))",
        "CREATE TABLE pair (a INTEGER, b INTEGER, PRIMARY KEY (a, b))",
        "CREATE VIEW seen AS SELECT 1 AS one",
    )
    headers = read_headers(path)
    assert list(headers) == ['a "table"', "pair"]
    assert headers['a "table"'].columns == {"id": "integer", "x y": "real", "flag": "boolean", "t": "text"}
    assert (headers['a "table"'].key, headers["pair"].key) == ("id", None)
    assert sum(len(chunk) for chunk in read_table(path, 'a "table"', ["x y"])) == 0


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_that_a_database_defines_is_executed(tmp_path: Path, kind: str) -> None:
    path = make_database(tmp_path, kind, {"train": TRAINS})
    secret = tmp_path / "secret.csv"
    secret.write_text("train_id,length,wheels\nsecretvalue,short,2\n")
    if kind == "sqlite":
        run_sql(path, "CREATE VIEW car AS SELECT 1 AS train_id, 'short' AS length, 2 AS wheels")
        run_sql(path, "CREATE VIRTUAL TABLE words USING fts5(train_id)")
    else:
        run_sql(
            path,
            f"CREATE VIEW car AS SELECT * FROM read_csv('{secret}')",
            "CREATE MACRO duckdb_tables() AS TABLE SELECT 'car' AS table_name",
        )
    assert "no table 'car'" in refusal(path)
    assert "words" not in read_headers(path)
    assert "train" in read_headers(path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_database_is_neither_changed_nor_accompanied(tmp_path: Path, kind: str) -> None:
    path = source_of(tmp_path, kind)
    if kind == "sqlite":
        run_sql(path, "PRAGMA journal_mode = WAL")
    before = path.read_bytes()
    assert len(cars_by_direction(path)) == 3
    assert path.read_bytes() == before
    assert [item.name for item in tmp_path.iterdir()] == [path.name]


def test_rows_that_a_sqlite_file_leaves_in_another_one_are_told_to_be_missing(tmp_path: Path) -> None:
    """A copy of a database that its program has open lacks what was written last."""
    path = source_of(tmp_path, "sqlite")
    assert database_description(path) == "SQLite database"
    with closing(sqlite3.connect(path)) as program:
        program.execute("PRAGMA journal_mode = WAL")
        program.execute("DELETE FROM car")
        program.commit()
        assert database_description(path) == "SQLite database", "its own file lies beside it"
        copy = tmp_path / "copy.db"
        copy.write_bytes(path.read_bytes())
        assert len(cars_by_direction(copy)) == 3, "what was deleted is still there"
        assert "may be missing; write the file by VACUUM INTO, or close its program first" in database_description(copy)
        assert "VACUUM INTO" in _describe(lambda *_: None, str(copy))
        program.execute("VACUUM INTO ?", [str(tmp_path / "whole.db")])
    assert database_description(tmp_path / "whole.db") == "SQLite database"
    assert database_description(make_database(tmp_path, "duckdb", {"car": CARS})) == "DuckDB database"


@for_each("name", ["x.sqlite", "x.sqlite3", "x.db", "x.duckdb"])
@for_each("content", [b"", b"a,b\n1,2\n", b"SQLite format 2\0" * 9, b"DUCK" * 30])
def test_what_is_no_database_gets_a_sentence(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    if content.startswith(b"DUCK"):
        assert "cannot be read" in refusal(path)
    else:
        assert "not an SQLite or DuckDB database" in refusal(path)
    assert "no file of this name" in refusal(tmp_path / f"absent-{name}")


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_database_gets_a_sentence(tmp_path: Path, kind: str) -> None:
    many = pd.DataFrame({"train_id": range(20_000), "direction": "secretvalue"})
    path = make_database(tmp_path, kind, {"train": many, "car": CARS})
    whole = path.read_bytes()
    for end in (100, len(whole) // 2):
        path.write_bytes(whole[:end])
        text = refusal(path)
        assert "cannot be read" in text
        assert "secretvalue" not in text
    for start in (24, 1000, 5000):
        path.write_bytes(whole[:start] + b"\xa5" * (len(whole) - start))
        assert "cannot be read" in refusal(path)


def test_text_that_is_not_utf_8_is_not_repeated(tmp_path: Path) -> None:
    path = source_of(tmp_path, "sqlite")
    run_sql(path, "UPDATE car SET length = CAST(x'736563726574ff' AS TEXT)")
    text = refusal(path)
    assert text.startswith("In the table 'car': A text in the database is not UTF-8")
    assert "secret" not in text


def test_a_locked_sqlite_database_gets_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dpcore.intake.sources.sql_files._WAIT_SECONDS", 0.05)
    path = source_of(tmp_path, "sqlite")
    owner = sqlite3.connect(path, isolation_level=None)
    owner.execute("BEGIN EXCLUSIVE")
    assert "in use by another program" in refusal(path)
    owner.execute("ROLLBACK")
    assert len(cars_by_direction(path)) == 3
    owner.close()


def test_a_duckdb_database_in_use_gets_a_sentence(tmp_path: Path) -> None:
    path = source_of(tmp_path, "duckdb")
    with duckdb.connect(str(path)):
        assert "in use by another program" in refusal(path)
    script = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('open', flush=True); input()"
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as owner:
        assert owner.stdout is not None
        assert owner.stdout.readline().strip() == b"open"
        assert "in use by another program" in refusal(path)
        owner.communicate(b"\n")
    assert len(cars_by_direction(path)) == 3


@for_each("kind", ["files", "frames", *KINDS])
def test_an_absent_column_is_named_with_its_table(tmp_path: Path, kind: str) -> None:
    source = source_of(tmp_path, kind)
    [car] = SCHEMA.children
    schema = SCHEMA.model_copy(update={"children": (car.model_copy(update={"key": "whose"}),)})
    assert "The table 'car' has no column 'whose'" in refusal(source, schema)
    with pytest.raises(IngestError, match="has no column 'whose'"):
        check_headers(schema, source)


@pytest.mark.parametrize("kind", KINDS)
def test_an_absent_table_is_named_with_those_there_are(tmp_path: Path, kind: str) -> None:
    path = make_database(tmp_path, kind, {"train": TRAINS, "Car": CARS, "x": CARS})
    text = refusal(path)
    assert "no table 'car'. Its tables are " in text
    assert all(f"'{name}'" in text for name in ("train", "Car", "x"))
    with pytest.raises(IngestError, match="no table 'car'"):
        check_headers(SCHEMA, path)


def test_a_fault_says_in_which_file_it_is(tmp_path: Path) -> None:
    source = files(tmp_path)
    source["car"].write_bytes(b"none")
    assert refusal(source).startswith("In the table 'car': The file is not a readable Parquet")
    source["train"].write_text("train_id,direction\n1,west,x\n")
    assert refusal(source).startswith("In the table 'train': Line 2 of the file has 3 fields")
    doubled = pd.concat([CARS, CARS["length"]], axis=1)
    text = refusal({"train": TRAINS, "car": doubled})
    assert text.startswith("In the table 'car': Column names must be distinct")


def test_what_does_not_fit_the_schema_gets_a_sentence(tmp_path: Path) -> None:
    source = files(tmp_path)
    assert "'car' of the schema is missing" in refusal({"train": source["train"]})
    assert "'train' of the schema is missing" in refusal({"car": source["car"]})
    assert "no table 'cars': leave it out" in refusal({**source, "cars": CARS})
    for single in (source["train"], str(source["train"]), TRAINS):
        assert "several tables: 'train', 'car'" in refusal(single)
    assert "one table only" in refusal(source, PLAIN)
    assert "leave it out" in refusal(source, right=source["train"])
    with pytest.raises(IngestError, match="several tables"):
        check_headers(SCHEMA, source["train"])
