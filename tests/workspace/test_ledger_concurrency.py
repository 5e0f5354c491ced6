"""Many processes spend on one data set at once; some are killed half-way."""

from __future__ import annotations

import signal
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import run_loss, total_loss
from dpcore.workspace.database.database import open_database
from dpcore.workspace.database.database_tables import releases
from dpcore.workspace.database.transactions import read
from dpcore.workspace.ledger.grants import Grants
from dpcore.workspace.ledger.ledger import Ledger
from tests.support.servers.databases import KINDS, fresh_url, ready_url
from tests.support.workspaces.accounts import COMPOSED_DELTA, COST, add_row, amounts, compose, create_tables, spend
from tests.support.workspaces.forked import CONTEXT, at_once

#: Processes that spend at once, and a cap that they reach.
CROWDS = [(8, Decimal("1.85")), pytest.param(16, Decimal("5.05"), marks=pytest.mark.slow)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("processes", "cap"), CROWDS)
def test_many_processes_never_exceed_the_cap(kind: str, processes: int, cap: Decimal, tmp_path: Path) -> None:
    fits = int(cap // COST)
    url = ready_url(kind, tmp_path)
    engine = open_database(url)
    add_row(engine, "data", public=False)
    ledger = Ledger(engine)
    ledger.open_account("data", cap)

    codes = at_once(spend, url, processes)
    assert set(codes) <= {0, -signal.SIGKILL}
    assert codes.count(0) >= processes // 2

    lines = ledger.entries("data")
    counts = Counter(line.kind for line in lines)
    assert counts["reserve"] == fits
    assert sum(line.epsilon for line in lines if line.kind == "reserve") <= cap
    balance = ledger.balance("data")
    assert balance.total.epsilon == amounts(balance).spent + amounts(balance).reserved == fits * COST
    assert amounts(balance).left == cap - fits * COST < COST

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
@pytest.mark.parametrize("processes", [8, pytest.param(32, marks=pytest.mark.slow)])
def test_processes_never_exceed_a_cap_in_rho_by_a_digit(kind: str, processes: int, tmp_path: Path) -> None:
    """All spend at once, one half of them with a limit of their own, until nothing fits."""
    url = ready_url(kind, tmp_path)
    engine = open_database(url)
    add_row(engine, "data", public=False)
    ledger = Ledger(engine)
    ledger.open_account("data", Decimal(2), delta=COMPOSED_DELTA)
    Grants(engine).grant("data", "limited", Decimal(1), "half of them", actor=None)

    assert at_once(compose, url, processes) == [0] * processes

    lines = [line for line in ledger.entries("data") if line.kind == "reserve"]
    for analyst, epsilon in ((None, 2), ("limited", 1)):
        cap = PrivacyFilter(Decimal(epsilon), COMPOSED_DELTA)
        own = [line for line in lines if analyst in (None, line.analyst)]
        total = total_loss(run_loss(line.epsilon, line.delta, line.rho) for line in own)
        assert total == ledger.balance("data", analyst).total
        assert total.epsilon > 3 * epsilon, "far more than adding would take"
        assert sum(line.rho for line in own) <= cap.rho
        assert len({line.rho for line in own}) > 1
    smallest = min((run_loss(line.epsilon, line.delta, line.rho) for line in lines), key=lambda loss: loss.rho)
    whole = total_loss(run_loss(line.epsilon, line.delta, line.rho) for line in lines)
    assert not PrivacyFilter(Decimal(2), COMPOSED_DELTA).accepts(whole + smallest), "nothing more fits"
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
