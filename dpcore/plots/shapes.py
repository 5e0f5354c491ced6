"""Boxes, lines and texts in pixels, many of them in one trace each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import plotly.graph_objects as go

from dpcore.plots.trees.tree_layout import STRIPE, Box, Point


def rectangle(box: Box) -> list[Point]:
    """Outline of a box."""
    bottom = box.top + box.height
    return [(box.left, box.top), (box.right, box.top), (box.right, bottom), (box.left, bottom), (box.left, box.top)]


def stripe(box: Box) -> Box:
    """Coloured left end of a box."""
    return Box(box.left + 1, box.top + 1, STRIPE - 2, box.height - 2, ())


def bar_piece(box: Box, start: float, share: float) -> Box:
    """Piece of the class bar inside a box, from ``start``, as wide as ``share``."""
    top, bottom = box.bar
    left, width = box.left + STRIPE + 6, box.width - STRIPE - 12
    return Box(left + width * start, top, width * share, bottom - top, ())


def _joined(shapes: Iterable[Sequence[Point]]) -> tuple[list[float | None], list[float | None]]:
    """Coordinates of many shapes in one trace, apart from each other."""
    x: list[float | None] = []
    y: list[float | None] = []
    for shape in shapes:
        x += [*(point[0] for point in shape), None]
        y += [*(point[1] for point in shape), None]
    return x, y


def lines(name: str, shapes: Iterable[Sequence[Point]], shade: str, width: float, dash: str = "solid") -> go.Scatter:
    """Many lines as one trace."""
    x, y = _joined(shapes)
    line = {"color": shade, "width": width, "dash": dash}
    return go.Scatter(name=name, x=x, y=y, mode="lines", line=line, hoverinfo="skip")


def areas(
    name: str, shapes: Iterable[Sequence[Point]], fill: str, edge: str, width: float, dash: str = "solid"
) -> go.Scatter:
    """Many filled outlines as one trace."""
    x, y = _joined(shapes)
    return go.Scatter(
        name=name,
        x=x,
        y=y,
        mode="lines",
        fill="toself",
        fillcolor=fill,
        line={"color": edge, "width": width, "dash": dash},
        hoverinfo="skip",
    )


def texts(name: str, places: Sequence[Point], texts: Sequence[str], side: str, shade: str, size: int) -> go.Scatter:
    """Many texts as one trace."""
    return go.Scatter(
        name=name,
        x=[x for x, _ in places],
        y=[y for _, y in places],
        text=list(texts),
        mode="text",
        textposition=side,
        textfont={"color": shade, "size": size},
        hoverinfo="skip",
        cliponaxis=False,
    )
