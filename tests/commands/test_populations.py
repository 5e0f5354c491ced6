"""Commands about data sets that share a budget, follow each other, change names and end."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcore.domain.schemas.schema import Schema
from dpcore.service import Service
from tests.support.workspaces.command_line import refuse, run
from tests.support.workspaces.fake_learner import small_frame, small_schema


@pytest.fixture(autouse=True)
def home(home: Path) -> Path:
    """Files of a data set, and 'small' stored with a budget."""
    small_frame().to_csv("small.csv", index=False)
    for name in ("small", "second"):
        Path(f"{name}.json").write_text(small_schema(name).to_json(), encoding="utf-8")
    run("data", "add", "small.csv", "--schema", "small.json", "--budget", "3")
    return home


def test_a_second_data_set_about_the_same_people_shares_the_budget() -> None:
    told = run("data", "add", "small.csv", "--schema", "second.json", "--same-people-as", "small")
    assert "Shares its budget with 'small'" in told
    run("ledger", "charge", "second", "--epsilon", "1", "--note", "known")
    shown = run("ledger", "show", "small")
    assert "33.3334 % spent" in shown
    assert "Shares its budget with 'second'" in shown
    assert "second  " in run("data", "list")
    more = ("data", "add", "small.csv", "--schema", "second.json")
    assert "what may be spent" in refuse(*more)
    assert "a budget already" in refuse(*more, "--same-people-as", "small", "--budget", "1")
    assert "no such data set" in refuse(*more, "--same-people-as", "nothing")


def test_other_people_share_a_budget_on_a_yes_only() -> None:
    small_frame().assign(who=range(100)).to_csv("people.csv", index=False)
    named = small_schema("people").model_dump(mode="json") | {"privacy_unit": {"column": "who"}}
    Path("people.json").write_text(Schema.from_mapping(named).to_json(), encoding="utf-8")
    more = ("data", "add", "people.csv", "--schema", "people.json", "--same-people-as", "small")
    said = refuse(*more)
    assert "define a person differently: there, each row is one person; here, the column 'who'" in said
    assert "Nothing is stored" in said
    assert "Shares its budget" in run(*more, "--accept", "different-people")
    assert "Accepted: there, each row is one person" in run("ledger", "show", "small")


def test_a_next_version_takes_over_the_name() -> None:
    assert "'small (version 2)'" in run("data", "add", "small.csv", "--schema", "second.json", "--replaces", "small")
    listed = run("data", "list")
    assert "small (version 1)" in listed
    assert "1, retired" in listed


@pytest.fixture
def visits(home: Path) -> Path:
    """Files of repeated visits: 2024 and 2025, and their schema."""
    columns = [{"name": "ill", "type": "boolean", "target": True}, {"name": "age", "type": "integer", "lower": 0}]
    columns[1] |= {"upper": 99, "bins": 4}
    unit = {"column": "who", "max_rows_per_person": 2}
    declared = Schema.from_mapping({"name": "visits", "max_rows": 200, "privacy_unit": unit, "columns": columns})
    Path("visits.json").write_text(declared.to_json(), encoding="utf-8")
    for year, first in (("2024", 0), ("2025", 30)):
        small_frame().assign(who=[first + i % 50 for i in range(100)]).to_csv(f"{year}.csv", index=False)
    return home


def test_a_new_extract_is_appended_as_a_next_version(visits: Path) -> None:
    run("data", "add", "2024.csv", "--schema", "visits.json", "--budget", "2", "--keep-keys")
    assert "40 of 200 rows (20%) would be left out" in refuse("data", "append", "visits", "2025.csv")
    again = ("data", "append", "visits", "2025.csv", "--accept", "person:rows-dropped")
    told = run(*again)
    assert "'visits (version 2)'" in told
    assert "'person': 40 of 100 rows name somebody in 'who' who was stored before." in told
    assert "'visits (version 3)'" in run(*again, "--max-rows", "5000")
    assert "stays or grows" in refuse("data", "append", "visits", "2025.csv", "--max-rows", "300")
    assert "newest version" in refuse("data", "append", "visits (version 1)", "2025.csv")
    assert "visits (version 2)" in run("data", "list")
    run("data", "verify")
    with Service(visits / "home", workers=0) as service:
        info = service.dataset("visits")
        assert (info.version, info.schema.max_rows) == (3, 5000)
        files = {path.name: path.stat().st_mode & 0o777 for path in (visits / "home" / "datasets" / info.id).rglob("*")}
        assert (files["key.json"], files["people.arrow"]) == (0o600, 0o600)
