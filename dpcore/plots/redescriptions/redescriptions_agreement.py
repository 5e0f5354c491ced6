"""One redescription as a bar: people on the left only, on both sides, on the right only."""

from __future__ import annotations

import plotly.graph_objects as go

from dpcore.domain.counted import Noun
from dpcore.models.redescriptions.released.reading import Exact
from dpcore.models.redescriptions.released.redescription_set import Redescription
from dpcore.numerals import whole
from dpcore.plots.style import GRID, INK, NAMES_DOWN, colour, lay_out

_PARTS = (("left only", "/", "#8fc3d2"), ("both", "", colour(0)), ("right only", "\\", "#f3c9a8"))


def agreement_figure(
    item: Redescription, margins: tuple[int, int, int], counted: Noun, exact: Exact | None = None
) -> go.Figure:
    """Noisy people of each kind as parts of one bar; below it the exact ones, if they are known.

    Parameters
    ----------
    margins : (int, int, int)
        Of the noise on left only, both and right only.
    exact : Exact or None
        For public records only.
    """
    rows = ["noisy"] if exact is None else ["noisy", "true"]
    figure = go.Figure()
    lay_out(
        figure,
        {
            "title": f"{counted.several} for {counted.whom} at least one side holds",
            "gridcolor": GRID,
            "fixedrange": True,
            "tickformat": ",d",
            "automargin": True,
            "rangemode": "tozero",
        },
        {**NAMES_DOWN, "fixedrange": True},
        barmode="stack",
        height=130 + 36 * len(rows),
        dragmode=False,
        bargap=0.25,
        margin={"l": 10, "r": 20, "t": 10, "b": 10},
        showlegend=True,
        legend={
            "orientation": "h",
            "y": 1.02,
            "yanchor": "bottom",
            "traceorder": "normal",
            "itemclick": False,
            "itemdoubleclick": False,
        },
    )
    for place, (name, pattern, tint) in enumerate(_PARTS):
        sizes = [_sizes(item)[place]] + ([] if exact is None else [_exact(exact)[place]])
        figure.add_trace(
            go.Bar(
                name=_legend(name, item, margins, place),
                orientation="h",
                y=rows,
                x=sizes,
                marker={
                    "color": tint,
                    "line": {"color": INK, "width": 1},
                    "pattern": {"shape": pattern, "fgcolor": INK, "size": 9, "solidity": 0.15, "fillmode": "overlay"},
                },
                hovertext=[f"{name}: {counted.number(size)}" for size in sizes],
                hovertemplate="%{hovertext} (%{y})<extra></extra>",
            )
        )
    return figure


def _sizes(item: Redescription) -> tuple[float, float, float]:
    return item.left_only, item.support, item.right_only


def _exact(exact: Exact) -> tuple[int, int, int]:
    return exact.left_only, exact.support, exact.right_only


def _legend(name: str, item: Redescription, margins: tuple[int, int, int], place: int) -> str:
    return f"{name}: {whole(_sizes(item)[place])} ±{whole(margins[place])}"


def agreement_alt(item: Redescription, margins: tuple[int, int, int], counted: Noun, exact: Exact | None = None) -> str:
    """The bar in words."""
    told = ", ".join(_legend(name, item, margins, place) for place, (name, *_) in enumerate(_PARTS))
    true = ""
    if exact is not None:
        numbers = (f"{name}: {whole(number)}" for (name, *_), number in zip(_PARTS, _exact(exact), strict=True))
        true = f" True {counted.several}: {', '.join(numbers)}."
    return f"Noisy {counted.several} for {counted.whom} at least one side holds. {told}.{true}"
