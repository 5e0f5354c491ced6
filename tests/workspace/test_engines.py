"""Addresses of databases: what cannot be checked is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcore.errors import InstallationError
from dpcore.service import Service
from dpcore.workspace.engines import connect, sqlite_file


@pytest.mark.parametrize(
    "hidden",
    [
        "sqlite:///file:{file}?uri=true",
        "sqlite:///file:{file}?mode=memory&cache=shared&uri=true",
        "sqlite+pysqlite:///file://{file}?uri=1",
        "sqlite:///file:{file}",
    ],
)
def test_a_file_that_is_hidden_in_a_uri_is_refused(hidden: str, tmp_path: Path) -> None:
    """Nobody would see there whether it was lost or exchanged."""
    url = hidden.format(file=tmp_path / "other.db")
    for use in (sqlite_file, connect, lambda address: Service(tmp_path / "home", address)):
        with pytest.raises(InstallationError, match="must name its file itself"):
            use(url)
    assert not (tmp_path / "other.db").exists()
    assert not list(Path.cwd().glob("file:*"))


@pytest.mark.parametrize("typed", ["frostglass.db", "sqlite:/frostglass.db", "postgresql://h:x/n"])
def test_what_is_no_address_is_said(typed: str, tmp_path: Path) -> None:
    with pytest.raises(InstallationError, match="is not an address of a database"):
        Service(tmp_path / "home", typed, workers=0)
