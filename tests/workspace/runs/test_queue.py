"""Whose turn it is: nobody keeps others waiting with runs that cost nearly nothing."""

from __future__ import annotations

from decimal import Decimal

import pytest
from sqlalchemy.engine import Engine

from dpcore.errors import ConflictError
from dpcore.privacy.losses import pure_loss
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.runs import queue
from dpcore.workspace.runs.processes import ProcessIdentity
from dpcore.workspace.runs.queue import RunQueue
from tests.support.workspaces.accounts import add_row, amounts
from tests.support.workspaces.fake_learner import fake_request, register

COST = Decimal("0.001")
register()


@pytest.fixture
def engine(engine: Engine) -> Engine:
    add_row(engine, "data", public=False)
    Ledger(engine).open_account("data", Decimal(2))
    return engine


def add(engine: Engine, analyst: str, nonce: str) -> str:
    return RunQueue(engine).reserve(fake_request("data"), analyst, pure_loss(COST), nonce, "hash").id


def claimed(engine: Engine) -> str:
    job = RunQueue(engine).claim(ProcessIdentity.mine())
    assert job is not None
    return job.run_id


def test_who_has_the_fewest_running_comes_next(engine: Engine) -> None:
    """Also while nothing ends; what each run is told goes before it comes true."""
    of = {add(engine, who, f"{place}"): f"{who}{place}" for place, who in enumerate("aaaabbac")}
    told = {of[status.id]: status.ahead for status in RunQueue(engine).statuses(active=True)}
    assert sorted(told, key=lambda name: told[name]) == ["a0", "b4", "c7", "a1", "b5", "a2", "a3", "a6"]
    assert [of[claimed(engine)] for _ in range(3)] == ["a0", "b4", "c7"]
    told = {of[status.id]: status.ahead for status in RunQueue(engine).statuses(active=True)}
    assert [told[name] for name in ("a0", "b4", "c7")] == [0, 0, 0]
    assert [told[name] for name in ("a1", "b5", "a2", "a3", "a6")] == [3, 4, 5, 6, 7]
    [b4] = [run for run, name in of.items() if name == "b4"]
    RunQueue(engine).end(b4, "failed", "It ended.")
    assert RunQueue(engine).status(b4).ahead == 0
    assert [of[claimed(engine)] for _ in range(3)] == ["b5", "a1", "a2"]


def test_a_run_that_is_named_is_taken_out_of_turn(engine: Engine) -> None:
    first, second = add(engine, "ann", "1"), add(engine, "ann", "2")
    job = RunQueue(engine).claim(ProcessIdentity.mine(), second)
    assert job is not None
    assert job.run_id == second
    assert claimed(engine) == first
    assert RunQueue(engine).claim(ProcessIdentity.mine()) is None


def test_one_person_has_so_many_runs_at_once(engine: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "MOST_ACTIVE", 2)
    first, _ = add(engine, "ann", "1"), add(engine, "ann", "2")
    with pytest.raises(ConflictError, match="runs that have not ended"):
        add(engine, "ann", "3")
    assert amounts(Ledger(engine).balance("data")).reserved == 2 * COST, "nothing is reserved for what is refused"
    assert add(engine, "ann", "1") == first, "asked again, it is the same run"
    add(engine, "bob", "4")
    RunQueue(engine).cancel(first, "ann")
    add(engine, "ann", "3")
