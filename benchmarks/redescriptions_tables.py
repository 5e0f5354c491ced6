"""The tables that show what the suite of redescriptions measured."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from rich.table import Table

from benchmarks.redescriptions_results import (
    BARS,
    PAPER_SUPPORT,
    PROGRAM,
    REPORTED,
    SIGNIFICANT,
    SOURCE,
    Figures,
    Results,
    pooled,
)
from benchmarks.redescriptions_runs import GREEDY, HOUSE, READINGS, USUAL
from benchmarks.report import Part

_COMMON = (f"p<{SIGNIFICANT:g}", "true Jaccard index", "error", "held", "empty")


def parts(results: Sequence[Results]) -> Iterator[Part]:
    """The tables of each data set, and what they mean."""
    for found in results:
        yield _main_table(found)
        if found.data in PAPER_SUPPORT:
            yield _paper_table(found)
        for table in (_readings_table(found), _reported_table(found), _seconds_table(found)):
            if table.row_count:
                yield table
    bars = _bars_table(results)
    if bars.row_count:
        yield bars
    yield (
        "Redescriptions of all runs are pooled; found, kept and planted (recovered ones) are per "
        "run; empty: runs of which nothing is kept.\n"
        f"p<{SIGNIFICANT:g}: share with such a p-value on the records themselves; true Jaccard "
        "index: its quartiles; error: mean distance of\nthe noisy index from the true one; held: "
        "share of the 95 % intervals for the noise that hold the true one; / greedy:\nmedian "
        f"true index over that of '{GREEDY}' from the same support on."
    )


def _main_table(found: Results) -> Table:
    runs = max(len(runs) for runs in found.runs.values())
    title = f"{found.data}: from the suggested support on ({runs} runs; the default: {HOUSE})"
    heads = ["epsilon", "method", "support", "found", "kept", *_COMMON, "/ greedy"]
    table = _table(title, heads + (["planted"] if found.planted else []))
    for method, epsilon in found.cells():
        readings = found.readings(method, epsilon)
        figures = pooled(readings)
        cells = [
            "none" if epsilon is None else f"{epsilon:g}",
            method,
            f"{readings[0].suggested:,}",
        ]
        cells += [f"{figures.found:.1f}", f"{figures.kept:.1f}", *_common(figures)]
        cells.append(_number(found.ratio(method, epsilon), 2))
        if found.planted:
            cells.append(f"{found.recovered(method, epsilon)[0]:.1f} of {found.planted}")
        table.add_row(*cells)
    return table


def _paper_table(found: Results) -> Table:
    support = PAPER_SUPPORT[found.data]
    title = f"{found.data}: from a noisy support of {support:,.0f} on, as published"
    table = _table(title, ["epsilon", "method", "kept", *_COMMON])
    for method, epsilon in found.cells():
        figures = pooled(found.readings(method, epsilon), support)
        name = "none" if epsilon is None else f"{epsilon:g}"
        table.add_row(name, method, f"{figures.kept:.1f}", *_common(figures))
    return table


def _readings_table(found: Results) -> Table:
    title = f"{found.data}: the same releases, read without what the paper does not have"
    table = _table(title, ["epsilon", "method", "reading", "found", "kept", *_COMMON])
    for method, epsilon in found.cells():
        for name in READINGS:
            readings = found.readings(method, epsilon, name)
            if readings and (name != USUAL or len(found.runs[method, epsilon][0].readings) > 1):
                figures = pooled(readings)
                cells = [
                    f"{epsilon:g}",
                    method,
                    name,
                    f"{figures.found:.1f}",
                    f"{figures.kept:.1f}",
                ]
                table.add_row(*cells, *_common(figures))
    return table


def _reported_table(found: Results) -> Table:
    title = f"{found.data}: everything that was found, beside {PROGRAM} ({SOURCE})"
    heads = ["epsilon", "method", "found", "theirs", "noisy Jaccard", "theirs", "true Jaccard"]
    table = _table(title, [*heads, "theirs", "ratio", "error", "theirs", "ratio"])
    for (data, epsilon, method), theirs in REPORTED.items():
        readings = found.readings(method, epsilon)
        if data != found.data or not readings:
            continue
        ours = pooled(readings, 0)
        table.add_row(
            f"{epsilon:g}",
            method,
            f"{ours.found:.0f}",
            "" if theirs.found is None else str(theirs.found),
            _number(ours.noisy, 3),
            f"{theirs.noisy:.3f}",
            _number(ours.exact, 3),
            f"{theirs.exact:.3f}",
            _number(ours.exact / theirs.exact, 2),
            _number(ours.error, 3),
            "" if theirs.error is None else f"{theirs.error:.3f}",
            "" if theirs.error is None else _number(ours.error / theirs.error, 2),
        )
    return table


def _seconds_table(found: Results) -> Table:
    title = f"{found.data}: seconds of a run and its reading, one at a time (median)"
    table = _table(title, ["epsilon", "method", "seconds"])
    for (method, epsilon), seconds in found.seconds.items():
        name = "none" if epsilon is None else f"{epsilon:g}"
        table.add_row(name, method, f"{np.median(seconds):.2f}")
    return table


def _bars_table(results: Sequence[Results]) -> Table:
    table = _table(f"Goals of {HOUSE}", ["data", "epsilon", "figure", "measured", "goal", ""])
    for found in results:
        for bar in BARS:
            figure = bar.figure(found)
            if figure is not None:
                sign = "<" if bar.most is not None else ">="
                verdict = "reached" if bar.holds(figure) else "MISSED"
                goal = f"{sign} {bar.goal:g}"
                cells = (bar.data, f"{bar.epsilon:g}", bar.what, _number(figure, 3), goal, verdict)
                table.add_row(*cells)
    return table


def _common(figures: Figures) -> list[str]:
    low, median, high = (_number(value, 2) for value in figures.quartiles)
    return [
        _number(figures.significant, 2),
        f"{low} {median} {high}" if median else "",
        _number(figures.error, 3),
        _number(figures.held, 2),
        str(figures.empty),
    ]


def _number(value: float, digits: int) -> str:
    return "" if math.isnan(value) else f"{value:.{digits}f}"


def _table(title: str, heads: Sequence[str]) -> Table:
    table = Table(title=title, padding=(0, 0, 0, 1), pad_edge=False)
    for head in heads:
        texts = {"epsilon", "method", "reading", "data", "figure", ""}
        table.add_column(head, justify="left" if head in texts else "right", no_wrap=True)
    return table
