"""Quality on invented records against epsilon: what a run may reach, and what was asked for."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from dpcore.numerals import score
from dpcore.plots.methods import EpsilonCurve, lay_out_over_epsilon, points_in_words
from dpcore.plots.style import INK, SOFT, colour

_BAND = "rgba(11, 114, 133, 0.18)"


@dataclass(frozen=True)
class QualityForecastMarks:
    """What is marked beside the line."""

    baseline: float
    """Quality that needs no records."""
    baseline_name: str
    """What it is the quality of."""
    wanted: float
    """Quality that was asked for."""
    present: float
    """Epsilon of the run as it is set up."""


def quality_forecast_figure(line: EpsilonCurve, marks: QualityForecastMarks, measure: str) -> go.Figure:
    """Mean over the repeats, a band from the lowest to the highest, and the marks."""
    tone = colour(0)
    figure = go.Figure(
        [
            _edge(line, line.highs),
            _edge(line, line.lows, fill="tonexty", fillcolor=_BAND, name="Lowest to highest", showlegend=True),
            go.Scatter(
                name=line.name,
                x=list(line.epsilons),
                y=list(line.means),
                mode="lines+markers",
                line={"color": tone, "width": 2.5},
                marker={"symbol": "circle", "size": 9},
                hovertext=points_in_words(line, measure),
                hovertemplate="%{hovertext}<extra></extra>",
            ),
            _present(line, marks),
            _level(line, marks.wanted, "What you want", INK, "dash", measure),
            _level(line, marks.baseline, marks.baseline_name, SOFT, "dot", measure),
        ]
    )
    lay_out_over_epsilon(figure, line.epsilons, measure, "invented people", height=400)
    return figure


def _edge(line: EpsilonCurve, values: tuple[float, ...], **more: object) -> go.Scatter:
    shown = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip", "showlegend": False}
    return go.Scatter(x=list(line.epsilons), y=list(values), **{**shown, **more})


def _level(line: EpsilonCurve, value: float, name: str, tone: str, dash: str, measure: str) -> go.Scatter:
    return go.Scatter(
        name=name,
        x=[line.epsilons[0], line.epsilons[-1]],
        y=[value, value],
        mode="lines",
        line={"color": tone, "dash": dash, "width": 2},
        hovertemplate=f"{name}: {score(value, measure)}<extra></extra>",
    )


def _present(line: EpsilonCurve, marks: QualityForecastMarks) -> go.Scatter:
    values = (marks.wanted, marks.baseline, *line.lows, *line.highs)
    shown = line.epsilons[0] <= marks.present <= line.epsilons[-1]
    return go.Scatter(
        name="Your ε now",
        x=[marks.present] * 2 if shown else [],
        y=[min(values), max(values)] if shown else [],
        mode="lines",
        line={"color": colour(1), "dash": "dashdot", "width": 2},
        hovertemplate=f"Your ε now: {marks.present:g}<extra></extra>",
        showlegend=shown,
    )


def quality_forecast_alt(line: EpsilonCurve, marks: QualityForecastMarks, measure: str) -> str:
    """The figure in words."""
    points = ", ".join(
        f"{score(mean, measure)} at epsilon {epsilon:g}"
        for epsilon, mean in zip(line.epsilons, line.means, strict=True)
    )
    return (
        f"{measure[0].upper()}{measure[1:]} on invented people: {points}. Wanted: "
        f"{score(marks.wanted, measure)}. {marks.baseline_name}: {score(marks.baseline, measure)}. The run is set "
        f"up with epsilon {marks.present:g}."
    )
