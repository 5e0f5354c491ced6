"""How strongly columns go together, as a map of all pairs that were counted."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from dpcore.models.summaries.released.association import Association
from dpcore.models.summaries.released.summary_words import strength_words
from dpcore.numerals import hundredths
from dpcore.plots.style import INK, NAMES_DOWN, lay_out, safe, shorten

#: Columns of a map with numbers in its fields.
_NUMBERS = 12
#: Where the scale of colours may end: else weak pairs would all look alike.
_ENDS = (0.25, 0.5, 1.0)
#: Pairs that an alternative text tells.
_TOLD = 10
_SCALE = [[0.0, "#e8f2f5"], [0.5, "#a9d4de"], [1.0, "#5aa9bb"]]


def pairs_figure(found: Sequence[Association], labels: Sequence[str]) -> go.Figure:
    """Cramér's V of each pair; fields of pairs that were not counted are empty.

    Parameters
    ----------
    labels : sequence of str
        Of all axes.
    """
    axes = sorted({axis for one in found for axis in one.axes})
    place = {axis: number for number, axis in enumerate(axes)}
    size = len(axes)
    values: list[list[float | None]] = [[None] * size for _ in axes]
    words = [[""] * size for _ in axes]
    hovers = [[""] * size for _ in axes]
    for one in found:
        first, second = (place[axis] for axis in one.axes)
        both = " and ".join(safe(labels[axis]) for axis in one.axes)
        for row, column in ((first, second), (second, first)):
            values[row][column] = one.strength.value
            words[row][column] = hundredths(one.strength.value) if size <= _NUMBERS else ""
            hovers[row][column] = f"{both}<br>{strength_words(one.strength)}"
    strongest = max((one.strength.value for one in found), default=0.0)
    names = [safe(shorten(labels[axis], 24)) for axis in axes]
    numbers = list(range(size))
    figure = go.Figure(
        go.Heatmap(
            z=values,
            x=numbers,
            y=numbers,
            text=words,
            texttemplate="%{text}",
            textfont={"size": 13, "color": INK},
            hovertext=hovers,
            hovertemplate="%{hovertext}<extra></extra>",
            hoverongaps=False,
            colorscale=_SCALE,
            zmin=0.0,
            zmax=next((end for end in _ENDS if end >= strongest), _ENDS[-1]),
            xgap=2,
            ygap=2,
            colorbar={"title": {"text": "V"}, "thickness": 12, "outlinewidth": 0},
        )
    )
    ticks = {
        "tickvals": numbers,
        "ticktext": names,
        "fixedrange": True,
        "showgrid": False,
        "zeroline": False,
        "showline": False,
        "automargin": True,
    }
    lay_out(
        figure,
        {"tickangle": -45 if size <= _NUMBERS else -90, **ticks},
        {**NAMES_DOWN, **ticks},
        height=190 + 34 * size,
        dragmode=False,
        margin={"l": 10, "r": 10, "t": 12, "b": 20},
    )
    return figure


def pairs_alt(found: Sequence[Association], labels: Sequence[str]) -> str:
    """The strongest pairs in words."""
    told = (f"{labels[one.axes[0]]} and {labels[one.axes[1]]} {strength_words(one.strength)}" for one in found[:_TOLD])
    more = f"; {len(found) - _TOLD} more in the table below" if len(found) > _TOLD else ""
    return f"Association of columns (Cramér's V), the strongest first: {'; '.join(told)}{more}."
