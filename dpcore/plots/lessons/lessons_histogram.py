"""Picture of the lesson about many questions: the noise of each answer, asked alone and added up."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import plotly.graph_objects as go

from dpcore.lessons.histogram import BothWays
from dpcore.numerals import whole
from dpcore.plots.lessons.lessons import lesson_layout
from dpcore.plots.style import SYMBOLS, colour

#: Ends of the axis, in years: a little more than the ages that can be asked about.
_AXIS = (20, 100)
_FILLS = ("rgba(143, 195, 210, 0.45)", "rgba(243, 201, 168, 0.35)")


def both_ways_figure(found: BothWays) -> go.Figure:
    """Noise of each answer, and where 95 % of such noise lies, for either way of asking."""
    figure = go.Figure()
    alone = [found.alone_margin] * len(found.ages)
    ways = ((1, "one by one", found.alone, alone), (0, "from one histogram", found.added, found.added_margins))
    for code, name, _, margins in ways:
        figure.add_trace(_band(found.ages, margins, f"95%, {name}", _FILLS[code]))
    for code, name, answers, _ in ways:
        noise = [answer - truth for answer, truth in zip(answers, found.truths, strict=True)]
        figure.add_trace(
            go.Scatter(
                name=name,
                x=list(found.ages),
                y=noise,
                mode="markers",
                marker={"color": colour(code), "symbol": SYMBOLS[code], "size": 11},
                hovertext=[f"{whole(error)} people" for error in noise],
                hovertemplate="older than %{x}: %{hovertext}<extra>%{fullData.name}</extra>",
            )
        )
    lesson_layout(
        figure,
        420,
        {"title": "how many are older than … years?", "range": list(_AXIS)},
        {"title": "noise (people)", "tickformat": "+,"},
    )
    return figure


def _band(ages: Sequence[int], margins: Sequence[int], name: str, fill: str) -> go.Scatter:
    """A step of a band around 0 for each age, as wide as there is room to the next one."""
    half = 0.5 * min((later - age for age, later in itertools.pairwise(ages)), default=20)
    upper = [(age + side * half, margin) for age, margin in zip(ages, margins, strict=True) for side in (-1, 1)]
    ends = [*upper, *((age, -margin) for age, margin in reversed(upper))]
    ends.append(ends[0])
    return go.Scatter(
        name=name,
        x=[age for age, _ in ends],
        y=[margin for _, margin in ends],
        fill="toself",
        fillcolor=fill,
        mode="none",
        hoverinfo="skip",
    )


def both_ways_alt(found: BothWays) -> str:
    """The two bands in words."""
    widest, narrowest = max(found.added_margins), min(found.added_margins)
    added = whole(narrowest) if widest == narrowest else f"{whole(narrowest)} to {whole(widest)}"
    asked = "1 question" if len(found.ages) == 1 else f"{len(found.ages)} questions"
    return (
        f"Noise of the answers to {asked}. Asked one by one, 95% of the answers are within "
        f"{whole(found.alone_margin)} of the truth; added up from one histogram, within {added}."
    )
