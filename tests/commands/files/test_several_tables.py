"""Several tables on the command line: drafted, checked and stored."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pytest
import yaml

from tests.support.workspaces.command_line import call, refuse, run

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
