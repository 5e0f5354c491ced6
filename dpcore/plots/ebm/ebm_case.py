"""One case as a waterfall: from the average record, column by column, to the prediction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from dpcore.models.ebm.released.ebm_model import Contribution
from dpcore.models.ebm.released.ebm_words import EBMWords
from dpcore.numerals import minus, percent
from dpcore.plots.style import GRID, INK, NAMES_DOWN, SOFT, lay_out, safe, shorten
from dpcore.plots.ticks import nice_ticks
from dpcore.released.cases import NOT_KNOWN
from dpcore.released.evaluation import Z95

#: Steps of their own; the rest are one step.
MOST_STEPS = 10
_ADDS, _TAKES = "#0b7285", "#e39a6b"


@dataclass(frozen=True)
class CaseBar:
    """One bar: what is added, from where on, and its noise."""

    name: str
    start: float
    change: float
    error: float
    total: bool = False

    @property
    def end(self) -> float:
        """Sum after this step."""
        return self.start + self.change

    @property
    def right(self) -> float:
        """Right end of bar and whisker."""
        reach = self.end + Z95 * self.error
        return reach if self.total else max(self.start, reach)


def case_steps(words: EBMWords, contributions: Sequence[Contribution], output: int = 0) -> list[CaseBar]:
    """Intercept, terms by size, all others together, and the sum; what is not known adds nothing."""
    model = words.model
    known = (part for part in contributions if part.label != NOT_KNOWN)
    ranked = sorted(known, key=lambda part: -abs(part.score[output]))
    own, rest = ranked[:MOST_STEPS], ranked[MOST_STEPS:]
    if len(rest) == 1:
        own, rest = ranked, []
    parts = [(case_name(words, part), part.score[output], part.error[output]) for part in own]
    if rest:
        change = sum(part.score[output] for part in rest)
        error = float(np.linalg.norm([part.error[output] for part in rest]))
        parts.append((f"all {len(rest)} others", change, error))
    first = CaseBar("before any column", 0.0, model.intercept[output], model.intercept_error[output], True)
    steps = [first]
    for name, change, error in parts:
        steps.append(CaseBar(name, steps[-1].end, change, error))
    scores, errors = words.total(contributions)
    return [*steps, CaseBar("all together", 0.0, float(scores[output]), float(errors[output]), True)]


def case_name(words: EBMWords, part: Contribution) -> str:
    """Column and bin of a contribution."""
    term = next(term for term in words.model.terms if term.name == part.name)
    name = words.bins(term)[term.labels.index(part.label)]
    return name if len(term.axes) > 1 else f"{part.name}: {name}"


def case_figure(words: EBMWords, contributions: Sequence[Contribution], output: int = 0) -> go.Figure:
    """Waterfall with signs and 95 % whiskers; the last bar tells the prediction."""
    steps = case_steps(words, contributions, output)
    rows = list(range(len(steps)))
    figure = go.Figure([_bars(words, steps), _connectors(steps), _sums(words, steps)])
    figure.add_trace(_amounts(words, steps))
    limits = _limits(steps)
    lay_out(
        figure,
        {
            "title": {"text": _title(words, output), "standoff": 14},
            "automargin": True,
            "tickangle": 0,
            "range": list(limits),
            "gridcolor": GRID,
            "zerolinecolor": SOFT,
            "fixedrange": True,
            **_ticks(words, *limits),
        },
        {
            **NAMES_DOWN,
            "fixedrange": True,
            "tickvals": rows,
            "ticktext": [safe(shorten(step.name, 48)) for step in steps],
        },
        height=110 + 34 * len(steps),
        dragmode=False,
        showlegend=False,
        margin={"l": 10, "r": 20, "t": 10, "b": 60},
        bargap=0.35,
    )
    return figure


def _title(words: EBMWords, output: int) -> str:
    effect = safe(shorten(words.effect(output), 70))
    return f"{effect}<br>(in brackets: the chance)" if words.model.task == "binary" else effect


def _ticks(words: EBMWords, low: float, high: float) -> dict[str, object]:
    """Ticks of the sum; log-odds also as the chance that they mean."""
    marks = nice_ticks(low, high)
    texts = [minus(f"{mark:,g}") for mark in marks]
    if words.model.task == "binary":
        chances = words.model.probabilities(np.array(marks)[:, None])[:, 1]
        texts = [f"{t}<br>({percent(float(c))})" for t, c in zip(texts, chances, strict=True)]
    return {"tickvals": marks, "ticktext": texts}


def case_alt(words: EBMWords, contributions: Sequence[Contribution], output: int = 0) -> str:
    """The waterfall in words."""
    told = (_told(words, step) for step in case_steps(words, contributions, output))
    return f"How the parts add up to {words.effect(output)}. " + "; ".join(told) + "."


def _told(words: EBMWords, step: CaseBar) -> str:
    noise = words.range(step.change, step.error)
    return f"{step.name}: {words.amount(step.change)}, noise alone {noise}"


def _bars(words: EBMWords, steps: Sequence[CaseBar]) -> go.Bar:
    """Bars of the terms; the start and the sum are points, as they have no natural zero."""
    rows = [row for row, step in enumerate(steps) if not step.total]
    changes = [steps[row].change for row in rows]
    return go.Bar(
        name="steps",
        orientation="h",
        y=rows,
        base=[steps[row].start for row in rows],
        x=changes,
        hovertext=[safe(_told(words, steps[row])) for row in rows],
        hoverinfo="text",
        marker={
            "color": [_ADDS if change >= 0 else _TAKES for change in changes],
            "pattern": {"shape": ["" if change >= 0 else "/" for change in changes]},
            "line": {"color": INK, "width": 0.7},
        },
        error_x=_whiskers([steps[row].error for row in rows]),
    )


def _whiskers(errors: Sequence[float]) -> dict[str, object]:
    return {"type": "data", "array": [Z95 * error for error in errors], "thickness": 1.5, "width": 4, "color": INK}


def _connectors(steps: Sequence[CaseBar]) -> go.Scatter:
    """Lines from the end of each step to the next."""
    x: list[float | None] = []
    y: list[float | None] = []
    for row, step in enumerate(steps[:-1]):
        x += [step.end, step.end, None]
        y += [row, row + 1, None]
    return go.Scatter(
        name="connectors", x=x, y=y, mode="lines", hoverinfo="skip", line={"color": SOFT, "width": 1, "dash": "dot"}
    )


def _sums(words: EBMWords, steps: Sequence[CaseBar]) -> go.Scatter:
    rows = [row for row, step in enumerate(steps) if step.total]
    return go.Scatter(
        name="sums",
        mode="markers",
        y=rows,
        x=[steps[row].end for row in rows],
        hovertext=[safe(_told(words, steps[row])) for row in rows],
        hoverinfo="text",
        marker={"symbol": "diamond", "size": 13, "color": INK},
        error_x=_whiskers([steps[row].error for row in rows]),
    )


def _amounts(words: EBMWords, steps: Sequence[CaseBar]) -> go.Scatter:
    """The amount of each step, at the right of its bar and whisker."""
    return go.Scatter(
        name="amounts",
        mode="text",
        hoverinfo="skip",
        cliponaxis=False,
        x=[step.right for step in steps],
        y=list(range(len(steps))),
        text=[_amount(words, step) for step in steps],
        textposition="middle right",
        textfont={"size": 14, "color": INK},
    )


def _amount(words: EBMWords, step: CaseBar) -> str:
    """A change with its sign, or a sum without one; a sum stands clear of its diamond."""
    shown = words.amount(step.change)
    return f"     {shown.removeprefix('+')}" if step.total else f"  {shown}"


def _limits(steps: Sequence[CaseBar]) -> tuple[float, float]:
    """Ends of the axis, with room for whiskers and numbers."""
    low = min(step.end - Z95 * step.error for step in steps)
    high = max(step.end + Z95 * step.error for step in steps)
    pad = 0.14 * max(high - low, 1e-9)
    return low - pad, high + pad
