"""Noisy against true: redescriptions of public records."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import plotly.graph_objects as go

from dpcore.models.redescriptions.released.reading import Exact
from dpcore.models.redescriptions.released.redescription_set import Redescription
from dpcore.numerals import hundredths, whole
from dpcore.plots.style import GRID, INK, SOFT, colour, lay_out

#: True p-value above which a redescription may be chance.
LEVEL = 0.01
_BINS = 20
_NAMES = {"kept": f"kept, true p up to {LEVEL}", "chance": f"kept, true p above {LEVEL}", "aside": "set aside"}
_MARKS = {"kept": ("circle", colour(0), ""), "chance": ("x", colour(1), "x"), "aside": ("diamond-open", "#7b8b92", "/")}


def _kind(item: Redescription, exact: Exact, threshold: float) -> str:
    if item.whole_support < threshold:
        return "aside"
    return "kept" if exact.p_value <= LEVEL else "chance"


def _groups(found: Sequence[Redescription], exact: Sequence[Exact], threshold: float) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {"aside": [], "kept": [], "chance": []}
    for place, (item, true) in enumerate(zip(found, exact, strict=True)):
        groups[_kind(item, true, threshold)].append(place)
    return {kind: places for kind, places in groups.items() if places}


def truth_figure(found: Sequence[Redescription], exact: Sequence[Exact], threshold: float) -> go.Figure:
    """Noisy against true Jaccard index, as in figures 2 and 3 of Mihelčić and Miettinen (2023)."""
    figure = go.Figure(
        go.Scatter(
            name="noisy = true",
            mode="lines",
            x=[0, 1],
            y=[0, 1],
            hoverinfo="skip",
            line={"color": SOFT, "dash": "dot", "width": 2},
        )
    )
    for kind, places in _groups(found, exact, threshold).items():
        symbol, tint, _ = _MARKS[kind]
        figure.add_trace(
            go.Scatter(
                name=f"{_NAMES[kind]} ({whole(len(places))})",
                mode="markers",
                x=np.array([exact[place].jaccard for place in places]),
                y=np.array([found[place].jaccard for place in places]),
                marker={"symbol": symbol, "size": 9, "color": tint, "opacity": 0.8},
                hovertext=[
                    f"true Jaccard index {hundredths(exact[place].jaccard)}<br>noisy {hundredths(found[place].jaccard)}"
                    for place in places
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    _finish(figure, "true Jaccard index", {"title": "noisy Jaccard index", "range": [-0.02, 1.02]})
    return figure


def truth_histogram(found: Sequence[Redescription], exact: Sequence[Exact], threshold: float) -> go.Figure:
    """How many redescriptions have which true Jaccard index."""
    figure = go.Figure()
    edges = np.linspace(0, 1, _BINS + 1)
    for kind, places in _groups(found, exact, threshold).items():
        _, tint, pattern = _MARKS[kind]
        numbers, _ = np.histogram([exact[place].jaccard for place in places], edges)
        figure.add_trace(
            go.Bar(
                name=_NAMES[kind],
                x=(edges[:-1] + edges[1:]) / 2,
                y=numbers,
                width=1 / _BINS,
                marker={
                    "color": tint,
                    "line": {"color": INK, "width": 0.7},
                    "pattern": {"shape": pattern, "fgcolor": "#ffffff", "size": 7, "fillmode": "overlay"},
                },
                hovertext=[
                    f"true Jaccard index from {hundredths(edge)}: {whole(int(number))}"
                    for edge, number in zip(edges[:-1], numbers, strict=True)
                ],
                hovertemplate="%{hovertext}<extra></extra>",
            )
        )
    _finish(figure, "true Jaccard index", {"title": "redescriptions", "tickformat": ",d"}, barmode="stack")
    return figure


def _finish(figure: go.Figure, across: str, up: Mapping[str, object], **more: object) -> None:
    axis = {"gridcolor": GRID, "fixedrange": True, "zeroline": False}
    lay_out(
        figure,
        {"title": across, "range": [-0.02, 1.02], **axis},
        {"automargin": True, **axis, **up},
        height=430,
        margin={"l": 10, "r": 20, "t": 10, "b": 100},
        dragmode=False,
        hovermode="closest",
        showlegend=True,
        legend={
            "orientation": "h",
            "y": -0.22,
            "yanchor": "top",
            "itemclick": False,
            "itemdoubleclick": False,
            "traceorder": "normal",
        },
        **more,
    )


def truth_alt(found: Sequence[Redescription], exact: Sequence[Exact], threshold: float) -> str:
    """Both figures in words."""
    groups = _groups(found, exact, threshold)
    told = "; ".join(
        f"{_NAMES[kind]}: {whole(len(places))}{_apart(places, found, exact)}" for kind, places in groups.items()
    )
    return f"Noisy against true Jaccard index. {told}."


def _apart(places: Sequence[int], found: Sequence[Redescription], exact: Sequence[Exact]) -> str:
    gaps = [abs(found[place].jaccard - exact[place].jaccard) for place in places]
    return f" (noisy and true differ by {hundredths(np.median(gaps))} in half of them or less)"
