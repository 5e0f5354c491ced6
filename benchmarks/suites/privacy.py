"""Suites on what privacy costs and leaves: rehearsals, first looks, budgets, rare outcomes, people of many rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from benchmarks import (
    associations,
    budget,
    budget_errors,
    cuts,
    learned,
    persons,
    rare,
    rare_methods,
    rare_results,
    rehearsal,
    summaries,
    summaries_models,
    summaries_rivals,
    unspent,
)
from benchmarks.records import Record, table_of
from benchmarks.report import Report
from benchmarks.suites.shared import Data, Epsilon, Method, Quick, check_known, suite

app = typer.Typer()


@suite(app, "rehearsal")
def rehearsal_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Two data sets and one epsilon: under a minute.")] = False,
    data: Data = None,
    looks: Annotated[bool, typer.Option("--looks", help="Only rehearsals after a first look.")] = False,
    runs: Annotated[
        int | None, typer.Option(min=2, help="Of each of these, so many private runs and as many rehearsals.")
    ] = None,
) -> None:
    """Whether what rehearsals reach tells what private runs reach, on public data sets."""
    if runs is not None and not looks:
        raise typer.BadParameter("--runs goes with --looks")
    check_known("data set", data, rehearsal.DATA_OF_LOOKS if looks else rehearsal.DATA)
    cases = list(rehearsal.run(data, quick=quick, looks=looks, runs=runs))
    report.show(rehearsal.cases_table(cases))
    report.records += rehearsal.records(cases)
    report.show(table_of("How far off rehearsals are", report.records))


@suite(app, "unspent")
def unspent_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Two fits of each method: under a minute.")] = False,
    data: Data = None,
    epsilon: Epsilon = None,
) -> None:
    """What mined rule lists, greedy trees and reductions leave of their budget."""
    check_known("data set", data, (*unspent.TABLES, unspent.THREE, unspent.TWO))
    report.records += unspent.run(data, epsilon, quick=quick)
    report.show(table_of("Unspent budget", report.records))


@suite(app, "learned")
def learned_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Two tables of each: under a minute.")] = False,
    epsilon: Epsilon = None,
) -> None:
    """How far privately learned deciles of twenty columns of 100,000 rows are off."""
    report.records += learned.run(epsilon, quick=quick)
    report.show(table_of("Cut points learned privately", report.records))


@suite(app, "cuts")
def cuts_command(report: Report, quick: Quick = False, data: Data = None, epsilon: Epsilon = None) -> None:
    """Trees, forests and rule lists with the cut points of a first look, beside all cut points."""
    check_known("data set", data, cuts.DATA)
    report.records += cuts.run(data, epsilon, quick=quick)
    report.show(table_of("Cut points of a first look", report.records))


@suite(app, "associations")
def associations_command(report: Report, quick: Quick = False, data: Data = None, epsilon: Epsilon = None) -> None:
    """How often the intervals of Cramér's V in first looks hold, on tables with rare values too."""
    check_known("data set", data, associations.DATA)
    report.records += associations.run("associations", data, epsilon, quick=quick)
    report.show(table_of("Coverage of the intervals of Cramér's V", report.records))


@suite(app, "summaries")
def summaries_command(
    report: Report,
    quick: Quick = False,
    data: Data = None,
    epsilon: Epsilon = None,
    rivals: Annotated[
        bool, typer.Option("--rivals", help="Invented records beside SmartNoise and dpmm instead; installs them.")
    ] = False,
    longest: Annotated[
        int, typer.Option("--longest", min=1, help="Seconds that a rival may take for one table of records.")
    ] = summaries_rivals.LONGEST,
    method: Annotated[
        list[str] | None, typer.Option("--method", help="Of the rivals' part, only this; repeatable.")
    ] = None,
) -> None:
    """Errors of first looks on public data, beside histograms that share epsilon evenly, and invented records."""
    check_known("data set", data, summaries_rivals.DATA if rivals else summaries.DATA)
    check_known("method", method, (*summaries_rivals.METHODS, *summaries_models.METHODS))
    if not rivals:
        report.records += summaries.run(data, epsilon, quick=quick)
        report.show(table_of("First looks", report.records))
        return
    found = list(summaries_rivals.run(data, epsilon, method, quick=quick, longest=longest))
    report.records += [one for one in found if isinstance(one, Record)]
    report.show(table_of("Invented records", report.records))
    report.show(*(one for one in found if isinstance(one, str)))
    models = list(summaries_models.run(data, epsilon, method, quick=quick))
    report.show(table_of("Models trained on invented records", models))
    report.records += models


@suite(app, "budget")
def budget_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Two splits: under a minute.")] = False,
    epsilon: Epsilon = None,
) -> None:
    """How many runs fit into a cap, added and composed, and what the room gained is worth on Adult."""
    report.records += budget.run(epsilon)
    report.show(budget.table(report.records))
    errors = list(budget_errors.run(quick=quick))
    report.show(budget_errors.table(errors))
    report.records += errors


@suite(app, "records")
def records_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Two splits at epsilon 1.")] = False,
    data: Data = None,
    epsilon: Epsilon = None,
    peers: Annotated[
        bool, typer.Option(help="Whether interpret, diffprivlib and AIM take part; installs them.")
    ] = True,
    method: Method = None,
    splits: Annotated[int | None, typer.Option("--splits", min=1, help="Default: five.")] = None,
    kept: Annotated[
        Path | None, typer.Option("--kept", help="File of areas: those that it holds are not measured again.")
    ] = None,
) -> None:
    """AUC on six tables with rare outcomes or few records, beside private rivals and no privacy."""
    check_known("data set", data, rare.TABLES)
    check_known("method", method, rare_methods.PROGRAMS)
    epsilons = epsilon or ([1.0] if quick else None)
    request = rare_results.Request(data, epsilons, method, splits or (2 if quick else 5), peers, kept)
    found = list(rare_results.run(request))
    report.records += [one for one in found if isinstance(one, Record)]
    report.show(*rare_results.tables(report.records), *(one for one in found if isinstance(one, str)))


@suite(app, "persons")
def persons_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="One epsilon and few repetitions.")] = False,
) -> None:
    """AUC with three rows, one row and summaries of people who come again and again."""
    report.records += persons.run(quick=quick)
    report.show(persons.table(report.records))
