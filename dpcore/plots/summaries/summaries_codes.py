"""Counts down a hierarchy of codes: one bar for each branch that stands out, below the one it is part of."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dpcore.models.summaries.released.summary_words import Branch, count_words, range_of_counts
from dpcore.numerals import percent, whole
from dpcore.plots.style import INK, NAMES_DOWN, colour, lay_out, safe, shorten

#: Most bars of one figure, and branches that an alternative text tells.
MOST_BARS, _TOLD = 40, 12
#: How strong the colour of a bar is, by the levels above it; and the longest label.
_SHADES, _LABEL = (1.0, 0.6, 0.35), 40


def largest(found: Sequence[Branch]) -> list[Branch]:
    """The largest branches, in their order. No branch is larger than the one it is part of, so no parent is lost."""
    order = sorted(range(len(found)), key=lambda place: (-found[place].count.value, place))
    return [found[place] for place in sorted(order[:MOST_BARS])]


def codes_figure(found: Sequence[Branch], who: str, _of: str) -> go.Figure:
    """Counts of branches, with 95 % intervals for the noise."""
    shown = largest(found)
    rows = list(range(len(shown)))
    values = np.array([branch.count.value for branch in shown])
    figure = go.Figure(
        go.Bar(
            name=who,
            orientation="h",
            y=rows,
            x=values,
            error_x={
                "type": "data",
                "symmetric": False,
                "array": [max(branch.count.high - branch.count.value, 0.0) for branch in shown],
                "arrayminus": [max(branch.count.value - branch.count.low, 0.0) for branch in shown],
                "thickness": 2,
                "width": 5,
                "color": INK,
            },
            marker={
                "color": colour(0),
                "opacity": [_SHADES[min(branch.depth, len(_SHADES) - 1)] for branch in shown],
                "line": {"color": INK, "width": 0.7},
            },
            hovertext=[_hover(branch) for branch in shown],
            hovertemplate="%{hovertext}<extra></extra>",
        )
    )
    labels = [_label(branch) for branch in shown]
    axis = {"fixedrange": True, "automargin": True}
    lay_out(
        figure,
        {"title": {"text": f"number of {safe(who)}"}, "rangemode": "tozero", "nticks": 6, **axis},
        {**NAMES_DOWN, "tickvals": rows, "ticktext": labels, **axis},
        height=110 + 30 * len(shown),
        bargap=0.3,
        dragmode=False,
        showlegend=False,
        margin={"l": 10, "r": 30, "t": 12, "b": 60},
    )
    return figure


def codes_alt(found: Sequence[Branch], _who: str, label: str) -> str:
    """The same in words: the largest branches."""
    shown = largest(found)[:_TOLD]
    told = "; ".join(f"{branch.name} {count_words(branch.count)}" for branch in shown)
    return f"{label}, from the coarsest groups down: {told}. The table below holds every branch that stands out."


def _label(branch: Branch) -> str:
    """Bold at the top; a dot for each level above it."""
    name = safe(shorten(branch.name, _LABEL))
    return f"{'· ' * branch.depth}{name}" if branch.depth else f"<b>{name}</b>"


def _hover(branch: Branch) -> str:
    count = f"{whole(branch.count.value)}, {percent(branch.share)} of all"
    return f"{safe(branch.name)}: {count}<br>noise alone: {range_of_counts(branch.count)}"
