"""Several tables on the command line: drafted, checked and stored."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from tests.commands.test_commands import call, home, refuse, run

__all__ = ["home"]
TRAINS = "train_id,direction\n1,west\n2,east\n"
CARS = "train_id,length,wheels\n1,secretshort,2\n1,secretlong,3\n2,secretlong,2\n"


@pytest.fixture
def data(home: Path) -> dict[str, Path]:
    """The same two tables as files and as databases."""
    paths = {name: home / f"{name}.csv" for name in ("train", "cars")}
    paths["train"].write_text(TRAINS)
    paths["cars"].write_text(CARS)
    paths |= {kind: home / f"records.{kind}" for kind in ("sqlite", "duckdb")}
    columns = {"train": "train_id INTEGER PRIMARY KEY, direction TEXT"}
    columns["car"] = "train_id INTEGER, length TEXT, wheels INTEGER"
    rows = {
        "train": [line.split(",") for line in TRAINS.splitlines()[1:]],
        "car": [line.split(",") for line in CARS.splitlines()[1:]],
    }
    for connection in (sqlite3.connect(paths["sqlite"]), duckdb.connect(str(paths["duckdb"]))):
        connection.execute("CREATE TABLE ward (name TEXT)")
        for table, listed in columns.items():
            marks = ", ".join("?" for _ in listed.split(","))
            connection.execute(f"CREATE TABLE {table} ({listed})")
            connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows[table])
        connection.commit()
        connection.close()
    return paths


def completed(draft: dict[str, Any], path: Path, name: str) -> Path:
    """The drafted schema, filled in where people must."""
    draft |= {"name": name, "max_rows": 100}
    draft["columns"][0]["categories"] = ["west", "east"]
    [car] = draft["children"]
    car["max_rows_per_person"] = 3
    length, wheels = car["columns"]
    length["categories"] = ["secretshort", "secretlong"]
    car["columns"] = [length, {"name": wheels["name"], "type": "integer", "lower": 0, "upper": 4, "bins": 4}]
    path.write_text(yaml.safe_dump(draft))
    return path


def test_further_files_are_drafted_checked_and_stored(home: Path, data: dict[str, Path]) -> None:
    further = ("--table", f"car={data['cars']}")
    text = run("schema", "init", data["train"], *further, "--key", "train_id")
    assert "secret" not in text
    for hint in ("groups: {", "modes: [", "required: rows kept"):
        assert hint in text
    draft = yaml.safe_load(text)
    assert draft["entity"] == "train"
    assert draft["privacy_unit"] == {"column": "train_id", "max_rows_per_person": 1}
    assert [column["name"] for column in draft["columns"]] == ["direction"]
    [car] = draft["children"]
    assert (car["name"], car["key"]) == ("car", "train_id")
    assert [column["name"] for column in car["columns"]] == ["length", "wheels"]
    schema = completed(draft, home / "trains.yaml", "trains")
    assert "table 'car' with 2" in run("schema", "check", schema, "--data", data["train"], *further)
    assert "stored: 'trains'" in run("data", "add", data["train"], *further, "--schema", schema, "--budget", "2")


@pytest.mark.parametrize("kind", ["sqlite", "duckdb"])
def test_a_database_is_drafted_checked_and_stored(home: Path, data: dict[str, Path], kind: str) -> None:
    text = run("schema", "init", data[kind])
    assert "secret" not in text
    assert "left out, as it has no column 'train_id': 'ward'" in text
    draft = yaml.safe_load(text)
    assert draft["entity"] == "train"
    assert [column["type"] for column in draft["children"][0]["columns"]] == ["categorical", "integer"]
    schema = completed(draft, home / "records.yaml", kind)
    assert "ok: " in run("schema", "check", schema, "--data", data[kind])
    assert f"stored: '{kind}'" in run("data", "add", data[kind], "--schema", schema, "--budget", 2)


@pytest.mark.crossed
@pytest.mark.parametrize("column", ["car.length", "length"])
@pytest.mark.parametrize("kind", ["train", "sqlite", "duckdb"])
def test_values_are_read_of_the_wanted_column_only(data: dict[str, Path], kind: str, column: str) -> None:
    further = ("--table", f"car={data['cars']}") if kind == "train" else ()
    result = call("schema", "init", data[kind], *further, "--suggest", column)
    assert result.exit_code == 0, result.output
    assert "become public" in result.stderr
    length, wheels = yaml.safe_load(result.stdout)["children"][0]["columns"]
    assert length["categories"] == ["secretlong", "secretshort"]
    assert not wheels.get("categories")
    assert wheels.get("lower") is None


def test_what_a_date_of_a_further_table_is_made_into_stands_there(home: Path, data: dict[str, Path]) -> None:
    cars = home / "built.csv"
    cars.write_text("train_id,built,wheels\n" + "1,2019-03-31,2\n2,2023-05-09,3\n" * 20)
    text = run("schema", "init", data["train"], "--table", f"car={cars}", "--suggest", "car.built")
    [car] = yaml.safe_load(text)["children"]
    assert [column["name"] for column in car["columns"]] == ["built year", "wheels"]


def test_a_child_without_the_key_asks_for_it(home: Path, data: dict[str, Path]) -> None:
    other = home / "other.csv"
    other.write_text("of_train,axles\n1,2\n")
    text = run("schema", "init", data["train"], "--table", f"car={other}", "--key", "train_id", "--entity", "engine")
    assert "key:  # required: whose row it is" in text
    assert yaml.safe_load(text)["entity"] == "engine"


def test_tables_that_do_not_fit_are_one_line(home: Path, data: dict[str, Path]) -> None:
    init = ("schema", "init", data["train"])
    car = ("--table", f"car={data['cars']}")
    assert "NAME=FILE" in refuse(*init, "--table", "cars.csv")
    assert "given twice" in refuse(*init, *car, *car)
    assert "called 'car' already" in refuse(*init, *car, "--entity", "car")
    assert "--right joins" in refuse(*init, *car, "--right", data["cars"])
    assert "add --table" in refuse(*init, "--entity", "train")
    assert "no column 'who'" in refuse(*init, *car, "--key", "who")
    assert "no column 'car.colour'" in refuse(*init, *car, "--suggest", "car.colour")
    lab = home / "lab.csv"
    lab.write_text("train_id,length\n1,2\n")
    two = (*car, "--table", f"lab={lab}")
    assert "Several tables have a column 'length'" in refuse(*init, *two, "--suggest", "length")
    lab.write_text("x\n1\n")
    assert "Say with --key" in refuse(*init, "--table", f"lab={lab}")
    assert "In the table 'lab'" in refuse(*init, "--table", f"lab={home / 'absent.csv'}")
    database = ("schema", "init", data["sqlite"])
    assert "leave --table out" in refuse(*database, *car)
    assert "no such table" in refuse(*database, "--entity", "waggon")
    assert "--right joins" in refuse(*database, "--right", data["cars"])
    assert "not an SQLite or DuckDB database" in refuse("schema", "init", data["train"].rename("x.db"))


def test_what_is_stored_must_fit_the_schema(home: Path, data: dict[str, Path]) -> None:
    draft = yaml.safe_load(run("schema", "init", data["sqlite"]))
    schema = completed(draft, home / "trains.yaml", "trains")
    add = ("data", "add", data["train"], "--schema", schema, "--budget", "2")
    assert "several tables: 'train', 'car'" in refuse(*add)
    assert "'car' of the schema is missing" in refuse(*add, "--table", f"cars={data['cars']}")
    check = ("schema", "check", schema)
    assert "several tables" in refuse(*check, "--data", data["train"])
    assert "name the first with --data" in refuse(*check, "--table", f"car={data['cars']}")
    turned = ("--data", data["cars"], "--table", f"car={data['train']}")
    assert "'train' has no column 'direction'" in refuse(*check, *turned)
    assert len(run("data", "list").splitlines()) == 1


def test_the_main_table_of_a_database_may_have_to_be_named(home: Path) -> None:
    path = home / "x.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE a (who_nr, x)")
    connection.execute("CREATE TABLE b (who_nr, y)")
    connection.commit()
    connection.close()
    assert "Say with --entity which table is the main one: 'a', 'b'" in refuse("schema", "init", path)
    draft = yaml.safe_load(run("schema", "init", path, "--entity", "b"))
    assert (draft["entity"], draft["children"][0]["name"]) == ("b", "a")
    assert draft["privacy_unit"]["column"] == "who_nr"


def test_several_files_a_folder_and_a_pattern_are_one_table(home: Path) -> None:
    folder = home / "visits"
    folder.mkdir()
    for number, rows in enumerate(("1,west\n", "2,east\n3,west\n")):
        (folder / f"{number}.csv").write_text(f"train_id,direction\n{rows}")
    direction = {"name": "direction", "type": "categorical", "categories": ["west", "east"]}
    for name, files in (
        ("list", sorted(folder.iterdir())),
        ("folder", [folder]),
        ("pattern", [folder / "*.csv"]),
    ):
        schema = home / f"{name}.yaml"
        schema.write_text(yaml.safe_dump({"name": name, "max_rows": 10, "columns": [direction]}))
        assert "ok: " in run("schema", "check", schema, "--data", files[0])
        assert f"stored: '{name}'" in run("data", "add", *files, "--schema", schema, "--budget", "1")
    again = home / "again.yaml"
    again.write_text(yaml.safe_dump({"name": "again", "max_rows": 2, "columns": [direction]}))
    assert "limit of 2" in refuse("data", "add", folder, "--schema", again, "--budget", "1")
    (folder / "0.csv").write_text("train_id,way\n1,west\n")
    told = refuse("data", "add", folder, "--schema", again, "--budget", "1")
    assert "'1.csv' has no column 'way', which '0.csv' has" in told
    told = refuse("data", "add", folder, folder / "0.csv", "--schema", again, "--budget", "1", "--right", folder)
    assert "put them into a folder" in told
    assert "again" not in run("data", "list")


def test_a_schema_is_drafted_from_a_folder(home: Path) -> None:
    folder = home / "visits"
    folder.mkdir()
    for number in range(2):
        (folder / f"{number}.csv").write_text("train_id,direction\n1,west\n")
    drafted = yaml.safe_load(run("schema", "init", folder))
    assert [column["name"] for column in drafted["columns"]] == ["direction"]
    assert drafted["name"] == "visits"
