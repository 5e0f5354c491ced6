"""Invented patients of a ward, and runs on them."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from dpcore.domain.schemas.schema import Schema
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import NOTHING, pure_loss
from dpcore.workspace.ledger.accounts import Balance, CapState
from dpcore.workspace.ledger.requests import Quote, RunRequest, RunStatus
from pages.components.visitor import access

SCHEMA = Schema.from_text(
    """
version: 1
name: ward
description: Invented patients.
max_rows: 2000
columns:
  - {name: age, type: integer, lower: 20, upper: 100, bins: 8}
  - {name: sex, type: categorical, categories: [female, male]}
  - {name: died, type: boolean, target: true}
"""
)


def ward(rows: int = 1500) -> pd.DataFrame:
    """Invented patients: the old die more often."""
    draw = np.random.default_rng(0)
    age = draw.integers(20, 101, rows)
    died = draw.random(rows) < np.where(age > 70, 0.6, 0.1)
    sex = draw.choice(["female", "male"], rows)
    return pd.DataFrame({"age": age, "sex": sex, "died": np.where(died, "yes", "no")})


def add_ward(*, public: bool = False, budget: str = "3", delta: str | None = None) -> str:
    service, at = access.installation(), None if delta is None else Decimal(delta)
    info = service.add_dataset(ward(), SCHEMA, budget=Decimal(budget), delta=at, public=public)
    return str(info.id)


def balance(cap: str, spent: str, left: str, **more: Any) -> Balance:
    """A budget of pure runs."""
    loss, (own, room) = pure_loss(Decimal(spent)), (PrivacyFilter(Decimal(most), Decimal(0)) for most in (cap, left))
    return Balance((CapState(own, loss, loss), CapState(room, NOTHING, NOTHING)), **more)


def quote(dataset_id: str, epsilon: str = "0.5", algorithm: str = "rule_list", **more: Any) -> Quote:
    """Price of a run; of a rule list, as :func:`fit` makes it."""
    if algorithm == "rule_list":
        more = {"parameters": {"sampler": "pool", "pool_size": 500}, **more}
    request = RunRequest(dataset_id=dataset_id, algorithm=algorithm, target="died", epsilon=Decimal(epsilon), **more)
    return access.installation().quote(request)


def submit(dataset_id: str, algorithm: str, epsilon: str, target: str, **parameters: object) -> str:
    """Spend on a run and return its id."""
    request = RunRequest(
        dataset_id=dataset_id,
        algorithm=algorithm,
        target=target,
        epsilon=epsilon,  # type: ignore[arg-type]
        parameters=parameters,
    )
    run_id = access.installation().submit(request, os.urandom(8).hex())
    status = access.installation().wait(run_id, 60)
    assert status.state == "done", status.message
    return str(run_id)


def fit(dataset_id: str, epsilon: str = "0.5", target: str = "died", **more: object) -> str:
    """Spend on a small rule list."""
    return submit(dataset_id, "rule_list", epsilon, target, **{"sampler": "pool", "pool_size": 500, **more})


def release_of(run_id: str) -> str:
    """Id of the result of a run."""
    found = access.service().run(run_id).release_id
    assert found is not None
    return str(found)


def run_status(dataset_id: str, run_id: str, state: str, **more: Any) -> RunStatus:
    """Where a run is that nobody has made."""
    request = RunRequest(dataset_id=dataset_id, target="died", epsilon=Decimal("0.5"))
    facts = {"step": "choosing a list", "done": 1, "total": 2, "release_id": None, "message": "A fixed sentence."}
    facts |= {"charged": state != "queued", "analyst": "local", "created": datetime(2026, 1, 2, tzinfo=UTC)}
    return RunStatus(id=run_id, state=state, request=request, **facts | more)
