"""``python -m benchmarks SUITE``: measure, compare, print, write the page or JSON."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Collection
from pathlib import Path
from typing import Annotated, Any

import typer

from benchmarks import app as app_suite
from benchmarks import (
    app_first_look,
    app_reading,
    budget,
    budget_errors,
    costs,
    cuts,
    ebm,
    ebm_coverage,
    ebm_growth,
    ebm_peers,
    ebm_results,
    ilp,
    ilp_facts,
    ilp_facts_runs,
    ilp_methods,
    ilp_speed,
    ilp_stays,
    ilp_tables,
    ilp_years,
    intake,
    learned,
    ledger,
    persons,
    rare,
    rare_methods,
    rare_results,
    redescriptions,
    redescriptions_data,
    redescriptions_growth,
    redescriptions_tables,
    rehearsal,
    rules,
    scale,
    scale_clusters,
    scale_rivals,
    screenshots,
    summaries,
    summaries_models,
    summaries_rivals,
    trees,
    trees_chances,
    trees_growth,
    trees_peers,
    trees_results,
    unspent,
)
from benchmarks.peers import PYTHON_VARIABLE
from benchmarks.records import Record, table_of, write_json
from benchmarks.report import PAGE, Report, command_of, section, with_section

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False)

Quick = Annotated[bool, typer.Option("--quick", help="Fewer fits: under a minute.")]
Data = Annotated[list[str] | None, typer.Option("--data", help="Only this data set; repeatable.")]
Epsilon = Annotated[list[float] | None, typer.Option("--epsilon", help="Only this; repeatable.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the records to this file.")]
Markdown = Annotated[bool, typer.Option("--markdown", help="Print the section of docs/benchmarks.md instead.")]
Write = Annotated[bool, typer.Option("--write", help="Put that section in its place in docs/benchmarks.md.")]
Method = Annotated[list[str] | None, typer.Option("--method", help="Only this; repeatable.")]
Repeats = Annotated[int, typer.Option("--repeats", min=1, help="Cross-validations, each with another shuffle.")]
Peers = Annotated[
    Path | None,
    typer.Option(
        "--peers",
        envvar=PYTHON_VARIABLE,
        help="Python interpreter of an environment that has the peer program.",
    ),
]


@app.callback()
def _suites() -> None:
    """Measured comparisons with the papers and with peer programs."""


def _suite(name: str) -> Callable[[Callable[..., None]], None]:
    """Make a function that fills a report a command, with the options that every report has."""

    def register(measure: Callable[..., None]) -> None:
        def command(json: Json, markdown: Markdown, write: Write, **choices: Any) -> None:
            place = f"{name}-rivals" if choices.get("rivals") else name
            if write:
                _place(place, "")
            report = Report(at_once=not markdown)
            measure(report, **choices)
            content = section(command_of(name, choices), report.parts)
            if markdown:
                typer.echo(content)
            if write:
                PAGE.write_text(_place(place, content), encoding="utf-8")
            if json is not None:
                write_json(report.records, json)

        _, *own = inspect.signature(measure, eval_str=True).parameters.values()
        shared = {"json": (Json, None), "markdown": (Markdown, False), "write": (Write, False)}
        parameters = own + [
            inspect.Parameter(option, inspect.Parameter.KEYWORD_ONLY, default=value, annotation=kind)
            for option, (kind, value) in shared.items()
        ]
        command.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        command.__annotations__ = {one.name: one.annotation for one in parameters}
        app.command(name, help=measure.__doc__)(command)

    return register


def _place(name: str, content: str) -> str:
    """The page with this section."""
    try:
        return with_section(PAGE.read_text(encoding="utf-8"), name, content)
    except ValueError as fault:
        raise typer.BadParameter(str(fault)) from None


@_suite("rules")
def rules_command(report: Report, quick: Quick = False, data: Data = None, epsilon: Epsilon = None) -> None:
    """Rule lists on Adult, Mushroom and Titanic, beside the thesis's figures."""
    _check_known("data set", data, rules.SETTINGS)
    report.records += rules.run(data, epsilon, quick=quick)
    report.show(table_of("Rule lists", report.records))


@_suite("trees")
def trees_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Two folds and three epsilons: some minutes.")] = False,
    data: Data = None,
    epsilon: Epsilon = None,
    method: Method = None,
    repeats: Repeats = 1,
    peers: Peers = None,
) -> None:
    """Trees and forests on Adult, Mushroom and Nursery, beside each other and diffprivlib."""
    _check_known("data set", data, (*trees.DATA, trees_growth.DATA))
    _check_known("method", method, trees.METHODS)
    try:
        python = trees_peers.interpreter(peers)
    except RuntimeError as fault:
        raise typer.BadParameter(str(fault)) from None
    request = trees.Request(data, epsilon, method, quick, repeats, python)
    if not request.chosen_methods:
        raise typer.BadParameter(trees_peers.HOW_TO)
    if request.names:
        results = trees.measure(request)
        report.show(*trees_results.parts(results, trees.METHODS))
        report.records += trees.records(results)
        report.show(*trees_results.references(report.records))
        if python is None and not set(method or trees.METHODS).isdisjoint(trees.PEERS):
            typer.echo(trees_peers.HOW_TO, err=True)
    if request.wants_growth:
        growth = list(trees_growth.run(trees.SUITE, quick=quick))
        report.show(table_of("Growth", growth))
        report.records += growth


@_suite("ebm")
def ebm_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Two splits and two epsilons: some minutes.")] = False,
    data: Data = None,
    epsilon: Epsilon = None,
    method: Method = None,
    peers: Peers = None,
) -> None:
    """Boosting machines on five data sets, beside the paper and interpret."""
    _check_known("data set", data, (*ebm.DATA, ebm_growth.DATA))
    _check_known("method", method, ebm.METHODS)
    try:
        python = ebm_peers.interpreter(peers)
    except RuntimeError as fault:
        raise typer.BadParameter(str(fault)) from None
    request = ebm.Request(data, epsilon, method, quick, python)
    if not request.chosen_methods:
        raise typer.BadParameter(ebm_peers.HOW_TO)
    if request.names:
        results = ebm.measure(request)
        report.show(*ebm_results.parts(results, ebm.METHODS))
        report.records += ebm.records(results)
        if python is None and not set(method or ebm.METHODS).isdisjoint(ebm.PEERS):
            typer.echo(ebm_peers.HOW_TO, err=True)
    if request.wants_growth:
        growth = list(ebm_growth.run(ebm.SUITE, quick=quick))
        report.show(table_of("Growth", growth))
        report.records += growth


@_suite("ebm-coverage")
def ebm_coverage_command(report: Report, quick: Quick = False) -> None:
    """How often the noise bands of boosting machines hold, on five data sets."""
    report.records += ebm_coverage.run(ebm.SUITE, quick=quick)
    report.show(table_of("Coverage of the noise bands", report.records))


@_suite("redescriptions")
def redescriptions_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Two runs of three methods: under two minutes.")] = False,
    data: Data = None,
    epsilon: Epsilon = None,
    method: Method = None,
    kept: Annotated[
        Path | None, typer.Option("--kept", help="File of runs: those that it holds are not made again.")
    ] = None,
    minutes: Annotated[
        float | None, typer.Option("--minutes", min=0, help="Begin no run after so many, and time nothing.")
    ] = None,
) -> None:
    """Redescriptions on four data sets, beside the published methods and no privacy."""
    _check_known("data set", data, (*redescriptions_data.DATA, redescriptions_growth.DATA))
    _check_known("method", method, redescriptions.METHODS)
    request = redescriptions.Request(data, epsilon, method, quick, kept, minutes)
    if request.left_out or (request.wants_growth and not redescriptions_growth.possible()):
        typer.echo(redescriptions_data.LEFT_OUT, err=True)
    if request.names:
        results = redescriptions.measure(request)
        report.show(*redescriptions_tables.parts(results))
        report.records += redescriptions.records(results)
    if request.wants_growth and redescriptions_growth.possible():
        growth = list(redescriptions_growth.run(redescriptions.SUITE, quick=quick))
        report.show(table_of("Growth", growth))
        report.records += growth


@_suite("ilp")
def ilp_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Two training sets of each size: some minutes.")] = False,
    data: Data = None,
    method: Method = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", help="Write accuracy against size to this web page.")
    ] = None,
) -> None:
    """Relational rules on generated trains, beside the published methods and no privacy."""
    _check_known("data set", data, ilp.DATA)
    _check_known("method", method, ilp_methods.METHODS)
    request = ilp.Request(data, method, quick)
    if request.concepts:
        results = ilp.measure(request)
        report.show(*ilp_tables.parts(results))
        report.records += ilp.records(results)
        if figure is not None:
            ilp_tables.write_figure(results, figure)
    if request.facts and not ilp_facts.possible():
        typer.echo(ilp_facts.LEFT_OUT, err=True)
    elif request.facts:
        facts = [r for name in request.facts for r in ilp_facts_runs.run(ilp.SUITE, name, quick=quick)]
        report.show(ilp_tables.facts_table(facts))
        report.records += facts
    if request.wants(ilp_stays.NAME):
        stays = list(ilp_stays.run(ilp.SUITE, quick=quick))
        report.show(table_of("Patients with earlier stays", stays))
        report.records += stays
    if request.wants(ilp_years.NAME) and ilp_facts.possible():
        years = list(ilp_years.run(ilp.SUITE, quick=quick))
        report.show(table_of("Beneficiaries with earlier years", years))
        report.records += years
    if request.wants(ilp.SPEED):
        speed = list(ilp_speed.run(ilp.SUITE, quick=quick))
        report.show(ilp_tables.speed_table(speed))
        report.records += speed


@_suite("rehearsal")
def rehearsal_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Two data sets and one epsilon: under a minute.")] = False,
    data: Data = None,
    looks: Annotated[bool, typer.Option("--looks", help="Only rehearsals after a first look.")] = False,
) -> None:
    """Whether what rehearsals reach tells what private runs reach, on public data sets."""
    _check_known("data set", data, rehearsal.DATA_OF_LOOKS if looks else rehearsal.DATA)
    cases = list(rehearsal.run(data, quick=quick, looks=looks))
    report.show(rehearsal.cases_table(cases))
    report.records += rehearsal.records(cases)
    report.show(table_of("How far off rehearsals are", report.records))


@_suite("unspent")
def unspent_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Two fits of each method: under a minute.")] = False,
    data: Data = None,
    epsilon: Epsilon = None,
) -> None:
    """What mined rule lists, greedy trees and reductions leave of their budget."""
    _check_known("data set", data, (*unspent.TABLES, unspent.THREE, unspent.TWO))
    report.records += unspent.run(data, epsilon, quick=quick)
    report.show(table_of("Unspent budget", report.records))


@_suite("trees-chances")
def trees_chances_command(
    report: Report, quick: Quick = False, data: Data = None, epsilon: Epsilon = None, method: Method = None
) -> None:
    """How well trees and forests separate chances where an outcome is rare."""
    _check_known("data set", data, tuple(trees_chances.SHARES))
    _check_known("method", method, trees_chances.METHODS)
    report.records += trees_chances.run(data, epsilon, quick=quick, only=method)
    report.show(trees_chances.table(report.records))


@_suite("learned")
def learned_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Two tables of each: under a minute.")] = False,
    epsilon: Epsilon = None,
) -> None:
    """How far privately learned deciles of twenty columns of 100,000 rows are off."""
    report.records += learned.run(epsilon, quick=quick)
    report.show(table_of("Cut points learned privately", report.records))


@_suite("cuts")
def cuts_command(report: Report, quick: Quick = False, data: Data = None, epsilon: Epsilon = None) -> None:
    """Trees, forests and rule lists with the cut points of a first look, beside all cut points."""
    _check_known("data set", data, cuts.DATA)
    report.records += cuts.run(data, epsilon, quick=quick)
    report.show(table_of("Cut points of a first look", report.records))


@_suite("summaries")
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
    _check_known("data set", data, summaries_rivals.DATA if rivals else summaries.DATA)
    _check_known("method", method, (*summaries_rivals.METHODS, *summaries_models.METHODS))
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


@_suite("budget")
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


@_suite("ledger")
def ledger_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Ten seconds instead of thirty.")] = False,
    url: Annotated[str | None, typer.Option("--url", help="An empty database. Default: a SQLite file.")] = None,
    processes: Annotated[int, typer.Option("--processes", min=4)] = ledger.PROCESSES,
) -> None:
    """Seconds of a reservation while many processes spend at once, some of them killed."""
    report.records += ledger.run(url, processes=processes, quick=quick)
    report.show(table_of("Ledger", report.records))


@_suite("scale")
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
    _check_known("case", case, scale.GOALS if dask else scale.CASES)
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


@_suite("intake")
def intake_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="200,000 rows instead of ten million.")] = False,
) -> None:
    """Rows a second and memory of storing a CSV file and a PostgreSQL table, beside DuckDB's plain copy."""
    report.records += intake.run(quick=quick)
    report.show(table_of("Rows coming in", report.records))
    if intake.POSTGRES not in os.environ:
        report.show(intake.LEFT_OUT)


@_suite("records")
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
    _check_known("data set", data, rare.TABLES)
    _check_known("method", method, rare_methods.PROGRAMS)
    epsilons = epsilon or ([1.0] if quick else None)
    request = rare_results.Request(data, epsilons, method, splits or (2 if quick else 5), peers, kept)
    found = list(rare_results.run(request))
    report.records += [one for one in found if isinstance(one, Record)]
    report.show(*rare_results.tables(report.records), *(one for one in found if isinstance(one, str)))


@_suite("persons")
def persons_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="One epsilon and few repetitions.")] = False,
) -> None:
    """AUC with three rows, one row and summaries of people who come again and again."""
    report.records += persons.run(quick=quick)
    report.show(persons.table(report.records))


@_suite("costs")
def costs_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Small tables alone: some minutes.")] = False,
    data: Data = None,
) -> None:
    """Seconds and memory that runs are told to take, beside what they take, for every method."""
    report.records += costs.run(data, quick=quick)
    report.show(table_of("Costs told before", report.records))


def _check_known(what: str, given: list[str] | None, known: Collection[str]) -> None:
    for name in given or []:
        if name not in known:
            raise typer.BadParameter(f"unknown {what} {name}; known: {', '.join(known)}")


@_suite("app")
def app_command(report: Report, quick: Quick = False) -> None:
    """Seconds until a person sees an answer (needs Chromium), and what pages take with 200 results."""
    report.records += app_suite.run(quick=quick)
    report.show(table_of("Application", report.records))


@_suite("app-reading")
def app_reading_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Four turns instead of sixteen.")] = False,
) -> None:
    """Seconds until redescriptions follow a moved threshold and a clicked point (needs Chromium)."""
    report.records += app_reading.run(app_suite.SUITE, quick=quick)
    report.show(table_of("Reading redescriptions", report.records))


@_suite("app-first-look")
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


if __name__ == "__main__":
    app()
