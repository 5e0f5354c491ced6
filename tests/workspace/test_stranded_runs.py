"""Runs whose machine has vanished: a custodian ends them, and nothing that was spent comes back."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import pytest

from dpcore.errors import AccessError, ConflictError
from dpcore.service import Service
from dpcore.workspace.database.database_tables import jobs
from dpcore.workspace.database.transactions import write
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.people.users import User
from dpcore.workspace.runs import processes
from dpcore.workspace.runs.processes import ProcessIdentity
from dpcore.workspace.runs.queue import RunQueue
from tests.support.workspaces.accounts import amounts, release_for
from tests.support.workspaces.command_line import HOME
from tests.support.workspaces.fake_learner import fake_request, register, small_frame, small_schema

HALF = Decimal("0.5")
NOBODY = (sys.executable, "-c", "import sys; sys.stdin.read()")
ANN = User("ann@x.org", frozenset({"analyst"}))
register()


@pytest.fixture
def service(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    monkeypatch.delenv("FROSTGLASS_DATABASE_URL", raising=False)
    with Service(tmp_path / "home", workers=1, worker_command=NOBODY) as service:
        service.add_dataset(small_frame(), small_schema(), budget=Decimal(2))
        yield service


def stranded(service: Service, *, touched: bool, worker: str = "vanished 1 0.0") -> str:
    """A run of Ann's that a worker of another machine has claimed."""
    run = service.acting(ANN).submit(fake_request(service.dataset("small").id), "n")
    claim = jobs.update().where(jobs.c.run_id == run).values(state="running", worker=worker)
    write(service._engine, lambda connection: connection.execute(claim))
    if touched:
        Ledger(service._engine).touch(run)
    assert service.run(run).state == "running"
    return run


def test_what_may_have_been_read_stays_spent(service: Service) -> None:
    run = stranded(service, touched=True)
    assert [status.id for status in service.stranded_runs()] == [run]
    ended = service.end_run(run, "its machine was scrapped")
    assert (ended.state, ended.charged) == ("interrupted", True)
    assert "Its budget stays spent" in ended.message
    last = service.ledger_entries("small")[-1]
    assert (last.kind, last.run_id, last.actor) == ("end", run, "local")
    assert (last.analyst, last.note) == (ANN.name, "its machine was scrapped")
    assert amounts(service.total_balance("small")).spent == HALF
    assert service.stranded_runs() == []
    with pytest.raises(ConflictError):
        service.end_run(run, "again")


def test_what_read_nothing_is_given_back(service: Service) -> None:
    run = stranded(service, touched=False)
    ended = service.end_run(run, "its machine was scrapped")
    assert (ended.state, ended.charged) == ("interrupted", False)
    balance = service.total_balance("small")
    assert (amounts(balance).spent, amounts(balance).reserved) == (0, 0)
    with pytest.raises(ConflictError):  # Should it live after all, it may not begin.
        Ledger(service._engine).touch(run)


def test_a_result_that_comes_after_all_is_kept(service: Service) -> None:
    run = stranded(service, touched=True)
    service.end_run(run, "its machine was scrapped")
    release = release_for(HALF, service.dataset("small").id)
    RunQueue(service._engine).complete(run, release)
    assert service.run(run).state == "done"
    assert amounts(service.total_balance("small")).spent == HALF


def test_only_what_cannot_be_seen_may_be_ended_and_only_by_a_custodian(service: Service) -> None:
    run = stranded(service, touched=True, worker=str(ProcessIdentity.mine()))
    assert service.stranded_runs() == []
    with pytest.raises(ConflictError, match="can be seen from here"):
        service.end_run(run, "impatience")
    for act in (service.acting(ANN).stranded_runs, lambda: service.acting(ANN).end_run(run, "x")):
        with pytest.raises(AccessError):
            act()


def test_a_process_of_another_container_is_not_taken_for_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two containers may have one name, and number their processes alike."""
    monkeypatch.setattr(processes, "_here", lambda: "ward/machine/boot/4026531999")
    for host in (
        "ward/machine/boot/4026532000",
        "ward/machine/earlier/4026532000",
        "ward/another/earlier/4026531999",
        "elsewhere",
    ):
        found = ProcessIdentity(host, 1, 0.0)
        assert not found.local
        assert not found.dead()
    assert ProcessIdentity("ward/machine/boot/4026531999", 2**22 + 1, 0.0).dead()


def test_a_process_of_this_machine_before_its_restart_is_dead(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = processes._WHOLE_MACHINE
    monkeypatch.setattr(processes, "_here", lambda: f"ward/machine/boot/{whole}")
    assert ProcessIdentity(f"ward/machine/earlier/{whole}", 1, 0.0).dead()
    assert not ProcessIdentity(f"ward/another/earlier/{whole}", 1, 0.0).dead()
    assert not ProcessIdentity(f"other/machine/earlier/{whole}", 1, 0.0).dead()


def test_identities_of_early_versions_are_still_read() -> None:
    mine = ProcessIdentity.mine()
    early = ProcessIdentity(socket.gethostname(), mine.pid, mine.start)
    assert early.local
    assert not early.dead()
    assert ProcessIdentity.parse(str(mine)) == mine
