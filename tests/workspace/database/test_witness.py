"""The witness: a home and a database that are set back together are refused, or it is said that nobody can tell."""

from __future__ import annotations

import gc
import json
import logging
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path

import pytest

from dpcore.errors import InstallationError
from dpcore.service import Service
from dpcore.workspace.database import installation, witness
from dpcore.workspace.database.home import Home
from dpcore.workspace.database.installation import look
from dpcore.workspace.database.witness import Line, Witness, witness_folder
from tests.support.servers.databases import KINDS, fresh_url, ready_url
from tests.support.texts import lacking
from tests.support.workspaces.backups import back_up, restore
from tests.support.workspaces.command_line import at_terminal
from tests.support.workspaces.fake_learner import fake_request
from tests.support.workspaces.homes import acknowledge, fill, refused, spend, spent

HALF = Decimal("0.5")
each = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture(autouse=True)
def _heard(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING, "frostglass")


@pytest.fixture
def witnesses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine of its own: nothing has been seen here."""
    monkeypatch.setenv("FROSTGLASS_WITNESS", str(tmp_path / "witnesses"))
    return tmp_path / "witnesses"


@pytest.fixture
def untold(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system whose files have no number that tells a copy, or one that copies the numbers too (a snapshot)."""
    monkeypatch.setattr(Home, "copied", lambda self: False)


def database(home: Path) -> str:
    return f"sqlite:///{home / 'frostglass.db'}"


def identifier(home: Path) -> str:
    binding = Home(home).binding()
    assert binding is not None
    return binding.installation


def remembered(home: Path) -> Line | None:
    return Home(home).witness.line(identifier(home))


def mirror(source: Path, target: Path) -> None:
    """Make a folder what another one is: files keep their numbers, and what is newer goes."""
    for path in sorted(target.rglob("*"), reverse=True):
        if not (source / path.relative_to(target)).exists():
            path.rmdir() if path.is_dir() else path.unlink()
    for path in source.rglob("*"):
        place = target / path.relative_to(source)
        if path.is_dir():
            place.mkdir(exist_ok=True)
        elif place.exists():
            with place.open("r+b") as stream:
                stream.write(path.read_bytes())
                stream.truncate()
        else:
            shutil.copy2(path, place)


# Restores


@each
@pytest.mark.parametrize("lines", [0, 1])
def test_a_home_that_is_mirrored_back_in_place_gives_no_budget_back(
    kind: str, lines: int, home: Path, tmp_path: Path
) -> None:
    url = database(home) if kind == "sqlite" else fresh_url(kind, tmp_path)
    if lines:
        fill(home, url)
    else:
        Service(home, url, workers=0).close()
    shutil.copytree(home, tmp_path / "mirror")
    copy = back_up(url, tmp_path) if kind == "postgresql" else None
    spend(home, url, first=1) if lines else fill(home, url)
    gc.collect()
    mirror(tmp_path / "mirror", home)
    if copy is not None:
        restore(url, copy)
    with pytest.raises(InstallationError) as caught:
        Service(home, url, workers=0)
    assert str(caught.value) == installation.SET_BACK
    acknowledge(home, url, close=True)
    if lines:
        with Service(home, url, workers=0) as service:
            assert service.total_balance("small").left == 0
            assert "The ledger ended at line 4; line 7 had been seen." in service.ledger_entries("small")[-2].note
    Service(home, url, workers=0).close()


def test_a_home_that_is_mirrored_back_under_a_running_program_spends_nothing(home: Path, tmp_path: Path) -> None:
    fill(home)
    shutil.copytree(home, tmp_path / "mirror")
    with Service(home, workers=0) as service:
        service.charge("small", HALF, note="spent elsewhere")
        request = fake_request(service.dataset("small").id)
        service._engine.dispose()
        mirror(tmp_path / "mirror", home)
        with pytest.raises(InstallationError) as caught:
            service.submit(request, "again")
        assert str(caught.value) == installation.SET_BACK


@pytest.mark.usefixtures("untold")
@pytest.mark.parametrize("first", ["original", "copy"])
def test_of_a_home_and_its_copy_the_second_to_write_is_refused(first: str, home: Path, tmp_path: Path) -> None:
    fill(home)
    copy = tmp_path / "copy"
    shutil.copytree(home, copy)
    one, other = (home, copy) if first == "original" else (copy, home)
    with Service(other, workers=0) as running:
        request = fake_request(running.dataset("small").id)
        spend(one, first=1)
        with pytest.raises(InstallationError) as caught:
            running.submit(request, "second")
        assert str(caught.value) == installation.SET_BACK
    refused(other, None, installation.SET_BACK)
    assert spent(one) == 2 * HALF
    acknowledge(other, database(other))  # From then on the two are strangers.
    assert spent(other) == HALF
    spend(one, first=2)
    spend(other, first=2)


@pytest.mark.usefixtures("untold")
def test_a_home_that_is_exchanged_for_an_earlier_state_of_it_is_refused(home: Path, tmp_path: Path) -> None:
    fill(home)
    shutil.copytree(home, tmp_path / "earlier")
    spend(home, first=1)
    home.rename(tmp_path / "newest")
    (tmp_path / "earlier").rename(home)
    refused(home, None, installation.SET_BACK)
    home.rename(tmp_path / "earlier")
    (tmp_path / "newest").rename(home)
    assert spent(home) == 2 * HALF


def test_a_state_that_was_given_up_does_not_come_back(home: Path, tmp_path: Path) -> None:
    """What was put aside is put back, although the backup that took its place was used since."""
    fill(home)
    shutil.copytree(home, tmp_path / "backup")
    spend(home, first=1)
    home.rename(tmp_path / "aside")
    shutil.copytree(tmp_path / "backup", home)
    acknowledge(home, database(home))
    spend(home, first=2)
    shutil.rmtree(home)
    (tmp_path / "aside").rename(home)
    refused(home, None, installation.SET_BACK)


def test_homes_that_are_exchanged_for_each_other_are_told_by_their_names(home: Path, tmp_path: Path) -> None:
    fill(home)
    fill(tmp_path / "other", runs=2)
    home.rename(tmp_path / "aside")
    (tmp_path / "other").rename(home)
    (tmp_path / "aside").rename(tmp_path / "other")
    assert (spent(home), spent(tmp_path / "other")) == (2 * HALF, HALF)  # Each has its own ledger inside.
    refused(home, database(tmp_path / "other"), installation.OTHER)


@each
def test_a_witness_that_is_behind_goes_on(
    kind: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a crash between a commit and the witness of it."""
    url = ready_url(kind, tmp_path)
    fill(home, url)
    with monkeypatch.context() as patch:
        patch.setattr(Witness, "note", lambda *_: None)
        spend(home, url, first=1)
    assert remembered(home) != look(Home(home), url).newest
    assert spent(home, url) == 2 * HALF
    assert remembered(home) == look(Home(home), url).newest


# A machine that has seen nothing


def test_a_machine_without_a_witness_says_so_once(
    home: Path, witnesses: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(home)
    assert caplog.messages == []  # A home that is made here has its witness at once.
    monkeypatch.setenv("FROSTGLASS_WITNESS", str(witnesses / "of another machine"))
    shown = at_terminal(monkeypatch, home, database(home), "installation", "show").stdout
    assert "none of this home folder" in shown
    for _ in range(3):
        spent(home)
    [said] = caplog.messages
    assert not lacking(said, "This machine has no witness of this home folder", "Restore")
    shown = at_terminal(monkeypatch, home, database(home), "installation", "show").stdout
    assert "newest line seen: 4\nThey fit." in shown


def test_a_command_says_it_on_a_new_machine(home: Path, tmp_path: Path) -> None:
    fill(home)
    settings = {**os.environ, "FROSTGLASS_HOME": str(home), "FROSTGLASS_WITNESS": str(tmp_path / "new")}
    command = [sys.executable, "-m", "dpcore", "data", "list"]
    told = [subprocess.run(command, env=settings, capture_output=True, text=True, check=True).stderr for _ in range(2)]
    assert "has no witness of this home folder" in told[0]
    assert told[1] == ""


def test_a_witness_that_cannot_be_read_is_said_and_made_again(
    home: Path, witnesses: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fill(home)
    [file] = witnesses.iterdir()
    file.write_text("{")
    assert spent(home) == HALF
    assert "has no witness" in caplog.text
    assert remembered(home) == look(Home(home), database(home)).newest


def _file_instead(tmp_path: Path) -> Path:
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "folder"


@pytest.mark.parametrize(
    ("place", "why"),
    [
        (_file_instead, "cannot be written to (Not a directory)"),
        (lambda tmp_path: Path("/proc/nothing/may/be/made/here"), "cannot be written to"),
        (lambda tmp_path: tmp_path / "home" / "inside", "lies inside the home folder"),
    ],
)
def test_a_folder_that_cannot_be_used_is_said_once_and_stops_nobody(
    place: Callable[[Path], Path],
    why: str,
    home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("FROSTGLASS_WITNESS", str(place(tmp_path)))
    witness._say.cache_clear()
    fill(home)
    spend(home, first=1)
    assert spent(home) == 2 * HALF
    [said] = caplog.messages
    assert not lacking(said, why, "FROSTGLASS_WITNESS")
    assert remembered(home) is None


def test_a_disk_that_is_full_for_the_witness_undoes_nothing(
    home: Path, witnesses: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    fill(home)
    before = remembered(home)
    with monkeypatch.context() as patch:
        patch.setattr(witness.os, "fsync", full)
        Home(home).witness.note(identifier(home), Line(99, "later", 99))
    assert remembered(home) == before
    assert [path.suffix for path in witnesses.iterdir()] == [".json"]  # Nothing half-written is left.


# The files


def test_there_is_one_private_file_for_each_home(home: Path, witnesses: Path, tmp_path: Path) -> None:
    fill(home)
    fill(tmp_path / "other")
    names = {f"{identifier(place)}.json" for place in (home, tmp_path / "other")}
    assert {path.name for path in witnesses.iterdir()} == names
    assert {path.stat().st_mode & 0o777 for path in witnesses.iterdir()} == {0o600}
    assert witnesses.stat().st_mode & 0o777 == 0o700
    content = json.loads((witnesses / f"{identifier(home)}.json").read_text())
    newest = look(Home(home), database(home)).newest
    line = [newest.number, newest.print, newest.count]
    assert content == {"installation": identifier(home), "home": str(home), "line": line}


def test_a_witness_never_goes_back(home: Path, witnesses: Path) -> None:
    seen = Witness(home)
    seen.note("name", Line(7, "seven", 7))
    seen.note("name", Line(6, "six", 6))
    seen.note("name", Line(7, "another", 7))
    assert seen.line("name") == Line(7, "seven", 7)


@each
def test_of_many_writers_the_last_is_remembered(kind: str, home: Path, tmp_path: Path) -> None:
    url = ready_url(kind, tmp_path)
    fill(home, url, runs=0)
    with Service(home, url, workers=0) as service:
        crowd = [
            threading.Thread(target=service.charge, args=("small", HALF), kwargs={"note": "spent elsewhere"})
            for _ in range(8)
        ]
        for thread in crowd:
            thread.start()
        for thread in crowd:
            thread.join()
    facts = look(Home(home), url)
    assert facts.newest.count == 9
    assert facts.witness == facts.newest


def test_by_default_it_lies_outside_the_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FROSTGLASS_WITNESS", "")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    assert witness_folder() == tmp_path / "state" / "frostglass-witness"
    monkeypatch.setenv("FROSTGLASS_WITNESS", "~/elsewhere")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert witness_folder() == tmp_path / "elsewhere"


@pytest.mark.parametrize("named", ["", "~/witnesses"])
def test_who_has_no_folder_gets_none_here(
    named: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A user that the system does not know, as in a container."""
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    monkeypatch.setenv("FROSTGLASS_WITNESS", named)
    monkeypatch.delenv("XDG_STATE_HOME", raising=False)
    monkeypatch.chdir(tmp_path)
    witness._say.cache_clear()
    fill(home)
    assert {path.name for path in tmp_path.iterdir()} == {"home"}
    [said] = caplog.messages
    assert "the user of this program has no folder" in said
