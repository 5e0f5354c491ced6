"""Addresses of databases: what cannot be checked is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import sqlalchemy as sa

from dpcore.errors import InstallationError
from dpcore.service import Service
from dpcore.workspace.database.engines import connect, sqlite_file


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


#: Another process that uses a database and ends.
_OTHER = """
import sys, sqlalchemy as sa
from dpcore.workspace.database.engines import connect
engine = connect(sys.argv[1])
with engine.begin() as connection:
    connection.execute(sa.text("INSERT INTO seen VALUES ('there')"))
engine.dispose()
"""


def test_a_second_connection_to_the_same_file_gives_up_no_lock_of_the_first(tmp_path: Path) -> None:
    """Else what this process writes after another one has ended would be lost."""
    url = f"sqlite:///{tmp_path / 'frostglass.db'}"
    first = connect(url)
    with first.begin() as connection:
        connection.execute(sa.text("CREATE TABLE seen (which TEXT)"))
    connect(url)
    subprocess.run([sys.executable, "-c", _OTHER, url], check=True)
    with first.begin() as connection:
        connection.execute(sa.text("INSERT INTO seen VALUES ('here')"))
    with connect(url).begin() as connection:
        found = connection.execute(sa.text("SELECT which FROM seen")).scalars().all()
    assert found == ["there", "here"]
    subprocess.run([sys.executable, "-c", _OTHER, url], check=True)
    with first.begin() as connection:
        assert connection.execute(sa.text("SELECT count(*) FROM seen")).scalar() == 3
