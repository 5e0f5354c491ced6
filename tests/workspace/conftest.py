"""A home and a database for each test; what asks for a database is tried on every kind that the tests know."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy.engine import Engine

from dpcore.workspace.database.database import open_database
from tests.support.servers.databases import KINDS, ready_url


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def url(kind: str, tmp_path: Path) -> str:
    return ready_url(kind, tmp_path)


@pytest.fixture
def engine(url: str) -> Engine:
    return open_database(url)
