"""The app served for a test, and what became of its budgets and runs."""

from __future__ import annotations

import os
import subprocess
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import psutil
import pytest

from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import run_loss, total_loss
from dpcore.service import Service
from dpcore.workspace.runs.machine import Machine, keep
from pages.components.visitor.access import DATASET_KEY
from tests.support.browsers.identity_provider import WAIT
from tests.support.servers.ports import free_port
from tests.support.workspaces.forked import Process, started

ROOT = Path(__file__).resolve().parents[3]
SCHEMA_TEXT = """
version: 1
name: ward
max_rows: 3000
columns:
  - {name: age, type: integer, lower: 20, upper: 100, bins: 8}
  - {name: sex, type: categorical, categories: [female, male]}
  - {name: diabetes, type: boolean}
  - {name: died, type: boolean, target: true}
"""


@dataclass
class Server:
    """A running app and everything it said."""

    url: str
    home: Path
    log: Path
    #: Number of its process.
    pid: int
    #: Name of the data set of a test that shares its server with others.
    dataset: str = ""

    def page(self, path: str = "") -> str:
        """Address of a page, with the data set of the test chosen."""
        return f"{self.url}/{path}?{urlencode({DATASET_KEY: self.dataset})}" if self.dataset else f"{self.url}/{path}"

    def service(self) -> Service:
        """A second view of the same folder, for looking at budgets."""
        return Service(home=self.home, workers=0)


def invented(rows: int = 2000) -> pd.DataFrame:
    draw = np.random.default_rng(0)
    age = draw.integers(20, 101, rows)
    died = draw.random(rows) < np.where(age > 70, 0.6, 0.1)
    return pd.DataFrame(
        {
            "age": age,
            "sex": draw.choice(["female", "male"], rows),
            "diabetes": draw.choice(["yes", "no"], rows),
            "died": np.where(died, "yes", "no"),
        }
    )


@contextmanager
def serve(home: Path, **more: str) -> Iterator[Server]:
    """``streamlit run`` with a free port, until the test is over.

    It is forked from a process that has imported what it needs, unless modules of the test's own come with it.
    """
    port = free_port()
    log = home.parent / "server.log"
    arguments = ["run", "app.py", "--server.port", str(port)]
    environment = {**os.environ, "FROSTGLASS_HOME": str(home), "FROSTGLASS_WORKERS": "1", **more}
    environment.pop("FROSTGLASS_DATABASE_URL", None)
    if home.is_dir():
        keep(home, Machine())  # So that its workers need not measure the machine first.
    process = started("streamlit.web.cli", arguments, ROOT, environment, log, anew="PYTHONPATH" in more)
    try:
        server = Server(f"http://localhost:{port}", home, log, process.pid)
        _wait_until_up(server, process)
        yield server
    finally:
        _stop(process)


def _stop(process: Process) -> None:
    """As a service manager does: the server waits for browsers to hang up, but not forever."""
    process.terminate()
    with suppress(subprocess.TimeoutExpired):
        process.wait(10)
    if process.poll() is None:
        process.kill()
        process.wait(30)


def _wait_until_up(server: Server, process: Process) -> None:
    for _ in range(240):
        try:
            with urllib.request.urlopen(f"{server.url}/health", timeout=5):
                return
        except OSError:  # Refused, cut off, or slow on a machine with much to do.
            assert process.poll() is None, server.log.read_text() if server.log.exists() else "it never began"
            time.sleep(0.25)
    pytest.fail(server.log.read_text())


@contextmanager
def held_up(server: Server) -> Iterator[None]:
    """No run goes on meanwhile, however fast the machine is, once one is under way."""
    _wait_until_running(server)
    family = psutil.Process(server.pid).children(recursive=True)
    workers = [each for each in family if "dpcore.workspace.runs.worker" in each.cmdline()]
    assert workers
    for worker in workers:
        worker.suspend()
    try:
        yield
    finally:
        for worker in workers:
            worker.resume()


def _wait_until_running(server: Server) -> None:
    with server.service() as service:
        dataset = service.dataset(server.dataset).id
        for _ in range(WAIT // 10):
            if any(run.step for run in service.runs(dataset)):
                return
            time.sleep(0.01)
    pytest.fail("no run is under way")


def spent(server: Server) -> tuple[Decimal, int, int]:
    """What was asked for and counts, how many runs there are and how many reservations.

    No more is gone from the budget than these runs cost.
    """
    with server.service() as service:
        [info] = [info for info in service.datasets() if server.dataset in ("", info.name)]
        balance, runs = service.balance(info.id), service.runs(info.id)
        reserved = [e for e in service.ledger_entries(info.id) if e.kind == "reserve"]
    counted = {run.id: run.request.epsilon for run in runs if run.charged}
    losses = [run_loss(e.epsilon, e.delta, e.rho) for e in reserved if e.run_id in counted]
    assert 1 - balance.left == PrivacyFilter(balance.cap, balance.delta).share(total_loss(losses))
    return sum(counted.values(), Decimal(0)), len(runs), len(reserved)
