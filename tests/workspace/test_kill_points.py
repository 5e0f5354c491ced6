"""A process is killed at each point at which something lasting is done: nothing is lost, and nothing spent twice."""

from __future__ import annotations

from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.service import Service
from dpcore.workspace.database.home import Home
from dpcore.workspace.database.installation import look
from tests.support.servers.databases import KINDS
from tests.support.workspaces.accounts import amounts
from tests.support.workspaces.fake_learner import fake_request, register, small_frame, small_schema
from tests.support.workspaces.kill_points import COST, add, killed_at_each_point, run

register()
SPENT, BUDGET = Decimal(COST), Decimal(90)
#: What comes in each step that writes lines of the ledger.
MOMENTS = ("written", "committed", "before fsync", "before replace", "after replace")
STORED = {"folder before fsync", "folder before rename", "folder after rename", *(f"entry {each}" for each in MOMENTS)}
each = pytest.mark.parametrize("kind", [KINDS[0], *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS[1:])])


def people() -> Schema:
    content = small_schema("ward").model_dump(mode="json")
    return Schema.from_mapping(content | {"privacy_unit": {"column": "who"}, "max_rows": 50_000})


def fill(home: Path, url: str, *, keys: bool = False) -> str:
    """Store 'ward', with room for a run at each point."""
    with Service(home, url, workers=0) as service:
        if keys:
            stored = service.add_dataset(
                small_frame().assign(who=range(-100, 0)), people(), budget=BUDGET, delta=Decimal(0), keep_keys=True
            )
        else:
            stored = service.add_dataset(small_frame(), small_schema("ward"), budget=BUDGET, delta=Decimal(0))
    return stored.id


def check_ledger(service: Service) -> None:
    """Each line of a run's life is there once at most, and what was touched is spent, neither more nor less."""
    lines = service.ledger_entries()
    lives = Counter((line.run_id, line.kind) for line in lines if line.run_id is not None)
    assert set(lives.values()) <= {1}
    touched = [line for line in lines if line.kind == "touch"]
    assert amounts(service.total_balance("ward")).spent == SPENT * len(touched)
    assert amounts(service.total_balance("ward")).reserved == 0
    committed = sorted(line.release_id for line in lines if line.kind == "commit")
    assert committed == sorted(release.id for release in service.releases())


def usable(service: Service, name: str = "ward") -> None:
    """A data set is whole, and takes a run."""
    assert service.damaged() == []
    done = service.submit(fake_request(service.dataset(name).id, COST, units=1), f"{service.dataset(name).id} works")
    assert service.run(done).state == "done"


@each
def test_a_run_that_is_killed_is_spent_once_or_not_at_all(kind: str, url: str, home: Path) -> None:
    """It is asked for again under its nonce, as a page does that got no answer."""
    fill(home, url)
    points: Counter[str] = Counter()
    for number, point in killed_at_each_point(home, url, "run"):
        points[point] += 1
        with Service(home, url, workers=0) as service:
            before = {status.id: status for status in service.runs()}
            run(service, number)
            [reserved] = [line for line in service.ledger_entries() if line.kind == "reserve"][number:]
            status = service.run(reserved.run_id)
            touched = [line.kind for line in service.ledger_entries() if line.run_id == status.id].count("touch")
            ended_before = status.id in before and before[status.id].state in ("done", "interrupted")
            assert status.state == (before[status.id].state if ended_before else "done"), point
            assert status.charged == (touched == 1), point
            assert (status.release_id is not None) == (status.state == "done"), point
            assert ("Nothing was spent" in status.message) is not status.charged, point
            assert service.cancel(status.id) == status
            check_ledger(service)
        assert look(Home(home), url).fault is None
    lasting = {f"{step} {moment}" for step in ("reserve", "touch", "commit") for moment in MOMENTS}
    assert lasting | {"claim written", "claim committed", "fit before run", "fit committed"} <= points.keys()


@each
def test_a_data_set_whose_storing_is_killed_is_there_or_not(kind: str, url: str, home: Path) -> None:
    fill(home, url)
    points = set()
    for number, point in killed_at_each_point(home, url, "add"):
        points.add(point)
        with Service(home, url, workers=0) as service:
            name = f"added {number}"
            left = {path.name for path in (home / "incoming").rglob("*") if path.is_file()}
            assert left <= {"owner.new"}, f"{point}: records that nobody has claimed"
            stored = name in {info.name for info in service.datasets()}
            orphans = service.orphans()
            assert [orphan.state for orphan in orphans] == ["unknown"] * len(orphans)
            assert len(orphans) + stored <= 1
            if orphans:  # In place, and not entered: whoever runs it adopts it, or removes it.
                service.remove_records(orphans[0].id, note="killed")
            if not stored:
                add(service, number)
            assert [line.kind for line in service.ledger_entries(name)] == ["open"]
            usable(service, name)
            assert service.orphans() == []
    assert points >= STORED


@each
@pytest.mark.parametrize("operation", ["replace", "append"])
def test_a_next_version_that_is_killed_is_the_newest_or_none(kind: str, operation: str, url: str, home: Path) -> None:
    fill(home, url, keys=operation == "append")
    points = set()
    for _, point in killed_at_each_point(home, url, operation):
        points.add(point)
        with Service(home, url, workers=0) as service:
            infos = service.datasets()
            [newest] = [info for info in infos if not info.retired]
            assert (newest.name, newest.version) == ("ward", len(infos)), point
            assert [info.version for info in infos] == list(range(1, len(infos) + 1))
            assert len({info.population for info in infos}) == 1
            for orphan in service.orphans():
                assert orphan.state == "unknown", point
                with pytest.raises(RequestError, match="a budget already"):
                    service.adopt(orphan.id, replaces="ward", budget=BUDGET, note="x")
                adopted = service.adopt(orphan.id, replaces="ward", note="the process was killed")
                assert (adopted.name, adopted.version) == ("ward", newest.version + 1)
            assert service.orphans() == []
            usable(service)
            check_ledger(service)
    assert points >= STORED
