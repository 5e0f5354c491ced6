"""Answers are given again as long as nobody has changed the database, and no longer."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from pathlib import Path
from random import Random

import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from dpcore.privacy.losses import pure_loss
from dpcore.workspace.database import transactions
from dpcore.workspace.database.database import open_database
from dpcore.workspace.database.database_tables import datasets
from dpcore.workspace.database.transactions import read, write
from dpcore.workspace.files.store import Store
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.runs.queue import RunQueue
from tests.support.servers.databases import KINDS, fresh_url
from tests.support.workspaces.accounts import add_row

COST = Decimal("0.1")


@pytest.fixture(params=KINDS)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return fresh_url(request.param, tmp_path)


class Counting:
    """How many data sets there are, and how often the database was asked."""

    def __init__(self, engine: Engine) -> None:
        self.asked = 0
        self._engine = engine

    def __call__(self) -> int:
        return read(self._engine, self._count, question="how many")

    def _count(self, connection: Connection) -> int:
        self.asked += 1
        return int(connection.execute(sa.select(sa.func.count()).select_from(datasets)).scalar_one())


def test_what_has_not_changed_is_asked_once_of_a_file_and_always_of_a_server(url: str) -> None:
    count = Counting(open_database(url))
    assert [count() for _ in range(4)] == [0] * 4
    assert count.asked == (1 if url.startswith("sqlite") else 4)


def test_a_change_is_seen_at_once_whoever_makes_it(url: str) -> None:
    engine, other = open_database(url), open_database(url)
    count = Counting(engine)
    assert (count(), count()) == (0, 0)
    add_row(engine, "own", public=True)
    assert (count(), count()) == (1, 1)
    add_row(other, "of another engine", public=True)
    assert (count(), count()) == (2, 2)
    with ThreadPoolExecutor(1) as thread:
        thread.submit(add_row, engine, "of another thread", public=True).result()
    assert (count(), count()) == (3, 3)
    line = (
        "import sys; from dpcore.workspace.database.database import open_database;"
        "from tests.support.workspaces.accounts import add_row;"
        "add_row(open_database(sys.argv[1]), 'elsewhere', public=True)"
    )
    subprocess.run([sys.executable, "-c", line, url], check=True, cwd=Path(__file__).parents[3])
    assert (count(), count()) == (4, 4)


def test_what_was_taken_back_was_never_there(url: str) -> None:
    engine = open_database(url)
    count = Counting(engine)
    assert count() == 0

    def fail(connection: Connection) -> None:
        connection.execute(datasets.delete())
        raise ZeroDivisionError

    add_row(engine, "kept", public=True)
    with pytest.raises(ZeroDivisionError):
        write(engine, fail)
    assert (count(), count()) == (1, 1)


def test_a_change_while_an_answer_is_looked_up_is_not_missed(url: str) -> None:
    """It comes after the look at the numbers of the connection, and before the transaction."""
    engine, other = open_database(url), open_database(url)

    def late(connection: Connection) -> int:
        with ThreadPoolExecutor(1) as thread:
            thread.submit(add_row, other, "late", public=True).result()
        return int(connection.execute(sa.select(sa.func.count()).select_from(datasets)).scalar_one())

    seen = read(engine, late, question="how many")
    assert seen in (0, 1)
    assert Counting(engine)() == 1


def test_errors_are_not_kept(url: str) -> None:
    engine = open_database(url)

    def fail(_: Connection) -> int:
        raise ZeroDivisionError

    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            read(engine, fail, question="fails")
    assert read(engine, lambda _: 1, question="fails") == 1


def test_answers_do_not_pile_up(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transactions, "_MOST_ANSWERS", 3)
    engine = open_database(url)
    for number in range(10):
        assert read(engine, lambda _, number=number: number, question=number) == number
    with engine.connect() as connection:
        known = transactions.answers(connection)
    assert known is None or len(known) <= 3


def test_every_answer_is_that_of_somebody_who_has_just_come(url: str, tmp_path: Path) -> None:
    """Two programs spend and take back by turns, while both look at everything all the time."""
    draw, engines, fresh = Random(0), [open_database(url), open_database(url)], open_database(url)
    open_runs: list[str] = []
    for name in ("a", "b"):
        add_row(engines[0], name, public=True)
        Ledger(engines[0]).open_account(name, Decimal(9))
    for step in range(15):
        ledger, act = Ledger(draw.choice(engines)), draw.choice(["reserve", "refund", "touch", "caps"])
        if act == "reserve" or (act != "caps" and not open_runs):
            who = (draw.choice("ab"), draw.choice(["ann", "bob"]))
            open_runs.append(ledger.reserve(*who, pure_loss(COST), f"{step}", "hash").id)
        elif act == "refund":
            ledger.refund(open_runs.pop(), "for a test")
        elif act == "touch":
            ledger.touch(open_runs.pop())
        else:
            ledger.raise_caps(draw.choice("ab"), cap=Decimal(9 + step))
        fresh.dispose()  # Its next connection knows nothing.
        told = [everything(engine, tmp_path) for engine in (fresh, *engines, *engines)]
        assert told == [told[0]] * 5


def everything(engine: Engine, folder: Path) -> object:
    ledger, store = Ledger(engine), Store(folder, engine)
    balances = [ledger.balance(name, who) for name in "ab" for who in (None, "ann", "bob")]
    return balances, store.datasets(), store.dataset("a"), RunQueue(engine).statuses()
