"""How suites report: text, Markdown, and a marked place on the page."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import typer
from rich.table import Table
from typer.testing import CliRunner

from benchmarks import ledger
from benchmarks.__main__ import app
from benchmarks.records import Record
from benchmarks.report import PAGE, command_of, section, text, with_section


def _table() -> Table:
    table = Table(title="Seconds")
    table.add_column("method")
    table.add_column("median", justify="right")
    table.add_row("a | b", "0.5")
    return table


def test_a_section_has_the_command_and_tables_that_markdown_reads() -> None:
    assert section("python -m benchmarks ledger", [_table(), "In seconds."]) == (
        "Measured by `python -m benchmarks ledger`:\n\n"
        "**Seconds**\n\n"
        "| method | median |\n| --- | ---: |\n| a \\| b | 0.5 |\n\n"
        "```text\nIn seconds.\n```"
    )


def test_a_terminal_gets_the_same_parts_as_text() -> None:
    printed = text([_table(), "In seconds."])
    assert "│ a | b  │    0.5 │" in printed
    assert printed.endswith("In seconds.\n")


def test_the_command_says_what_was_chosen_and_no_path() -> None:
    choices = {
        "quick": True,
        "data": ["adult", "one clause of six"],
        "epsilon": [0.5],
        "method": None,
        "repeats": 2,
        "peers": Path("/home/somebody/bin/python"),
        "url": None,
        "other": False,
    }
    assert command_of("trees", choices) == (
        'python -m benchmarks trees --quick --data adult --data "one clause of six" '
        "--epsilon 0.5 --repeats 2 --peers PEERS"
    )


def test_options_are_written_as_they_are_typed() -> None:
    for suite, command in typer.main.get_group(app).commands.items():
        for option in command.params:
            assert f"--{option.name}" in option.opts, f"{suite}: {option.opts}"


def test_a_section_takes_the_place_between_its_marks() -> None:
    page = "Before.\n<!-- begin a -->\nold\n<!-- end a -->\nAfter.\n"
    assert with_section(page, "a", "new") == page.replace("old", "new")
    with pytest.raises(ValueError, match="no place for 'b': add the lines <!-- begin b -->"):
        with_section(page, "b", "new")


def test_every_suite_has_its_place_on_the_page() -> None:
    page = PAGE.read_text(encoding="utf-8")
    commands = typer.main.get_group(app).commands
    suites = [name for name, command in commands.items() if any(own.name == "write" for own in command.params)]
    assert set(commands) - set(suites) == {"screenshots"}
    for suite in suites:
        assert with_section(page, suite, "new") != page


@pytest.fixture
def page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A page of two suites; the ledger's takes no time."""
    record = Record("ledger", "sqlite", "32 processes", None, "seconds", 0.25, math.nan, 9, 2.0, "")
    monkeypatch.setattr(ledger, "run", lambda *_args, **_more: iter([record]))
    page = tmp_path / "benchmarks.md"
    page.write_text("<!-- begin ledger -->\n<!-- end ledger -->\nAfter.\n")
    monkeypatch.setattr("benchmarks.suites.shared.PAGE", page)
    return page


def test_a_suite_prints_its_section_and_writes_the_same(page: Path) -> None:
    printed = CliRunner().invoke(app, ["ledger", "--quick", "--markdown"]).output
    assert "| sqlite | 32 processes |  | seconds | 0.25 (n=9) | 2 |  |" in printed
    assert "`python -m benchmarks ledger --quick --processes 32`" in printed
    outcome = CliRunner().invoke(app, ["ledger", "--quick", "--write"])
    assert outcome.exit_code == 0
    assert "┃ data" in outcome.output
    assert page.read_text() == f"<!-- begin ledger -->\n{printed}<!-- end ledger -->\nAfter.\n"


def test_a_missing_place_is_noticed_before_anything_is_measured(page: Path) -> None:
    page.write_text("Nothing here.\n")
    outcome = CliRunner().invoke(app, ["unspent", "--write"])
    assert outcome.exit_code == 2
    assert "no place for 'unspent'" in outcome.output
