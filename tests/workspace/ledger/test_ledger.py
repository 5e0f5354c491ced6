from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy.engine import Engine

from dpcore.domain.schemas.origins import INFERRED
from dpcore.errors import BudgetError, ConflictError, RequestError
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import NOTHING, RHO_STEP, UNBOUNDED, engine_loss, pure_loss, run_loss
from dpcore.released.release import Release
from dpcore.workspace.database.database import open_database
from dpcore.workspace.database.database_tables import ExactDecimal, ledger_entries, metadata, utc_now
from dpcore.workspace.database.transactions import read, write
from dpcore.workspace.ledger import ledger_lines
from dpcore.workspace.ledger.grants import Grants
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.runs import processes
from dpcore.workspace.runs.processes import ProcessIdentity
from tests.support.rows import for_each
from tests.support.texts import lacking
from tests.support.workspaces.accounts import add_row, amounts, release_for
from tests.support.workspaces.fake_learner import small_schema

HALF = Decimal("0.5")
NONE = Decimal(0)


@pytest.fixture
def ledger(engine: Engine) -> Ledger:
    add_row(engine, "data", public=False)
    ledger = Ledger(engine)
    ledger.open_account("data", Decimal(2))
    return ledger


def reserve(ledger: Ledger, epsilon: Decimal = HALF, nonce: str = "n", analyst: str = "ann") -> str:
    return ledger.reserve("data", analyst, pure_loss(epsilon), nonce, "hash").id


def kinds(ledger: Ledger) -> list[str]:
    return [entry.kind for entry in ledger.entries("data")]


def test_a_run_from_reservation_to_release(ledger: Ledger) -> None:
    run = reserve(ledger)
    assert amounts(ledger.balance("data")).reserved == HALF
    assert amounts(ledger.balance("data")).left == Decimal("1.5")
    ledger.touch(run)
    assert amounts(ledger.balance("data")).spent == HALF
    ledger.commit(run, release_for(HALF))
    balance = ledger.balance("data")
    assert (balance.cap, amounts(balance).spent, amounts(balance).reserved, amounts(balance).left) == (2, HALF, 0, 1.5)
    assert kinds(ledger) == ["open", "reserve", "touch", "commit"]
    assert ledger.state(run) == "committed"


def test_a_refund_gives_back_exactly_what_was_reserved(ledger: Ledger) -> None:
    run = reserve(ledger, Decimal("0.123456789"))
    ledger.refund(run, "cancelled")
    assert amounts(ledger.balance("data")).left == 2
    assert ledger.state(run) == "refunded"


def test_no_refund_after_a_touch_and_no_touch_after_a_refund(ledger: Ledger) -> None:
    touched, refunded = reserve(ledger, nonce="a"), reserve(ledger, nonce="b")
    ledger.touch(touched)
    ledger.refund(refunded, "cancelled")
    for action in (ledger.touch, lambda run: ledger.refund(run, "again")):
        for run in (touched, refunded):
            with pytest.raises(ConflictError):
                action(run)
    assert amounts(ledger.balance("data")).left == Decimal("1.5")


def test_a_release_is_committed_once_and_only_after_a_touch(ledger: Ledger) -> None:
    run = reserve(ledger)
    with pytest.raises(ConflictError):
        ledger.commit(run, release_for(HALF))
    ledger.touch(run)
    ledger.commit(run, release_for(HALF))
    with pytest.raises(ConflictError):
        ledger.commit(run, release_for(HALF))
    assert kinds(ledger).count("commit") == 1


def test_same_nonce_spends_once(ledger: Ledger) -> None:
    first = ledger.reserve("data", "ann", pure_loss(HALF), "n", "hash")
    second = ledger.reserve("data", "ann", pure_loss(HALF), "n", "hash")
    assert (first.created, second.created) == (True, False)
    assert first.id == second.id
    assert amounts(ledger.balance("data")).left == Decimal("1.5")


@pytest.mark.crossed
@pytest.mark.parametrize("change", ["analyst", "hash"])
def test_same_nonce_with_another_request_is_refused(ledger: Ledger, change: str) -> None:
    reserve(ledger)
    arguments = {"analyst": "ann", "hash": "hash"} | {change: "other"}
    with pytest.raises(ConflictError, match="Open a new review"):
        ledger.reserve("data", arguments["analyst"], pure_loss(HALF), "n", arguments["hash"])
    assert kinds(ledger) == ["open", "reserve"]


def test_over_the_cap_says_what_it_takes_what_is_left_what_would_fit_and_whom_to_ask(ledger: Ledger) -> None:
    reserve(ledger, Decimal("1.7"))
    with pytest.raises(BudgetError) as error:
        reserve(ledger, HALF, nonce="m")
    told = ("take 25 % of this data set's budget, but 15 % is left", "up to ε = 0.30 would fit", "custodian")
    assert not lacking(str(error.value), *told)
    reserve(ledger, Decimal("0.3"), nonce="m")
    assert amounts(ledger.balance("data")).left == 0


@pytest.mark.crossed
@pytest.mark.parametrize("value", ["0", "-1", "NaN", "Infinity", "1e-10", "1001"])
def test_unusable_epsilons_are_refused(ledger: Ledger, value: str) -> None:
    with pytest.raises(BudgetError):
        ledger.reserve("data", "ann", run_loss(Decimal(value), NONE, RHO_STEP), "n", "hash")
    assert kinds(ledger) == ["open"]


@pytest.mark.crossed
@pytest.mark.parametrize("value", ["-1e-6", "NaN", "1", "1e-16"])
def test_unusable_deltas_are_refused(ledger: Ledger, value: str) -> None:
    with pytest.raises(BudgetError):
        ledger.reserve("data", "ann", run_loss(HALF, Decimal(value), RHO_STEP), "n", "hash")


def test_a_cap_without_delta_takes_pure_runs_only(ledger: Ledger) -> None:
    reserve(ledger)
    with pytest.raises(BudgetError, match="Not enough"):
        ledger.reserve("data", "ann", run_loss(HALF, Decimal("1e-6"), RHO_STEP), "m", "hash")
    ledger.raise_caps("data", delta=Decimal("1e-6"))
    ledger.reserve("data", "ann", run_loss(HALF, Decimal("1e-8"), RHO_STEP), "m", "hash")
    assert ledger.balance("data").delta == Decimal("1e-6")
    with pytest.raises(BudgetError, match="nothing bounds them"):
        ledger.raise_caps("data", delta=NONE)


@pytest.mark.crossed
@pytest.mark.parametrize("delta", ["1e-6", "5e-6"])
def test_no_delta_is_set_that_is_all_set_aside(delta: str, engine: Engine) -> None:
    """Nothing would bound what was spent."""
    add_row(engine, "data", public=False)
    ledger, aside = Ledger(engine), Decimal("5e-6")
    ledger.open_account("data", Decimal(2), delta=Decimal("1e-5"), aside=aside)
    ledger.charge("data", run_loss(HALF, aside, Decimal("0.001")), note="what was learned")
    before = ledger.entries("data")
    with pytest.raises(BudgetError, match=r"0\.000005 of its delta is set aside"):
        ledger.raise_caps("data", delta=Decimal(delta))
    assert ledger.entries("data") == before
    ledger.raise_caps("data", delta=Decimal("6e-6"))
    assert ledger.balance("data").spent <= 1


def test_a_run_is_refused_for_what_was_spent_before_if_nothing_bounds_that(ledger: Ledger) -> None:
    ledger.charge("data", run_loss(HALF, Decimal("1e-8"), Decimal("0.001")), note="since the copy")
    with pytest.raises(BudgetError, match="what was spent has no bound without a delta"):
        reserve(ledger)
    balance = ledger.balance("data", "ann")
    assert balance.adds(pure_loss(HALF)) == balance.short_by(pure_loss(HALF)) == UNBOUNDED
    ledger.raise_caps("data", delta=Decimal("1e-6"))
    assert 0 < ledger.balance("data", "ann").adds(pure_loss(HALF)) < UNBOUNDED
    reserve(ledger)


def test_what_a_run_lacks_includes_what_is_over_the_cap_already(ledger: Ledger) -> None:
    reserve(ledger)
    ledger.raise_caps("data", cap=Decimal("0.2"))
    with pytest.raises(BudgetError, match=r"take 250 % of this data set's budget, but 0 % is left\. Choose"):
        reserve(ledger, nonce="m")
    ledger.raise_caps("data", cap=Decimal("0.2") + ledger.balance("data", "ann").short_by(pure_loss(HALF)))
    reserve(ledger, nonce="m")
    assert amounts(ledger.balance("data")).left == 0


@pytest.mark.crossed
@pytest.mark.parametrize("rho", ["10000.1", "1e12", "1e30"])
def test_a_rho_that_no_run_has_is_refused_before_it_is_entered(rho: str, ledger: Ledger) -> None:
    """A slip of the pen stays in the ledger for good: its sums must remain numbers of the database."""
    with pytest.raises(BudgetError, match="at most 10000"):
        ledger.charge("data", run_loss(HALF, NONE, Decimal(rho)), note="a slip")
    assert kinds(ledger) == ["open"]


def test_a_run_must_say_what_it_costs_beside_others(ledger: Ledger) -> None:
    with pytest.raises(BudgetError, match="rho"):
        ledger.reserve("data", "ann", run_loss(HALF, Decimal("1e-8"), UNBOUNDED), "n", "hash")
    with pytest.raises(BudgetError, match="12 decimal"):
        ledger.reserve("data", "ann", run_loss(HALF, NONE, RHO_STEP / 2), "n", "hash")
    assert kinds(ledger) == ["open"]


def test_analysts_have_their_own_cap_but_share_the_data_set(engine: Engine) -> None:
    add_row(engine, "data", public=False)
    ledger = Ledger(engine)
    ledger.open_account("data", Decimal("1.6"), analyst_cap=Decimal(1), run_cap=Decimal("0.8"))
    with pytest.raises(BudgetError, match="one run"):
        reserve(ledger, Decimal("0.9"))
    reserve(ledger, Decimal("0.8"), nonce="a")
    with pytest.raises(BudgetError, match="30 % of your own budget, but 20 % is left"):
        reserve(ledger, Decimal("0.3"), nonce="b")
    assert amounts(ledger.balance("data", "bob")).left == Decimal("0.8")
    reserve(ledger, Decimal("0.7"), nonce="c", analyst="bob")
    with pytest.raises(BudgetError, match=r"12\.5 % of this data set's budget, but 6\.25 % is left"):
        reserve(ledger, Decimal("0.2"), nonce="d", analyst="eve")
    assert amounts(ledger.balance("data", "ann")).left == Decimal("0.1")


def test_what_is_in_the_way_of_a_run_is_told_as_its_refusal_is(ledger: Ledger) -> None:
    def told(epsilon: str) -> tuple[str | None, Decimal, bool]:
        balance, loss = ledger.balance("data", "ann"), pure_loss(Decimal(epsilon))
        return balance.hindrance(loss), balance.short_by(loss), balance.refusal(loss) is None

    assert told("1.5") == (None, 0, True)
    assert told("2.5") == ("budget", HALF, False)
    ledger.raise_caps("data", run_cap=Decimal(2))
    assert told("2.5") == ("one run", 0, False), "more budget would not help"
    Grants(ledger._engine).freeze("data", "ann", "a reason", actor="eve")
    assert told("1.5") == ("frozen", Decimal("1.5"), False)


@pytest.mark.crossed
@pytest.mark.parametrize(
    "make",
    [
        lambda: release_for(Decimal("0.4")),
        lambda: release_for(HALF, "elsewhere"),
        lambda: release_for(HALF, schema=small_schema("renamed")),
        lambda: release_for(HALF, secure=False),
        lambda: release_for(HALF, schema=small_schema().model_copy(update={"origin": INFERRED})),
    ],
    ids=["epsilon", "data set", "schema", "seeded", "inferred schema"],
)
def test_a_release_that_was_not_reserved_is_refused(ledger: Ledger, make: Callable[[], Release]) -> None:
    run = reserve(ledger)
    ledger.touch(run)
    with pytest.raises(RequestError):
        ledger.commit(run, make())
    assert ledger.state(run) == "touched"


def test_a_seeded_release_of_public_data_is_accepted(engine: Engine) -> None:
    add_row(engine, "data", public=True)
    ledger = Ledger(engine)
    ledger.open_account("data", Decimal(1))
    run = reserve(ledger)
    ledger.touch(run)
    ledger.commit(run, release_for(HALF, secure=False))


def test_a_failing_hook_takes_the_reservation_with_it(ledger: Ledger) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        ledger.reserve("data", "ann", pure_loss(HALF), "n", "hash", on_created=fail)
    assert kinds(ledger) == ["open"]


@pytest.mark.crossed
@pytest.mark.parametrize("statement", [sa.update(ledger_entries), sa.delete(ledger_entries)])
def test_the_database_refuses_to_change_history(engine: Engine, ledger: Ledger, statement: Any) -> None:
    if statement.is_update:
        statement = statement.values(note="changed")
    with pytest.raises(sa.exc.DBAPIError, match="append-only"):
        write(engine, lambda connection: connection.execute(statement))
    assert kinds(ledger) == ["open"]


@pytest.mark.crossed
@pytest.mark.parametrize("second", ["touch", "refund", "reserve"])
def test_the_database_itself_refuses_contradictions(engine: Engine, ledger: Ledger, second: str) -> None:
    run = reserve(ledger)
    ledger.touch(run)
    values = {"kind": second, "run_id": run, "dataset_id": "data", "time": utc_now()}
    row = {**values, "epsilon": HALF, "delta": NONE, "note": ""}
    with pytest.raises(sa.exc.IntegrityError):
        write(engine, lambda connection: connection.execute(ledger_entries.insert().values(**row)))


def test_a_clock_that_runs_backwards_changes_nothing(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    times = [datetime(2030, 1, 1, tzinfo=UTC) - timedelta(days=day) for day in range(9)]
    monkeypatch.setattr(ledger_lines, "utc_now", iter(times).__next__)
    run = reserve(ledger, nonce="a")
    ledger.touch(run)
    reserve(ledger, nonce="b")
    ledger.raise_caps("data", cap=Decimal(1))
    assert kinds(ledger) == ["open", "reserve", "touch", "reserve", "caps"]
    assert amounts(ledger.balance("data")).left == 0
    assert ledger.state(run) == "touched"


def test_setting_the_clock_does_not_kill_a_process(monkeypatch: pytest.MonkeyPatch) -> None:
    me = ProcessIdentity.mine()
    assert not me.dead()
    create, boot = processes.psutil.Process.create_time, processes.psutil.boot_time
    monkeypatch.setattr(processes.psutil.Process, "create_time", lambda self: create(self) + 9000)
    monkeypatch.setattr(processes.psutil, "boot_time", lambda: boot() + 9000)
    assert not ProcessIdentity.parse(str(me)).dead()
    assert ProcessIdentity(me.host, me.pid, me.start - 60).dead()
    assert not ProcessIdentity("another-machine", me.pid, me.start - 60).dead()


def test_migrations_make_the_tables_that_the_code_describes(engine: Engine, url: str) -> None:
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, metadata) == []
    assert open_database(url) is not engine


def test_the_database_file_is_private(tmp_path: Path) -> None:
    path = tmp_path / "home" / "frostglass.db"
    open_database(f"sqlite:///{path}")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    with sqlite3.connect(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)


@given(st.decimals(min_value=0, max_value=1000, places=9))
def test_amounts_are_kept_exactly(amount: Decimal) -> None:
    kind = ExactDecimal(9)
    dialect: Any = None
    stored = kind.process_bind_param(amount, dialect)
    assert isinstance(stored, int)
    assert kind.process_result_value(stored, dialect) == amount


@for_each("amount", [Decimal("1e-10"), Decimal("NaN"), 0.5])
def test_amounts_are_never_rounded(amount: Any) -> None:
    dialect: Any = None
    with pytest.raises(ValueError, match="amount"):
        ExactDecimal(9).process_bind_param(amount, dialect)


def test_sums_of_many_tenths_are_exact(engine: Engine, ledger: Ledger) -> None:
    for number in range(20):
        reserve(ledger, Decimal("0.1"), nonce=f"n{number}")
    assert amounts(ledger.balance("data")).left == 0
    with pytest.raises(BudgetError, match=r"take 0\.0001 % of this data set's budget, but 0 % is left\. Choose"):
        reserve(ledger, Decimal("0.000000001"), nonce="last")
    total = sa.select(sa.func.sum(sa.type_coerce(ledger_entries.c.epsilon, sa.BigInteger)))
    assert read(engine, lambda connection: connection.execute(total).scalar()) == 2 * 10**9


def test_many_tiny_runs_with_a_large_delta_end_at_the_cap(engine: Engine) -> None:
    """Ten thousand of them, added up by epsilon, would be billed a thousandth and tell nearly all."""
    add_row(engine, "data", public=False)
    ledger, cap = Ledger(engine), PrivacyFilter(Decimal("0.5"), Decimal("1e-5"))
    ledger.open_account("data", cap.epsilon, delta=cap.delta)
    tiny = engine_loss(Decimal("1e-7"), Decimal("0.01"), aside=False)
    runs = cap.fitting(NOTHING, tiny)
    assert 10 < runs < 100
    for number in range(runs):
        ledger.reserve("data", "ann", tiny, str(number), "hash")
    with pytest.raises(BudgetError, match="Not enough"):
        ledger.reserve("data", "bob", tiny, "one more", "hash")
    assert ledger.balance("data").total.rho == runs * tiny.rho <= cap.rho
    assert ledger.balance("data").left < Decimal(1) / runs
