"""Methods side by side: accuracy against epsilon, one line per method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dpcore.estimates import percent
from dpcore.plots.look import DASHES, SOFT, SYMBOLS, clear_layout, colour


@dataclass(frozen=True)
class Line:
    """One method: for each epsilon the mean accuracy and its lowest and highest repetition."""

    name: str
    epsilons: tuple[float, ...]
    means: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]


def methods_figure(lines: Sequence[Line], ceiling: float | None = None) -> go.Figure:
    """Accuracy on people set aside against epsilon; error bars from lowest to highest.

    ``ceiling`` is the accuracy of a tree that is not private.
    """
    figure = go.Figure([_trace(line, place) for place, line in enumerate(lines)])
    ticks = sorted({epsilon for line in lines for epsilon in line.epsilons})
    figure.update_layout(
        clear_layout(),
        height=420,
        margin={"l": 10, "r": 20, "t": 30, "b": 60},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        dragmode=False,
    )
    figure.update_xaxes(
        title="ε of a run (more privacy ◀  ▶ more accuracy)", type="log", gridcolor="#dee2e6",
        tickvals=ticks, ticktext=[f"{tick:g}" for tick in ticks], fixedrange=True,
    )  # fmt: skip
    figure.update_yaxes(
        title="accuracy on people set aside", tickformat=".0%", gridcolor="#dee2e6",
        automargin=True, fixedrange=True,
    )  # fmt: skip
    if ceiling is not None:
        line = {"color": SOFT, "dash": "dot", "width": 2}
        figure.add_hline(ceiling, line=line, name="Tree without privacy", showlegend=True)
    return figure


def _trace(line: Line, place: int) -> go.Scatter:
    return go.Scatter(
        name=line.name,
        x=list(line.epsilons),
        y=list(line.means),
        mode="lines+markers",
        line={"color": colour(place), "dash": DASHES[place % len(DASHES)], "width": 2.5},
        marker={"symbol": SYMBOLS[place % len(SYMBOLS)], "size": 10},
        error_y={
            "type": "data",
            "symmetric": False,
            "array": [high - mean for high, mean in zip(line.highs, line.means, strict=True)],
            "arrayminus": [mean - low for low, mean in zip(line.lows, line.means, strict=True)],
            "thickness": 1.5,
            "width": 4,
        },
        hovertemplate="%{fullData.name}<br>ε %{x:g}: %{y:.1%}<extra></extra>",
    )


def methods_alt(lines: Sequence[Line], ceiling: float | None = None) -> str:
    """The chart in words."""
    told = [f"{line.name}: {_points(line)}." for line in lines]
    if ceiling is not None:
        told.append(f"A tree that is not private: {percent(ceiling)}.")
    return "Accuracy on people set aside. " + " ".join(told)


def _points(line: Line) -> str:
    return ", ".join(
        f"{percent(mean)} at epsilon {epsilon:g}"
        for epsilon, mean in zip(line.epsilons, line.means, strict=True)
    )
