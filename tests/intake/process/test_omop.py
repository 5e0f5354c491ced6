"""An OMOP data base comes in as persons with child tables, with no further input than its address."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest
import sqlalchemy as sa
from typer.testing import CliRunner

from dpcore.commands import app
from dpcore.data.table import PrivateTable
from dpcore.domain.schemas.schema import Schema
from dpcore.intake.columns.concepts import concepts
from dpcore.intake.joins.relations import read_table
from dpcore.intake.process import omop
from dpcore.intake.process.uploads import Incoming
from dpcore.intake.sources.sources import PREFIX, Served
from tests.support.servers.databases import KINDS, fresh_url

NAME = f"{PREFIX}OMOP"
COMMON = ("common condition", "common measurement", "kind of record", "operator")
_PERSONS = 60
_TABLES = {
    "person": "person_id, gender_concept_id, year_of_birth, race_concept_id, ethnicity_concept_id",
    "visit_occurrence": "person_id, visit_concept_id, visit_start_date, visit_end_date",
    "condition_occurrence": "person_id, condition_concept_id",
    "drug_exposure": "person_id, drug_concept_id",
    "measurement": "person_id, measurement_concept_id, value_as_number, range_low, range_high",
    "observation": "person_id, observation_type_concept_id",
    "concept_ancestor": "ancestor_concept_id, descendant_concept_id",
}
_TYPES = {"visit_start_date": "date", "visit_end_date": "date"}
_VISITS, _TYPE_TWO, _METFORMIN, _RARE = (9201, 9202, 9203), 201826, 1503297, 999_999


def _rows(table: str) -> list[tuple[object, ...]]:
    persons = range(_PERSONS)
    return {
        "person": [(i, (8507, 8532)[i % 2], 1930 + i, (8527, 8515, 0)[i % 3], 38003564 - i % 2) for i in persons],
        "visit_occurrence": [(i, _VISITS[i % 3], "2020-01-01", f"2020-01-{1 + i % 9:02}") for i in persons],
        "condition_occurrence": [(i, (_TYPE_TWO, 316866, _RARE)[i % 3]) for i in persons for _ in range(2)],
        "drug_exposure": [(i, (_METFORMIN, 21604686)[i % 2]) for i in persons],
        "measurement": [(i, (3004410, 3016723, _RARE)[i % 3], 1.0 + i % 4, 2.0, 3.0) for i in persons],
        "observation": [(i, (32817, 32883)[i % 2]) for i in persons],
        "concept_ancestor": [(x, x) for x in (316866, 21604686)] + [(201820, _TYPE_TWO), (21600712, _METFORMIN)],
    }[table]


@pytest.fixture(params=KINDS)
def hospital(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A small OMOP data base whose address the operator has set."""
    address = fresh_url(request.param, tmp_path)
    engine = sa.create_engine(address)
    with engine.begin() as connection:
        for table, listed in _TABLES.items():
            columns = listed.split(", ")
            kinds = [
                f"{name} {_TYPES.get(name, 'real' if 'range' in name or 'value' in name else 'integer')}"
                for name in columns
            ]
            connection.exec_driver_sql(f"CREATE TABLE {table} ({', '.join(kinds)})")
            places = ", ".join(f":{name}" for name in columns)
            rows = [dict(zip(columns, row, strict=True)) for row in _rows(table)]
            connection.execute(sa.text(f"INSERT INTO {table} VALUES ({places})"), rows)
    engine.dispose()
    monkeypatch.setenv(NAME, address)
    return address


def source(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, ["data", "source", *map(str, arguments)])
    return result.exit_code, result.output


@pytest.mark.usefixtures("hospital")
def test_one_command_gives_all_but_the_budget(tmp_path: Path) -> None:
    code, told = source(tmp_path / "hospital.source", "--database-env", NAME, "--omop")
    assert code == 0, told
    schema = Schema.from_file(tmp_path / "hospital.yaml")
    assert schema == omop.schema("hospital")
    assert not schema.problem
    incoming = Incoming(tmp_path / "hospital.source", schema)
    assert [finding.column for finding in incoming.examine() if finding.of_values and finding.lost] == []
    (tmp_path / "out").mkdir()
    incoming.save(tmp_path / "out")
    table = PrivateTable.open(tmp_path / "out")
    assert table.schema.children == schema.children
    people = table.public_frame()
    assert len(people) == _PERSONS
    assert set(people["gender"]) == {"8507", "8532"}


@pytest.mark.usefixtures("hospital")
def test_what_is_read_are_groups_of_the_public_list(tmp_path: Path) -> None:
    path = tmp_path / "hospital.source"
    path.write_text(omop.served(NAME).text())
    conditions = pd.concat(read_table(path, "condition", ["person_id", "condition"]))
    assert len(conditions) == _PERSONS * 2 // 3  # Each once, and none that is on no list.
    assert set(conditions["condition"].astype(str)) == {"201820", "316866"}
    drugs = pd.concat(read_table(path, "drug", ["drug"]))
    assert set(drugs["drug"].astype(str)) == {"21600712", "21604686"}
    measured = pd.concat(read_table(path, "measurement", ["level"]))
    assert set(measured["level"]) == {"low", "normal", "high"}


def test_without_a_vocabulary_only_what_is_itself_listed_is_read(hospital: str, tmp_path: Path) -> None:
    engine = sa.create_engine(hospital)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE concept_ancestor")
    engine.dispose()
    assert omop.served(NAME).tables == omop.tables(ancestors=False)
    code, told = source(tmp_path / "hospital.source", "--database-env", NAME, "--omop", "--max-rows", 2000)
    assert code == 0, told
    assert Schema.from_file(tmp_path / "hospital.yaml").max_rows == 2000


def test_what_is_no_omop_data_base_gets_a_sentence(hospital: str, tmp_path: Path) -> None:
    engine = sa.create_engine(hospital)
    with engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE drug_exposure")
    engine.dispose()
    code, told = source(tmp_path / "hospital.source", "--database-env", NAME, "--omop")
    assert code
    assert "query for 'drug'" in told
    assert not list(tmp_path.glob("hospital.*"))


def test_every_concept_is_listed_once() -> None:
    for kind in ("gender", "race", "ethnicity", "visit", "condition", "drug", "measurement", "observation", *COMMON):
        names = concepts(kind)
        assert len(set(names.values())) == len(names) > 1
        assert all(number.isdigit() for number in names)
    assert isinstance(Served(NAME, omop.tables(ancestors=True)), Served)
