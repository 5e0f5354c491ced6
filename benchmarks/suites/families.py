"""Suites of the families: what their models are worth, beside the papers and peer programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
    ilp_stays,
    ilp_tables,
    ilp_years,
    redescriptions,
    redescriptions_data,
    redescriptions_growth,
    redescriptions_tables,
    rule_counts,
    rules,
    trees,
    trees_chances,
    trees_growth,
    trees_peers,
    trees_results,
)
from benchmarks.records import table_of
from benchmarks.report import Report
from benchmarks.suites.shared import Data, Epsilon, Method, Peers, Quick, Repeats, check_known, suite

app = typer.Typer()


@suite(app, "rules")
def rules_command(report: Report, quick: Quick = False, data: Data = None, epsilon: Epsilon = None) -> None:
    """Rule lists on Adult, Mushroom and Titanic, beside the thesis's figures."""
    check_known("data set", data, rules.SETTINGS)
    report.records += rules.run(data, epsilon, quick=quick)
    report.show(table_of("Rule lists", report.records))


@suite(app, "rule-counts")
def rule_counts_command(report: Report, quick: Quick = False, data: Data = None, epsilon: Epsilon = None) -> None:
    """Rule lists of 1, 2, 3, 5 and 8 rules: how many there are, and AUC."""
    check_known("data set", data, rule_counts.DATA)
    report.records += rule_counts.run(data, epsilon, quick=quick)
    report.show(table_of("Rules asked for", report.records))


@suite(app, "trees")
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
    check_known("data set", data, (*trees.DATA, trees_growth.DATA))
    check_known("method", method, trees.METHODS)
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


@suite(app, "trees-chances")
def trees_chances_command(
    report: Report, quick: Quick = False, data: Data = None, epsilon: Epsilon = None, method: Method = None
) -> None:
    """How well trees and forests separate chances where an outcome is rare."""
    check_known("data set", data, tuple(trees_chances.SHARES))
    check_known("method", method, trees_chances.METHODS)
    report.records += trees_chances.run(data, epsilon, quick=quick, only=method)
    report.show(trees_chances.table(report.records))


@suite(app, "ebm")
def ebm_command(
    report: Report,
    quick: Annotated[bool, typer.Option("--quick", help="Two splits and two epsilons: some minutes.")] = False,
    data: Data = None,
    epsilon: Epsilon = None,
    method: Method = None,
    peers: Peers = None,
) -> None:
    """Boosting machines on five data sets, beside the paper and interpret."""
    check_known("data set", data, (*ebm.DATA, ebm_growth.DATA))
    check_known("method", method, ebm.METHODS)
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


@suite(app, "ebm-coverage")
def ebm_coverage_command(report: Report, quick: Quick = False, data: Data = None) -> None:
    """How often the noise bands of boosting machines hold, rare outcomes included."""
    check_known("data set", data, ebm_coverage.DATA)
    report.records += ebm_coverage.run(ebm.SUITE, data, quick=quick)
    report.show(table_of("Coverage of the noise bands", report.records))


@suite(app, "redescriptions")
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
    check_known("data set", data, (*redescriptions_data.DATA, redescriptions_growth.DATA))
    check_known("method", method, redescriptions.METHODS)
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


@suite(app, "ilp")
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
    check_known("data set", data, ilp.DATA)
    check_known("method", method, ilp_methods.METHODS)
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
