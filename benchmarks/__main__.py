"""``python -m benchmarks SUITE``: measure, compare, print, write JSON."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Annotated

import typer

from benchmarks import app as app_suite
from benchmarks import (
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
    ilp_tables,
    ledger,
    redescriptions,
    redescriptions_data,
    redescriptions_growth,
    redescriptions_tables,
    rehearsal,
    rules,
    trees,
    trees_growth,
    trees_peers,
    trees_results,
    unspent,
)
from benchmarks.peers import PYTHON_VARIABLE
from benchmarks.records import Record, print_table, write_json

app = typer.Typer(help=__doc__, no_args_is_help=True, add_completion=False)

Quick = Annotated[bool, typer.Option("--quick", help="Fewer fits: under a minute.")]
Data = Annotated[list[str] | None, typer.Option("--data", help="Only this data set; repeatable.")]
Epsilon = Annotated[list[float] | None, typer.Option("--epsilon", help="Only this; repeatable.")]
Json = Annotated[Path | None, typer.Option("--json", help="Write the records to this file.")]

Method = Annotated[list[str] | None, typer.Option("--method", help="Only this; repeatable.")]
Repeats = Annotated[
    int, typer.Option("--repeats", min=1, help="Cross-validations, each with another shuffle.")
]
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


@app.command("rules")
def rules_command(
    quick: Quick = False, data: Data = None, epsilon: Epsilon = None, json: Json = None
) -> None:
    """Rule lists on Adult, Mushroom and Titanic, beside the thesis's figures."""
    _check_known("data set", data, rules.SETTINGS)
    records = list(rules.run(data, epsilon, quick=quick))
    print_table("Rule lists", records)
    if json is not None:
        write_json(records, json)


@app.command("trees")
def trees_command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Two folds and three epsilons: some minutes.")
    ] = False,
    data: Data = None,
    epsilon: Epsilon = None,
    method: Method = None,
    repeats: Repeats = 1,
    peers: Peers = None,
    json: Json = None,
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
    records: list[Record] = []
    if request.names:
        results = trees.measure(request)
        trees_results.print_results(results, trees.METHODS)
        records += trees.records(results)
        trees_results.print_references(records)
        if python is None and not set(method or trees.METHODS).isdisjoint(trees.PEERS):
            print(trees_peers.HOW_TO)
    if request.wants_growth:
        growth = list(trees_growth.run(trees.SUITE, quick=quick))
        print_table("Growth", growth)
        records += growth
    if json is not None:
        write_json(records, json)


@app.command("ebm")
def ebm_command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Two splits and two epsilons: some minutes.")
    ] = False,
    data: Data = None,
    epsilon: Epsilon = None,
    method: Method = None,
    peers: Peers = None,
    json: Json = None,
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
    records: list[Record] = []
    if request.names:
        results = ebm.measure(request)
        ebm_results.print_results(results, ebm.METHODS)
        records += ebm.records(results)
        if python is None and not set(method or ebm.METHODS).isdisjoint(ebm.PEERS):
            print(ebm_peers.HOW_TO)
    if request.wants_growth:
        growth = list(ebm_growth.run(ebm.SUITE, quick=quick))
        print_table("Growth", growth)
        records += growth
    if json is not None:
        write_json(records, json)


@app.command("ebm-coverage")
def ebm_coverage_command(quick: Quick = False, json: Json = None) -> None:
    """How often the noise bands of boosting machines hold, on five data sets."""
    records = list(ebm_coverage.run(ebm.SUITE, quick=quick))
    print_table("Coverage of the noise bands", records)
    if json is not None:
        write_json(records, json)


@app.command("redescriptions")
def redescriptions_command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Two runs of three methods: under two minutes.")
    ] = False,
    data: Data = None,
    epsilon: Epsilon = None,
    method: Method = None,
    json: Json = None,
) -> None:
    """Redescriptions on four data sets, beside the published methods and no privacy."""
    _check_known("data set", data, (*redescriptions_data.DATA, redescriptions_growth.DATA))
    _check_known("method", method, redescriptions.METHODS)
    request = redescriptions.Request(data, epsilon, method, quick)
    if request.left_out or (request.wants_growth and not redescriptions_growth.possible()):
        print(redescriptions_data.LEFT_OUT)
    records: list[Record] = []
    if request.names:
        results = redescriptions.measure(request)
        redescriptions_tables.print_results(results)
        records += redescriptions.records(results)
    if request.wants_growth and redescriptions_growth.possible():
        growth = list(redescriptions_growth.run(redescriptions.SUITE, quick=quick))
        print_table("Growth", growth)
        records += growth
    if json is not None:
        write_json(records, json)


@app.command("ilp")
def ilp_command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Two training sets of each size: some minutes.")
    ] = False,
    data: Data = None,
    method: Method = None,
    figure: Annotated[
        Path | None, typer.Option("--figure", help="Write accuracy against size to this web page.")
    ] = None,
    json: Json = None,
) -> None:
    """Relational rules on generated trains, beside the published methods and no privacy."""
    _check_known("data set", data, ilp.DATA)
    _check_known("method", method, ilp_methods.METHODS)
    request = ilp.Request(data, method, quick)
    records: list[Record] = []
    if request.concepts:
        results = ilp.measure(request)
        ilp_tables.print_results(results)
        records += ilp.records(results)
        if figure is not None:
            ilp_tables.write_figure(results, figure)
    if request.facts and not ilp_facts.possible():
        print(ilp_facts.LEFT_OUT)
    elif request.facts:
        facts = [
            r for name in request.facts for r in ilp_facts_runs.run(ilp.SUITE, name, quick=quick)
        ]
        ilp_tables.print_facts(facts)
        records += facts
    if request.wants(ilp.SPEED):
        speed = list(ilp_speed.run(ilp.SUITE, quick=quick))
        ilp_tables.print_speed(speed)
        records += speed
    if json is not None:
        write_json(records, json)


@app.command("rehearsal")
def rehearsal_command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Two data sets and one epsilon: under a minute.")
    ] = False,
    data: Data = None,
    json: Json = None,
) -> None:
    """Whether the accuracy of rehearsals tells that of private runs, on seven data sets."""
    _check_known("data set", data, rehearsal.DATA)
    cases = list(rehearsal.run(data, quick=quick))
    rehearsal.print_cases(cases)
    records = list(rehearsal.records(cases))
    print_table("How far off rehearsals are", records)
    if json is not None:
        write_json(records, json)


@app.command("unspent")
def unspent_command(
    quick: Annotated[
        bool, typer.Option("--quick", help="Two fits of each method: under a minute.")
    ] = False,
    data: Data = None,
    epsilon: Epsilon = None,
    json: Json = None,
) -> None:
    """What mined rule lists, greedy trees and reductions leave of their budget."""
    _check_known("data set", data, (*unspent.TABLES, unspent.THREE, unspent.TWO))
    records = list(unspent.run(data, epsilon, quick=quick))
    print_table("Unspent budget", records)
    if json is not None:
        write_json(records, json)


@app.command("ledger")
def ledger_command(
    quick: Annotated[bool, typer.Option("--quick", help="Ten seconds instead of thirty.")] = False,
    url: Annotated[
        str | None, typer.Option("--url", help="An empty database. Default: a SQLite file.")
    ] = None,
    processes: Annotated[int, typer.Option("--processes", min=4)] = ledger.PROCESSES,
    json: Json = None,
) -> None:
    """Seconds of a reservation while many processes spend at once, some of them killed."""
    records = list(ledger.run(url, processes=processes, quick=quick))
    print_table("Ledger", records)
    if json is not None:
        write_json(records, json)


def _check_known(what: str, given: list[str] | None, known: Collection[str]) -> None:
    for name in given or []:
        if name not in known:
            raise typer.BadParameter(f"unknown {what} {name}; known: {', '.join(known)}")


@app.command("app")
def app_command(quick: Quick = False, json: Json = None) -> None:
    """Seconds until a person sees an answer, in a real browser (needs Chromium)."""
    records = list(app_suite.run(quick=quick))
    print_table("Application", records)
    if json is not None:
        write_json(records, json)


if __name__ == "__main__":
    app()
