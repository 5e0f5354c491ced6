from __future__ import annotations

import itertools
import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from dpcore.errors import ConflictError, SchemaError
from dpcore.privacy.budgets import default_delta
from dpcore.privacy.filters import RHO_SHARE, largest_rho
from dpcore.privacy.losses import pure_loss, pure_rho, run_loss
from dpcore.released.workload import DurationForecast
from dpcore.service import Service
from dpcore.workspace.database.database_tables import jobs, utc_now
from dpcore.workspace.database.database_tables import ledger_entries as lines
from dpcore.workspace.database.transactions import read
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.ledger.requests import RunRequest
from dpcore.workspace.runs import worker
from dpcore.workspace.runs.processes import ProcessIdentity
from dpcore.workspace.runs.worker import Reports
from tests.support.texts import lacking
from tests.support.workspaces.accounts import amounts, release_for
from tests.support.workspaces.fake_learner import CANARY, FakeLearner, fake_request, register, small_frame, small_schema
from tests.support.workspaces.fake_worker import FULL_POINTS, VARIABLE
from tests.support.workspaces.forked import FORKED, fork_workers
from tests.support.workspaces.homes import wait_for_step

COMMAND = (sys.executable, "-m", "tests.support.workspaces.fake_worker")
#: A worker that does nothing.
NOBODY = (sys.executable, "-c", "import sys; sys.stdin.read()")
BUDGET, COST = Decimal(2), Decimal("0.5")
register()


@pytest.fixture(autouse=True)
def forked(monkeypatch: pytest.MonkeyPatch) -> None:
    fork_workers(monkeypatch)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with Service(tmp_path / "home", workers=1, worker_command=FORKED) as service:
        yield service


def inline(tmp_path: Path) -> Service:
    return Service(tmp_path / "home", workers=0)


def add(service: Service) -> DatasetInfo:
    return service.add_dataset(small_frame(), small_schema(), budget=BUDGET)


def spent(service: Service, dataset: DatasetInfo) -> Decimal:
    balance = service.balance(dataset.id)
    return amounts(balance).spent + amounts(balance).reserved


def worker_pid(service: Service) -> int:
    return service._jobs._processes[0].pid


def test_a_worker_runs_and_the_release_is_found(tmp_path: Path) -> None:
    with Service(tmp_path / "home", workers=1, worker_command=COMMAND) as service:
        dataset = add(service)
        run = service.submit(fake_request(dataset.id), "n")
        status = service.wait(run, 60)
        assert (status.state, status.step, status.done, status.charged) == ("done", "counts", 990, True)
        assert status.release_id is not None
        assert service.release(status.release_id).certificate.private
        assert spent(service, dataset) == COST


def test_a_run_says_when_it_should_be_ready_and_how_many_go_first(service: Service, tmp_path: Path) -> None:
    dataset = add(service)
    gate = tmp_path / "gate"
    runs = [service.submit(fake_request(dataset.id, "0.1", gate=str(gate)), nonce) for nonce in "abc"]
    wait_for_step(service, runs[0])
    assert [service.run(run).ahead for run in runs] == [0, 1, 2]
    told = service.run(runs[0]).ready
    assert told is not None
    assert abs(told - utc_now()) < timedelta(hours=1)
    assert service.run(runs[1]).ready is None
    gate.touch()
    assert [service.wait(run, 60).ahead for run in runs] == [0, 0, 0]


@pytest.mark.parametrize("point", FULL_POINTS)
def test_a_home_that_is_full_as_a_run_ends_keeps_what_was_spent_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, point: str
) -> None:
    monkeypatch.setenv(VARIABLE, point)
    with Service(tmp_path / "home", workers=1, worker_command=FORKED) as service:
        dataset = add(service)
        run = service.submit(fake_request(dataset.id), "n")
        status = service.wait(run, 60)
    monkeypatch.delenv(VARIABLE)
    touched = point == "full before commit"
    with inline(tmp_path) as again:
        assert again.run(run).state == status.state == "interrupted"
        assert ("Nothing was spent" in status.message) is not touched
        assert (spent(again, dataset), again.releases()) == (COST if touched else 0, [])
        assert again.run(again.submit(fake_request(dataset.id), "another")).state == "done"


def test_a_dead_worker_is_replaced_and_the_queue_goes_on(service: Service, tmp_path: Path) -> None:
    dataset = add(service)
    gate = tmp_path / "gate"
    first = service.submit(fake_request(dataset.id, gate=str(gate)), "a")
    wait_for_step(service, first)
    second = service.submit(fake_request(dataset.id), "b")
    os.kill(worker_pid(service), signal.SIGKILL)
    assert service.wait(first, 30).state == "interrupted"
    assert service.wait(second, 60).state == "done"
    assert spent(service, dataset) == 2 * COST


def test_reading_runs_writes_nothing_and_another_process_still_shows_what_has_died(tmp_path: Path) -> None:
    with Service(tmp_path / "home", workers=1, worker_command=NOBODY) as service:
        dataset = add(service)
        run = service.submit(fake_request(dataset.id), "n")
        queue, engine = service._queue, service._engine
        queue.claim(replace(ProcessIdentity.mine(), start=0.0), run)  # Its number is ours by now.

        def stored() -> list[Any]:
            return read(engine, lambda c: [c.execute(t.select()).all() for t in (jobs, lines)])

        before = stored()
        assert queue.status(run).state == "running"
        assert [own.state for own in queue.statuses({dataset.id}, active=True)] == ["running"]
        assert queue.stranded({dataset.id}) == []
        assert stored() == before
        with inline(tmp_path) as another:
            assert [own.state for own in another.runs()] == ["interrupted"]
        assert spent(service, dataset) == 0


def test_runs_left_in_the_queue_are_executed_after_a_restart(tmp_path: Path) -> None:
    with Service(tmp_path / "home", workers=1, worker_command=NOBODY) as service:
        dataset = add(service)
        run = service.submit(fake_request(dataset.id), "n")
        assert service.run(run).state == "queued"
    with Service(tmp_path / "home", workers=1, worker_command=FORKED) as again:
        assert again.wait(run, 60).state == "done"
        assert spent(again, dataset) == COST


def test_a_run_for_which_no_worker_could_be_started_goes_on_when_it_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError("no more processes")

    with Service(tmp_path / "home", workers=1, worker_command=FORKED, warm=False) as service:
        dataset = add(service)
        with monkeypatch.context() as patch:
            patch.setattr(service._jobs, "_spawn", refuse)
            with pytest.raises(OSError, match="no more"):
                service.submit(fake_request(dataset.id), "n")
        run = service.submit(fake_request(dataset.id), "n")
        assert service.wait(run, 60).state == "done"
        assert spent(service, dataset) == COST


def test_only_a_run_that_waits_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with inline(tmp_path) as service:
        dataset = add(service)
        run = service.submit(fake_request(dataset.id), "n")
        assert service.run(run).state == "done"
        service._jobs.start(run)
        assert (len(service.releases()), spent(service, dataset)) == (1, COST)
        monkeypatch.setattr(service._jobs, "start", lambda run_id: pytest.fail("it has ended"))
        assert service.submit(fake_request(dataset.id), "n") == run


def test_a_worker_finishes_a_paid_run_when_the_application_goes(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with Service(tmp_path / "home", workers=1, worker_command=FORKED) as service:
        dataset = add(service)
        run = service.submit(fake_request(dataset.id, gate=str(gate)), "n")
        wait_for_step(service, run)
    gate.touch()
    with inline(tmp_path) as again:
        assert again.wait(run, 30).state == "done"


def test_a_worker_begins_no_other_run_when_the_application_has_gone(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    with Service(tmp_path / "home", workers=1, worker_command=FORKED) as service:
        dataset = add(service)
        first = service.submit(fake_request(dataset.id, gate=str(gate)), "first")
        second = service.submit(fake_request(dataset.id), "second")
        wait_for_step(service, first)
        [worker] = service._jobs._processes
    gate.touch()
    worker.wait(30)
    with Service(tmp_path / "home", workers=1, worker_command=NOBODY, warm=False) as again:
        assert [again.run(run).state for run in (first, second)] == ["done", "queued"]


def test_cancel_before_a_touch_refunds(tmp_path: Path) -> None:
    with Service(tmp_path / "home", workers=1, worker_command=NOBODY) as service:
        dataset = add(service)
        run = service.submit(fake_request(dataset.id), "n")
        status = service.cancel(run)
        assert (status.state, status.charged) == ("cancelled", False)
        assert "Nothing was spent" in status.message
        assert spent(service, dataset) == 0
        assert service.cancel(run).state == "cancelled"


def test_cancel_after_a_touch_stops_and_stays_spent(service: Service, tmp_path: Path) -> None:
    dataset = add(service)
    gate = tmp_path / "gate"
    run = service.submit(fake_request(dataset.id, gate=str(gate)), "n")
    assert wait_for_step(service, run).state == "running"
    service.cancel(run)
    gate.touch()
    status = service.wait(run, 30)
    assert (status.state, status.charged) == ("cancelled", True)
    assert "stays spent" in status.message
    assert spent(service, dataset) == COST
    assert service.releases() == []


def test_a_free_cancel_leaves_a_run_alone_that_has_begun(service: Service, tmp_path: Path) -> None:
    """Between the drawing of its button and the press, a worker may take a run up."""
    dataset = add(service)
    gate = tmp_path / "gate"
    run = service.submit(fake_request(dataset.id, gate=str(gate)), "n")
    assert wait_for_step(service, run).state == "running"
    with pytest.raises(ConflictError, match="It goes on"):
        service.cancel(run, only_free=True)
    gate.touch()
    status = service.wait(run, 30)
    assert (status.state, status.charged) == ("done", True)
    assert service.cancel(run, only_free=True).state == "done"


def test_a_free_cancel_loses_the_race_for_a_run_that_is_touched_as_it_looks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Service(tmp_path / "home", workers=1, worker_command=NOBODY) as service:
        dataset = add(service)
        free, begun = (service.submit(fake_request(dataset.id), nonce) for nonce in "ab")
        status = service.cancel(free, only_free=True)
        assert (status.state, status.charged) == ("cancelled", False)
        ledger = service._queue._ledger
        refund = ledger.refund

        def touched_first(run_id: str, *arguments: object, **more: object) -> object:
            ledger.touch(run_id)
            return refund(run_id, *arguments, **more)

        monkeypatch.setattr(ledger, "refund", touched_first)
        assert service.run(begun).state == "queued"
        with pytest.raises(ConflictError, match="It goes on"):
            service.cancel(begun, only_free=True)
        assert not stop_asked(service, begun)
        assert spent(service, dataset) == COST


@pytest.mark.parametrize("end", ["done", "failed", "cancelled"])
def test_a_free_cancel_of_a_run_that_ends_as_it_looks_tells_how_it_ended(
    end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Service(tmp_path / "home", workers=1, worker_command=NOBODY) as service:
        dataset = add(service)
        run = service.submit(fake_request(dataset.id), "n")
        queue, give_back = service._queue, service._queue.give_back

        def ended_first(run_id: str, *arguments: Any, **more: Any) -> bool:
            if end == "done":
                service._ledger.touch(run_id)
                queue.complete(run_id, release_for(COST, dataset.id))
            else:
                give_back(run_id, "it could not start", end, "It has ended.")
            return give_back(run_id, *arguments, **more)

        monkeypatch.setattr(queue, "give_back", ended_first)
        assert service.cancel(run, only_free=True).state == end


def stop_asked(service: Service, run: str) -> bool:
    """Whether the worker would be told to stop."""
    return service._queue.report(run, "counts", 0, 1)


def test_a_failure_shows_and_logs_no_value(tmp_path: Path) -> None:
    log = tmp_path / "log"
    command = ("sh", "-c", f"exec {sys.executable} -m tests.support.workspaces.fake_worker 2>{log}")
    with Service(tmp_path / "home", workers=1, worker_command=command) as service:
        dataset = add(service)
        run = service.submit(fake_request(dataset.id, fail=True), "n")
        status = service.wait(run, 60)
    assert (status.state, status.charged) == ("failed", True)
    assert f"run {run} failed: ValueError" in log.read_text()
    assert "Traceback" not in log.read_text()
    assert CANARY not in log.read_text() + status.message
    for file in (tmp_path / "home").rglob("*"):
        assert not file.is_file() or CANARY.encode() not in file.read_bytes()


def test_a_data_set_that_changed_on_disk_is_not_touched(tmp_path: Path) -> None:
    with inline(tmp_path) as service:
        dataset = add(service)
        path = tmp_path / "home" / "datasets" / dataset.id / "schema.json"
        path.write_text(small_schema("changed").to_json())
        status = service.run(service.submit(fake_request(dataset.id), "n"))
        assert (status.state, status.charged) == ("failed", False)
        assert "upload it again" in status.message
        assert spent(service, dataset) == 0


def _absent(path: Path) -> None:
    path.unlink()


def _a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _not_text(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00")


@pytest.mark.crossed
@pytest.mark.parametrize("damage", [_absent, _a_folder, _not_text])
@pytest.mark.parametrize("name", ["schema.json", "partitions.json", "00000/records.arrow", "00000/bits.arrow"])
def test_no_message_tells_where_a_damaged_data_set_lies(
    tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    """Neither of a run, which is not charged, nor of what is shown of public data without one."""
    with inline(tmp_path) as service:
        dataset = service.add_dataset(small_frame(), small_schema(), budget=BUDGET, public=True)
        damage(tmp_path / "home" / "datasets" / dataset.id / name)
        status = service.run(service.submit(fake_request(dataset.id), "n"))
        with pytest.raises(SchemaError) as shown:
            service.plain_tree_accuracy(dataset.id, "ill")
    assert (status.state, status.charged) == ("failed", False)
    for message in (status.message, str(shown.value)):
        assert message.endswith("upload it again.")
        assert "/" not in message
        assert dataset.id not in message


def test_progress_is_written_at_counts_alone() -> None:
    calls: list[tuple[str, int, int]] = []
    forecast = DurationForecast({"first": 1.0, "second": 3.0}, 0.0)
    progress = Reports("run", lambda *place: calls.append(place[:3]), forecast)
    for step in ("first", "second"):
        for done in range(100_001):
            progress(step, done, 100_000)
    assert len(calls) == 2 * 21
    assert calls[:2] == [("first", 0, 1000), ("first", 12, 1000)]
    assert calls[21:23] == [("second", 250, 1000), ("second", 288, 1000)]
    assert calls[-1] == ("second", 990, 1000), "the run has not ended"
    progress("empty", 0, 0)


def test_a_time_that_cannot_be_told_ends_no_run() -> None:
    calls: list[Any] = []
    Reports("run", lambda *place: calls.append(place), DurationForecast({"first": 1e300}, 0.0))("first", 0, 1)
    assert calls == []


def test_a_run_whose_work_cannot_be_told_costs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FakeLearner, "workload", lambda *_: 1 / 0)
    with inline(tmp_path) as service:
        dataset = add(service)
        status = service.run(service.submit(fake_request(dataset.id), "n"))
        assert (status.state, status.charged, spent(service, dataset)) == ("failed", False, 0)


def test_a_run_that_was_reserved_at_another_price_costs_nothing(tmp_path: Path) -> None:
    """As by a version of the program that planned it in another way."""
    with Service(tmp_path / "home", workers=1, worker_command=NOBODY) as service:
        dataset = add(service)
        runs = [
            service._queue.reserve(fake_request(dataset.id), service._user.name, loss, nonce, "hash").id
            for nonce, loss in (
                ("cheaper", pure_loss(COST / 2)),
                ("less rho", run_loss(COST, Decimal(0), pure_rho(COST) / 2)),
                ("more rho", run_loss(COST, Decimal(0), 2 * pure_rho(COST))),
            )
        ]
    with Service(tmp_path / "home", workers=1, worker_command=FORKED) as again:
        ends = [again.wait(run, 60) for run in runs]
        assert [(end.state, end.charged) for end in ends] == [("failed", False)] * 2 + [("done", True)]
        assert not lacking(ends[0].message, "another version", "Nothing was spent")


def test_a_waiting_run_is_made_as_it_was_reserved_whatever_the_budget_has_become(tmp_path: Path) -> None:
    with Service(tmp_path / "home", workers=1, worker_command=NOBODY) as service:
        dataset = add(service)
        request = RunRequest(dataset_id=dataset.id, algorithm="ebm", target="ill", epsilon=COST)
        run = service.submit(request, "n")
        service.raise_caps(dataset.id, delta=Decimal("1e-9"))
        reserved = service._ledger.reserved(run)
    with Service(tmp_path / "home", workers=0) as again:
        again._jobs.start(run)
        status = again.wait(run, 60)
        assert (status.state, status.charged) == ("done", True)
        [release] = again.releases()
        card, delta = release.certificate, default_delta(small_schema().max_rows) * RHO_SHARE
        assert (card.epsilon, card.delta) == (reserved.epsilon, reserved.delta) == (COST, delta)
        assert card.rho == largest_rho(COST, delta) <= reserved.rho


@pytest.mark.parametrize(("compiled", "passes"), [(0, [True]), (1, [True, False])])
def test_other_methods_are_warmed_up_where_something_had_to_be_compiled(
    monkeypatch: pytest.MonkeyPatch, compiled: int, passes: list[bool]
) -> None:
    seen, done = dict.fromkeys([True, False], 0), itertools.count(step=compiled)
    monkeypatch.setattr("dpcore.workspace.runs.worker.compilations", lambda: next(done))

    def warming(learner: object, *, by_default: bool) -> None:
        seen[by_default] += 1

    monkeypatch.setattr("dpcore.workspace.runs.worker.warm_up_family", warming)
    worker.warm_up()
    assert [by_default for by_default, times in seen.items() if times] == passes


def test_a_run_waits_for_one_family_at_most_while_a_worker_warms_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with inline(tmp_path) as service:
        dataset, states = add(service), list[str]()

        def warming(learner: object, *, by_default: bool) -> None:
            if not states:
                request, loss = fake_request(dataset.id), pure_loss(COST)
                service._queue.reserve(request, service._user.name, loss, "n", "hash")
            states.append(service.runs(dataset.id)[0].state)

        monkeypatch.setattr("dpcore.workspace.runs.worker.warm_up_family", warming)
        monkeypatch.setattr(worker, "calibrate", lambda home: None)
        monkeypatch.setattr(worker, "_application_is_there", lambda: True)
        monkeypatch.setattr(worker, "_heard", lambda: False)
        monkeypatch.setattr(worker.os, "nice", lambda more: 0)
        monkeypatch.setenv("FROSTGLASS_HOME", str(tmp_path / "home"))
        monkeypatch.setenv("FROSTGLASS_DATABASE_URL", f"sqlite:///{tmp_path / 'home' / 'frostglass.db'}")
        worker.work(warm=True)
        assert states[:3] == ["queued", "done", "done"]
