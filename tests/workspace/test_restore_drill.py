"""A drill: back up, spend, lose the database, restore, and enter what was forgotten."""

from __future__ import annotations

import gc
from decimal import Decimal
from pathlib import Path

import pandas as pd
import pytest

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, InstallationError, NotFoundError, RequestError
from dpcore.service import Service
from dpcore.workspace.database.home import Home
from dpcore.workspace.database.installation import look
from dpcore.workspace.ledger.requests import RunRequest
from dpcore.workspace.upkeep.recovery import accept
from tests.support.servers.databases import KINDS, fresh_url
from tests.support.workspaces.accounts import amounts
from tests.support.workspaces.backups import back_up, restore

SCHEMA = Schema.from_mapping(
    {"name": "ward", "max_rows": 100, "columns": [{"name": name, "type": "boolean"} for name in ("smoker", "ill")]}
)
ROWS = pd.DataFrame({"smoker": ["yes", "no"] * 20, "ill": ["yes", "no"] * 20})


def spend(service: Service, epsilon: str, nonce: str) -> None:
    request = RunRequest(dataset_id="ward", algorithm="tree", target="ill", epsilon=epsilon)
    assert service.wait(service.submit(request, nonce)).state == "done"


@pytest.mark.parametrize("kind", [KINDS[0], *(pytest.param(kind, marks=pytest.mark.slow) for kind in KINDS[1:])])
def test_restoring_gives_no_budget_back_once_the_operator_has_done_the_steps(kind: str, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    with Service(tmp_path / "home", url, workers=0) as service:
        service.add_dataset(ROWS, SCHEMA, budget=Decimal(1), delta=Decimal(0))
        spend(service, "0.25", "before")
        copy = back_up(url, tmp_path)
        spend(service, "0.5", "after")
        known = service.balance("ward")
        certificates = [release.certificate for release in service.releases("ward")]
    gc.collect()  # The process that an operator stops has no connection left.
    restore(url, copy)
    home = tmp_path / "home"
    with pytest.raises(InstallationError, match="older than this home folder"):
        Service(home, url, workers=0)
    code = look(Home(home), url).code
    accept(home, url, code=code, note="restored from the copy", close=False)
    with Service(tmp_path / "home", url, workers=0) as service:
        assert service.damaged() == []
        forgotten = service.balance("ward")
        assert (forgotten.spent, forgotten.left) == (Decimal("0.25"), Decimal("0.75"))
        missing = sum((card.epsilon for card in certificates), Decimal(0)) - forgotten.spent
        service.charge("ward", missing, note="runs since the copy, from certificates")
        assert service.balance("ward") == known
        request = RunRequest(dataset_id="ward", algorithm="tree", target="ill", epsilon="0.5")
        with pytest.raises(BudgetError, match="50 % of this data set's budget, but 25 % is left"):
            service.submit(request, "again")
        assert [entry.kind for entry in service.ledger_entries("ward")][-1] == "charge"
        spend(service, "0.25", "rest")


def test_a_charge_may_go_beyond_the_cap_and_then_nothing_is_left(service: Service) -> None:
    service.add_dataset(ROWS, SCHEMA, budget=Decimal(1), analyst_cap=Decimal("0.5"))
    balance = service.charge("ward", Decimal(3), Decimal("0.000001"), note="nobody knows")
    assert (balance.total.epsilon, amounts(balance).left, balance.total.delta) == (3, 0, Decimal("0.000001"))
    assert balance.epsilon >= 3
    assert amounts(service.balance("ward")).left == 0
    request = RunRequest(dataset_id="ward", algorithm="tree", target="ill", epsilon="0.1")
    with pytest.raises(BudgetError):
        service.submit(request, "one")


def test_what_cannot_be_charged_is_said(service: Service) -> None:
    service.add_dataset(ROWS, SCHEMA, budget=Decimal(1))
    with pytest.raises(RequestError, match="Say in the note"):
        service.charge("ward", Decimal(1), note=" ")
    with pytest.raises(BudgetError):
        service.charge("ward", Decimal(-1), note="a refund by the back door")
    with pytest.raises(NotFoundError):
        service.charge("nobody", Decimal(1), note="what")
    assert amounts(service.balance("ward")).spent == 0
