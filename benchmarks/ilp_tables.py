"""The tables and the figure of the suite of relational rules."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.table import Table

from benchmarks.ilp_results import BARS, LEARNED, RATIO, Results
from benchmarks.ilp_speed import CLAUSES, FIT, INGESTION, LATTICE, LISTING, MEMORY
from benchmarks.ilp_trains import CONCEPTS, GROWING
from benchmarks.records import Record
from benchmarks.report import Part


def parts(results: Sequence[Results]) -> Iterator[Part]:
    """Accuracies against sizes, sizes needed, error reductions and goals."""
    for found in results:
        if found.concept in CONCEPTS:
            yield accuracy_table(found)
    growing = [found for found in results if found.concept in GROWING]
    for size in growing[0].sizes if growing else ():
        yield reduction_table(growing, size)
    concepts = [found for found in results if found.concept in CONCEPTS]
    if concepts:
        yield goal_table(concepts)
        yield (
            f"Trains: the fewest with a mean accuracy of {LEARNED:.0%}; of relevance-aware, by the "
            "better of its two criteria.\nLead: of relevance-aware by the criterion 'best'; 0: at "
            "no size below naive."
        )


def accuracy_table(found: Results) -> Table:
    """Mean accuracy in percent, with standard error: a row per size, a column per method."""
    title = f"{found.concept}: accuracy on test trains, % (all trains east: {found.guess:.1%})"
    table = _table(title, ["trains", *found.methods])
    for size in found.sizes:
        cells = [found.accuracy(method, size) for method in found.methods]
        table.add_row(f"{size:,}", *(_percent(*cell) for cell in cells))
    reached = [found.reached(method) for method in found.methods]
    table.add_section()
    most = max(found.sizes)
    table.add_row(f"first {LEARNED:.0%}", *(f"{size:,}" if size else f"> {most:,}" for size in reached))
    return table


def reduction_table(growing: Sequence[Results], size: int) -> Table:
    """Share of the guess's errors that is avoided: a row per number of clauses."""
    methods = growing[0].methods
    table = _table(f"error reduction at {size:,} trains, %", ["concept", *methods])
    for found in growing:
        figures = (found.error_reduction(method, size) for method in methods)
        table.add_row(found.concept, *(f"{100 * figure:.1f}" for figure in figures))
    return table


def goal_table(results: Sequence[Results]) -> Table:
    """Every goal on every concept."""
    table = _table("Goals", ["concept", "figure", "measured", "goal", ""])
    for found in results:
        for bar in BARS:
            figure = bar.figure(found)
            if figure is None:
                continue
            verdict = "reached" if bar.holds(figure) else "MISSED"
            shown = "none" if math.isnan(figure) else f"{_bound(found, bar.what)}{figure:.1f}"
            table.add_row(found.concept, bar.what, shown, f">= {bar.goal:g}", verdict)
    return table


def facts_table(records: Sequence[Record]) -> Table:
    """A row per task: accuracies with and without privacy, beside what others reported."""
    cells = list(dict.fromkeys((record.method, record.epsilon) for record in records))
    sources = list(dict.fromkeys(record.reference_source for record in records))
    heads = [method if eps is None else f"{method}, epsilon {eps:g}" for method, eps in cells]
    title = "Published relational data: accuracy on test records, %"
    table = _table(title, ["data", *heads, *sources])
    for name in dict.fromkeys(record.data for record in records):
        own = {(r.method, r.epsilon): r for r in records if r.data == name}
        references = {r.reference_source: r.reference for r in records if r.data == name}
        table.add_row(
            name,
            *(_percent(own[cell].mean, own[cell].stderr) for cell in cells),
            *(_percent(references.get(source), math.nan) for source in sources),
        )
    return table


def speed_table(records: Sequence[Record]) -> Table:
    """A row per case: clauses, seconds of each step, memory, and the goal."""
    heads = ["records, conditions of a clause", "clauses", "ingestion s", "listing s", "what"]
    table = _table("Seconds, one run at a time", [*heads, "seconds", "goal", "", "extra MB"])
    for case in dict.fromkeys(record.data for record in records):
        found = {record.metric: record for record in records if record.data == case}
        timed = next(item for name, item in found.items() if name in (LATTICE, FIT))
        goal = timed.reference
        table.add_row(
            case,
            f"{found[CLAUSES].mean:,.0f}",
            f"{found[INGESTION].mean:.2f}",
            f"{found[LISTING].mean:.2f}",
            timed.metric.removeprefix("seconds of "),
            f"{timed.mean:.3f}",
            "" if goal is None else f"< {goal:g}",
            "" if goal is None else "reached" if timed.mean < goal else "MISSED",
            f"{found[MEMORY].mean:.0f}",
        )
    return table


def _bound(found: Results, what: str) -> str:
    ratio = found.ratio()
    return "> " if what == RATIO and ratio is not None and ratio[1] else ""


def _percent(mean: float | None, error: float) -> str:
    if mean is None:
        return ""
    return f"{100 * mean:.1f}" + ("" if math.isnan(error) else f" ± {100 * error:.1f}")


def _table(title: str, heads: Sequence[str]) -> Table:
    table = Table(title=title, padding=(0, 0, 0, 1), pad_edge=False)
    for head in heads:
        left = head in {"concept", "figure", "what", "", "data", "records, conditions of a clause"}
        table.add_column(head, justify="left" if left else "right")
    return table


def write_figure(results: Sequence[Results], path: Path) -> None:
    """Accuracy against size, one panel per concept, as a web page of its own."""
    from plotly import graph_objects as go
    from plotly.colors import qualitative
    from plotly.subplots import make_subplots

    panels = [found for found in results if found.concept in CONCEPTS]
    names = [found.concept for found in panels]
    figure = make_subplots(1, max(1, len(panels)), subplot_titles=names, shared_yaxes=True)
    for column, found in enumerate(panels, 1):
        for place, method in enumerate(found.methods):
            cells = [found.accuracy(method, size) for size in found.sizes]
            line = go.Scatter(
                x=found.sizes,
                y=[100 * mean for mean, _ in cells],
                name=method,
                error_y={"array": [0 if math.isnan(e) else 100 * e for _, e in cells]},
                line={"color": qualitative.Safe[place]},
                legendgroup=method,
                showlegend=column == 1,
            )
            figure.add_trace(line, 1, column)
        figure.add_hline(100 * found.guess, line_dash="dot", row=1, col=column)
    figure.update_xaxes(type="log", title="trains")
    figure.update_yaxes(title="accuracy, %", col=1)
    figure.write_html(path, include_plotlyjs=True)
