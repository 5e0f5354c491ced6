"""What this machine can do is measured once, on invented records, and never in the way."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from dpcore.models.registry import LEARNERS
from dpcore.released.workload import Work, Workload
from dpcore.service import Service
from dpcore.workspace.ledger.requests import RunRequest
from dpcore.workspace.runs import calibration
from dpcore.workspace.runs.calibration import calibrate
from dpcore.workspace.runs.machine import Machine, keep, machine_of
from tests.support.workspaces.fake_learner import small_frame, small_schema

TASK = Work(words=1e6, places=1e6, draws=100, calls=10)


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[Machine]:
    """What was measured, with figures that differ each time."""
    found: list[Machine] = []

    def measured() -> Machine:
        found.append(Machine(word=len(found) + 1.0))
        return found[-1]

    monkeypatch.setattr(calibration, "measured", measured)
    return found


def test_every_figure_is_measured(tmp_path: Path) -> None:
    machine = calibrate(tmp_path)
    assert machine == machine_of(tmp_path)
    assert [(path.name, path.stat().st_mode & 0o777) for path in tmp_path.iterdir()] == [("machine.json", 0o600)]
    assert min(machine.word, machine.place, machine.draw, machine.call) > 0
    assert 0 < machine.seconds(TASK, 2) < machine.seconds(TASK, 1)
    assert machine.seconds(TASK, 2) > machine.seconds(Work(draws=100, calls=10), 2), "noise is drawn by one core"


def test_memory_is_told_alike_before_and_after_measuring(tmp_path: Path) -> None:
    workload = Workload({"one": TASK}, 1e7)
    before = machine_of(tmp_path).forecast(workload).bytes
    assert calibrate(tmp_path).forecast(workload).bytes == before > 1e8


def test_figures_of_another_machine_do_not_hold(tmp_path: Path, counted: list[Machine]) -> None:
    keep(tmp_path, Machine(name="another one", word=1.0))
    assert machine_of(tmp_path) == Machine()
    assert calibrate(tmp_path) == machine_of(tmp_path) == counted[0]


@pytest.mark.parametrize("content", [b"", b"{", b'{"name": 3}', b'{"word": -1}', b"\xff"])
def test_a_damaged_file_is_measured_anew(content: bytes, tmp_path: Path, counted: list[Machine]) -> None:
    (tmp_path / "machine.json").write_bytes(content)
    assert machine_of(tmp_path) == Machine()
    assert calibrate(tmp_path) == machine_of(tmp_path) == counted[0]


def test_a_home_that_cannot_be_written_to_is_no_error(tmp_path: Path, counted: list[Machine]) -> None:
    assert calibrate(tmp_path / "nowhere") == counted[0]
    assert machine_of(tmp_path / "nowhere") == Machine()


def test_so_many_cores_share_what_they_can() -> None:
    alone, shared = Work(words=1e9, cores=1), Work(words=1e9)
    machine = Machine()
    assert machine.seconds(alone, 8) == 8 * machine.seconds(shared, 8)
    first, more = (machine.forecast(Workload({"one": shared}, size)).bytes for size in (0.0, 5.0))
    assert more - first == 5.0


def test_a_forecast_does_not_depend_on_the_records(service: Service) -> None:
    """Nobody, a few, or entirely other people of the same schema: the same, for every family."""
    frames = [small_frame(), small_frame(98), small_frame(200), pd.DataFrame({"ill": ["no"] * 50, "age": [7] * 50})]
    datasets = [
        service.add_dataset(frame, small_schema(f"people {number}"), budget=100, accepted=["ill", "age"])
        for number, frame in enumerate(frames)
    ]
    for name, learner in LEARNERS.items():
        if not learner.targeted:
            continue
        asked = {"algorithm": name, "target": "ill", "epsilon": 1}
        told = [service.quote(RunRequest(dataset_id=own.id, **asked)).forecast for own in datasets]
        assert all(forecast == told[0] for forecast in told)
