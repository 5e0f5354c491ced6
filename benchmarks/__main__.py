"""``python -m benchmarks SUITE``: measure, compare, print, write JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks import app as app_suite
from benchmarks import rules
from benchmarks.records import print_table, write_json

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False)

Quick = Annotated[bool, typer.Option("--quick", help="Fewer fits: under a minute.")]
Data = Annotated[list[str] | None, typer.Option("--data", help="Only this data set; repeatable.")]
Epsilon = Annotated[list[float] | None, typer.Option("--epsilon", help="Only this; repeatable.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the records to this file.")]


@app.callback()
def _suites() -> None:
    """Measured comparisons with the papers and with peer programs."""


@app.command("rules")
def rules_command(
    quick: Quick = False, data: Data = None, epsilon: Epsilon = None, json: Json = None
) -> None:
    """Rule lists on Adult, Mushroom and Titanic, beside the thesis's figures."""
    unknown = sorted(set(data or []) - set(rules.SETTINGS))
    if unknown:
        known = ", ".join(rules.SETTINGS)
        raise typer.BadParameter(f"unknown data set {unknown[0]}; known: {known}")
    records = list(rules.run(data, epsilon, quick=quick))
    print_table("Rule lists", records)
    if json is not None:
        write_json(records, json)


@app.command("app")
def app_command(quick: Quick = False, json: Json = None) -> None:
    """Seconds until a person sees an answer, in a real browser (needs Chromium)."""
    records = list(app_suite.run(quick=quick))
    print_table("Application", records)
    if json is not None:
        write_json(records, json)


if __name__ == "__main__":
    app()
