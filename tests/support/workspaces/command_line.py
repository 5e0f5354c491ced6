"""The command line as a user meets it."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from dpcore.commands import app

HOME = "FROSTGLASS_HOME"


def call(*args: object) -> Result:
    return CliRunner().invoke(app, [str(arg) for arg in args])


def run(*args: object) -> str:
    result = call(*args)
    assert result.exit_code == 0, result.output
    return result.stdout


def refuse(*args: object) -> str:
    """The one line a mistaken command leaves on standard error."""
    result = call(*args)
    assert result.exit_code == 2, result.output
    lines = [line for line in result.stderr.splitlines() if not line.startswith("warning: ")]
    assert len(lines) == 1
    assert lines[0].startswith("error: ")
    assert "Traceback" not in result.output
    return lines[0]


def at_terminal(monkeypatch: pytest.MonkeyPatch, home: Path, url: str, *words: str) -> Result:
    """A command on a home and a database."""
    monkeypatch.setenv(HOME, str(home))
    monkeypatch.setenv("FROSTGLASS_DATABASE_URL", url)
    return call(*words)
