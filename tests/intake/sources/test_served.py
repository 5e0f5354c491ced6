"""Tables of a data base server: read in blocks; addresses stay where they are."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa

from dpcore.commands import app
from dpcore.data.table import PrivateTable
from dpcore.domain.encoding import texts_of
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import FrostglassError, IngestError, RequestError
from dpcore.intake.joins.relations import read_headers, read_table, rows_for
from dpcore.intake.process.uploads import Incoming, ask, headers_of
from dpcore.intake.sources.sources import PREFIX, Served, addresses_for, knowing, variables
from tests.support.rows import for_each
from tests.support.servers.databases import KINDS, fresh_url
from tests.support.servers.postgres_server import PROGRAMS, server

NAME = f"{PREFIX}CLINIC"
SECRET = "CANARY-5519"
ROWS = [
    {"id": 1, "ward": 'a,"b"\nü', "dose": 1.5, "born": "1990-01-02"},
    {"id": 2, "ward": None, "dose": None, "born": None},
    {"id": 2**53 + 1, "ward": "%s :x 100%", "dose": 3.0, "born": "2000-12-31"},
]
SCHEMA = Schema.from_text(
    """
name: visits
max_rows: 1000
entity: person
privacy_unit: {column: id, max_rows_per_person: 1}
columns:
  - {name: dose, type: real, lower: 0, upper: 10, bins: 5}
"""
)


@pytest.fixture(params=KINDS)
def address(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A data base with a table, whose address the operator has set."""
    url = fresh_url(request.param, tmp_path)
    engine = sa.create_engine(url)
    table = sa.Table(
        "Visits of 2020",
        sa.MetaData(),
        sa.Column("id", sa.BigInteger, primary_key=True),
        sa.Column("ward", sa.Text),
        sa.Column("dose", sa.Float),
        sa.Column("born", sa.Text),
    )
    table.create(engine)
    with engine.begin() as connection:
        connection.execute(sa.insert(table), ROWS)
    engine.dispose()
    monkeypatch.setenv(NAME, url)
    return url


def source(folder: Path, tables: dict[str, str], name: str = NAME) -> Path:
    path = folder / "clinic.source"
    path.write_text(Served(name, tables).text())
    return path


def texts(path: Path, table: str, columns: list[str], chunk_rows: int = 2) -> list[list[str]]:
    pieces = list(read_table(path, table, columns, chunk_rows))
    assert all(len(piece) <= chunk_rows for piece in pieces)
    whole = pd.concat(pieces)
    return [texts_of(whole[name]) for name in columns]


def refused(path: Path, table: str = "person", columns: tuple[str, ...] = ("id",)) -> str:
    with pytest.raises(FrostglassError) as caught:
        list(read_table(path, table, list(columns)))
    assert SECRET not in str(caught.value)
    assert caught.value.__suppress_context__ or caught.value.__context__ is None
    return str(caught.value)


@pytest.mark.usefixtures("address")
@pytest.mark.parametrize("wanted", ["Visits of 2020", 'SELECT * FROM "Visits of 2020" ORDER BY 1; '])
def test_tables_and_queries_are_streamed(tmp_path: Path, wanted: str) -> None:
    path = source(tmp_path, {"person": wanted})
    assert list(read_headers(path)["person"].columns) == ["id", "ward", "dose", "born"]
    assert texts(path, "person", ["dose", "ward", "id"]) == [
        ["1.5", "", "3"],
        ['a,"b"\nü', "", "%s :x 100%"],
        ["1", "2", str(2**53 + 1)],
    ]


@pytest.mark.usefixtures("address")
def test_a_query_may_end_with_a_remark_and_hold_any_sign(tmp_path: Path) -> None:
    query = "SELECT id, ':x' AS a, '100%' AS b, '%(x)s' AS c FROM \"Visits of 2020\" WHERE id < 5 -- all"
    path = source(tmp_path, {"person": query})
    assert texts(path, "person", ["a", "b", "c"]) == [[":x"] * 2, ["100%"] * 2, ["%(x)s"] * 2]


@pytest.mark.usefixtures("address")
def test_rows_are_stored_by_the_process_that_reads_them(tmp_path: Path) -> None:
    path, folder = source(tmp_path, {"person": "Visits of 2020"}), tmp_path / "out"
    folder.mkdir()
    assert headers_of(path)["person"].columns["dose"] == "real"
    Incoming(path, SCHEMA).save(folder)
    assert len(PrivateTable.open(folder).public_frame()) == 3
    draft = ask("relations draft", [path], source=path, entity="person", key="id")
    assert [column["name"] for column in draft["columns"]] == ["ward", "dose", "born"]


@pytest.mark.usefixtures("address")
def test_nothing_is_written_to_the_data_base(tmp_path: Path, address: str) -> None:
    evil = [
        'WITH gone AS (DELETE FROM "Visits of 2020" RETURNING id) SELECT id FROM gone',
        'SELECT 1 AS id) asked; DELETE FROM "Visits of 2020"; SELECT 1 FROM (SELECT 1 AS id',
        'SELECT 1 AS id; DROP TABLE "Visits of 2020"',
    ]
    for query in evil:
        path = tmp_path / "evil.source"
        path.write_text(json.dumps({"database": NAME, "tables": {"person": query}}))
        assert "query for 'person'" in refused(path)
    engine = sa.create_engine(address)
    with engine.connect() as connection:
        assert connection.exec_driver_sql('SELECT count(*) FROM "Visits of 2020"').scalar() == 3
    engine.dispose()


@pytest.mark.crossed
@pytest.mark.usefixtures("address")
@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ("nowhere", f"'{NAME}' has no table 'person'"),
        ("no.where", f"'{NAME}' has no table 'person'"),
        (f"SELECT '{SECRET}' FROM nowhere", "refuses the query for 'person'"),
        ("SELECT", "has no table 'person'"),
    ],
)
def test_what_cannot_be_read_gets_a_sentence(tmp_path: Path, wanted: str, sentence: str) -> None:
    assert sentence in refused(source(tmp_path, {"person": wanted}))


def test_columns_of_a_query_need_names_that_differ(tmp_path: Path, address: str) -> None:
    path = source(tmp_path, {"person": "SELECT 1 AS id, 2 AS id"})
    assert ("names that differ" if address.startswith("postgresql") else "no column") in refused(path, columns=("x",))


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        (f"postgresql+psycopg://me:{SECRET}@127.0.0.1:1/x", "does not answer"),
        (f"sqlite:////nowhere/{SECRET}.db", "does not answer"),
        (f"postgresql+none://me:{SECRET}@host/x", "driver"),
        (f"oracle://me:{SECRET}@127.0.0.1/x", "driver"),
        (f"{SECRET}", "is no address"),
        ("", "is no address"),
    ],
)
def test_a_faulty_address_is_never_repeated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, address: str, sentence: str
) -> None:
    caplog.set_level(logging.DEBUG)
    monkeypatch.setenv(NAME, address)
    path = source(tmp_path, {"person": "visits"})
    assert sentence in refused(path)
    with pytest.raises(IngestError) as caught:
        ask("headers", [path], source=path)
    assert sentence in str(caught.value)
    assert SECRET not in str(caught.value) + caplog.text + path.read_text()


@for_each("name", ["HOME", "FROSTGLASS_DATABASE_URL", PREFIX, f"{NAME}\n", f"{PREFIX}other", f"{PREFIX}NONE"])
def test_no_other_variable_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("FROSTGLASS_DATABASE_URL", f"sqlite:///{SECRET}")
    with pytest.raises(RequestError, match="No data base is known"):
        Served(name, {"person": "visits"}).text()
    path = tmp_path / "evil.source"
    path.write_text(json.dumps({"database": name, "tables": {"person": "visits"}}))
    assert "No data base is known" in refused(path)
    with pytest.raises(RequestError, match="No data base is known"):
        ask("headers", [path], source=path)


def test_an_address_may_lie_in_a_file_of_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    secret = tmp_path / "address"
    secret.write_text("sqlite://\n")
    monkeypatch.setenv(NAME, f"file:{secret}")
    path = source(tmp_path, {"person": "visits"})
    secret.chmod(0o644)
    assert "rights to 600" in refused(path)
    secret.chmod(0o600)
    assert addresses_for([path]) == {NAME: "sqlite://"}
    assert variables() == [NAME]
    monkeypatch.setenv(NAME, f"file:{tmp_path}")
    assert "rights to 600" in refused(path)


@pytest.mark.usefixtures("address")
def test_only_known_addresses_are_opened(tmp_path: Path) -> None:
    with knowing({}):
        assert "is no address" in refused(source(tmp_path, {"person": "Visits of 2020"}))


@for_each(
    "content",
    [b"", b"{", b"[]", b'"x"', b'{"database": 1, "tables": {"a": "b"}}', b'{"database": "x", "tables": ["a"]}',
     b'{"database": "x", "tables": {"a": 1}}', b'{"database": "x", "tables": {"a": " "}}', b"\xff", b"[" * 60_000,
     b"x" * 1_000_000],
)  # fmt: skip
def test_what_is_no_source_file_gets_a_sentence(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "x.source"
    path.write_bytes(content)
    assert "not a source file" in refused(path)


@pytest.mark.skipif(not PROGRAMS, reason="no PostgreSQL server to stop")
@pytest.mark.heavy
def test_a_server_that_goes_away_gets_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with server() as running:
        monkeypatch.setenv(NAME, running.url)
        path = source(tmp_path, {"person": "SELECT i AS id, repeat('x', 1000) AS t FROM generate_series(1, 300000) i"})
        rows: Iterator[Any] = read_table(path, "person", ["id", "t"], 1000)
        next(rows)
        running.stop()
        with pytest.raises(IngestError, match="stopped answering"):
            list(rows)
        running.start()


def run(*arguments: object) -> tuple[int, str]:
    from typer.testing import CliRunner

    result = CliRunner().invoke(app, [str(one) for one in arguments])
    return result.exit_code, result.output


@pytest.mark.usefixtures("address")
def test_the_command_writes_a_source_file(tmp_path: Path) -> None:
    query, path = tmp_path / "q.sql", tmp_path / "clinic.source"
    query.write_text('SELECT id, ward FROM "Visits of 2020";')
    code, told = run(
        "data",
        "source",
        path,
        "--database-env",
        NAME,
        "--table",
        "person=Visits of 2020",
        "--query-file",
        f"ward={query}",
    )
    assert code == 0, told
    assert "table 'person': 4 columns" in told
    assert os.environ[NAME] not in path.read_text()
    rows, children = rows_for(SCHEMA, path)
    assert len(pd.concat(list(rows))) == 3
    assert children == {}


@pytest.mark.usefixtures("address")
def test_the_command_leaves_no_file_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "clinic.source"
    for more in (["--table", "nowhere"], [], ["--query-file", f"a={tmp_path / 'absent.sql'}"]):
        code, _ = run("data", "source", path, "--database-env", NAME, *more)
        assert code
        assert not path.exists()
    query = tmp_path / "query.sql"
    query.write_text("SELECT 1 AS one")
    person = ["--table", "person=Visits of 2020"]
    for more in (["--table", "person"], ["--query-file", f"person={query}"]):
        code, told = run("data", "source", path, "--database-env", NAME, *person, *more)
        assert code == 2
        assert "'person' is given twice" in told
        assert not path.exists()
    code, told = run("data", "source", tmp_path / "x.csv", "--database-env", NAME, "--table", "person")
    assert code == 2
    assert "ends in .source" in told
