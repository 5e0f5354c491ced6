"""Data sets about the same people: one account, one budget, whatever is run on which of them."""

from __future__ import annotations

import shutil
import signal
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, ConflictError, LossError, RequestError, SchemaError
from dpcore.privacy.budgets import default_delta
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import pure_loss, total_loss
from dpcore.service import Service
from dpcore.workspace.database.database import open_database
from dpcore.workspace.database.home import Home
from dpcore.workspace.database.installation import look
from dpcore.workspace.database.transactions import read, write
from dpcore.workspace.files.populations import RelatedDataset
from dpcore.workspace.ledger.accounts import CapState
from dpcore.workspace.ledger.ledger import Ledger
from dpcore.workspace.people.users import User
from dpcore.workspace.upkeep.recovery import accept
from tests.support.rows import for_each
from tests.support.servers.databases import KINDS, ready_url
from tests.support.texts import lacking
from tests.support.workspaces.accounts import add_row, amounts, spend_on_kin
from tests.support.workspaces.fake_learner import fake_request, register, small_frame, small_schema
from tests.support.workspaces.forked import at_once

register()
HALF, ONE, TWO = Decimal("0.5"), Decimal(1), Decimal(2)
ANN = User("ann@x.org", frozenset({"analyst"}))
each = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    with Service(tmp_path / "home", workers=0) as made:
        made.add_dataset(small_frame(), small_schema("ward"), budget=TWO, delta=Decimal(0), analyst_cap=ONE)
        yield made


def beside(service: Service, name: str, **more: Any) -> str:
    return service.add_dataset(small_frame(), small_schema(name), **{"same_people_as": "ward"} | more).id


def run(service: Service, dataset: str, nonce: str) -> str:
    found = service.run(service.submit(fake_request(service.dataset(dataset).id), nonce))
    assert found.state == "done"
    return str(found.release_id)


def test_what_is_spent_on_one_of_them_is_spent_on_all(service: Service) -> None:
    beside(service, "second")
    run(service, "ward", "a")
    run(service, "second", "b")
    assert service.total_balance("ward") == service.total_balance("second")
    assert amounts(service.total_balance("ward")).spent == ONE
    assert service.accounts("ward") == service.accounts("second")
    with pytest.raises(BudgetError, match="50 % of your own budget, but 0 % is left"):
        service.submit(fake_request(service.dataset("second").id), "c")
    assert [line.kind for line in service.ledger_entries("second")].count("commit") == 2
    assert service.ledger_entries("second") == service.ledger_entries("ward")


def test_decisions_about_an_analyst_hold_on_all_of_them(service: Service) -> None:
    second = beside(service, "second")
    ann = service.acting(ANN)
    asked = ann.ask("ward", ONE, "more")
    with pytest.raises(ConflictError, match="asked already"):
        ann.ask(second, ONE, "more")
    service.answer(asked.number, TWO)
    assert ann.balance(second).cap == TWO
    service.freeze(second, ANN.name, "contract ended")
    with pytest.raises(BudgetError, match="frozen"):
        ann.submit(fake_request(service.dataset("ward").id), "n")


def test_one_limit_holds_for_all_of_them(service: Service) -> None:
    second = beside(service, "second")
    service.raise_caps(second, budget=Decimal(3), run_cap=HALF)
    assert service.total_balance("ward").cap == 3
    assert service.total_balance("ward").run_cap == HALF
    service.charge("ward", HALF, note="known")
    assert amounts(service.total_balance(second)).spent == HALF


def test_the_price_of_learning_is_that_of_one_moment(service: Service, monkeypatch: pytest.MonkeyPatch) -> None:
    def price() -> tuple[Decimal, Decimal]:
        return service.learning_cost(HALF, listed=False, max_rows=100, same_people_as="ward")

    def raised_meanwhile(dataset_id: str) -> CapState:
        found = pot(dataset_id)
        service.raise_caps("ward", budget=Decimal(9))
        return found

    before, pot = price(), service._ledger.cap_state
    monkeypatch.setattr(service._ledger, "cap_state", raised_meanwhile)
    assert price() == before == (HALF / TWO, 1)
    assert 0 < price()[0] < before[0]


def test_a_delta_suits_the_largest_of_them(tmp_path: Path) -> None:
    small = small_schema("ward")
    large = small.model_copy(update={"name": "large", "max_rows": 100_000})
    with Service(tmp_path, workers=0) as service:
        service.add_dataset(small_frame(), small, budget=ONE)
        with pytest.raises(BudgetError, match="too large for so many rows"):
            service.add_dataset(small_frame(), large, same_people_as="ward")
        assert [info.name for info in service.datasets()] == ["ward"]
        service.raise_caps("ward", delta=default_delta(large.max_rows))
        service.add_dataset(small_frame(), large, same_people_as="ward")
        with pytest.raises(BudgetError, match="Use at most"):
            service.raise_caps("ward", delta=default_delta(small.max_rows))


def test_who_shares_a_budget_is_said(service: Service) -> None:
    beside(service, "second")
    beside(service, "third", same_people_as="second")
    assert service.dataset("ward").shares_with == ("second", "third")
    assert service.dataset("second").sharing == "Shares its budget with 'ward', 'third': about the same people."
    service.add_dataset(small_frame(), small_schema("other"), budget=ONE)
    assert service.dataset("other").sharing == ""
    assert service.total_balance("other").cap == ONE


def test_a_budget_is_given_or_shared(service: Service) -> None:
    with pytest.raises(RequestError, match="what may be spent"):
        service.add_dataset(small_frame(), small_schema("second"))
    with pytest.raises(RequestError, match="a budget already"):
        beside(service, "second", budget=ONE)
    with pytest.raises(RequestError, match="Public and private"):
        beside(service, "second", public=True)
    assert [info.name for info in service.datasets()] == ["ward"]


def unit(name: str, column: str | None = "patient_id", rows: int = 1, entity: str = "person") -> Schema:
    content = small_schema(name).model_dump(mode="json")
    return Schema.from_mapping(
        content | {"privacy_unit": {"column": column, "max_rows_per_person": rows}, "entity": entity}
    )


def of_people() -> pd.DataFrame:
    return small_frame().assign(patient_id=range(100), y=[number % 20 for number in range(100)])


EACH_ROW = unit("other", None)
#: Where a person has more rows than are kept.
ROWS = ("person:rows-dropped",)
#: Another person than the one that 'patient_id' identifies, and what that means.
DIFFERENT = [
    (EACH_ROW, "here, each row is one person", "more about a person with several rows than the shared budget"),
    (unit("other", "y", 5), "here, the column 'y' identifies a person (at most 5 rows kept)", "only if both columns"),
    (unit("other", rows=5), "there, the column 'patient_id' identifies a person (1 row kept)", "with all rows that"),
]


@for_each(("other", "words", "consequence"), DIFFERENT)
@for_each("how", ["same_people_as", "replaces"])
def test_other_people_join_an_account_on_a_recorded_yes_only(
    how: str, other: Schema, words: str, consequence: str, tmp_path: Path
) -> None:
    with Service(tmp_path, workers=0) as service:
        first = service.add_dataset(of_people(), unit("ward"), budget=TWO).id
        with pytest.raises(LossError) as caught:
            service.add_dataset(of_people(), other, **{how: "ward"})
        assert "'ward' and this data set define a person differently: there, " in str(caught.value)
        assert not lacking(str(caught.value), words, consequence, "'different-people'", "audit log")
        assert [info.id for info in service.datasets()] == [first]
        assert service.orphans() == []
        [found] = [each for each in service.examine(of_people(), other, **{how: "ward"}) if "define" in each.sentence]
        assert found.needs_yes
        info = service.add_dataset(of_people(), other, accepted=[found.yes, *ROWS], **{how: "ward"})
        [line] = [line for line in service.ledger_entries() if line.kind == "join"]
        assert (line.dataset_id, line.actor) == (info.id, service.user.name)
        assert not lacking(line.note, f" ({first}). Accepted: there, ", words)
        again = service.add_dataset(
            of_people(), other.model_copy(update={"name": "third"}), same_people_as=info.id, accepted=ROWS
        )
        assert service.ledger_entries()[-1].note == f"shares the budget of '{info.name}' ({info.id})."
        assert again.population == first


def test_a_yes_to_one_difference_is_none_to_another(tmp_path: Path) -> None:
    with Service(tmp_path, workers=0) as service:
        service.add_dataset(of_people(), unit("ward"), budget=TWO)
        [found] = [
            each for each in service.examine(of_people(), EACH_ROW, same_people_as="ward") if "define" in each.sentence
        ]
        with pytest.raises(LossError, match="column 'y'"):
            service.add_dataset(of_people(), unit("other", "y"), same_people_as="ward", accepted=[found.yes])
        service.add_dataset(
            of_people(), unit("other", "y"), same_people_as="ward", accepted=["different-people", *ROWS]
        )


def test_long_names_leave_room_for_a_note(tmp_path: Path) -> None:
    with Service(tmp_path, workers=0) as service:
        name, column = "n" * 128, "c" * 128
        first = service.add_dataset(of_people(), unit(name), budget=TWO).id
        rows = of_people().rename(columns={"y": column})
        service.add_dataset(rows, unit("other", column), same_people_as=first, accepted=["different-people", *ROWS])
        assert "Accepted: there, the column 'patient_id'" in service.ledger_entries()[-1].note


def test_an_orphan_of_other_people_is_adopted_on_a_yes(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Service(home, workers=0) as service:
        service.add_dataset(of_people(), unit("ward"), budget=TWO)
    with Service(tmp_path / "elsewhere", workers=0) as other:
        folder = other.add_dataset(of_people(), EACH_ROW, budget=TWO).id
    shutil.copytree(tmp_path / "elsewhere" / "datasets" / folder, home / "datasets" / folder)
    with Service(home, workers=0) as service:
        with pytest.raises(LossError, match="each row is one person"):
            service.adopt(folder, same_people_as="ward", note="found")
        assert [orphan.id for orphan in service.orphans()] == [folder]
        service.adopt(folder, same_people_as="ward", note="found", accepted=["different-people"])
        [joined] = [line for line in service.ledger_entries() if line.kind == "join"]
        assert "Accepted: there, " in joined.note
        assert joined.note.endswith("found")


@each
def test_no_database_lets_a_population_change(kind: str, tmp_path: Path) -> None:
    engine = open_database(ready_url(kind, tmp_path))
    add_row(engine, "data", public=False)
    for change in ("population = 'x'", "id = 'x'"):
        with pytest.raises(sa.exc.DBAPIError, match="append-only"):
            write(engine, lambda c, change=change: c.exec_driver_sql(f"UPDATE datasets SET {change}"))


@each
def test_processes_that_spend_on_siblings_at_once_keep_to_one_cap(kind: str, tmp_path: Path) -> None:
    url = ready_url(kind, tmp_path)
    engine = open_database(url)
    ledger = Ledger(engine)
    add_row(engine, "data", public=False)
    ledger.open_account("data", ONE)
    for name in ("second", "third"):
        add_row(engine, name, public=False, population="data")
        write(engine, lambda c, name=name: ledger.join_account(name, RelatedDataset("data"), actor=None, within=c))
    assert set(at_once(spend_on_kin, url, 4)) <= {0, -signal.SIGKILL}
    reserved = [line for line in ledger.entries("third") if line.kind == "reserve"]
    assert len(reserved) == 14, "0.07 fits fourteen times into 1"
    assert {line.dataset_id for line in reserved} <= {"data", "second", "third"}
    assert ledger.balance("second") == ledger.balance("data")
    whole = total_loss(pure_loss(line.epsilon) for line in reserved)
    assert PrivacyFilter(ONE, Decimal(0)).accepts(whole)


def test_a_new_version_takes_over_the_name(service: Service) -> None:
    first = service.dataset("ward").id
    old = run(service, "ward", "a")
    info = service.add_dataset(small_frame(), small_schema("whatever"), replaces="ward")
    assert (info.name, info.version, info.replaces, info.title) == ("ward", 2, first, "ward (version 2)")
    before = service.dataset(first)
    assert (before.name, before.retired, info.retired) == ("ward (version 1)", True, False)
    new = service.release(run(service, "ward", "b"))
    assert (new.dataset_id, new.dataset_name) == (info.id, "ward (version 2)")
    assert (service.release(old).dataset_id, service.release(old).dataset_name) == (first, "ward")
    with pytest.raises(BudgetError, match="retired"):
        service.submit(fake_request(first), "c")
    assert service.total_balance(first).cap_states == service.total_balance("ward").cap_states
    third = service.add_dataset(small_frame(), small_schema(), replaces="ward")
    assert [one.name for one in service.datasets()] == ["ward (version 1)", "ward (version 2)", "ward"]
    assert (third.version, service.dataset(info.id).title) == (3, "ward (version 2)")


def test_only_the_newest_version_is_replaced(service: Service) -> None:
    first = service.dataset("ward").id
    service.add_dataset(small_frame(), small_schema(), replaces=first)
    with pytest.raises(ConflictError, match="already"):
        service.add_dataset(small_frame(), small_schema(), replaces=first)
    assert len(service.datasets()) == 2
    assert service.orphans() == []


def test_a_name_that_an_old_version_needs_is_free_first(service: Service) -> None:
    service.add_dataset(small_frame(), small_schema("ward (version 1)"), budget=ONE)
    with pytest.raises(ConflictError, match="Rename it first"):
        service.add_dataset(small_frame(), small_schema(), replaces="ward")
    service.rename_dataset("ward (version 1)", "another")
    assert service.add_dataset(small_frame(), small_schema(), replaces="ward").version == 2


def test_a_restored_database_closes_an_account_once(service: Service, tmp_path: Path) -> None:
    beside(service, "second")
    home, url = tmp_path / "home", f"sqlite:///{tmp_path / 'home' / 'frostglass.db'}"
    write(service._engine, lambda c: c.exec_driver_sql("UPDATE installation SET id = 'x'"))
    service.close()
    accept(home, url, code=look(Home(home), url).code, note="exchanged", close=True)
    with Service(home, url, workers=0) as again:
        assert amounts(again.total_balance("second")).left == 0
        kinds = [line.kind for line in again.ledger_entries("ward")]
        assert (kinds.count("accept"), kinds.count("caps")) == (2, 1)


def test_names_and_descriptions_change_and_the_log_says_so(service: Service) -> None:
    beside(service, "second")
    with pytest.raises(ConflictError, match="'second' exists"):
        service.rename_dataset("ward", "second")
    with pytest.raises(SchemaError):
        service.rename_dataset("ward", "")
    with pytest.raises(SchemaError):
        service.describe_dataset("ward", "x" * 3000)
    renamed = service.rename_dataset("ward", "clinic")
    assert (renamed.name, service.dataset("clinic").id) == ("clinic", renamed.id)
    assert service.describe_dataset("clinic", "people").description == "people"
    assert service.dataset("clinic").schema == renamed.schema
    assert [line.note for line in service.ledger_entries("clinic") if line.kind == "rename"] == [
        "'ward' is now 'clinic'"
    ]
    run(service, "clinic", "a")


def test_a_retired_data_set_takes_no_run_and_keeps_its_results(service: Service) -> None:
    old = run(service, "ward", "a")
    assert service.retire_dataset("ward", note="the study has ended").retired
    with pytest.raises(BudgetError, match="retired"):
        service.submit(fake_request(service.dataset("ward").id), "b")
    assert service.release(old).dataset_name == "ward"
    with pytest.raises(ConflictError, match="already"):
        service.retire_dataset("ward", note="again")
    service.remove_records("ward", note="no longer needed")
    with pytest.raises(RequestError, match="no longer here"):
        service.submit(fake_request(service.dataset("ward").id), "c")


@pytest.mark.parametrize("replaced", [False, True])
def test_a_run_that_waits_reads_no_data_set_that_has_been_retired(replaced: bool, service: Service) -> None:
    first = service.dataset("ward").id
    waiting = service._queue.reserve(fake_request(first), service._user.name, pure_loss(HALF), "n", "hash").id
    if replaced:
        service.add_dataset(small_frame(), small_schema(), replaces="ward")
    else:
        service.retire_dataset("ward", note="the study has ended")
    service._jobs.start(waiting)
    status = service.run(waiting)
    assert (status.state, status.charged, status.release_id) == ("failed", False, None)
    assert "Nothing was spent. This data set is retired" in status.message
    assert service.releases() == []
    balance = service.total_balance(first)
    assert amounts(balance).spent == amounts(balance).reserved == 0


def accounts(engine: Engine) -> list[Any]:
    def work(connection: Connection) -> list[Any]:
        return list(connection.execute(sa.text("SELECT account FROM ledger_entries")).scalars())

    return read(engine, work)


def test_every_line_says_whose_account_it_is_of(service: Service) -> None:
    first = service.dataset("ward").id
    run(service, beside(service, "second"), "a")
    assert set(accounts(service._engine)) == {first}
