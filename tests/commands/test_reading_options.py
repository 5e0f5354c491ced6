"""Options that say how files are read: taken, checked, and said back."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from dpcore.commands import app

SCHEMA = """
name: städte
max_rows: 100
columns:
  - {name: größe, type: real, lower: 0, upper: 3, bins: 3}
  - {name: ort, type: categorical, categories: [Köln, Zürich]}
"""
ROWS = "größe;ort\n1,75;Zürich\n1,80;Köln\n2,1;Köln\n"


@pytest.fixture
def schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("FROSTGLASS_HOME", str(tmp_path / "home"))
    path = tmp_path / "schema.yaml"
    path.write_text(SCHEMA, encoding="utf-8")
    return path


def run(*arguments: object) -> tuple[int, str]:
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    return result.exit_code, result.output


def test_an_old_file_is_read_as_it_is_said_to_be(tmp_path: Path, schema: Path) -> None:
    data = tmp_path / "orte.csv"
    data.write_bytes(ROWS.encode("cp1252"))
    code, told = run("data", "add", data, "--schema", schema, "--budget", "1")
    assert code == 2
    assert "Windows-1252" in told
    old = ("--encoding", "windows-1252")
    code, told = run("schema", "init", data, *old, "--suggest", "ort")
    assert code == 0
    assert "Zürich" in told
    assert run("schema", "check", schema, "--data", data, *old)[0] == 0
    code, told = run("data", "add", data, "--schema", schema, "--budget", "1", *old, "--decimal-comma")
    assert code == 0, told
    assert "orte.csv was read as Windows-1252 (Western Europe) text, values separated by semicolons" in told
    assert "with decimal commas" in told
