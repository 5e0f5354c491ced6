"""The mark in the home: it may come late, but nothing is spent that it could not tell of."""

from __future__ import annotations

import errno
import json
import os
import sys
from decimal import Decimal
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpcore.errors import AwayError, InstallationError
from dpcore.privacy.losses import pure_loss
from dpcore.service import Service
from dpcore.workspace.database import file_locks, installation
from dpcore.workspace.database.file_locks import holding
from dpcore.workspace.database.home import Binding, Home
from dpcore.workspace.database.installation import look, open_installation
from dpcore.workspace.database.transactions import be_patient, write
from dpcore.workspace.ledger.ledger import Ledger
from tests.support.workspaces.accounts import amounts, release_for
from tests.support.workspaces.fake_learner import fake_request
from tests.support.workspaces.homes import acknowledge, copy_database, fill, put_back, spend, spent

HALF, NONE = Decimal("0.5"), Decimal(0)


def mark(home: Path) -> int:
    binding = Home(home).binding()
    assert binding is not None
    return binding.mark.number


def failing(monkeypatch: pytest.MonkeyPatch, name: str, times: int, number: int) -> list[object]:
    """A method of the home fails so often, as on a share that is away; return the calls."""
    real, calls = getattr(Home, name), []

    def method(self: Home, *details: object) -> Binding | None:
        calls.append(details)
        if len(calls) <= times:
            raise OSError(number, "away")
        found: Binding | None = real(self, *details)
        return found

    monkeypatch.setattr(Home, name, method)
    return calls


@pytest.mark.crossed
@pytest.mark.parametrize("number", [errno.ESTALE, errno.EIO])
def test_a_home_that_is_away_for_a_moment_ends_no_run(
    number: int, url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = fill(home, url, runs=0)
    engine = open_installation(home, url)
    be_patient(engine, 60)
    ledger = Ledger(engine)
    run = ledger.reserve(dataset, "ann", pure_loss(HALF), "n", "hash").id
    ledger.touch(run)
    calls = failing(monkeypatch, "binding", 2, number)
    ledger.commit(run, release_for(HALF, dataset))
    assert len(calls) == 3
    assert ledger.state(run) == "committed"
    engine.dispose()


@pytest.mark.crossed
@pytest.mark.parametrize("what", ["home", "home/installation.json"])
def test_a_home_that_comes_back_ends_no_run(what: str, url: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a share is mounted again."""
    dataset = fill(home, url, runs=0)
    engine = open_installation(home, url)
    be_patient(engine, 60)
    ledger = Ledger(engine)
    run = ledger.reserve(dataset, "ann", pure_loss(HALF), "n", "hash").id
    ledger.touch(run)
    place, aside = home.parent / what, home.parent / "aside"
    real, found = Home.binding, []

    def binding(self: Home) -> Binding | None:
        if aside.exists() and found:
            aside.rename(place)
        found.append(real(self))
        return found[-1]

    monkeypatch.setattr(Home, "binding", binding)
    place.rename(aside)
    ledger.commit(run, release_for(HALF, dataset))
    assert [one is None for one in found] == [True, False]
    assert ledger.state(run) == "committed"
    engine.dispose()


def test_a_home_that_stays_away_is_said_in_a_sentence(url: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(home, url, runs=0)
    with Service(home, url, workers=0) as service:
        failing(monkeypatch, "binding", 99, errno.ESTALE)
        with pytest.raises(AwayError, match="cannot be used"):
            service.charge("small", HALF, note="spent elsewhere")
        monkeypatch.undo()
        assert amounts(service.total_balance("small")).spent == 0


def test_a_mark_that_came_too_late_is_made_up_for(url: str, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By the next write, or when the home is opened: whoever wrote the line may be dead by now."""
    fill(home, url, runs=0)
    with Service(home, url, workers=0) as service:
        failing(monkeypatch, "advance", 1, errno.ENOSPC)
        service.charge("small", HALF, note="spent elsewhere")
        assert mark(home) == 1
        write(service._engine, lambda connection: None)
        assert mark(home) == 2
        failing(monkeypatch, "advance", 1, errno.ENOSPC)
        service.charge("small", HALF, note="spent elsewhere")
        assert mark(home) == 2
    open_installation(home, url).dispose()
    assert mark(home) == 3


def test_nothing_is_spent_while_the_mark_cannot_be_written(
    url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = fill(home, url, runs=0)
    with Service(home, url, workers=0) as service:
        ledger = Ledger(service._engine)
        paid = ledger.reserve(dataset, "ann", pure_loss(HALF), "paid", "hash").id
        ledger.touch(paid)
        waiting = ledger.reserve(dataset, "ann", pure_loss(HALF), "waiting", "hash").id
        with monkeypatch.context() as patch:
            failing(patch, "advance", 99, errno.ENOSPC)
            ledger.commit(paid, release_for(HALF, dataset))  # What is paid for goes on.
            with pytest.raises(InstallationError) as caught:
                service.submit(fake_request(dataset), "late")
            assert str(caught.value) == installation._UNMARKED
            with pytest.raises(InstallationError, match="nothing more can be spent"):
                ledger.touch(waiting)  # No record is read.
            ledger.refund(waiting, "called off")
            assert amounts(service.total_balance("small")).spent == HALF
            assert amounts(service.total_balance("small")).reserved == 0
        run = service.submit(fake_request(dataset), "late")
        assert service.run(run).state == "done"
        assert mark(home) == look(Home(home), url).newest.number


def test_a_loss_of_power_makes_no_copy(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk may keep the name of a new file and lose what was written to another one before."""
    fill(home, runs=0)
    kept: list[tuple[bytes, bool]] = []
    real, file = os.fsync, home / "installation.json"

    def to_disk(handle: int) -> None:
        real(handle)
        if os.path.sameopenfile(handle, opened.fileno()):
            kept.append((file.read_bytes(), (home / "seen-2").exists()))

    with Service(home, workers=0) as service, file.open("rb") as opened:
        monkeypatch.setattr(os, "fsync", to_disk)
        service.charge("small", HALF, note="spent elsewhere")
    assert kept == [(file.read_bytes(), False)]
    assert (home / "seen-2").exists()


def test_a_line_that_is_written_while_one_looks_makes_no_copy(
    url: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Workers and commands begin while others write."""
    fill(home, url)
    real, calls = Home.binding, []

    def binding(self: Home) -> Binding | None:
        found: Binding | None = real(self)
        calls.append(found)
        if len(calls) == 1:
            service.charge("small", HALF, note="spent elsewhere")
        return found

    with Service(home, url, workers=0) as service:
        monkeypatch.setattr(Home, "binding", binding)
        facts = look(Home(home), url)
    assert facts.newest.number > facts.mark.number
    assert facts.fault is None


@pytest.mark.skipif(sys.platform == "win32", reason="there are no turns")
def test_a_mark_that_somebody_holds_is_not_called_damaged(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else an operator would be told how to forget what was spent."""
    fill(home, runs=0)
    monkeypatch.setattr(file_locks, "TIMEOUT", 0.05)
    with (
        (home / "installation.json").open("r+b") as stream,
        holding(stream.fileno()),
        pytest.raises(AwayError, match="has held this one up"),
    ):
        look(Home(home), f"sqlite:///{home / 'frostglass.db'}")


def test_an_older_database_is_told_after_a_mark_that_came_late(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(home, runs=0)
    copy_database(home / "frostglass.db", home / "copy.db")
    with Service(home, workers=0) as service:
        failing(monkeypatch, "advance", 1, errno.EIO)
        service.charge("small", HALF, note="spent elsewhere")
        write(service._engine, lambda connection: None)
    put_back(home / "copy.db", home / "frostglass.db")
    with pytest.raises(InstallationError) as caught:
        Service(home, workers=0)
    assert str(caught.value) == installation.OLDER


def remove_line(url: str, number: int) -> None:
    """As somebody does it by hand, past what the database allows."""
    engine = sa.create_engine(url)
    with engine.begin() as connection:
        if connection.dialect.name == "sqlite":
            names = "SELECT name FROM sqlite_master WHERE type = 'trigger'"
            for name in connection.exec_driver_sql(names).scalars().all():
                connection.exec_driver_sql(f"DROP TRIGGER {name}")
        else:
            connection.exec_driver_sql("ALTER TABLE ledger_entries DISABLE TRIGGER USER")
        gone = sa.text("DELETE FROM ledger_entries WHERE sequence = :number")
        assert connection.execute(gone, {"number": number}).rowcount == 1
    engine.dispose()


def test_a_line_that_was_removed_by_hand_is_missed(url: str, home: Path) -> None:
    fill(home, url)
    spend(home, url, first=1)
    remove_line(url, 3)
    with pytest.raises(InstallationError) as caught:
        Service(home, url, workers=0)
    assert str(caught.value) == installation.OLDER
    acknowledge(home, url)
    with Service(home, url, workers=0) as service:
        service.charge("small", HALF, note="the line that is missing")
    with Service(home, url, workers=0):
        pass


def test_numbers_that_were_never_used_are_not_missed(url: str, home: Path) -> None:
    """A server does not give the number of a transaction that failed to another one."""
    dataset = fill(home, url)

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    with Service(home, url, workers=0) as service:
        ledger = Ledger(service._engine)
        with pytest.raises(ZeroDivisionError):
            ledger.reserve(dataset, "ann", pure_loss(HALF), "n", "hash", on_created=fail)
        service.charge("small", HALF, note="spent elsewhere")
    assert spent(home, url) == 2 * HALF


@pytest.fixture
def uncounted(home: Path) -> Path:
    """A home whose mark is that of a version that did not count."""
    fill(home)
    file = home / "installation.json"
    content = json.loads(file.read_text())
    assert content["mark"].pop() == content["mark"][0] == 4
    with file.open("r+") as stream:
        stream.write(json.dumps(content).ljust(511))
    return home


def test_a_mark_without_a_count_is_read_and_counted_on(uncounted: Path) -> None:
    spend(uncounted, first=1)
    binding = Home(uncounted).binding()
    assert binding is not None
    assert binding.mark.number == binding.mark.count == 7
