"""Commands that root runs lock nobody out; what cannot be used is said in a sentence."""

from __future__ import annotations

import io
import os
from decimal import Decimal
from pathlib import Path
from typing import NoReturn

import pytest

from dpcore.errors import InstallationError
from dpcore.service import Service
from dpcore.workspace.database.home import Home
from dpcore.workspace.database.installation import look
from dpcore.workspace.database.owners import hand_over
from dpcore.workspace.files.store import Store
from dpcore.workspace.upkeep.recovery import accept
from tests.support.workspaces.command_line import at_terminal
from tests.support.workspaces.fake_learner import small_frame, small_schema
from tests.support.workspaces.homes import acknowledge, fill, spend

SERVICE = 54321
as_root = pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root makes files for others")


def give_away(home: Path) -> None:
    for path in [home, *home.rglob("*")]:
        os.chown(path, SERVICE, SERVICE)


def owners(home: Path) -> set[tuple[int, int]]:
    found = [path.stat() for path in [home, *home.rglob("*")]]
    return {(state.st_uid, state.st_gid) for state in found}


@as_root
def test_a_home_that_root_makes_is_not_given_to_the_owner_of_the_folder_around_it(tmp_path: Path) -> None:
    os.chown(tmp_path, SERVICE, SERVICE)
    home = tmp_path / "deeper" / "home"
    fill(home)
    assert owners(home) == {(0, 0)}


@as_root
def test_what_root_does_in_the_home_of_a_service_stays_the_services(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    give_away(home)
    fill(home)
    assert owners(home) == {(SERVICE, SERVICE)}
    (home / "frostglass.db").unlink()
    acknowledge(home, f"sqlite:///{home / 'frostglass.db'}")
    with Service(home, workers=0) as service:
        [orphan] = service.orphans()
        service.adopt(orphan.id, name="again", note="found")
        service.add_dataset(small_frame(), small_schema(), budget=Decimal(1))
        staging_area = service.staging_area()
        staging_area.keep("main", "x.csv", io.BytesIO(b"a\n1\n"))
        staging_area.note("typed")
    spend(home)
    assert owners(home) == {(SERVICE, SERVICE)}


@as_root
def test_what_lies_elsewhere_keeps_its_owner(tmp_path: Path) -> None:
    aim = tmp_path / "aim"
    aim.touch()
    folder = tmp_path / "folder"
    folder.mkdir()
    os.chown(folder, SERVICE, SERVICE)
    (folder / "link").symlink_to(aim)
    hand_over(folder / "link")
    assert aim.stat().st_uid == 0


@pytest.mark.parametrize("place", [(Home, "binding"), (Home, "stored"), (Store, "sweep")])
def test_a_home_that_belongs_to_somebody_else_is_said_in_a_sentence(
    place: tuple[type, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    fill(home)
    url = f"sqlite:///{home / 'frostglass.db'}"
    code = look(Home(home), url).code

    def refuse(*_: object) -> NoReturn:
        raise PermissionError(13, "Permission denied", str(home / "installation.json"))

    monkeypatch.setattr(*place, refuse)
    with pytest.raises(InstallationError, match=r"installation.json: Permission denied.*chown"):
        Service(home, workers=0)
    if place[0] is Home:
        with pytest.raises(InstallationError, match="sudo -u frostglass"):
            accept(home, url, code=code, note="why", close=True)
        ended = at_terminal(monkeypatch, home, url, "installation", "show")
        assert ended.exit_code == 2
        assert "sudo -u frostglass" in ended.stderr


def test_a_folder_that_cannot_be_read_is_not_taken_for_empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then a lost database would pass for a new one."""
    home = tmp_path / "home"
    fill(home)
    real = os.scandir, os.listdir

    def refusing(number: int) -> object:
        def read(path: object = ".") -> object:
            if str(path).endswith("datasets"):
                raise PermissionError(13, "Permission denied", str(path))
            return real[number](path)  # type: ignore[operator]

        return read

    monkeypatch.setattr(os, "scandir", refusing(0))
    monkeypatch.setattr(os, "listdir", refusing(1))
    with pytest.raises(InstallationError, match="datasets: Permission denied"):
        look(Home(home), f"sqlite:///{home / 'frostglass.db'}")
