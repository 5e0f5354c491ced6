"""The colours of all figures, for a light and for a dark ground.

Figures are made with the light colours. On a dark page each of them is exchanged for its partner,
wherever it stands in a figure: no figure needs to know about grounds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import plotly.graph_objects as go

#: Every colour of a figure, with its partner for a dark ground.
DARK: Final[Mapping[str, str]] = {
    # Text, and lines that must be seen.
    "#16303a": "#e4eff3",
    "#46616b": "#a9c0c9",
    "#6f8f9b": "#6f8f9c",
    "#7b8b92": "#8b9ca4",
    "#4b7f90": "#6fa5b6",
    "#0f6e84": "#4fc0d6",
    "#c4622d": "#f0975f",
    # Classes and series.
    "#0b7285": "#4fc0d6",
    "#c2410c": "#f59a66",
    "#5f3dc4": "#b9a8f8",
    "#287f3a": "#74cf86",
    "#a61e4d": "#f391b2",
    "#495057": "#b9c4ca",
    # Grids and frames in the background.
    "#c9dde3": "#3a5763",
    "#dee2e6": "#2d4550",
    "#e9eef0": "#24393f",
    # Grounds.
    "#ffffff": "#16272f",
    "#fbfdfe": "#0f1d24",
    "#f4fafc": "#1a2d36",
    "#f1f5f7": "#1b2f38",
    "#f1f4f5": "#1c2d35",
    "#e8f2f5": "#1e343e",
    "#e3f0f3": "#1e3742",
    # Fills; each has an outline, a pattern or a number of its own.
    "#8fc3d2": "#2c6373",
    "#c3ccd0": "#4a5d66",
    "#c9a0a0": "#7a4a4a",
    "#e39a6b": "#a2501f",
    "#f3c9a8": "#7a4a2c",
    # Ends and middles of scales.
    "#0b5d70": "#6cc5d8",
    "#5aa9bb": "#1f7488",
    "#a9d4de": "#1b4b59",
    "#e58a52": "#a2501f",
    "#f6c8a8": "#5f3823",
}


def in_the_dark(figure: go.Figure) -> go.Figure:
    """The same figure for a dark ground."""
    return go.Figure(_exchanged(figure.to_plotly_json(), colours=False))


def _exchanged(part: object, *, colours: bool) -> object:
    """A part of a figure; ``colours`` tells whether its texts are colours or words."""
    if isinstance(part, dict):
        return {key: _exchanged(value, colours=_holds_colours(key)) for key, value in part.items()}
    if isinstance(part, list | tuple):
        return [_exchanged(value, colours=colours) for value in part]
    return _partner(part) if colours and isinstance(part, str) else part


def _holds_colours(key: str) -> bool:
    return key.endswith("color") or key in {"colorscale", "colorway"}


def _partner(colour: str) -> str:
    """The partner of a colour, which may be transparent in part."""
    if colour.startswith("rgba("):
        *shares, opacity = colour[5:-1].split(",")
        found = DARK.get("#" + "".join(f"{int(share):02x}" for share in shares))
        return colour if found is None else faded(found, opacity.strip())
    return DARK.get(colour.lower(), colour)


def faded(colour: str, opacity: float | str) -> str:
    """A colour that lets through what is behind it."""
    red, green, blue = (int(colour[i : i + 2], 16) for i in (1, 3, 5))
    return f"rgba({red},{green},{blue},{opacity})"
