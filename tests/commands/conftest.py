"""Commands are tried in a home of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.workspaces.command_line import HOME


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty installation in the working folder."""
    monkeypatch.setenv(HOME, str(tmp_path / "home"))
    monkeypatch.delenv("FROSTGLASS_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path
