"""What all figures share: colours with a symbol each, plain grounds, readable text.

Colours are those for a light ground; :mod:`dpcore.plots.palette` holds their partners.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from html import escape
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: Distinguishable without colour: each class has its own symbol too.
COLOURS: Final = ("#0b7285", "#c2410c", "#5f3dc4", "#287f3a", "#a61e4d", "#495057")
SYMBOLS: Final = ("circle", "diamond", "square", "triangle-up", "x", "star")
#: The same symbols as characters, for text and tables.
GLYPHS: Final = ("●", "◆", "■", "▲", "✖", "★")
DASHES: Final = ("solid", "dash", "dashdot", "longdash", "longdashdot")
INK: Final = "#16303a"
SOFT: Final = "#46616b"
FAINT: Final = "#c9dde3"
GRID: Final = "#dee2e6"
FONT: Final = '"Source Sans", "Source Sans Pro", Arial, sans-serif'
_AXIS: Final = {
    "gridcolor": GRID,
    "linecolor": GRID,
    "zerolinecolor": GRID,
    "automargin": True,
    "title": {"standoff": 15},
}
#: An axis whose names stand one below the other, the first on top, a little apart from what is drawn.
NAMES_DOWN: Final = {"autorange": "reversed", "automargin": True, "ticksuffix": "  "}
_WHISKERS: Final = {"error_x": {"color": INK}, "error_y": {"color": INK}}
#: What a figure does not say itself; without it, plotly and Streamlit have colours of their own.
_TEMPLATE: Final = {
    "layout": {"xaxis": _AXIS, "yaxis": _AXIS, "colorway": COLOURS},
    "data": {"bar": [_WHISKERS], "heatmap": [{"colorbar": {"outlinewidth": 0}}]},
}


#: Pixels between the margins of a sheet of A4.
WIDTH = 680


def colour(code: int) -> str:
    """Colour of a class or a series."""
    return COLOURS[series(code)]


def series(code: int) -> int:
    """Number of the colour of a class, for style sheets."""
    return code % len(COLOURS)


def glyph(code: int) -> str:
    """Character that stands for a class."""
    return GLYPHS[code % len(GLYPHS)]


@cache
def _template() -> go.layout.Template:
    """The same as plotly keeps it: read once, not for each figure."""
    from plotly.graph_objects import layout

    return layout.Template(_TEMPLATE)


def clear_layout(**more: object) -> dict[str, Any]:
    """Layout without a ground of its own, so that a page shows through."""
    return {
        "template": _template(),
        "plot_bgcolor": "rgba(0,0,0,0)",
        "paper_bgcolor": "rgba(0,0,0,0)",
        "font": {"size": 14, "family": FONT, "color": INK},
        "hoverlabel": {
            "bgcolor": "#ffffff",
            "bordercolor": SOFT,
            "align": "left",
            "font": {"size": 14, "family": FONT, "color": INK},
        },
        **more,
    }


def lay_out(figure: go.Figure, x: Mapping[str, object], y: Mapping[str, object], **more: object) -> None:
    """Give a figure a clear layout and its axes, beside what is there of annotations, shapes and places of axes.

    All at once: changing a layout piece by piece takes plotly several times as long.
    """
    had, given = figure.layout.to_plotly_json(), clear_layout(xaxis=x, yaxis=y, **more)
    axes = {name: {**had.get(name, {}), **own} for name, own in given.items() if name.startswith(("xaxis", "yaxis"))}
    figure.layout = {**had, **given, **axes}


def shorten(text: str, limit: int = 60) -> str:
    """Text of at most ``limit`` characters."""
    return text if len(text) <= limit else text[: limit - 1] + "…"


def safe(text: str) -> str:
    """Text of a schema inside a figure, where some markup would be understood."""
    return escape(text, quote=False)
