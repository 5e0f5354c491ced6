"""Data set rows and releases for tests of the ledger, and processes that spend at once."""

from __future__ import annotations

import os
import signal
import threading
from decimal import Decimal
from typing import Any, NamedTuple

from sqlalchemy.engine import Engine

from dpcore.errors import BudgetError
from dpcore.privacy.filters import RHO_SHARE
from dpcore.privacy.losses import RHO_STEP, pure_loss, run_loss
from dpcore.released.release import Release, make_release
from dpcore.workspace.database.database import open_database
from dpcore.workspace.database.database_tables import datasets, utc_now
from dpcore.workspace.database.transactions import write
from dpcore.workspace.ledger.accounts import Balance
from dpcore.workspace.ledger.ledger import Ledger
from tests.support.workspaces.fake_learner import FakeLearner, FakeModel, small_schema

ATTEMPTS = 12
COST = Decimal("0.07")
#: Runs that are not pure, each of a little more than this rho, and the delta of the cap that they are under.
COMPOSED_EPSILON, COMPOSED_RHO, COMPOSED_DELTA = Decimal("0.2"), Decimal("0.001"), Decimal("0.000001")


def add_row(engine: Engine, dataset_id: str, *, public: bool, population: str = "") -> None:
    schema = small_schema()
    row = {
        "id": dataset_id,
        "name": dataset_id,
        "schema": schema.to_json(indent=None),
        "schema_hash": schema.hash,
        "public": public,
        "truth": "",
        "created": utc_now(),
        "population": population or dataset_id,
        "version": 1,
    }
    write(engine, lambda connection: connection.execute(datasets.insert().values(**row)))


def release_for(epsilon: Decimal, dataset_id: str = "data", *, secure: bool = True, schema: Any = None) -> Release:
    plan = FakeLearner().plan(schema or small_schema(), "ill", epsilon, {})
    return make_release("fake", plan, FakeModel(rows=1), secure=secure, dataset_id=dataset_id)


def spend(url: str, number: int, start: threading.Barrier) -> None:
    """Reserve, touch and commit again and again; two of four processes die in the middle."""
    ledger = Ledger(open_database(url))
    start.wait()
    ledger.reserve("data", "ann", pure_loss(COST), "contested", "hash")
    for attempt in range(ATTEMPTS):
        try:
            nonce = f"{number}-{attempt}"
            run = ledger.reserve("data", f"analyst {number}", pure_loss(COST), nonce, "hash").id
        except BudgetError:
            continue
        if number % 4 == 0 and attempt == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        ledger.touch(run)
        if number % 4 == 1 and attempt == 2:
            os.kill(os.getpid(), signal.SIGKILL)
        ledger.commit(run, release_for(COST))


def spend_on_kin(url: str, number: int, start: threading.Barrier) -> None:
    """Reserve and commit again and again on one of three data sets; the first process dies in the middle."""
    ledger, dataset = Ledger(open_database(url)), ("data", "second", "third", "second")[number]
    start.wait()
    for attempt in range(ATTEMPTS):
        try:
            run = ledger.reserve(dataset, f"analyst {number}", pure_loss(COST), f"{number}-{attempt}", "hash").id
        except BudgetError:
            continue
        ledger.touch(run)
        if number == 0 and attempt == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        ledger.commit(run, release_for(COST, dataset))


def compose(url: str, number: int, start: threading.Barrier) -> None:
    """Reserve runs that are not pure, each of another rho, until five in a row do not fit."""
    ledger = Ledger(open_database(url))
    analyst = "limited" if number % 2 else f"analyst {number}"
    start.wait()
    attempt = refused = 0
    while refused < 5:
        attempt += 1
        rho = COMPOSED_RHO + (1000 * number + attempt) * RHO_STEP
        loss = run_loss(COMPOSED_EPSILON, COMPOSED_DELTA * RHO_SHARE, rho)
        try:
            ledger.reserve("data", analyst, loss, f"{number}-{attempt}", "hash")
        except BudgetError:
            refused += 1


def create_tables(url: str) -> None:
    open_database(url)


class Amounts(NamedTuple):
    """Parts of a budget without a delta, in epsilon; shares are whole millionths, so that these have three digits."""

    spent: Decimal
    reserved: Decimal
    left: Decimal


def amounts(balance: Balance) -> Amounts:
    """Shares of a budget without a delta as parts of its epsilon."""
    return Amounts(*(round(share * balance.cap, 3) for share in (balance.spent, balance.reserved, balance.left)))
