"""Turns end with who has them, and writers of a SQLite file take theirs."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpcore.errors import AwayError
from dpcore.workspace.database import engines, file_locks
from dpcore.workspace.database.database import open_database
from dpcore.workspace.database.file_locks import claimed, file_lock, is_claimed
from dpcore.workspace.database.transactions import read, write
from tests.support.servers.databases import SERVER, fresh_url

_HOLDER = (
    "import os, signal, sys; from pathlib import Path; from dpcore.workspace.database.file_locks import file_lock\n"
    "with file_lock(Path(sys.argv[1])):\n"
    "    os.kill(os.getpid(), signal.SIGKILL)\n"
)


def test_a_killed_holder_blocks_nobody(tmp_path: Path) -> None:
    place = tmp_path / "queue"
    ended = subprocess.run([sys.executable, "-c", _HOLDER, str(place)], check=False)
    assert ended.returncode == -signal.SIGKILL
    with file_lock(place):
        assert place.stat().st_mode & 0o777 == 0o600


def test_a_writer_waits_for_its_turn_and_a_reader_does_not(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{tmp_path / 'frostglass.db'}")
    written = threading.Event()

    def work() -> None:
        write(engine, lambda connection: connection.exec_driver_sql("DELETE FROM jobs"))
        written.set()

    with file_lock(tmp_path / "frostglass.db-queue"):
        thread = threading.Thread(target=work)
        thread.start()
        count = read(engine, lambda c: c.exec_driver_sql("SELECT count(*) FROM jobs").scalar())
        assert count == 0
        assert not written.wait(0.3)
    thread.join()
    assert written.is_set()


def test_a_turn_that_does_not_come_is_given_up_and_kept_from_nobody(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = tmp_path / "queue"
    with file_lock(place), monkeypatch.context() as patch:
        patch.setattr(file_locks, "TIMEOUT", 0.05)
        for _ in range(3):
            with pytest.raises(AwayError, match="has held this one up"), file_lock(place):
                raise AssertionError("two have the turn")
    with file_lock(place):
        assert is_claimed(place)
    assert file_locks.TIMEOUT * 1000 > engines.BUSY_TIMEOUT  # Who has the turn may wait for this.


def test_who_waits_gets_the_turn_alone(tmp_path: Path) -> None:
    place, inside, most = tmp_path / "queue", [0], []

    def take() -> None:
        for _ in range(20):
            with file_lock(place):
                inside[0] += 1
                most.append(inside[0])
                inside[0] -= 1

    crowd = [threading.Thread(target=take) for _ in range(4)]
    for thread in crowd:
        thread.start()
    for thread in crowd:
        thread.join()
    assert most == [1] * 80


@pytest.mark.skipif(SERVER is None, reason="FROSTGLASS_TEST_POSTGRES names no server")
def test_a_lock_of_the_server_is_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    url = fresh_url("postgresql", tmp_path)
    engine = open_database(url)
    assert read(engine, lambda c: c.exec_driver_sql("SHOW lock_timeout").scalar()) == "1min"
    assert engines.LOCK_TIMEOUT == 60_000
    engine.dispose()
    monkeypatch.setattr(engines, "LOCK_TIMEOUT", 50)
    engine, other = open_database(url), sa.create_engine(url)
    with other.begin() as holder:
        holder.exec_driver_sql("LOCK TABLE ledger_entries IN ACCESS EXCLUSIVE MODE")
        with pytest.raises(AwayError, match="Somebody else has locked"):
            write(engine, lambda connection: None)
    write(engine, lambda connection: None)


def test_what_is_claimed_is_told_from_what_was_left(tmp_path: Path) -> None:
    place = tmp_path / "folder" / "owner"
    place.parent.mkdir()
    with claimed(place):
        assert is_claimed(place)
        moved = place.parent.rename(tmp_path / "moved")
        assert is_claimed(moved / "owner")
    assert not is_claimed(moved / "owner")
