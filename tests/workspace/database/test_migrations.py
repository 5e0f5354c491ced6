"""Databases of earlier versions are brought to the present form, and lose nothing."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from sqlalchemy.engine import Engine

import dpcore
from dpcore.privacy.budgets import calibrate_gaussian, default_delta
from dpcore.privacy.losses import gaussian_rho, pure_loss, pure_rho
from dpcore.workspace.database.database import HEAD, open_database
from dpcore.workspace.database.database_tables import metadata, utc_now
from dpcore.workspace.database.transactions import read, write
from dpcore.workspace.files.store import Store
from dpcore.workspace.ledger.grants import Grants
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.results.notes import read_notes
from tests.support.databases import KINDS, fresh_url
from tests.support.fake_learner import small_schema

ONE = Decimal(1)
ASK = (
    "INSERT INTO ledger_entries (kind, time, dataset_id, analyst, epsilon, delta, note) "
    "VALUES ('ask', '2026-01-02T03:04:05+00:00', :id, 'ann', 500000000, 0, 'more')"
)
ID = "da7a" * 8


@pytest.fixture(autouse=True)
def upgraded_at_once() -> None:
    """Here each upgrade is taken as users take it."""


def database_of(revision: str, url: str) -> Engine:
    """A database as the program made it when ``revision`` was the newest."""
    engine = sa.create_engine(url)
    config = Config()
    folder = Path(dpcore.__file__).parent / "workspace" / "database" / "migrations"
    config.set_main_option("script_location", str(folder))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    return engine


def fill(connection: sa.Connection) -> None:
    """A data set with a budget of 1, of which half is spent, in the words of the first version."""
    schema = small_schema()
    connection.execute(
        sa.text(
            "INSERT INTO datasets (id, name, schema, schema_hash, public, truth, created) "
            "VALUES (:id, 'data', :schema, :hash, :no, '', :time)"
        ),
        {
            "id": ID,
            "schema": schema.to_json(indent=None),
            "hash": schema.hash,
            "no": False,
            "time": utc_now().isoformat(timespec="seconds"),
        },
    )
    lines = [
        {"kind": "open", "epsilon": 0, "cap": 10**9, "analyst": None, "run": None},
        {"kind": "reserve", "epsilon": 5 * 10**8, "cap": None, "analyst": "ann", "run": "r"},
        {"kind": "touch", "epsilon": 5 * 10**8, "cap": None, "analyst": "ann", "run": "r"},
    ]
    connection.execute(
        sa.text(
            "INSERT INTO ledger_entries (kind, time, dataset_id, analyst, run_id, epsilon, delta, "
            "cap, note) VALUES (:kind, '2026-01-02T03:04:05+00:00', :id, :analyst, :run, "
            ":epsilon, 0, :cap, '')"
        ),
        [{**line, "id": ID} for line in lines],
    )


@pytest.mark.crossed
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("revision", ["0001", "0002"])
def test_what_was_spent_before_an_upgrade_is_spent_after_it(revision: str, kind: str, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    old = database_of(revision, url)
    with old.begin() as connection:
        fill(connection)
    old.dispose()
    engine = open_database(url)
    ledger, grants = Ledger(engine), Grants(engine)
    balance = ledger.balance(ID, "ann")
    assert (balance.spent, balance.left) == (Decimal("0.5"), Decimal("0.5"))
    assert [(e.kind, e.actor, e.answers) for e in ledger.entries(ID)] == [
        ("open", None, None),
        ("reserve", None, None),
        ("touch", None, None),
        ("caps", None, None),
    ]
    assert (balance.delta, balance.total) == (default_delta(small_schema().max_rows), pure_loss(Decimal("0.5")))
    assert "delta" in ledger.entries(ID)[-1].note
    grants.answer(grants.ask(ID, "ann", ONE, "more").number, ONE, "yes", actor="office")
    assert ledger.balance(ID, "ann").left == Decimal("0.5")
    assert read_notes(engine) == {}
    with pytest.raises(sa.exc.DBAPIError, match="append-only"):
        write(engine, lambda c: c.exec_driver_sql("DELETE FROM ledger_entries"))


@pytest.mark.parametrize("kind", KINDS)
def test_runs_with_a_delta_are_composed_after_an_upgrade(kind: str, tmp_path: Path) -> None:
    """As Gaussian noise; where people may have been set aside, as what they may have lost too."""
    url = fresh_url(kind, tmp_path)
    old = database_of("0004", url)
    with old.begin() as connection:
        fill(connection)
        for run, split in (("alone", {}), ("aside", {"evaluation": "1"}), ("unfinished", None), (None, None)):
            _boost(connection, run, split)
        connection.execute(sa.text(ASK), {"id": ID})
        with pytest.raises(sa.exc.DBAPIError, match="append-only"), connection.begin_nested():
            connection.execute(sa.text("UPDATE ledger_entries SET note = 'x'"))
    old.dispose()
    engine = open_database(url)
    ledger = Ledger(engine)
    rho = {entry.run_id: entry.rho for entry in ledger.entries(ID) if entry.delta}
    gaussian = gaussian_rho(calibrate_gaussian(1.0, 1e-6))
    assert gaussian < rho["alone"] < gaussian + Decimal("0.002")
    assert rho["aside"] == rho["unfinished"] == rho[None] == pure_rho(ONE) > 10 * rho["alone"]
    assert {entry.kind: entry.rho for entry in ledger.entries(ID)}["ask"] == 0, "what is asked for is not spent"
    whole = ledger.balance(ID).total
    assert (whole.pure, whole.rest) == (Decimal("0.5"), rho["alone"] + 3 * pure_rho(ONE))
    assert (whole.epsilon, whole.rho) == (Decimal("4.5"), whole.rest + pure_rho(Decimal("0.5")))
    assert ledger.balance(ID).spent < Decimal("13")
    line = (
        "INSERT INTO ledger_entries (kind, time, dataset_id, epsilon, delta, note) "
        "VALUES ('reserve', '', :id, 1, 0, '')"
    )
    with pytest.raises(sa.exc.IntegrityError):  # As a version that was not stopped would write it.
        write(engine, lambda connection: connection.execute(sa.text(line), {"id": ID}))


@pytest.mark.parametrize("kind", KINDS)
def test_old_data_sets_are_populations_of_one(kind: str, tmp_path: Path) -> None:
    """Their ledgers say what they said; a version that counts each data set alone writes no more."""
    url = fresh_url(kind, tmp_path)
    old = database_of("0006", url)
    line = (
        "INSERT INTO ledger_entries (kind, time, dataset_id, run_id, epsilon, delta, rho, note) "
        "VALUES (:kind, '2026-01-02T03:04:05+00:00', :id, 'r', 1, 0, 1, '')"
    )
    told = sa.text("SELECT kind, dataset_id, run_id, epsilon, delta, rho, note FROM ledger_entries ORDER BY sequence")
    with old.begin() as connection:
        _fill_newer(connection)
        before = connection.execute(told).all()
    engine = open_database(url)
    info = Store(tmp_path / "home", engine).dataset(ID)
    assert (info.population, info.version, info.replaces, info.shares_with) == (ID, 1, None, ())
    assert (info.title, info.retired, info.sharing) == ("data", False, "")
    assert read(engine, lambda connection: connection.execute(told).all()) == before
    assert Ledger(engine).balance(ID).spent == Decimal("0.5")
    for what in ("reserve", "touch", "charge", "caps"):
        with pytest.raises(sa.exc.IntegrityError), old.begin() as connection:
            connection.execute(sa.text(line), {"id": ID, "kind": what})
    with old.begin() as connection:  # What was paid for is kept, as before.
        connection.execute(sa.text(line), {"id": ID, "kind": "commit"})
    old.dispose()
    assert [entry.kind for entry in Ledger(engine).entries(ID)][-1] == "commit"


def _fill_newer(connection: sa.Connection) -> None:
    """The same data set in the words of the last version before populations."""
    schema = small_schema()
    row = {"id": ID, "schema": schema.to_json(indent=None), "hash": schema.hash, "no": False}
    connection.execute(
        sa.text(
            "INSERT INTO datasets (id, name, schema, schema_hash, public, truth, created) "
            "VALUES (:id, 'data', :schema, :hash, :no, '', '2026-01-02T03:04:05+00:00')"
        ),
        row,
    )
    for what, cost, cap in (("open", 0, 10**9), ("reserve", 5 * 10**8, None), ("touch", 5 * 10**8, None)):
        connection.execute(
            sa.text(
                "INSERT INTO ledger_entries (kind, time, dataset_id, analyst, run_id, epsilon, delta, rho, cap, note) "
                "VALUES (:kind, '2026-01-02T03:04:05+00:00', :id, 'ann', 'r', :cost, 0, 0, :cap, '')"
            ),
            {"kind": what, "id": ID, "cost": cost, "cap": cap},
        )


@pytest.mark.parametrize("kind", KINDS)
def test_a_run_that_was_under_way_during_an_upgrade_keeps_its_result(kind: str, tmp_path: Path) -> None:
    """A worker of the earlier version stores what was paid for, but claims nothing more."""
    url = fresh_url(kind, tmp_path)
    old = database_of("0004", url)
    with old.begin() as connection:
        fill(connection)
    ledger = Ledger(open_database(url))
    before = ledger.balance(ID)
    line = (
        "INSERT INTO ledger_entries (kind, time, dataset_id, run_id, epsilon, delta, note) "
        "VALUES (:kind, '2026-01-02T03:04:05+00:00', :id, 'r', 500000000, 0, '')"
    )
    for what in ("reserve", "touch", "refund", "charge", "caps"):
        with pytest.raises(sa.exc.IntegrityError), old.begin() as connection:
            connection.execute(sa.text(line), {"id": ID, "kind": what})
    with old.begin() as connection:
        connection.execute(sa.text(line), {"id": ID, "kind": "commit"})
    old.dispose()
    assert ledger.state("r") == "committed"
    assert [entry.rho for entry in ledger.entries(ID)][-1] == 0
    assert ledger.balance(ID) == before


def test_lines_of_an_old_ledger_are_filled_together(tmp_path: Path) -> None:
    """As many statements for forty runs as for two: one for each would read the whole ledger each time."""
    counts = []
    for runs in (2, 40):
        folder = tmp_path / str(runs)
        folder.mkdir()
        url = fresh_url("sqlite", folder)
        old = database_of("0004", url)
        with old.begin() as connection:
            fill(connection)
            for number in range(runs):
                _boost(connection, f"run {number}", {})
        old.dispose()
        counts.append(_updates_of_an_upgrade(url))
    assert counts[0] == counts[1]


def _updates_of_an_upgrade(url: str) -> int:
    """How many statements change lines of the ledger."""
    seen: list[str] = []

    def note(connection: object, cursor: object, statement: str, *more: object) -> None:
        seen.append(statement)

    sa.event.listen(Engine, "before_cursor_execute", note)
    try:
        open_database(url).dispose()
    finally:
        sa.event.remove(Engine, "before_cursor_execute", note)
    return sum(statement.startswith("UPDATE ledger_entries") for statement in seen)


def _boost(connection: sa.Connection, run: str | None, split: dict[str, str] | None) -> None:
    """A run of epsilon 1 and delta 1e-6; entered by hand without an identifier, unfinished without a split."""
    line = {"id": ID, "run": run, "epsilon": 10**9, "delta": 10**9}
    for kind in ("charge",) if run is None else ("reserve", "touch"):
        connection.execute(
            sa.text(
                "INSERT INTO ledger_entries (kind, time, dataset_id, run_id, epsilon, delta, note) "
                "VALUES (:kind, '2026-01-02T03:04:05+00:00', :id, :run, :epsilon, :delta, '')"
            ),
            {**line, "kind": kind},
        )
    if split is not None:
        content = json.dumps({"certificate": {"parallel_split": split}})
        connection.execute(
            sa.text(
                "INSERT INTO releases (id, run_id, dataset_id, analyst, content, created) "
                "VALUES (:run, :run, :id, 'ann', :content, '')"
            ),
            {"id": ID, "run": run, "content": content},
        )


@pytest.mark.parametrize("kind", KINDS)
def test_the_tables_made_are_those_that_the_program_knows(kind: str, tmp_path: Path) -> None:
    engine = open_database(fresh_url(kind, tmp_path))
    version = sa.text("SELECT version_num FROM alembic_version")
    assert read(engine, lambda connection: connection.execute(version).scalar()) == HEAD

    def shape(connection: sa.Connection) -> dict[str, tuple[set[str], set[str]]]:
        inspector = sa.inspect(connection)
        return {
            table: (
                {column["name"] for column in inspector.get_columns(table)},
                {str(index["name"]) for index in inspector.get_indexes(table)},
            )
            for table in inspector.get_table_names()
            if table != "alembic_version"
        }

    made = read(engine, shape)
    assert set(made) == set(metadata.tables)
    for name, table in metadata.tables.items():
        columns, indexes = made[name]
        assert columns == {column.name for column in table.columns}
        assert {str(index.name) for index in table.indexes} <= indexes
