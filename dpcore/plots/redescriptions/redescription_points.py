"""Redescriptions as points: noisy support against noisy Jaccard index."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dpcore.domain.counted import Noun
from dpcore.models.redescriptions.released.reading import alike_people
from dpcore.models.redescriptions.released.redescription_set import Redescription, RedescriptionSet
from dpcore.numerals import hundredths, whole
from dpcore.plots.style import GRID, INK, SOFT, colour, lay_out, safe, shorten

#: Points that say their conditions when pointed at; the best ones.
_MOST_WORDS = 500
_ASIDE = "#7b8b92"
_STEPS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)


def support_steps(found: RedescriptionSet) -> tuple[int, ...]:
    """Round numbers of people for a slider: 0, the suggested one, and up to everybody."""
    most = max(found.people, found.suggested_support, 10)
    scales = [10.0**power for power in range(math.ceil(math.log10(most)) + 1)]
    steps = {round(step * scale) for scale in scales for step in _STEPS}
    return tuple(sorted({0, found.suggested_support, *(step for step in steps if step <= most)}))


def redescriptions_figure(
    found: RedescriptionSet, threshold: float, _total: int = 0, *, aside: bool = True
) -> go.Figure:
    """Every redescription as a point; those with less noisy support than the threshold apart.

    The position of a redescription in ``found.found`` is the point's ``customdata``.

    Parameters
    ----------
    threshold : float
        Noisy support from which a redescription is kept.
    aside : bool
        Also show what is not kept.
    """
    items = found.found
    kept = [place for place, item in enumerate(items) if item.whole_support >= threshold]
    rest = [place for place, item in enumerate(items) if item.whole_support < threshold]
    shown = kept + (rest if aside else [])
    figure = go.Figure()
    if aside and rest:
        figure.add_trace(points_trace(items, rest, f"set aside ({whole(len(rest))})", kept=False))
    figure.add_trace(points_trace(items, kept, f"kept ({whole(len(kept))})", kept=True))
    marked = [step for step in (threshold, found.suggested_support) if step > 0]
    spread = _spread([*(items[place].support for place in shown), *marked])
    bottom = frame_points(figure, [items[place] for place in shown], spread, found.counted)
    for trace in _thresholds(threshold, found.suggested_support, bottom):
        figure.add_trace(trace)
    return figure


def frame_points(
    figure: go.Figure, items: Sequence[Redescription], spread: tuple[float, float], counted: Noun
) -> float:
    """Layout and axes for these redescriptions; returns the lower end of the axis upwards.

    Parameters
    ----------
    spread : (float, float)
        Ends of the axis of supports, in people.
    """
    low = min((item.jaccard for item in items), default=0.5)
    bottom = max(0.0, math.floor(20 * low - 0.5) / 20)
    lay_out(
        figure,
        {**_support_axis(spread, counted), "ticklabelstandoff": 6},  # The lowest label upwards has room.
        {
            "title": "noisy Jaccard index",
            "range": [bottom, 1.02],
            "gridcolor": GRID,
            "fixedrange": True,
            "tickformat": ".2~f",
            "automargin": True,
            "zeroline": False,
        },
        height=420,
        margin={"l": 10, "r": 20, "t": 30, "b": 50},
        dragmode=False,
        hovermode="closest",
        showlegend=True,
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom", "itemclick": False, "itemdoubleclick": False},
    )
    return bottom


def points_trace(
    items: Sequence[Redescription], places: Sequence[int], name: str, *, kept: bool, intervals: bool = False
) -> go.Scatter:
    """Some redescriptions.

    However many they are, the graphics card draws none of them: it would need code that is made on the fly,
    which the pages' content security policy forbids.
    """
    shape = {"symbol": "circle", "color": colour(0), "line": {"width": 1, "color": "#ffffff"}}
    aside = {"symbol": "diamond-open", "color": _ASIDE}
    marker = {"size": 10, "opacity": 0.8, **(shape if kept else aside)}
    return go.Scatter(
        name=name,
        mode="markers",
        customdata=list(places),
        x=np.array([_across(items[place]) for place in places]),
        y=np.array([items[place].jaccard for place in places]),
        marker=marker,
        unselected={"marker": {"opacity": 0.8}},
        selected={"marker": {"opacity": 1}},
        error_y=_bars([items[place] for place in places]) if intervals else None,
        text=[_words(items[place], conditions=place < _MOST_WORDS) for place in places],
        hovertemplate="%{text}<br>Click to read it.<extra></extra>",
    )


def _across(item: Redescription) -> float:
    """Where a point lies: at the number that is shown, so on its side of the threshold; the axis knows no 0."""
    return item.whole_support or item.support


def _words(item: Redescription, *, conditions: bool) -> str:
    numbers = f"noisy Jaccard index {hundredths(item.jaccard)}<br>noisy support {whole(item.support)}"
    said = f"<b>{safe(shorten(item.left))}</b><br>⇔ <b>{safe(shorten(item.right))}</b><br>"
    return said + numbers if conditions else numbers


def _bars(items: Sequence[Redescription]) -> dict[str, object]:
    return {
        "type": "data",
        "symmetric": False,
        "array": np.array([item.interval[1] - item.jaccard for item in items]),
        "arrayminus": np.array([item.jaccard - item.interval[0] for item in items]),
        "thickness": 1.3,
        "width": 3,
        "color": SOFT,
    }


def spread_of(found: RedescriptionSet) -> tuple[float, float]:
    """Ends of the axis of supports that hold every redescription and the suggested threshold."""
    return _spread([*(item.support for item in found.found), *filter(None, [found.suggested_support])])


def _spread(supports: Sequence[float]) -> tuple[float, float]:
    """Ends of the axis of supports."""
    low, high = min(supports, default=10.0), max(supports, default=1000.0)
    return max(low, 1.0) / 1.3, max(high, 10.0) * 1.3


def _thresholds(threshold: float, suggested: int, bottom: float) -> list[go.Scatter]:
    """Upright lines at the threshold and at the suggested one."""
    lines = []
    if suggested != threshold:
        lines.append(upright(f"suggested: {whole(suggested)}", suggested, "dot", SOFT, bottom))
    if threshold > 0:
        name = f"kept from {whole(threshold)} on" + (" (suggested)" if suggested == threshold else "")
        lines.append(upright(name, threshold, "solid", INK, bottom))
    return lines


def upright(name: str, at: float, dash: str, tint: str, bottom: float) -> go.Scatter:
    """An upright line at a number of people."""
    return go.Scatter(
        name=name,
        mode="lines",
        x=[at, at],
        y=[bottom, 1.02],
        hoverinfo="skip",
        line={"width": 2, "color": tint, "dash": dash},
    )


def _support_axis(spread: tuple[float, float], counted: Noun) -> dict[str, object]:
    low, high = (math.log10(end) for end in spread)
    powers = range(math.floor(low), math.ceil(high) + 1)
    few = (1, 2, 5) if high - low < 3 else (1,)
    ticks = [step * 10**power for power in powers for step in few]
    return {
        "title": f"noisy support: {counted.several} for {counted.whom} both sides hold",
        "type": "log",
        "range": [low, high],
        "tickvals": ticks,
        "ticktext": [whole(tick) for tick in ticks],
        "gridcolor": GRID,
        "fixedrange": True,
        "zeroline": False,
    }


def redescriptions_alt(found: RedescriptionSet, threshold: float, of_all: int = 0) -> str:
    """The figure in words; the table holds the rest. ``of_all``: how many there are, if not all are drawn."""
    if of_all > len(found.found):
        first = f"Only the first {whole(len(found.found))} of {whole(of_all)} are drawn and counted here."
        return f"{first} {redescriptions_alt(found, threshold)}"
    kept = found.pruned(threshold)
    total = len(found.found)
    counted = (
        f"Of {whole(total)} redescriptions, {whole(len(kept))} have a noisy support of {whole(threshold)} or more "
        f"and are kept, {whole(total - len(kept))} are set aside. "
        f"The suggested threshold is {whole(found.suggested_support)}."
    )
    if not kept:
        return counted
    alike = alike_people(kept[0].interval[0], found.counted)
    said = f"these are {alike}: {kept[0].left}; and: {kept[0].right}"
    return f"The best one kept says that {said}. Its {beside_largest(kept[0], kept)} {counted}"


def beside_largest(best: Redescription, items: Sequence[Redescription]) -> str:
    """Figures of one redescription and of the largest of some, as the rest of a sentence."""
    largest = max(items, key=lambda item: item.support)
    return (
        f"noisy Jaccard index is {hundredths(best.jaccard)}, with a noisy support of {whole(best.support)}; "
        f"the largest support is {whole(largest.support)}, with a Jaccard index of {hundredths(largest.jaccard)}."
    )
