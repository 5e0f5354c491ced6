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
from sqlalchemy.engine import Engine

from benchmarks.records import Record
from dpcore.domain.columns import BooleanColumn
from dpcore.domain.schema import Schema
from dpcore.privacy.budgets import default_delta
from dpcore.privacy.losses import pure_loss
from dpcore.workspace.installation import open_installation
from dpcore.workspace.ledger import Ledger
from dpcore.workspace.tables import datasets, utc_now
from dpcore.workspace.transactions import write

SUITE = "ledger"
PROCESSES = 32
#: Most seconds that 99 of 100 reservations may take.
GOAL = 2.0
_COST, _BUDGET = Decimal("0.001"), Decimal(1000)
_DATASET = "data"
_SCHEMA = Schema(name=_DATASET, max_rows=1000, columns=(BooleanColumn(name="ill"),))
#: One of so many processes is killed, each at a moment of its own.
_KILLED = 4


def run(url: str | None = None, *, processes: int = PROCESSES, quick: bool) -> Iterator[Record]:
    """Let processes reserve and touch for some seconds; say how long reservations took.

    Parameters
    ----------
    url : str, optional
        Database. Default: SQLite in a folder for temporary files.
    """
    seconds = 10.0 if quick else 30.0
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        chosen = url or f"sqlite:///{home / 'frostglass.db'}"
        engine = open_installation(home, chosen)
        _open_account(engine)
        took = np.array(_crowd(home, chosen, processes, seconds))
        _check(Ledger(engine), len(took), processes)
        engine.dispose()
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


def _open_account(engine: Engine) -> None:
    row = {
        "id": _DATASET,
        "name": _DATASET,
        "schema": _SCHEMA.to_json(indent=None),
        "schema_hash": _SCHEMA.hash,
        "population": _DATASET,
        "public": True,
        "truth": "",
        "created": utc_now(),
    }
    write(engine, lambda connection: connection.execute(datasets.insert().values(**row)))
    Ledger(engine).open_account(_DATASET, _BUDGET, delta=default_delta(_SCHEMA.max_rows))


def _crowd(home: Path, url: str, processes: int, seconds: float) -> list[float]:
    """Run the processes, kill some of them, and collect the seconds of all reservations."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["benchmarks.ledger"])
    start, times = context.Event(), home / "times"
    times.mkdir()
    crowd = [context.Process(target=_spend, args=(home, url, times / str(n), seconds, start)) for n in range(processes)]
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


def _spend(home: Path, url: str, times: Path, seconds: float, start: Event) -> None:
    """Reserve and touch until the time is over; note each reservation's seconds at once."""
    ledger = Ledger(open_installation(home, url))
    with times.open("w", buffering=1) as notes:
        start.wait()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            nonce, began = os.urandom(16).hex(), time.perf_counter()
            made = ledger.reserve(_DATASET, f"analyst {os.getpid()}", pure_loss(_COST), nonce, "")
            notes.write(f"{time.perf_counter() - began:.6f}\n")
            ledger.touch(made.id)


def _check(ledger: Ledger, noted: int, processes: int) -> None:
    """See that every reservation that was answered is in the ledger; the killed noted not all.

    Raises
    ------
    RuntimeError
        If that is not so.
    """
    made = sum(line.kind == "reserve" for line in ledger.entries(_DATASET))
    if not noted <= made <= noted + processes:
        raise RuntimeError("the ledger does not hold the reservations that were made")
