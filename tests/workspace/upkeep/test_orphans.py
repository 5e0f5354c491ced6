"""Folders without an entry and entries without a folder: listed, adopted and removed by hand."""

from __future__ import annotations

import re
import shutil
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pytest

from dpcore.domain.schemas.learned import LearningCertificate
from dpcore.errors import AccessError, BudgetError, ConflictError, NotFoundError, RequestError, SchemaError
from dpcore.service import Service
from dpcore.workspace.database.file_locks import claimed
from dpcore.workspace.files.store import Store
from dpcore.workspace.people.users import User
from tests.support.texts import lacking
from tests.support.workspaces.accounts import amounts
from tests.support.workspaces.command_line import HOME, call, run
from tests.support.workspaces.fake_learner import fake_request, small_frame, small_schema
from tests.support.workspaces.homes import contents, fill

HALF, NONE = Decimal("0.5"), Decimal(0)
ANN = User("ann@x.org", frozenset({"analyst"}))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    monkeypatch.delenv("FROSTGLASS_DATABASE_URL", raising=False)
    return tmp_path / "home"


@pytest.fixture
def service(home: Path) -> Iterator[Service]:
    """One data set, 'small', on which half an epsilon was spent."""
    fill(home)
    with Service(home, workers=0) as service:
        yield service


@pytest.fixture
def orphan(home: Path, service: Service, tmp_path: Path) -> str:
    """Records of another home, put beside them."""
    other = fill(tmp_path / "other", runs=0)
    shutil.copytree(tmp_path / "other" / "datasets" / other, home / "datasets" / other)
    return other


def test_a_byte_that_was_flipped_is_found(service: Service, home: Path) -> None:
    assert run("data", "verify").strip() == "Every data set is as it was written."
    (file,) = home.glob("datasets/*/*/bits.arrow")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    told = call("data", "verify")
    assert told.exit_code == 1
    assert not lacking(told.stdout, "small", "put the folder back from a backup")
    with pytest.raises(AccessError):
        service.acting(ANN).damaged()
    shutil.rmtree(file.parents[1])
    gone = call("data", "verify")
    assert (gone.exit_code, "records not here" in gone.stdout) == (1, True)


def test_records_removed_on_purpose_are_no_damage(service: Service) -> None:
    service.remove_records("small", note="over")
    assert call("data", "verify").exit_code == 0


def test_records_that_came_back_are_named_and_can_be_removed_again(
    service: Service, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A kill between the line in the log and the folder, or a backup of long ago."""
    with monkeypatch.context() as killed:
        killed.setattr(Store, "discard", lambda *_: None)
        with pytest.raises(ConflictError, match="still there"):
            service.remove_records("small", note="over")
    assert [orphan.state for orphan in service.orphans()] == ["returned"]
    assert "'data remove' them once more" in run("data", "orphans")
    assert call("data", "verify").exit_code == 1
    service.remove_records("small", note="over, again")
    assert [orphan.state for orphan in service.orphans()] == ["removed"]
    assert call("data", "verify").exit_code == 0


def test_an_orphan_is_adopted_with_what_is_known_of_its_past(service: Service, orphan: str) -> None:
    with pytest.raises(ConflictError, match="'small' exists"):
        service.adopt(orphan, note="found")
    adopted = service.adopt(orphan, name="again", budget=Decimal(2), spent=HALF, delta=Decimal("1e-6"), note="found")
    assert (adopted.id, adopted.name, adopted.public) == (orphan, "again", False)
    balance = service.total_balance("again")
    assert (amounts(balance).spent, amounts(balance).left) == (HALF, Decimal("1.5"))
    assert (balance.delta, balance.total.delta) == (Decimal("1e-5"), Decimal("1e-6"))
    assert [line.kind for line in service.ledger_entries("again")] == ["open", "charge"]
    assert service.orphans() == []
    done = service.submit(fake_request(orphan), "n")
    assert service.run(done).state == "done"


def learned_folders(home: Path, tmp_path: Path, threshold_delta: Decimal, number: int = 1) -> list[str]:
    """Records whose schema was learned, as folders that the database of a home does not know."""
    certificate = LearningCertificate(
        columns=("age",),
        mechanisms=("a mechanism",),
        definition="approximate",
        asked=Decimal("0.1"),
        epsilon=Decimal("0.6"),
        delta=Decimal("1e-7"),
        rho=Decimal("0.005"),
        threshold_delta=threshold_delta,
        rows_per_person=1,
        max_rows=100,
        time=datetime(2026, 1, 1, tzinfo=UTC),
        engine_version="0",
    )
    with Service(tmp_path / "elsewhere", workers=0) as service:
        schema = small_schema("learned").model_copy(update={"learned": certificate})
        stored = service.add_dataset(small_frame(), schema, budget=Decimal(2)).id
    folders = [str(copy) * 32 for copy in range(number)]
    for folder in folders:
        shutil.copytree(tmp_path / "elsewhere" / "datasets" / stored, home / "datasets" / folder)
    return folders


def test_learned_categories_share_no_budget_that_was_opened_without_them(
    service: Service, home: Path, tmp_path: Path
) -> None:
    """Their delta has to be set aside from the start, or the proof of the account does not hold."""
    [folder] = learned_folders(home, tmp_path, Decimal("5e-8"))
    before = service.ledger_entries("small")
    for kin in ({"same_people_as": "small"}, {"replaces": "small"}):
        with pytest.raises(BudgetError, match="set aside for that when a budget is opened"):
            service.adopt(folder, note="found", **kin)
    assert service.ledger_entries("small") == before
    assert [(orphan.id, orphan.state) for orphan in service.orphans()] == [(folder, "unknown")]
    service.adopt(folder, budget=Decimal(2), note="found")
    assert [line.delta for line in service.ledger_entries("learned")] == [Decimal("5e-8"), Decimal("1e-7")]


def test_a_next_version_pays_nothing_for_what_was_learned_before(service: Service, home: Path, tmp_path: Path) -> None:
    first, second, third = learned_folders(home, tmp_path, Decimal("5e-8"), 3)
    service.adopt(first, budget=Decimal(2), note="found")
    spent = amounts(service.total_balance("learned")).spent
    service.adopt(second, replaces="learned", note="found")
    service.adopt(third, name="beside", same_people_as="learned", note="found")
    assert amounts(service.total_balance("beside")).spent == spent > 0
    kinds = [line.kind for line in service.ledger_entries("learned")]
    assert kinds == ["open", "learn", "join", "retire", "join"]


def test_a_schema_that_nobody_paid_for_is_charged_once(service: Service, home: Path, tmp_path: Path) -> None:
    """Whether it is adopted or stored."""
    folders = learned_folders(home, tmp_path, NONE, 2)
    declared = service._store.check_files(folders[0]).model_copy(update={"name": "declared"})
    service.add_dataset(small_frame(), declared, same_people_as="small")
    for folder in folders:
        service.adopt(folder, name=folder, same_people_as="small", note="found")
    kinds = [line.kind for line in service.ledger_entries("small")]
    assert kinds[-4:] == ["join", "learn", "join", "join"]


def test_without_a_budget_nothing_can_be_spent_until_one_is_given(service: Service, orphan: str) -> None:
    service.adopt(orphan, name="again", note="found")
    with pytest.raises(BudgetError, match=r"this data set's budget is 0\. Ask the custodian"):
        service.submit(fake_request(orphan), "n")
    service.raise_caps("again", budget=Decimal(1), note="the ethics board agrees")
    assert amounts(service.total_balance("again")).left == 1


def test_a_note_has_the_room_that_is_said(service: Service, orphan: str) -> None:
    """The line holds words of the program, too."""
    with pytest.raises(RequestError) as refusal:
        service.adopt(orphan, name="again", note="x" * 500)
    room = int(re.findall(r"at most (\d+) characters", str(refusal.value))[0])
    assert 400 < room < 500
    service.adopt(orphan, name="again", note="x" * room)
    assert service.ledger_entries()[-1].note.endswith("x" * room)


def test_what_cannot_be_adopted_is_said(service: Service, orphan: str, home: Path) -> None:
    known = service.dataset("small").id
    for wrong in (known, "nothing", "..", "../datasets"):
        with pytest.raises(NotFoundError):
            service.adopt(wrong, note="x")
    with pytest.raises(SchemaError):
        service.adopt(orphan, name="\x1b[2J", note="x")
    with pytest.raises(RequestError, match="Say in the note"):
        service.adopt(orphan, name="again", note=" ")
    with pytest.raises(BudgetError):
        service.adopt(orphan, name="again", budget=Decimal(-1), note="x")
    with pytest.raises(AccessError):
        service.acting(ANN).adopt(orphan, name="again", note="x")
    with claimed(home / "datasets" / orphan / "owner"):
        assert [stray.state for stray in service.orphans()] == ["arriving"]
        with pytest.raises(ConflictError, match="being stored"):
            service.adopt(orphan, name="again", note="x")
        with pytest.raises(ConflictError, match="being stored"):
            service.remove_records(orphan, note="x")
    inferred = small_schema(origin="inferred from records")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Store, "check_files", lambda *_: inferred)
        with pytest.raises(SchemaError, match="would be private"):
            service.adopt(orphan, name="again", note="x")
    (home / "datasets" / orphan / "00000" / "records.arrow").unlink()
    with pytest.raises(SchemaError):
        service.adopt(orphan, name="again", note="x")
    assert [stray.state for stray in service.orphans()] == ["unknown"]


def test_who_adopts_and_who_removes_wait_for_each_other(
    service: Service, orphan: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder that is removed while it is adopted would leave an entry without records."""
    real = Store.check_files

    def remove() -> None:
        service.remove_records(orphan, note="not ours")

    remover, looks = threading.Thread(target=remove), list[str]()

    def check(store: Store, dataset_id: str) -> object:
        found = real(store, dataset_id)
        if threading.current_thread() is not remover:
            looks.append(dataset_id)
        if len(looks) == 2 and remover.ident is None:  # The first look lists the strays.
            remover.start()
            remover.join(0.5)
        return found

    with monkeypatch.context() as patch:
        patch.setattr(Store, "check_files", check)
        service.adopt(orphan, name="again", note="found")
        remover.join()
    assert [line.kind for line in service.ledger_entries("again")] == ["open", "remove"]
    assert [stray.state for stray in service.orphans()] == ["removed"]


def test_of_two_who_adopt_at_once_one_is_told_so(service: Service, orphan: str) -> None:
    told: list[str] = []

    def adopt(name: str) -> None:
        try:
            service.adopt(orphan, name=name, note="found")
        except (ConflictError, NotFoundError) as error:
            told.append(str(error))

    crowd = [threading.Thread(target=adopt, args=(f"name {i}",)) for i in range(3)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert len(told) == 2
    assert all("that the database does not know" in text for text in told)


def test_removing_records_keeps_the_ledger_and_the_results(service: Service, home: Path) -> None:
    [release] = service.releases()
    with pytest.raises(RequestError):
        service.remove_records("small", note="")
    with pytest.raises(AccessError):
        service.acting(ANN).remove_records("small", note="mine")
    assert contents(home) != {}
    service.remove_records("small", note="the study has ended")
    assert contents(home) == {}
    assert list((home / "incoming").iterdir()) == []
    assert service.release(release.id) == release
    last = service.ledger_entries("small")[-1]
    assert (last.kind, last.note, last.actor) == ("remove", "the study has ended", "local")
    assert amounts(service.total_balance("small")).spent == HALF
    with pytest.raises(RequestError, match="no longer here"):
        service.submit(fake_request(service.dataset("small").id), "n")
    assert [orphan.state for orphan in service.orphans()] == ["removed"]
    with pytest.raises(ConflictError, match="exists"):  # Its name does not become free.
        service.add_dataset(small_frame(), small_schema(), budget=Decimal(2))


def test_records_are_not_removed_under_a_run(home: Path, service: Service) -> None:
    import sys

    nobody = (sys.executable, "-c", "import sys; sys.stdin.read()")
    with Service(home, workers=1, worker_command=nobody) as waiting:
        run = waiting.submit(fake_request(service.dataset("small").id), "n")
        with pytest.raises(ConflictError, match="stop them first"):
            waiting.remove_records("small", note="x")
        assert contents(home) != {}
        waiting.cancel(run)


def test_a_missing_folder_is_listed_and_no_budget_is_spent_on_it(service: Service, home: Path, tmp_path: Path) -> None:
    dataset = service.dataset("small").id
    aside = (home / "datasets" / dataset).rename(tmp_path / "aside")
    assert [(orphan.name, orphan.state) for orphan in service.orphans()] == [("small", "missing")]
    with pytest.raises(RequestError, match="no longer here"):
        service.submit(fake_request(dataset), "n")
    assert amounts(service.total_balance("small")).reserved == 0
    aside.rename(home / "datasets" / dataset)
    assert service.orphans() == []
