"""Suites of the application in a browser, and its pictures."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks import app as app_suite
from benchmarks import app_first_look, app_reading, screenshots
from benchmarks.records import table_of
from benchmarks.report import Report
from benchmarks.suites.shared import Quick, suite

app = typer.Typer()


@suite(app, "app")
def app_command(report: Report, quick: Quick = False) -> None:
    """Seconds until a person sees an answer (needs Chromium), and what pages take with 200 results."""
    report.records += app_suite.run(quick=quick)
    report.show(table_of("Application", report.records))


@suite(app, "app-reading")
def app_reading_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Four turns instead of sixteen.")] = False,
) -> None:
    """Seconds until redescriptions follow a moved threshold and a clicked point (needs Chromium)."""
    report.records += app_reading.run(app_suite.SUITE, quick=quick)
    report.show(table_of("Reading redescriptions", report.records))


@suite(app, "app-first-look")
def app_first_look_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="One first look instead of five.")] = False,
) -> None:
    """Seconds from a data set that is chosen to twenty columns on the screen (needs Chromium)."""
    report.records += app_first_look.run(app_suite.SUITE, quick=quick)
    report.show(table_of("A first look in the browser", report.records))


@app.command("screenshots")
def screenshots_command(
    folder: Annotated[Path, typer.Option("--folder", help="Where the pictures go.")],
) -> None:
    """Pictures of every page and of a result of every family: light, dark, 800 pixels wide (needs Chromium)."""
    for file in screenshots.run(folder):
        typer.echo(file)
