"""How long a reservation takes while many processes spend at once and some are killed."""

from __future__ import annotations

import multiprocessing
import os
import random
import tempfile
import time
from collections.abc import Iterator
from decimal import Decimal
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.records import Record
from dpcore.domain.columns import BooleanColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.privacy.losses import pure_loss
from dpcore.service import Service
from dpcore.workspace.database.installation import open_installation
from dpcore.workspace.ledger.ledger import Ledger

SUITE = "ledger"
PROCESSES = 32
#: Most seconds that 99 of 100 reservations may take.
GOAL = 2.0
_COST, _BUDGET = Decimal("0.001"), Decimal(1000)
#: For which they spend: of a whole run, and of a quick one.
_SECONDS = (30.0, 10.0)
_SCHEMA = Schema(name="data", max_rows=1000, columns=(BooleanColumn(name="ill"),))
#: One of so many processes is killed, each at a moment of its own.
_KILLED = 4


def run(url: str | None = None, *, processes: int = PROCESSES, quick: bool) -> Iterator[Record]:
    """Let processes reserve and touch for some seconds; say how long reservations took.

    Parameters
    ----------
    url : str, optional
        Database. Default: SQLite in a folder for temporary files.
    """
    seconds = _SECONDS[quick]
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        chosen = url or f"sqlite:///{home / 'frostglass.db'}"
        dataset = _add_dataset(home, chosen)
        took = np.array(_crowd(home, chosen, dataset, processes, seconds))
        _check(home, chosen, dataset, len(took), processes)
    data = f"{chosen.partition(':')[0]}, {processes} processes"
    for name, share, goal in (("median", 50, None), ("99 %", 99, GOAL), ("worst", 100, None)):
        yield Record(
            SUITE,
            data,
            "reserve",
            None,
            f"seconds, {name}",
            float(np.percentile(took, share)),
            float("nan"),
            len(took),
            goal,
            "goal" if goal else "",
        )


def _add_dataset(home: Path, url: str) -> str:
    """Store a small data set, whose budget is to be spent; its id."""
    with Service(home, url, workers=0) as service:
        records = pd.DataFrame({"ill": ["yes", "no"] * 10})
        return service.add_dataset(records, _SCHEMA, budget=_BUDGET, public=True).id


def _crowd(home: Path, url: str, dataset: str, processes: int, seconds: float) -> list[float]:
    """Run the processes, kill some of them, and collect the seconds of all reservations."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.ledger"])
    start, times = context.Event(), home / "times"
    times.mkdir()
    crowd = [
        context.Process(target=_spend, args=(home, url, dataset, times / str(n), seconds, start))
        for n in range(processes)
    ]
    for process in crowd:
        process.start()
    while len(list(times.iterdir())) < processes:
        time.sleep(0.05)
    start.set()
    for victim in crowd[::_KILLED]:
        time.sleep(seconds * _KILLED / processes * random.uniform(0.2, 0.8))
        victim.kill()
    for process in crowd:
        process.join()
    return [float(line) for file in times.iterdir() for line in file.read_text().split()]


def _spend(home: Path, url: str, dataset: str, times: Path, seconds: float, start: Event) -> None:
    """Reserve and touch until the time is over; note each reservation's seconds at once."""
    ledger = Ledger(open_installation(home, url))
    with times.open("w", buffering=1) as notes:
        start.wait()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            nonce, began = os.urandom(16).hex(), time.perf_counter()
            made = ledger.reserve(dataset, f"analyst {os.getpid()}", pure_loss(_COST), nonce, "")
            notes.write(f"{time.perf_counter() - began:.6f}\n")
            ledger.touch(made.id)


def _check(home: Path, url: str, dataset: str, noted: int, processes: int) -> None:
    """See that every reservation that was answered is in the ledger; the killed noted not all.

    Raises
    ------
    RuntimeError
        If that is not so.
    """
    engine = open_installation(home, url)
    made = sum(line.kind == "reserve" for line in Ledger(engine).entries(dataset))
    engine.dispose()
    if not noted <= made <= noted + processes:
        raise RuntimeError("the ledger does not hold the reservations that were made")
