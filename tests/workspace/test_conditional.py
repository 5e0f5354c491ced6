"""Runs whose guarantee has a condition: off on private records unless the custodian allows them for one data set."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import pytest
from sqlalchemy.engine import Engine

from dpcore.errors import BudgetError, RequestError
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import NOT_STATED, NOTHING, Loss, pure_loss, run_loss, total_loss
from dpcore.released.release import Release, make_release
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.upkeep.upkeep import Upkeep
from tests.support.workspaces.accounts import add_row, release_for
from tests.support.workspaces.fake_learner import FakeLearner, FakeModel, small_schema

HALF, NONE = Decimal("0.5"), Decimal(0)
CHAIN = run_loss(HALF, NONE, NOT_STATED)
DELTA = Decimal("0.000001")


@pytest.fixture
def engine(engine: Engine) -> Engine:
    add_row(engine, "data", public=False)
    add_row(engine, "sibling", public=False, population="data")
    add_row(engine, "shown", public=True)
    for name in ("data", "shown"):
        Ledger(engine).open_account(name, Decimal(5), delta=DELTA)
    return engine


def allow(engine: Engine, allowed: bool = True, dataset: str = "data", note: str = "a trial") -> None:
    Upkeep(engine).allow_conditional(dataset, allowed, note=note, actor="office")


def reserve(engine: Engine, loss: Loss = CHAIN, nonce: str = "n", dataset: str = "data") -> str:
    return Ledger(engine).reserve(dataset, "ann", loss, nonce, "hash").id


def conditional(dataset: str = "data", *, allowed: bool = True) -> Release:
    plan = replace(FakeLearner().plan(small_schema(), "ill", HALF, {}), guarantee="conditional on convergence")
    model = FakeModel(rows=1)
    return make_release("fake", plan, model, secure=True, dataset_id=dataset, conditional_allowed=allowed)


def test_they_are_refused_before_anything_is_spent(engine: Engine) -> None:
    with pytest.raises(BudgetError, match="only the custodian of the data set can allow them"):
        reserve(engine)
    assert Ledger(engine).balance("data").total == NOTHING


def test_the_custodian_allows_them_for_one_data_set_and_no_other(engine: Engine) -> None:
    allow(engine)
    ledger, run = Ledger(engine), reserve(engine)
    ledger.touch(run)
    ledger.commit(run, conditional())
    with pytest.raises(BudgetError, match="Markov chain"):
        reserve(engine, nonce="other", dataset="sibling")
    line = ledger.entries("data")[1]
    assert (line.kind, line.dataset_id, line.actor, line.note) == ("allow", "data", "office", "a trial")
    assert [entry.rho for entry in ledger.entries("data") if entry.run_id] == [0, 0, 0]


def test_a_switch_that_was_turned_off_refuses_what_waits(engine: Engine) -> None:
    allow(engine)
    run = reserve(engine)
    allow(engine, False, note="")
    with pytest.raises(BudgetError, match="Markov chain"):
        Ledger(engine).touch(run)
    Ledger(engine).refund(run, "not allowed any more")
    with pytest.raises(BudgetError):
        reserve(engine, nonce="again")
    allow(engine)
    reserve(engine, nonce="once more")


def test_what_was_reserved_as_unconditional_does_not_become_a_release_with_a_condition(engine: Engine) -> None:
    run = reserve(engine, pure_loss(HALF))
    Ledger(engine).touch(run)
    told = conditional()
    with_rho = told.model_copy(update={"certificate": told.certificate.model_copy(update={"rho": Decimal("0.1")})})
    for release in (told, with_rho):
        with pytest.raises(RequestError, match="not stored"):
            Ledger(engine).commit(run, release)
    allow(engine)
    chain = reserve(engine, nonce="chain")
    Ledger(engine).touch(chain)
    for release in (release_for(HALF), conditional(allowed=False)):
        with pytest.raises(RequestError, match="not stored"):
            Ledger(engine).commit(chain, release)


def test_on_public_records_they_are_free(engine: Engine) -> None:
    run = reserve(engine, dataset="shown")
    Ledger(engine).touch(run)
    Ledger(engine).commit(run, conditional("shown"))
    with pytest.raises(RequestError, match="public"):
        allow(engine, dataset="shown")


def test_their_epsilons_are_added_and_older_lines_keep_their_rho(engine: Engine) -> None:
    """What earlier versions charged for a chain had a rho, and stays as it was charged."""
    old = run_loss(Decimal("0.02"), NONE, Decimal("0.0002"))
    for number in range(100):
        reserve(engine, old, f"old {number}")
    before = Ledger(engine).balance("data").epsilon
    assert before == PrivacyFilter(Decimal(5), DELTA).composed(total_loss([old] * 100)) < 1
    allow(engine)
    small = run_loss(Decimal("0.02"), NONE, NOT_STATED)
    spent = []
    for number in range(3):
        reserve(engine, small, f"new {number}")
        spent.append(Ledger(engine).balance("data").epsilon)
    assert spent[2] - spent[1] == spent[1] - spent[0] == Decimal("0.02")
    assert Ledger(engine).balance("data").total.without_rho == Decimal("0.06")
