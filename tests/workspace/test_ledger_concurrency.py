"""Sixteen processes spend on one data set at once; some are killed half-way."""

from __future__ import annotations

import multiprocessing
import signal
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpcore.workspace.database import open_database, read, releases
from dpcore.workspace.ledger import Ledger
from tests.support.accounts import COST, add_row, create_tables, spend
from tests.support.databases import KINDS, fresh_url

PROCESSES = 16
CAP = Decimal("5.05")
FITS = int(CAP // COST)
#: Programs that share nothing but what they have imported, which is what takes time.
CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["tests.support.accounts"])


@pytest.mark.parametrize("kind", KINDS)
def test_sixteen_processes_never_exceed_the_cap(kind: str, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    engine = open_database(url)
    add_row(engine, "data", public=False)
    ledger = Ledger(engine)
    ledger.open_account("data", CAP)

    start = CONTEXT.Barrier(PROCESSES)
    crowd = [CONTEXT.Process(target=spend, args=(url, n, start)) for n in range(PROCESSES)]
    for process in crowd:
        process.start()
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
    assert len(contested) == 1
    assert [line.sequence for line in lines] == sorted({line.sequence for line in lines})


@pytest.mark.parametrize("kind", KINDS)
def test_many_processes_may_create_the_tables_at_once(kind: str, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    crowd = [CONTEXT.Process(target=create_tables, args=(url,)) for _ in range(4)]
    for process in crowd:
        process.start()
    for process in crowd:
        process.join(timeout=120)
    assert [process.exitcode for process in crowd] == [0] * 4
