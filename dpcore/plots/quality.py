"""How well a released model separates and how far its chances hold, on people set aside."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from dpcore.domain.counted import Noun
from dpcore.numerals import percent
from dpcore.plots.style import GRID, INK, SOFT, colour, lay_out, safe, shorten
from dpcore.released.quality import SENSITIVITY, SPECIFICITY, GroupShare, OperatingPoint, roc_curve

_HEIGHT = 360


def roc_figure(points: Sequence[OperatingPoint], chosen: OperatingPoint | None = None) -> go.Figure:
    """The ROC curve through the groups of the people set aside; ``chosen`` is marked on it."""
    x, y = roc_curve(tuple(points))
    figure = go.Figure([_diagonal(), _curve(x.tolist(), y.tolist())])
    if chosen is not None and (place := _place(chosen)) is not None:
        figure.add_trace(
            go.Scatter(
                x=[place[0]],
                y=[place[1]],
                mode="markers",
                name="this threshold",
                marker={"size": 14, "symbol": "diamond", "color": INK},
                hovertemplate=f"this threshold<br>{_told(*place)}<extra></extra>",
            )
        )
    _lay_out(figure, "share of the others<br>that is flagged wrongly", "share of those with it<br>that is found")
    return figure


def roc_alt(points: Sequence[OperatingPoint], label: str) -> str:
    """The curve in words."""
    places = [place for point in points if (place := _place(point)) is not None]
    told = "; ".join(f"{percent(own)} found at {percent(others)} flagged wrongly" for others, own in places[:12])
    return f"ROC curve for {label}, from noisy counts. {told or 'Noise hides every point of it'}."


def calibration_figure(groups: Sequence[GroupShare], counted: Noun) -> go.Figure:
    """Noisy share on people set aside against the chance that was told, a point for each group."""
    figure = go.Figure([_diagonal()])
    figure.add_trace(
        go.Scatter(
            x=[group.told for group in groups],
            y=[group.seen.value for group in groups],
            mode="markers",
            name="groups",
            marker={"size": 10, "color": colour(0)},
            error_y={"type": "data", "array": [_reach(group) for group in groups], "color": SOFT, "thickness": 1.5},
            hovertext=[f"told {percent(group.told)}, seen {percent(group.seen.value)}" for group in groups],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    _lay_out(figure, "chance that the result tells", f"share among the {counted.several} set aside")
    return figure


def calibration_alt(groups: Sequence[GroupShare], label: str, counted: Noun) -> str:
    """The same in words."""
    told = "; ".join(f"told {percent(g.told)}, seen {percent(g.seen.value)}" for g in groups[:12])
    return f"Chances of {safe(shorten(label))} as told and as seen on {counted.several} set aside. {told}."


def _reach(group: GroupShare) -> float:
    return float((group.seen.noise_margin**2 + group.seen.sampling_margin**2) ** 0.5)


def _place(point: OperatingPoint) -> tuple[float, float] | None:
    others, own = point.figures[SPECIFICITY], point.figures[SENSITIVITY]
    return None if others is None or own is None else (1 - others.value, own.value)


def _told(others: float, own: float) -> str:
    return f"found {percent(own)}, flagged wrongly {percent(others)}"


def _diagonal() -> go.Scatter:
    return go.Scatter(
        x=[0, 1], y=[0, 1], mode="lines", name="chance", hoverinfo="skip", line={"color": SOFT, "dash": "dot"}
    )


def _curve(x: list[float], y: list[float]) -> go.Scatter:
    return go.Scatter(
        x=x,
        y=y,
        mode="lines+markers",
        name="curve",
        line={"color": colour(0), "width": 3},
        marker={"size": 7},
        hovertext=[_told(*place) for place in zip(x, y, strict=True)],
        hovertemplate="%{hovertext}<extra></extra>",
    )


def _lay_out(figure: go.Figure, x: str, y: str) -> None:
    axis = {"range": [-0.02, 1.02], "tickformat": ".0%", "gridcolor": GRID, "fixedrange": True}
    lay_out(
        figure,
        {"title": x, **axis},
        {"title": y, **axis},
        height=_HEIGHT,
        margin={"l": 10, "r": 20, "t": 10, "b": 50},
        showlegend=False,
        dragmode=False,
    )
