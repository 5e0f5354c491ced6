"""The database goes away in the middle of a run, or its answer is lost: nothing is lost with it."""

from __future__ import annotations

import sqlite3
import sys
import time
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Engine
from sqlalchemy.exc import OperationalError

from dpcore.errors import InstallationError, UncertainError
from dpcore.privacy.losses import pure_loss
from dpcore.service import Service
from dpcore.workspace.database import transactions
from dpcore.workspace.database.database import open_database
from dpcore.workspace.database.transactions import be_patient, write
from dpcore.workspace.files import store
from dpcore.workspace.files.store import Store
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.runs.processes import ProcessIdentity
from dpcore.workspace.runs.queue import RunQueue
from tests.support.rows import for_each
from tests.support.servers.databases import SERVER
from tests.support.servers.postgres_server import server
from tests.support.workspaces.accounts import add_row, amounts, release_for
from tests.support.workspaces.fake_learner import fake_request, register, small_frame, small_schema
from tests.support.workspaces.homes import wait_for_step

HALF, NONE = Decimal("0.5"), Decimal(0)
register()


class AwayError(Exception):
    """What a driver raises when the server is shut down."""

    sqlstate = "57P01"


def away() -> OperationalError:
    return OperationalError("a statement", {}, AwayError())


class ContestedError(Exception):
    """What a driver raises when two transactions cannot both happen."""

    sqlstate = "40001"


def contested() -> OperationalError:
    return OperationalError("a statement", {}, ContestedError())


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    engine = open_database(f"sqlite:///{tmp_path / 'frostglass.db'}")
    add_row(engine, "data", public=False)
    Ledger(engine).open_account("data", Decimal(2))
    be_patient(engine, 60)
    return engine


def lose_an_answer(monkeypatch: pytest.MonkeyPatch) -> Callable[[], int]:
    """The next writing transaction happens, but its acknowledgement does not arrive."""
    real, calls = transactions._writing, []

    def losing(*details: Any) -> Any:
        done = real(*details)
        calls.append(done)
        if len(calls) == 1:
            raise away()
        return done

    monkeypatch.setattr(transactions, "_writing", losing)
    return lambda: len(calls)


def queued(engine: Engine, nonce: str = "n") -> str:
    request = fake_request("data")
    return RunQueue(engine).reserve(request, "ann", pure_loss(HALF), nonce, "hash").id


def test_a_touch_whose_answer_was_lost_is_one_touch(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    run, ledger = queued(engine), Ledger(engine)
    tried = lose_an_answer(monkeypatch)
    ledger.touch(run)
    assert tried() == 2
    assert [line.kind for line in ledger.entries("data")] == ["open", "reserve", "touch"]


def test_a_commit_whose_answer_was_lost_is_one_commit(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    run, ledger, release = queued(engine), Ledger(engine), release_for(HALF)
    ledger.touch(run)
    tried = lose_an_answer(monkeypatch)
    RunQueue(engine).complete(run, release)
    assert tried() == 2
    assert [line.kind for line in ledger.entries("data")].count("commit") == 1
    assert RunQueue(engine).status(run).release_id == release.id


@pytest.mark.parametrize("times", [1, 2 * transactions._ATTEMPTS])
def test_a_result_that_finds_no_room_is_stored_once_there_is_some(
    engine: Engine, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    run, runs = queued(engine), RunQueue(engine)
    Ledger(engine).touch(run)
    begun: list[None] = []

    def limit(connection: Any) -> None:
        begun.append(None)
        most = 1 if len(begun) <= times else 10**6  # No limit is below what the file has already.
        connection.exec_driver_sql(f"PRAGMA max_page_count = {most}")

    sa.event.listen(engine, "begin", limit)
    monkeypatch.setattr(transactions.time, "sleep", lambda seconds: None)
    release = release_for(HALF).model_copy(update={"dataset_name": "many pages " * 10_000})
    runs.complete(run, release)
    assert len(begun) == times + 1
    assert runs.status(run).release_id == release.id
    assert [line.kind for line in Ledger(engine).entries("data")].count("commit") == 1


@for_each(
    ("code", "waits"), [("FULL", True), ("IOERR", True), ("IOERR_WRITE", True), ("CORRUPT", False), ("READONLY", False)]
)
def test_only_a_disk_that_may_come_back_is_waited_for(code: str, waits: bool) -> None:
    fault = sqlite3.OperationalError("told in letters")
    fault.sqlite_errorcode = getattr(sqlite3, f"SQLITE_{code}")
    error = OperationalError("a statement", {}, fault)
    tried: list[None] = []

    def once() -> None:
        tried.append(None)
        if len(tried) < 3:
            raise error

    if waits:
        transactions._repeat(once, 60)
    else:
        with pytest.raises(InstallationError):
            transactions._repeat(once, 60)
    assert len(tried) == (3 if waits else 1)


def test_a_claim_whose_answer_was_lost_claims_no_second_run(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    first, _ = queued(engine, "a"), queued(engine, "b")
    tried, runs = lose_an_answer(monkeypatch), RunQueue(engine)
    job = runs.claim(ProcessIdentity.mine())
    assert job is not None
    assert (job.run_id, tried()) == (first, 2)
    assert sorted(status.state for status in runs.statuses()) == ["queued", "running"]


def test_a_reservation_whose_answer_was_lost_is_run_when_it_is_asked_for_again(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = service.add_dataset(small_frame(), small_schema(), budget=Decimal(1))
    request = fake_request(dataset.id)
    with monkeypatch.context() as patch:
        lose_an_answer(patch)
        with pytest.raises(InstallationError):
            service.submit(request, "n")
    [waiting] = service.runs()
    assert (waiting.state, amounts(service.balance(dataset.id)).reserved) == ("queued", HALF)
    assert [service.submit(request, "n") for _ in range(2)] == [waiting.id] * 2
    assert service.run(waiting.id).state == "done"
    assert [line.kind for line in service.ledger_entries()] == ["open", "reserve", "touch", "commit"]


def test_a_data_set_whose_entry_was_not_acknowledged_is_stored_once(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        tried = lose_an_answer(patch)
        stored = service.add_dataset(small_frame(), small_schema(), budget=Decimal(1))
    assert tried() == 2, "the second looks"
    assert [info.id for info in service.datasets()] == [stored.id]
    assert [line.kind for line in service.ledger_entries()] == ["open"]


def test_a_data_set_that_may_be_stored_or_not_is_called_so(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    real, calls = transactions._writing, []

    def losing(*details: Any) -> Any:
        if calls:
            raise away()
        calls.append(real(*details))
        raise away()

    monkeypatch.setattr(store, "_PATIENCE", 0.1)
    with monkeypatch.context() as patch:
        patch.setattr(transactions, "_writing", losing)
        with pytest.raises(UncertainError, match="may be stored"):
            service.add_dataset(small_frame(), small_schema(), budget=Decimal(1))
    assert len(service.datasets()) == 1


def test_an_entry_that_was_not_made_is_none_and_keeps_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, calls = transactions._writing, []

    def failing(*details: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise away()
        return real(*details)

    with Service(tmp_path, workers=0) as service:
        with monkeypatch.context() as patch:
            patch.setattr(transactions, "_writing", failing)
            with pytest.raises(InstallationError):
                service.add_dataset(small_frame(), small_schema(), budget=Decimal(1))
        assert service.datasets() == []
        assert len(Store(tmp_path, service._engine).folders()) == 1
        service.add_dataset(small_frame(), small_schema(), budget=Decimal(1))


def test_a_server_that_stays_away_is_given_up(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise away()

    be_patient(engine, 0.2)
    monkeypatch.setattr(transactions, "_writing", fail)
    with pytest.raises(InstallationError):
        write(engine, lambda connection: None)


def test_waiting_for_a_server_uses_up_no_attempt_meant_for_contention(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = [away() for _ in range(2 * transactions._ATTEMPTS)] + [
        contested() for _ in range(transactions._ATTEMPTS - 1)
    ]
    pauses: list[float] = []

    def fail(*_: object) -> str:
        if faults:
            raise faults.pop(0)
        return "done"

    monkeypatch.setattr(transactions, "_writing", fail)
    monkeypatch.setattr(transactions.time, "sleep", pauses.append)
    assert write(engine, lambda connection: None) == "done"
    waits, others = pauses[: 2 * transactions._ATTEMPTS], pauses[2 * transactions._ATTEMPTS :]
    assert (waits[0], others[0], max(waits)) == (0.01, 0.01, transactions._LONGEST_PAUSE)


def test_contention_that_does_not_end_is_given_up(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    tried = []

    def fail(*_: object) -> None:
        tried.append(1)
        raise contested()

    monkeypatch.setattr(transactions, "_writing", fail)
    monkeypatch.setattr(transactions.time, "sleep", lambda seconds: None)
    with pytest.raises(InstallationError):
        write(engine, lambda connection: None)
    assert len(tried) == transactions._ATTEMPTS


def test_a_fault_that_no_waiting_mends_is_raised_at_once(engine: Engine) -> None:
    tried = []

    def work(connection: Any) -> None:
        tried.append(1)
        connection.exec_driver_sql("SELECT * FROM nothing")

    with pytest.raises(OperationalError):
        write(engine, work)
    assert tried == [1]


def test_progress_that_cannot_be_stored_ends_no_run(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> bool:
        raise away()

    monkeypatch.setattr(RunQueue, "report", fail)
    dataset = service.add_dataset(small_frame(), small_schema(), budget=Decimal(1))
    run = service.submit(fake_request(dataset.id), "n")
    assert service.run(run).state == "done"


@pytest.mark.skipif(SERVER is None, reason="FROSTGLASS_TEST_POSTGRES names no server")
def test_a_server_that_restarts_during_a_run_costs_no_budget(tmp_path: Path) -> None:
    gate, log = tmp_path / "gate", tmp_path / "log"
    command = ("sh", "-c", f"exec {sys.executable} -m tests.support.workspaces.fake_worker 2>{log}")
    with server() as postgres, Service(tmp_path / "home", postgres.url, workers=1, worker_command=command) as service:
        dataset = service.add_dataset(small_frame(), small_schema(), budget=Decimal(1))
        run = service.submit(fake_request(dataset.id, gate=str(gate)), "n")
        wait_for_step(service, run)
        postgres.stop()
        gate.touch()
        while "no progress of run" not in log.read_text():
            time.sleep(0.05)
        postgres.start()
        status = service.wait(run, 120)
        assert (status.state, status.charged) == ("done", True)
        assert [line.kind for line in service.ledger_entries()] == ["open", "reserve", "touch", "commit"]
