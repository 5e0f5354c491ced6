"""Budgets of single analysts, on every database that the tests know."""

from __future__ import annotations

import threading
from decimal import Decimal

import pytest
from sqlalchemy.engine import Engine

from dpcore.errors import BudgetError, ConflictError, NotFoundError, RequestError
from dpcore.privacy.budgets import EPSILON_STEP
from dpcore.privacy.filters import largest_rho
from dpcore.privacy.losses import pure_loss, run_loss
from dpcore.workspace.ledger.accounts import left_of, missing_for
from dpcore.workspace.ledger.grants import Grants
from dpcore.workspace.ledger.ledger import Ledger
from tests.support.workspaces.accounts import add_row, amounts

HALF, ONE, TWO = Decimal("0.5"), Decimal(1), Decimal(2)
NONE = Decimal(0)


@pytest.fixture
def engine(engine: Engine) -> Engine:
    for name in ("data", "other"):
        add_row(engine, name, public=False)
    Ledger(engine).open_account("data", TWO, analyst_cap=NONE)
    Ledger(engine).open_account("other", TWO)
    return engine


def spend(engine: Engine, analyst: str, epsilon: Decimal = HALF, dataset: str = "data") -> str:
    ledger = Ledger(engine)
    nonce = f"{analyst}-{len(ledger.entries(dataset))}"
    return ledger.reserve(dataset, analyst, pure_loss(epsilon), nonce, "hash").id


def left(engine: Engine, analyst: str, dataset: str = "data") -> Decimal:
    return amounts(Ledger(engine).balance(dataset, analyst)).left


def test_without_a_grant_nothing_can_be_spent_where_the_custodian_wants_it_so(engine: Engine) -> None:
    assert (left(engine, "ann"), left(engine, "ann", "other")) == (0, TWO)
    with pytest.raises(BudgetError, match=r"your own budget is 0\. Ask the custodian"):
        spend(engine, "ann")


def test_a_grant_is_one_analyst_s_and_can_be_extended_and_lowered(engine: Engine) -> None:
    grants = Grants(engine)
    grants.grant("data", "ann", ONE, "pilot", actor="office")
    assert (left(engine, "ann"), left(engine, "bob"), left(engine, "ann", "other")) == (1, 0, 2)
    spend(engine, "ann")
    grants.grant("data", "ann", Decimal("1.5"), "went well", actor="office")
    assert left(engine, "ann") == ONE
    grants.grant("data", "ann", Decimal("0.25"), "less", actor="office")
    assert left(engine, "ann") == 0  # What was spent stays spent.
    lines = [e for e in Ledger(engine).entries("data") if e.kind == "grant"]
    assert [(e.analyst, e.analyst_cap, e.actor) for e in lines] == [
        ("ann", limit, "office") for limit in (ONE, Decimal("1.5"), Decimal("0.25"))
    ]


def test_grants_beyond_the_cap_cannot_overspend_it(engine: Engine) -> None:
    for name in ("ann", "bob"):
        Grants(engine).grant("data", name, TWO, "a pilot", actor=None)
    spend(engine, "ann", Decimal("1.75"))
    assert left(engine, "bob") == Decimal("0.25")
    with pytest.raises(BudgetError, match="25 % of this data set's budget, but 12\\.5 % is left"):
        spend(engine, "bob")


def test_a_frozen_analyst_spends_nothing_and_reads_why(engine: Engine) -> None:
    grants, ledger = Grants(engine), Ledger(engine)
    grants.grant("data", "ann", ONE, "a pilot", actor=None)
    waiting = spend(engine, "ann", Decimal("0.25"))
    grants.freeze("data", "ann", "contract ended", actor="office")
    balance = ledger.balance("data", "ann")
    assert (amounts(balance).left, balance.frozen) == (0, "contract ended")
    with pytest.raises(BudgetError, match=r"frozen by the custodian.*contract ended"):
        spend(engine, "ann")
    with pytest.raises(BudgetError, match="contract ended"):
        ledger.touch(waiting)
    assert ledger.state(waiting) == "reserved"  # So it can still be refunded.
    assert amounts(ledger.balance("data")).left == Decimal("1.75")
    with pytest.raises(ConflictError, match="frozen already"):
        grants.freeze("data", "ann", "again", actor="office")
    grants.thaw("data", "ann", "new contract", actor="office")
    ledger.touch(waiting)
    assert left(engine, "ann") == Decimal("0.75")


def test_freezing_works_where_nobody_has_a_limit(engine: Engine) -> None:
    Grants(engine).freeze("other", "ann", "on leave", actor="office")
    assert (left(engine, "ann", "other"), left(engine, "bob", "other")) == (0, TWO)
    with pytest.raises(BudgetError, match="on leave"):
        spend(engine, "ann", dataset="other")


def test_asking_and_granting(engine: Engine) -> None:
    grants = Grants(engine)
    number = grants.ask("data", "ann", HALF, "  one more tree ").number
    [asked] = grants.requests({"data"})
    assert (asked.number, asked.analyst, asked.epsilon) == (number, "ann", HALF)
    assert (asked.state, asked.reason, asked.answer) == ("open", "one more tree", "")
    assert left(engine, "ann") == 0
    assert amounts(Ledger(engine).balance("data")).spent == 0  # Asking spends nothing.
    with pytest.raises(ConflictError, match="asked already"):
        grants.ask("data", "ann", HALF, "again")
    answered = grants.answer(number, ONE, "yes", actor="office")
    assert (answered.state, answered.answer, left(engine, "ann")) == ("granted", "yes", ONE)
    with pytest.raises(ConflictError, match="granted already"):
        grants.answer(number, None, "no", actor="office")
    again = grants.ask("data", "ann", HALF, "again").number
    assert grants.answer(again, None, "no", actor="office").state == "declined"
    assert left(engine, "ann") == ONE
    assert [one.state for one in grants.requests(analyst="ann")] == ["granted", "declined"]
    assert grants.requests(analyst="bob") == grants.requests({"other"}) == []


def test_a_request_is_not_granted_with_a_limit_that_gives_nothing(engine: Engine) -> None:
    grants = Grants(engine)
    grants.grant("data", "ann", ONE, "a pilot", actor="office")
    number = grants.ask("data", "ann", HALF, "more").number
    for limit in (HALF, ONE):
        with pytest.raises(RequestError, match=r"the limit is ε 1\.00 in all already"):
            grants.answer(number, limit, "", actor="office")
    assert grants.requests()[0].granted is None
    assert grants.answer(number, TWO, "", actor="office").granted == TWO
    grants.grant("data", "ann", HALF, "less again", actor="office")
    assert grants.requests()[0].granted == TWO


def test_one_answer_wins_when_two_custodians_answer_at_once(engine: Engine) -> None:
    grants = Grants(engine)
    number, ends = grants.ask("data", "ann", HALF, "please").number, []

    def answer(limit: Decimal | None) -> None:
        try:
            grants.answer(number, limit, "an answer", actor="office")
            ends.append("answered")
        except ConflictError:
            ends.append("refused")

    threads = [threading.Thread(target=answer, args=(limit,)) for limit in (ONE, None, TWO, None)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ends) == ["answered", "refused", "refused", "refused"]
    assert len([e for e in Ledger(engine).entries("data") if e.answers == number]) == 1


def test_accounts_of_a_data_set(engine: Engine) -> None:
    grants, ledger = Grants(engine), Ledger(engine)
    grants.grant("data", "Ann@X.org", ONE, "a pilot", actor=None)
    run = spend(engine, "ann@x.org", Decimal("0.25"))
    spend(engine, "ann@x.org", Decimal("0.25"))
    ledger.refund(run, "cancelled", actor="ann@x.org")
    grants.freeze("data", "bob", "why", actor=None)
    ann, bob = grants.accounts("data")
    assert (ann.analyst, ann.standing.limit, ann.standing.granted, ann.runs) == ("ann@x.org", ONE, True, 1)
    assert amounts(ann.balance) == (0, Decimal("0.25"), Decimal("0.75"))
    assert (bob.analyst, bob.standing.frozen, bob.standing.granted) == ("bob", "why", False)


@pytest.mark.crossed
@pytest.mark.parametrize("delta", [NONE, Decimal("1e-6")])
def test_what_a_budget_lacks_for_a_limit_makes_room_for_all_of_it(engine: Engine, delta: Decimal) -> None:
    ledger, grants = Ledger(engine), Grants(engine)
    ledger.raise_caps("other", delta=delta)
    at = ledger.balance("other").run_delta
    for name, epsilon in (("bob", Decimal("1.75")), ("ann", Decimal("0.25"))):
        rho = largest_rho(epsilon, at)
        ledger.reserve("other", name, run_loss(epsilon, at, rho) if at else pure_loss(epsilon), name, "hash")
    grants.grant("other", "ann", ONE, "a pilot", actor=None)
    used = next(account.balance for account in grants.accounts("other") if account.analyst == "ann")
    own, more = used.cap_states[0], missing_for(ONE, used, ledger.balance("other"))
    assert left_of(ONE, used) == 1 - used.reserved > ledger.balance("other", "ann").left
    for short in (EPSILON_STEP, NONE):
        ledger.raise_caps("other", cap=TWO + more - short)
        assert missing_for(ONE, used, ledger.balance("other")) == short
        assert (ledger.balance("other", "ann").largest() < own.cap.largest(own.total)) == (short > 0)


@pytest.mark.crossed
@pytest.mark.parametrize("limit", [Decimal(-1), Decimal("NaN"), Decimal(2000), Decimal("1e-12")])
def test_an_unusable_limit_is_refused(engine: Engine, limit: Decimal) -> None:
    before = Ledger(engine).entries()
    with pytest.raises(BudgetError):
        Grants(engine).grant("data", "ann", limit, "a pilot", actor=None)
    assert Ledger(engine).entries() == before


def test_what_must_be_said(engine: Engine) -> None:
    grants = Grants(engine)
    number = grants.ask("data", "ann", HALF, "why").number
    for attempt in (
        lambda: grants.freeze("data", "ann", " ", actor=None),
        lambda: grants.ask("data", "bob", HALF, ""),
        lambda: grants.answer(number, None, "", actor=None),
        lambda: grants.grant("data", "ann", ONE, " ", actor=None),
        lambda: grants.grant("data", "ann", ONE, "\0", actor=None),
        lambda: grants.grant("data", " ", ONE, "a pilot", actor=None),
        lambda: grants.grant("data", "a\u200bnn", ONE, "a pilot", actor=None),
        lambda: grants.freeze("data", "mar\u212a@x.org", "a pilot", actor=None),
        lambda: grants.grant("data", "x" * 129, ONE, "a pilot", actor=None),
        lambda: grants.grant("data", "a\nb", ONE, "a pilot", actor=None),
        lambda: grants.grant("data", "ann", ONE, "x" * 501, actor=None),
    ):
        with pytest.raises(RequestError):
            attempt()
    for unknown in (
        lambda: grants.answer(10**6, ONE, "", actor=None),
        lambda: grants.answer(2**70, ONE, "", actor=None),
        lambda: grants.grant("nothing", "ann", ONE, "a pilot", actor=None),
        lambda: grants.ask("nothing", "ann", ONE, "why"),
        lambda: grants.accounts("nothing"),
    ):
        with pytest.raises(NotFoundError):
            unknown()


def test_a_reason_is_kept_without_what_no_database_can_hold(engine: Engine) -> None:
    Grants(engine).grant("data", "ann", ONE, " a\0b\ud800 ", actor=None)
    [line] = [entry for entry in Ledger(engine).entries("data") if entry.kind == "grant"]
    assert line.note == "ab?"
