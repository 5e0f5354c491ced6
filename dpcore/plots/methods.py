"""Methods side by side: quality against epsilon, one line per method."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dpcore.numerals import score, tenths
from dpcore.plots.style import DASHES, GRID, SOFT, SYMBOLS, colour, lay_out

#: What the same answer for everybody is called.
FLOORS = {"accuracy": "Always the commonest", "AUC": "A coin"}
#: How values of each measure are written on the axis.
_TICKS = {"accuracy": ".0%", "AUC": ".2f", "RMSE": ".3~g", "Jaccard index": ".2f"}


@dataclass(frozen=True)
class EpsilonCurve:
    """One method: for each epsilon the mean of a measure and its lowest and highest repetition."""

    name: str
    epsilons: tuple[float, ...]
    means: tuple[float, ...]
    lows: tuple[float, ...]
    highs: tuple[float, ...]


def methods_figure(
    lines: Sequence[EpsilonCurve],
    ceiling: float | None = None,
    measure: str = "accuracy",
    *,
    floor: float | None = None,
    people: str = "people set aside",
) -> go.Figure:
    """A measure on some people against epsilon; error bars from lowest to highest.

    ``ceiling`` is the accuracy of a tree that is not private, ``floor`` what the same answer for everybody gives.
    """
    figure = go.Figure([_trace(line, place, measure) for place, line in enumerate(lines)])
    ticks = sorted({epsilon for line in lines for epsilon in line.epsilons})
    lay_out_over_epsilon(figure, ticks, measure, people, height=420)
    if ceiling is not None:
        line = {"color": SOFT, "dash": "dot", "width": 2}
        figure.add_hline(ceiling, line=line, name="Tree without privacy", showlegend=True)
    if floor is not None:
        line = {"color": SOFT, "dash": "dash", "width": 2}
        figure.add_hline(floor, line=line, name=FLOORS[measure], showlegend=True)
    return figure


def lay_out_over_epsilon(figure: go.Figure, ticks: Sequence[float], measure: str, people: str, *, height: int) -> None:
    """Axes of a figure that shows a measure on some people against epsilon."""
    axis = {"gridcolor": GRID, "fixedrange": True}
    lay_out(
        figure,
        {
            "title": "ε of a run (more privacy ◀  ▶ more accuracy)",
            "type": "log",
            "tickvals": list(ticks),
            "ticktext": [f"{tick:g}" for tick in ticks],
            **axis,
        },
        {"title": f"{measure} on {people}", "tickformat": _TICKS[measure], "automargin": True, **axis},
        height=height,
        margin={"l": 10, "r": 20, "t": 30, "b": 60},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        dragmode=False,
    )


def points_in_words(line: EpsilonCurve, measure: str) -> list[str]:
    """What each point of a line says: its epsilon and the mean of a measure there."""
    return [f"ε {epsilon:g}: {score(mean, measure)}" for epsilon, mean in zip(line.epsilons, line.means, strict=True)]


def _trace(line: EpsilonCurve, place: int, measure: str) -> go.Scatter:
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
        hovertext=points_in_words(line, measure),
        hovertemplate="%{fullData.name}<br>%{hovertext}<extra></extra>",
    )


def methods_alt(
    lines: Sequence[EpsilonCurve],
    ceiling: float | None = None,
    measure: str = "accuracy",
    *,
    floor: float | None = None,
    people: str = "people set aside",
) -> str:
    """The chart in words."""
    told = [f"{line.name}: {_points(line, measure)}." for line in lines]
    if ceiling is not None:
        told.append(f"A tree that is not private: {tenths(ceiling)}.")
    if floor is not None:
        told.append(f"{FLOORS[measure]}: {score(floor, measure)}.")
    return f"{measure[0].upper()}{measure[1:]} on {people}. " + " ".join(told)


def _points(line: EpsilonCurve, measure: str) -> str:
    return ", ".join(
        f"{score(mean, measure)} at epsilon {epsilon:g}"
        for epsilon, mean in zip(line.epsilons, line.means, strict=True)
    )
