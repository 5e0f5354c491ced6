"""Options that say how files are read: taken, checked, and said back."""

from __future__ import annotations

from pathlib import Path

from tests.support.workspaces.command_line import call, refuse, run

SCHEMA = """
name: städte
max_rows: 100
columns:
  - {name: größe, type: real, lower: 0, upper: 3, bins: 3}
  - {name: ort, type: categorical, categories: [Köln, Zürich]}
"""
ROWS = "größe;ort\n1,75;Zürich\n1,80;Köln\n2,1;Köln\n"


def test_an_old_file_is_read_as_it_is_said_to_be(home: Path) -> None:
    data, schema = home / "orte.csv", home / "schema.yaml"
    schema.write_text(SCHEMA, encoding="utf-8")
    data.write_bytes(ROWS.encode("cp1252"))
    adding, old = ("data", "add", data, "--schema", schema, "--budget", "1"), ("--encoding", "windows-1252")
    assert "Windows-1252" in refuse(*adding)
    assert "Zürich" in run("schema", "init", data, *old, "--suggest", "ort")
    run("schema", "check", schema, "--data", data, *old)
    told = call(*adding, *old, "--decimal-comma").output
    assert "stored: " in told
    assert "orte.csv was read as Windows-1252 (Western Europe) text, values separated by semicolons" in told
    assert "with decimal commas" in told
