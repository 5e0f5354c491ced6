"""What custodians have brought stays where it is private, until it is stored, removed or old."""

from __future__ import annotations

import errno
import io
import os
import tempfile
import time
from pathlib import Path

import pytest

from dpcore.errors import IngestError
from dpcore.service import Service
from dpcore.workspace.files import staging
from dpcore.workspace.files.staging import StagingArea, spool

ENDINGS = ("csv", "parquet")


def keep(staging_area: StagingArea, name: str = "x.csv", place: str = "main") -> staging.StagedFile:
    return staging_area.keep(place, name, io.BytesIO(b"a\n1\n"), ENDINGS)


def test_what_lies_on_a_desk_is_there_for_whoever_comes_back(tmp_path: Path) -> None:
    kept = keep(StagingArea(tmp_path, "ann"))
    StagingArea(tmp_path, "ann").note("typed")
    with Service(tmp_path, workers=0):  # A restart clears what crashed, not what was brought.
        again = StagingArea(tmp_path, "ann")
    assert again.files() == [kept]
    assert again.notes() == "typed"
    assert (kept.name, kept.size, kept.path.read_bytes()) == ("x.csv", 4, b"a\n1\n")


def test_each_custodian_has_a_desk_of_their_own(tmp_path: Path) -> None:
    keep(StagingArea(tmp_path, "ann"))
    for other in ("bob", "", "../ann", "ann/", "\ud800"):
        assert not StagingArea(tmp_path, other).files()


def test_everything_on_a_desk_is_for_its_owner_alone(tmp_path: Path) -> None:
    staging_area = StagingArea(tmp_path, "ann")
    keep(staging_area, "../../etc/x.csv")
    staging_area.note("typed")
    for path in (tmp_path / "uploads").rglob("*"):
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600)
        assert path.is_relative_to(staging_area.folder)


def test_without_room_nothing_of_a_file_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    staging_area = StagingArea(tmp_path, "ann")
    there = keep(staging_area)

    def full(_source: object, target: io.BufferedWriter, _size: int) -> None:
        target.write(b"a")
        raise OSError(errno.ENOSPC, "full")

    monkeypatch.setattr(staging.shutil, "copyfileobj", full)
    with pytest.raises(IngestError, match="no room"):
        keep(staging_area)
    assert staging_area.files() == [there]
    assert sorted(path.suffix for path in staging_area.folder.iterdir()) == [".csv", ".json"]


def test_a_desk_goes_with_its_last_file(tmp_path: Path) -> None:
    staging_area = StagingArea(tmp_path, "ann")
    first, second = keep(staging_area), keep(staging_area)
    staging_area.note("typed")
    staging_area.drop(first.file_id)
    assert staging_area.files() == [second]
    assert not first.path.exists()
    staging_area.drop(second.file_id)
    assert not staging_area.folder.exists()
    staging_area.note("nothing to write about")
    assert not staging_area.folder.exists()


class Clocks:
    """The date, and the time since the computer was started."""

    def __init__(self) -> None:
        self.date, self.running = time.time(), 50.0

    def time(self) -> float:
        return self.date

    def monotonic(self) -> float:
        return self.running

    def go_on(self, seconds: float) -> None:
        self.date += seconds
        self.running += seconds


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Clocks:
    clocks = Clocks()
    monkeypatch.setattr(staging, "time", clocks)
    return clocks


def test_a_desk_that_nobody_touched_for_long_is_cleared(tmp_path: Path, clocks: Clocks) -> None:
    old, new = StagingArea(tmp_path, "ann"), StagingArea(tmp_path, "bob")
    for staging_area in (old, new):
        keep(staging_area)
    long_ago = time.time() - (staging.DAYS + 1) * 86_400
    for path in [*old.folder.iterdir(), old.folder]:
        os.utime(path, (long_ago, long_ago))
    staging.clear_old(tmp_path)
    clocks.go_on(staging.SURE - 1)
    staging.clear_old(tmp_path)
    assert old.files()
    clocks.go_on(1)
    staging.clear_old(tmp_path)
    assert not old.folder.exists()
    assert new.files()


def test_a_date_that_is_wrong_for_a_while_clears_no_desk(tmp_path: Path, clocks: Clocks) -> None:
    staging_area, ahead = StagingArea(tmp_path, "ann"), (staging.DAYS + 1) * 86_400
    kept = keep(staging_area)
    for _ in range(2):
        clocks.date += ahead
        staging.clear_old(tmp_path)
        staging.clear_old(tmp_path)
        clocks.date -= ahead
        clocks.go_on(staging.SURE)
        staging.clear_old(tmp_path)
    assert staging_area.files() == [kept]


def test_each_start_and_each_sweep_looks_for_what_is_old(tmp_path: Path, clocks: Clocks) -> None:
    """Also if no custodian ever comes again."""
    old = StagingArea(tmp_path, "ann")
    keep(old)
    for path in [*old.folder.iterdir(), old.folder]:
        os.utime(path, (0, 0))
    with Service(tmp_path, workers=0) as service:
        assert old.files()
        clocks.go_on(staging.SURE)
        service.sweep()
        assert not old.folder.exists()


def test_a_disk_that_does_not_answer_is_no_empty_desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    staging_area = StagingArea(tmp_path, "ann")
    first, second = keep(staging_area), keep(staging_area)

    def away(*_: object, **__: object) -> str:
        raise OSError(errno.EIO, "away")

    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_text", away)
        for action in (staging_area.files, lambda: staging_area.drop(first.file_id), lambda: keep(staging_area)):
            with pytest.raises(IngestError, match="cannot be read now"):
                action()
    assert staging_area.files() == [first, second]
    staging_area.drop(first.file_id)
    assert staging_area.files() == [second]


def test_without_room_for_a_desk_there_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_path: Path) -> None:
        raise OSError(errno.ENOSPC, "full")

    staging_area = StagingArea(tmp_path, "ann")
    monkeypatch.setattr(staging, "private_folder", full)
    with pytest.raises(IngestError, match="no room"):
        keep(staging_area)


def test_notes_that_cannot_be_written_leave_those_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    staging_area = StagingArea(tmp_path, "ann")
    keep(staging_area)
    staging_area.note("typed")
    (staging_area.folder / ".notes.json").symlink_to("/dev/full")
    with pytest.raises(IngestError, match="could not be written down"):
        staging_area.note("more")
    assert staging_area.notes() == "typed"


def test_a_list_of_files_that_is_damaged_is_an_empty_desk(tmp_path: Path) -> None:
    staging_area = StagingArea(tmp_path, "ann")
    keep(staging_area)
    (staging_area.folder / "files.json").write_text("{")
    assert staging_area.files() == []


def test_what_a_server_writes_down_while_it_receives_is_inside_the_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = spool(tmp_path / "home")
    Service(tmp_path / "home", workers=0).close()
    assert folder == tmp_path / "home" / "spool"
    assert folder.stat().st_mode & 0o777 == 0o700
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    with tempfile.SpooledTemporaryFile(max_size=1) as stream:
        stream.write(b"123")
        assert Path(f"/proc/self/fd/{stream.fileno()}").readlink().is_relative_to(folder)
