"""A home folder with a small data set and some spending, for tests of disasters."""

from __future__ import annotations

import shutil
import sqlite3
import threading
import time
from contextlib import closing
from decimal import Decimal
from pathlib import Path

import pytest

from dpcore.errors import InstallationError
from dpcore.service import Service
from dpcore.workspace.database.home import Home
from dpcore.workspace.database.installation import look
from dpcore.workspace.ledger.requests import RunStatus
from dpcore.workspace.upkeep.recovery import accept
from tests.support.workspaces.accounts import amounts
from tests.support.workspaces.fake_learner import fake_request, register, small_frame, small_schema

register()
BUDGET = Decimal(2)


def fill(home: Path, url: str | None = None, runs: int = 1) -> str:
    """Store a data set and spend on it; return its id."""
    with Service(home, url, workers=0) as service:
        dataset = service.add_dataset(small_frame(), small_schema(), budget=BUDGET)
    spend(home, url, runs)
    return str(dataset.id)


def spend(home: Path, url: str | None = None, runs: int = 1, first: int = 0) -> None:
    """Runs of half an epsilon each."""
    with Service(home, url, workers=0) as service:
        for number in range(first, first + runs):
            run = service.submit(fake_request(service.dataset("small").id), f"nonce {number}")
            assert service.run(run).state == "done"


def spent(home: Path, url: str | None = None) -> Decimal:
    with Service(home, url, workers=0) as service:
        return amounts(service.total_balance("small")).spent


def acknowledge(home: Path, url: str, *, close: bool = False, note: str = "a drill") -> None:
    """What an operator types after having read what is wrong."""
    code = look(Home(home), url).code
    accept(home, url, code=code, note=note, close=close, actor="local")


def contents(home: Path) -> dict[str, bytes]:
    """Every file of every stored data set."""
    files = (home / "datasets").rglob("*")
    return {str(file.relative_to(home)): file.read_bytes() for file in files if file.is_file()}


def refused(home: Path, url: str | None, sentence: str) -> None:
    """The service does not start, says so, and leaves every stored byte where it is."""
    before = contents(home)
    with pytest.raises(InstallationError) as caught:
        Service(home, url, workers=0)
    assert str(caught.value) == sentence
    assert "python -m dpcore installation show" in sentence
    assert contents(home) == before


def copy_database(source: Path, target: Path) -> None:
    """A consistent copy of a SQLite database that may be in use."""
    with closing(sqlite3.connect(source)) as old, closing(sqlite3.connect(target)) as new:
        old.backup(new)


def put_back(copy: Path, database: Path) -> None:
    """Restore a copy as ``docs/deployment.md`` says."""
    for ending in ("-wal", "-shm"):
        Path(f"{database}{ending}").unlink(missing_ok=True)
    shutil.copy(copy, database)


# For processes of their own


def open_at_once(home: str, _number: int, start: threading.Barrier) -> None:
    """Start on a home in the same moment as others."""
    start.wait()
    Service(home, workers=0).close()


def wait_for_step(service: Service, run: str) -> RunStatus:
    """Wait until a run has begun, or ended."""
    for _ in range(600):
        status = service.run(run)
        if status.step or not status.active:
            return status
        time.sleep(0.05)
    raise AssertionError("the run never began")
