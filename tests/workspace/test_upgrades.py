"""A home of a version that did not bind is taken over; what only looks like one is refused."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest

from dpcore.service import Service
from dpcore.workspace.database import installation
from dpcore.workspace.database.home import Home
from dpcore.workspace.database.installation import look
from tests.support.databases import KINDS, fresh_url
from tests.support.fake_learner import small_frame, small_schema
from tests.workspace.database.test_installation import CRASHED, refused, used_by_an_early_version
from tests.workspace.database.test_migrations import ID as EARLY
from tests.workspace.database.test_migrations import database_of
from tests.workspace.database.test_migrations import fill as fill_early

each = pytest.mark.parametrize("kind", KINDS)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def early_database(url: str, *, filled: bool) -> None:
    old = database_of("0003", url)
    if filled:
        with old.begin() as connection:
            fill_early(connection)
    old.dispose()


@each
def test_an_early_copy_beside_restored_records_is_no_upgrade(kind: str, home: Path, tmp_path: Path) -> None:
    """The home was lost, and with it what its ledger had come to since that copy."""
    url = fresh_url(kind, tmp_path)
    early_database(url, filled=True)
    (home / "datasets" / EARLY).mkdir(parents=True)
    refused(home, url, installation.OTHER)
    assert look(Home(home), url).database is None


@each
def test_an_early_copy_beside_a_fresh_home_is_no_upgrade(kind: str, home: Path, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    early_database(url, filled=True)
    refused(home, url, installation.OTHER)
    used_by_an_early_version(home)
    refused(home, url, installation.OTHER)
    used_by_an_early_version(tmp_path / "third", CRASHED)
    refused(tmp_path / "third", url, installation.OTHER)


@each
def test_an_early_copy_beside_a_home_that_was_bound_is_no_upgrade(kind: str, home: Path, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    early_database(url, filled=True)
    with Service(home, f"sqlite:///{tmp_path / 'first.db'}", workers=0):
        pass
    (home / "datasets" / EARLY).mkdir()
    refused(home, url, installation.OTHER)
    (home / "installation.json").unlink()
    refused(home, url, installation.OTHER)


@each
def test_a_first_upload_that_was_killed_stops_no_upgrade(kind: str, home: Path, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    used_by_an_early_version(home, CRASHED)
    refused(home, url, installation.LOST)  # Without tables it is another or an emptied database.
    early_database(url, filled=False)
    with Service(home, url, workers=0) as service:
        assert [stray.id for stray in service.strays()] == [CRASHED]
        service.add_dataset(small_frame(), small_schema(), budget=Decimal(1))
    with Service(home, url, workers=0) as service:
        assert len(service.datasets()) == 1


def test_an_upgrade_that_was_killed_goes_on(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def die(*_: object) -> None:
        raise KeyboardInterrupt

    url = fresh_url("sqlite", tmp_path)
    used_by_an_early_version(home, CRASHED)
    early_database(url, filled=False)
    with monkeypatch.context() as patch:
        patch.setattr(installation, "name_database", die)
        with pytest.raises(KeyboardInterrupt):
            Service(home, url, workers=0)
    with Service(home, url, workers=0) as service:
        assert [stray.id for stray in service.strays()] == [CRASHED]


@each
def test_tables_without_a_line_beside_restored_records_are_lost(kind: str, home: Path, tmp_path: Path) -> None:
    url = fresh_url(kind, tmp_path)
    early_database(url, filled=False)
    (home / "datasets" / CRASHED).mkdir(parents=True)
    refused(home, url, installation.LOST)
