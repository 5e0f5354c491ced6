"""Turns end with who has them, and writers of a SQLite file take theirs."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from pathlib import Path

from dpcore.database import open_database, read, write
from dpcore.turns import claimed, is_claimed, turn

_HOLDER = (
    "import os, signal, sys; from pathlib import Path; from dpcore.turns import turn\n"
    "with turn(Path(sys.argv[1])):\n"
    "    os.kill(os.getpid(), signal.SIGKILL)\n"
)


def test_a_killed_holder_blocks_nobody(tmp_path: Path) -> None:
    place = tmp_path / "queue"
    ended = subprocess.run([sys.executable, "-c", _HOLDER, str(place)], check=False)
    assert ended.returncode == -signal.SIGKILL
    with turn(place):
        assert place.stat().st_mode & 0o777 == 0o600


def test_a_writer_waits_for_its_turn_and_a_reader_does_not(tmp_path: Path) -> None:
    engine = open_database(f"sqlite:///{tmp_path / 'frostglass.db'}")
    written = threading.Event()

    def work() -> None:
        write(engine, lambda connection: connection.exec_driver_sql("DELETE FROM jobs"))
        written.set()

    with turn(tmp_path / "frostglass.db-queue"):
        thread = threading.Thread(target=work)
        thread.start()
        count = read(engine, lambda c: c.exec_driver_sql("SELECT count(*) FROM jobs").scalar())
        assert count == 0
        assert not written.wait(0.3)
    thread.join()
    assert written.is_set()


def test_what_is_claimed_is_told_from_what_was_left(tmp_path: Path) -> None:
    place = tmp_path / "folder" / "owner"
    place.parent.mkdir()
    with claimed(place):
        assert is_claimed(place)
        moved = place.parent.rename(tmp_path / "moved")
        assert is_claimed(moved / "owner")
    assert not is_claimed(moved / "owner")
