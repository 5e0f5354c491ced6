"""Random days of a ledger, against an account kept by hand."""

from __future__ import annotations

import random
from decimal import Decimal
from pathlib import Path

import pytest

from dpcore.errors import BudgetError
from dpcore.privacy.filters import PrivacyFilter, largest_rho
from dpcore.privacy.losses import NOTHING, Loss, engine_loss, pure_loss, run_loss, total_loss
from dpcore.workspace.database.database import open_database
from dpcore.workspace.ledger.grants import Grants
from dpcore.workspace.ledger.ledger import Ledger
from tests.support.servers.databases import KINDS, ready_url
from tests.support.workspaces.accounts import add_row

NAMES = ("ann", "bob")
CAPS = tuple(map(Decimal, ("0.5", "1", "2", "5")))
DELTAS = tuple(map(Decimal, ("0.00001", "0.000001", "0.00000001")))


class Account:
    """What the ledger should say: runs by name, each with what it cost and whether it began."""

    def __init__(self) -> None:
        self.cap, self.delta = Decimal(2), DELTAS[0]
        self.limits: dict[str, Decimal] = {}
        self.runs: dict[str, tuple[str, Loss, bool]] = {}
        self.outside = NOTHING

    def total(self, analyst: str | None = None, *, begun: bool = False) -> Loss:
        chosen = [loss for name, loss, began in self.runs.values() if analyst in (None, name) and (began or not begun)]
        return total_loss([*chosen, *([self.outside] if analyst is None else [])])

    def filters(self, analyst: str) -> list[tuple[PrivacyFilter, Loss]]:
        own = [(self.limits[analyst], self.total(analyst))] if analyst in self.limits else []
        return [(PrivacyFilter(cap, self.delta), total) for cap, total in [*own, (self.cap, self.total())]]

    def takes(self, analyst: str, loss: Loss) -> bool:
        return all(cap.accepts(total + loss) for cap, total in self.filters(analyst))

    def fits(self, analyst: str, loss: Loss) -> int:
        return min(cap.fitting(total, loss) for cap, total in self.filters(analyst))


def promised(epsilon: Decimal, cap: PrivacyFilter) -> Loss:
    return run_loss(epsilon, cap.run_delta, largest_rho(epsilon, cap.run_delta))


def any_loss(dice: random.Random, cap: PrivacyFilter) -> Loss:
    epsilon = Decimal(dice.randint(1, 900)).scaleb(-3)
    return pure_loss(epsilon) if dice.random() < 0.5 else cap.priced(promised(epsilon, cap))


#: What a ledger adds up is not for a database to say: one of them suffices in the short form.
_WALKS = [
    pytest.param(seed, kind, marks=[pytest.mark.slow] if seed or kind != KINDS[0] else [])
    for seed in (0, 1)
    for kind in KINDS
]


@pytest.mark.parametrize(("seed", "kind"), _WALKS)
def test_a_ledger_accepts_and_says_what_an_account_by_hand_does(seed: int, kind: str, tmp_path: Path) -> None:
    engine = open_database(ready_url(kind, tmp_path))
    add_row(engine, "data", public=False)
    ledger, grants, kept, dice = Ledger(engine), Grants(engine), Account(), random.Random(seed)
    ledger.open_account("data", kept.cap, delta=kept.delta)
    accepted = refused = 0
    for step in range(60):
        what, analyst = dice.random(), dice.choice(NAMES)
        waiting = [run for run, (_, _, began) in kept.runs.items() if not began]
        if what < 0.6:
            loss = any_loss(dice, PrivacyFilter(kept.cap, kept.delta))
            assert (balance := ledger.balance("data", analyst)).fitting(loss) == kept.fits(analyst, loss)
            assert balance.cap_states[-1].adds(loss) >= 0
            if kept.takes(analyst, loss):
                run = ledger.reserve("data", analyst, loss, str(step), "hash").id
                kept.runs[run] = (analyst, loss, False)
                accepted += 1
            else:
                with pytest.raises(BudgetError, match="Not enough budget"):
                    ledger.reserve("data", analyst, loss, str(step), "hash")
                refused += 1
        elif what < 0.75 and waiting:
            ledger.refund(waiting[0], "")
            del kept.runs[waiting[0]]
        elif what < 0.9 and waiting:
            ledger.touch(waiting[0])
            kept.runs[waiting[0]] = (*kept.runs[waiting[0]][:2], True)
        elif what < 0.93:
            kept.cap, kept.delta = dice.choice(CAPS), dice.choice(DELTAS)
            ledger.raise_caps("data", cap=kept.cap, delta=kept.delta)
        elif what < 0.96:
            kept.limits[analyst] = dice.choice((Decimal(0), *CAPS))
            grants.grant("data", analyst, kept.limits[analyst], "because", actor=None)
        else:
            loss = engine_loss(Decimal("0.05"), dice.choice((Decimal(0), Decimal("1e-9"))))
            ledger.charge("data", loss, note="elsewhere")
            kept.outside += loss
        _check(ledger, kept)
    assert accepted > 10
    assert refused


def _check(ledger: Ledger, kept: Account) -> None:
    cap = PrivacyFilter(kept.cap, kept.delta)
    whole = ledger.balance("data")
    assert whole.total == kept.total()
    assert (whole.cap, whole.delta) == (kept.cap, kept.delta)
    assert whole.spent == cap.share(kept.total(begun=True))
    assert whole.spent + whole.reserved == max(whole.spent, cap.share(kept.total()))
    assert whole.left == max(0, 1 - whole.spent - whole.reserved)
    assert whole.epsilon == cap.spent(kept.total())
    for analyst in NAMES:
        own = ledger.balance("data", analyst)
        assert own.left * own.rho <= whole.left * whole.rho
        for pure in (True, False):
            most = own.largest(pure=pure)
            assert most == min(each.largest(total, pure=pure) for each, total in kept.filters(analyst))
            assert not most or kept.takes(analyst, pure_loss(most) if pure else promised(most, cap))
