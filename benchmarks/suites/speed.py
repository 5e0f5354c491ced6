"""Suites on time, memory and numbers of records: the ledger, large registers, rows coming in, costs told before."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import costs, intake, ledger, scale, scale_clusters, scale_rivals
from benchmarks.records import table_of
from benchmarks.report import Report
from benchmarks.suites.shared import Data, check_known, suite

app = typer.Typer()


@suite(app, "ledger")
def ledger_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Ten seconds instead of thirty.")] = False,
    url: Annotated[str | None, typer.Option("--url", help="An empty database. Default: a SQLite file.")] = None,
    processes: Annotated[int, typer.Option("--processes", min=4)] = ledger.PROCESSES,
) -> None:
    """Seconds of a reservation while many processes spend at once, some of them killed."""
    report.records += ledger.run(url, processes=processes, quick=quick)
    report.show(table_of("Ledger", report.records))


@suite(app, "scale")
def scale_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="One million people.")] = False,
    rows: Annotated[int, typer.Option("--rows", min=1000, help="People in the register.")] = 10_000_000,
    folder: Annotated[Path | None, typer.Option("--folder", help="Where the register is, or shall be, kept.")] = None,
    case: Annotated[list[str] | None, typer.Option("--case", help="Measure this alone; may be repeated.")] = None,
    dask: Annotated[str, typer.Option(help="Threads beside so many Dask workers instead, as 1,2,4.")] = "",
    turns: Annotated[int, typer.Option("--turns", min=1, help="Measurements of each, with --dask.")] = 3,
) -> None:
    """Seconds and memory at ten million people, beside DuckDB, Polars and what the machine allows."""
    check_known("case", case, scale.GOALS if dask else scale.CASES)
    if dask:
        workers = [int(count) for count in dask.split(",")]
        found = scale_clusters.run(1_000_000 if quick else rows, folder, workers, case or scale.GOALS, turns)
        report.records += found
        report.show(table_of("Scale", report.records))
        return
    if "Polars" not in scale.CASES:
        typer.echo(scale_rivals.HOW_TO, err=True)
    report.records += scale.run(1_000_000 if quick else rows, folder, case or scale.CASES)
    report.show(table_of("Scale", report.records))


@suite(app, "intake")
def intake_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="200,000 rows instead of ten million.")] = False,
) -> None:
    """Rows a second and memory of storing a CSV file and a PostgreSQL table, beside DuckDB's plain copy."""
    report.records += intake.run(quick=quick)
    report.show(table_of("Rows coming in", report.records))
    if intake.POSTGRES not in os.environ:
        report.show(intake.LEFT_OUT)


@suite(app, "costs")
def costs_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Small tables alone: some minutes.")] = False,
    data: Data = None,
) -> None:
    """Seconds and memory that runs are told to take, beside what they take, for every method."""
    report.records += costs.run(data, quick=quick)
    report.show(table_of("Costs told before", report.records))
