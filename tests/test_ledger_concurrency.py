"""Sixteen processes spend on one data set at once; a quarter of them are killed half-way."""

from __future__ import annotations

import multiprocessing
import multiprocessing.synchronize
import os
import signal
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpcore.database import open_database, read, releases
from dpcore.errors import BudgetError
from dpcore.ledger import Ledger
from tests.databases import KINDS, fresh_url
from tests.test_ledger import add_row, release_for

PROCESSES, ATTEMPTS = 16, 12
COST, CAP = Decimal("0.07"), Decimal("5.05")
FITS = int(CAP // COST)


def spend(url: str, number: int, start: multiprocessing.synchronize.Event) -> None:
    """Reserve, touch and commit again and again; every fourth process dies in the middle."""
    ledger = Ledger(open_database(url))
    start.wait()
    ledger.reserve("data", "ann", COST, Decimal(0), "contested", "hash")
    for attempt in range(ATTEMPTS):
        try:
            nonce = f"{number}-{attempt}"
            run = ledger.reserve("data", f"analyst {number}", COST, Decimal(0), nonce, "hash").id
        except BudgetError:
            continue
        if number % 4 == 0 and attempt == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        ledger.touch(run)
        if number % 4 == 1 and attempt == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        ledger.commit(run, release_for(COST))


@pytest.mark.parametrize("kind", KINDS)
def test_sixteen_processes_never_exceed_the_cap(kind: str, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    engine = open_database(url)
    add_row(engine, "data", public=False)
    ledger = Ledger(engine)
    ledger.open_account("data", CAP)

    context = multiprocessing.get_context("spawn")
    start = context.Event()
    crowd = [context.Process(target=spend, args=(url, n, start)) for n in range(PROCESSES)]
    for process in crowd:
        process.start()
    start.set()
    for process in crowd:
        process.join(timeout=300)
    codes = [process.exitcode for process in crowd]
    assert set(codes) <= {0, -signal.SIGKILL}
    assert codes.count(0) >= PROCESSES // 2

    lines = ledger.entries("data")
    counts = Counter(line.kind for line in lines)
    assert counts["reserve"] == FITS
    assert sum(line.epsilon for line in lines if line.kind == "reserve") <= CAP
    balance = ledger.balance("data")
    assert balance.spent + balance.reserved == FITS * COST
    assert balance.left == CAP - FITS * COST < COST

    committed = Counter(line.run_id for line in lines if line.kind == "commit")
    stored = sa.select(releases.c.run_id)
    released = read(engine, lambda connection: connection.execute(stored).scalars().all())
    assert set(committed.values()) == {1}
    assert sorted(committed) == sorted(released)
    reserved = {line.run_id for line in lines if line.kind == "reserve"}
    assert set(released) <= reserved
    contested = [line for line in lines if line.kind == "reserve" and line.analyst == "ann"]
    assert len(contested) <= 1
    assert [line.sequence for line in lines] == sorted({line.sequence for line in lines})


def opener(url: str) -> None:
    open_database(url)


@pytest.mark.parametrize("kind", KINDS)
def test_many_processes_may_create_the_tables_at_once(kind: str, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    context = multiprocessing.get_context("spawn")
    crowd = [context.Process(target=opener, args=(url,)) for _ in range(4)]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join(timeout=120)
    assert [process.exitcode for process in crowd] == [0] * 4
