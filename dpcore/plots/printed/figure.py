"""A whole figure on a sheet: room for what is written around it, axes, legend, and what is between."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import plotly.graph_objects as go

from dpcore.plots.printed import traces
from dpcore.plots.printed.canvas import Across, Canvas, Down, Frame
from dpcore.plots.printed.panels import Panel, panels
from dpcore.plots.printed.scales import Axis, Scale, number_words, ticks
from dpcore.plots.printed.spans import Trace
from dpcore.plots.style import FAINT, GRID, INK, colour
from dpcore.plots.ticks import nice_ticks

#: Pixels between an axis and its words, and around a mark of the legend.
_PAD: Final = 7.0
_KEY: Final = 26.0
#: Words along axes.
_SMALL: Final = 13.0
_MARGINS: Final = {"l": 80.0, "r": 80.0, "t": 100.0, "b": 80.0}
_BAR: Final = 30.0
_SHADES: Final = 48


@dataclass
class _Room:
    """What is needed around the plotting area, in pixels."""

    left: float
    top: float
    right: float
    bottom: float


def printed(figure: go.Figure, width: float, squeeze: float = 1.0) -> Canvas:
    """A figure of plotly, drawn at a width in pixels; at its own, if it needs more.

    Parameters
    ----------
    squeeze : float
        Height of what is drawn between the axes, as a part of that on a page. Diagrams in pixels keep theirs.

    Raises
    ------
    NotImplementedError
        If something in it is not drawn on paper.
    """
    layout = figure.layout
    wide = max(width, float(layout.meta["width"])) if layout.meta else float(width)
    asked = {side: _MARGINS[side] if layout.margin[side] is None else float(layout.margin[side]) for side in "lrtb"}
    ruler = Canvas(wide, 100)
    height = float(layout.height or 450)
    if not layout.meta:
        height -= (1 - squeeze) * (height - asked["t"] - asked["b"])
    keys = list(_legend(figure))
    rows = _rows(ruler, keys, wide - 2 * _PAD, _size(figure))
    first = panels(figure, (asked["l"], asked["t"], wide - asked["r"], height - asked["b"]))
    room = _around(ruler, figure, first, asked, rows)
    # What is written around takes no room from what is drawn.
    height += max(0.0, room.top - asked["t"]) + max(0.0, room.bottom - asked["b"])
    frame = (room.left, room.top, wide - room.right, height - room.bottom)
    canvas = Canvas(wide, height)
    drawn = panels(figure, frame)
    for panel in drawn:
        _grid(canvas, panel)
    for shape in layout.shapes or ():
        _shape(canvas, shape, drawn, frame)
    for panel in drawn:
        traces.draw(canvas, panel, layout)
        _words(canvas, figure, panel)
    for note in layout.annotations or ():
        _note(canvas, note, drawn, frame)
    _draw_legend(canvas, rows, frame, figure)
    for trace in figure.data:
        if trace.type == "heatmap" and trace.showscale is not False:
            _colour_bar(canvas, trace, frame)
    return canvas


# Room


def _around(
    ruler: Canvas, figure: go.Figure, drawn: Sequence[Panel], asked: dict[str, float], rows: Sequence[object]
) -> _Room:
    left, bottom, right = asked["l"], asked["b"], asked["r"]
    for panel in drawn:
        told = ticks(panel.down, panel.y)
        size = _tick_size(panel.down)
        if not (panel.down.domain and _inner(panel)):
            wide = max((ruler.extent(words, size)[0] for _, words in told), default=0.0)
            title = _title(panel.down)
            left = max(left, wide + _PAD + (ruler.extent(title, _size(figure))[1] + _PAD if title else 0) + 4)
        if not _above(panel):
            bottom = max(bottom, _below(ruler, panel, figure) + 6)
        right = max(right, _beyond(ruler, panel))
    if any(trace.type == "heatmap" and trace.showscale is not False for trace in figure.data):
        right = max(right, _bar_room(ruler, figure))
    notes = [note for note in figure.layout.annotations or () if note.yref == "paper" and note.y is not None]
    top = asked["t"]
    high = max((ruler.extent(note.text, note.font.size or _SMALL)[1] for note in notes if note.y >= 1), default=0.0)
    needed = len(rows) * _size(figure) * 1.5 + high + _PAD if rows else high + _PAD
    if any(trace.type == "heatmap" and trace.colorbar.title.text for trace in figure.data):
        needed = max(needed, 2.5 * _PAD)
    return _Room(left, max(top, needed), right, bottom)


def _inner(panel: Panel) -> bool:
    return bool(panel.across.domain) and panel.across.domain[0] > 0.01


def _above(panel: Panel) -> bool:
    return bool(panel.down.domain) and panel.down.domain[0] > 0.01


def _below(ruler: Canvas, panel: Panel, figure: go.Figure) -> float:
    """Pixels below a panel for words along its axis."""
    told, size = ticks(panel.across, panel.x), _tick_size(panel.across)
    angle = _angle(ruler, panel)
    high = 0.0
    for _, words in told:
        wide, tall = ruler.extent(words, size)
        high = max(high, {0.0: tall, 90.0: wide}.get(abs(angle), (wide + tall) * 0.72))
    title = _title(panel.across)
    return high + _PAD + (ruler.extent(title, _size(figure))[1] + _PAD if title else 0)


def _beyond(ruler: Canvas, panel: Panel) -> float:
    """Pixels to the right of a panel at the right edge, for the half of the last word."""
    if panel.across.domain and panel.across.domain[1] < 0.99:
        return 0.0
    told = ticks(panel.across, panel.x)
    if not told or _angle(ruler, panel):
        return 0.0
    place, words = max(told)
    return place + ruler.extent(words, _tick_size(panel.across))[0] / 2 - panel.x.end + 3


def _bar_room(ruler: Canvas, figure: go.Figure) -> float:
    told = [words for trace in figure.data if trace.type == "heatmap" for _, words in _bar_ticks(trace)]
    bars = [trace.colorbar for trace in figure.data if trace.type == "heatmap"]
    wide = max((ruler.extent(words, _SMALL)[0] for words in told), default=0.0)
    side = any(bar.title.text and bar.title.side == "right" for bar in bars)
    return 14 + max(bar.thickness or _BAR for bar in bars) + _PAD + wide + (24 if side else 6)


def _angle(canvas: Canvas, panel: Panel) -> float:
    """How words below a panel are turned: as asked, or so that they do not touch."""
    if panel.across.tickangle is not None:
        return float(panel.across.tickangle)
    told = ticks(panel.across, panel.x)
    wide = [canvas.extent(words, _tick_size(panel.across))[0] for _, words in told]
    steps = [b - a for (a, _), (b, _) in pairwise(told)]
    touch = any(step < (a + b) / 2 + 4 for step, a, b in zip(steps, wide, wide[1:], strict=False))
    return -45.0 if touch else 0.0


def _size(figure: go.Figure) -> float:
    return float(figure.layout.font.size or 14)


def _tick_size(axis: Axis) -> float:
    return float(axis.tickfont.size or _SMALL)


def _title(axis: Axis) -> str:
    return "" if axis.visible is False else axis.title.text or ""


# Axes


def _grid(canvas: Canvas, panel: Panel) -> None:
    left, top, right, bottom = panel.frame
    for axis, scale, counted, upright in (
        (panel.across, panel.x, panel.counted[0], True),
        (panel.down, panel.y, panel.counted[1], False),
    ):
        if axis.visible is False:
            continue
        if axis.showgrid or (axis.showgrid is None and counted):
            for place, _ in ticks(_Labelled(axis), scale):
                ends = [(place, top), (place, bottom)] if upright else [(left, place), (right, place)]
                canvas.line(ends, axis.gridcolor or GRID, 1)
        if counted and axis.zeroline is not False and not scale.log and not scale.places and scale.between(0.0):
            zero = scale.at(0.0)
            ends = [(zero, top), (zero, bottom)] if upright else [(left, zero), (right, zero)]
            canvas.line(ends, axis.zerolinecolor or GRID, axis.zerolinewidth or 1)


class _Labelled:
    """An axis whose grid stands where its words would."""

    showticklabels = True

    def __init__(self, axis: Axis) -> None:
        self._axis = axis

    def __getattr__(self, name: str) -> object:
        return getattr(self._axis, name)


def _words(canvas: Canvas, figure: go.Figure, panel: Panel) -> None:
    """What stands along both axes, and their titles."""
    left, top, right, bottom = panel.frame
    size, angle = _tick_size(panel.across), _angle(canvas, panel)
    for place, words in ticks(panel.across, panel.x):
        if angle:
            canvas.text(
                (place, bottom + _PAD), words, size, INK, "right", "center" if abs(angle) == 90 else "top", angle
            )
        else:
            canvas.text((place, bottom + _PAD), words, size, INK, "center", "top")
    title = _title(panel.across)
    if title:
        high = _below(canvas, panel, figure) - canvas.extent(title, _size(figure))[1] - _PAD
        half = canvas.extent(title, _size(figure))[0] / 2
        middle = max(half, min((left + right) / 2, canvas.width - half - 2))
        canvas.text((middle, bottom + high + _PAD), title, _size(figure), INK, "center", "top")
    size, widest = _tick_size(panel.down), 0.0
    for place, words in ticks(panel.down, panel.y):
        shown = words.rstrip()
        canvas.text((left - _PAD, place), shown, size, INK, "right")
        widest = max(widest, canvas.extent(shown, size)[0])
    title = _title(panel.down)
    if title:
        canvas.text((left - 2 * _PAD - widest, (top + bottom) / 2), title, _size(figure), INK, "center", "bottom", -90)


# Legend


def _legend(figure: go.Figure) -> Iterator[Trace]:
    shown = figure.layout.showlegend
    if shown is False or (shown is None and len(figure.data) < 2):
        return
    yield from (trace for trace in figure.data if trace.showlegend is not False and trace.name)


def _rows(ruler: Canvas, keys: Sequence[Trace], width: float, size: float) -> list[list[tuple[Trace, float]]]:
    """Entries of the legend with their widths, line by line."""
    rows: list[list[tuple[Trace, float]]] = []
    used = width + 1
    for trace in keys:
        wide = _KEY + 8 + ruler.extent(trace.name, size)[0] + 16
        if used + wide > width:
            rows.append([])
            used = 0.0
        rows[-1].append((trace, wide))
        used += wide
    return rows


def _draw_legend(
    canvas: Canvas, rows: Sequence[Sequence[tuple[Trace, float]]], frame: Frame, figure: go.Figure
) -> None:
    size = _size(figure)
    notes = [note for note in figure.layout.annotations or () if note.yref == "paper" and (note.y or 0) >= 1]
    high = max((canvas.extent(note.text, note.font.size or _SMALL)[1] for note in notes), default=0.0)
    step = size * 1.5
    middle = frame[1] - high - _PAD - step * (len(rows) - 0.5)
    for row in rows:
        left = max(_PAD, min(frame[0], canvas.width - sum(wide for _, wide in row)))
        for trace, wide in row:
            _key(canvas, trace, left, middle)
            canvas.text((left + _KEY + 6, middle), trace.name, size)
            left += wide
        middle += step


def _key(canvas: Canvas, trace: Trace, left: float, middle: float) -> None:
    """The mark of an entry."""
    marker, centre = trace.marker, left + _KEY / 2
    shade = marker.color if isinstance(marker.color, str) else colour(0)
    if trace.type == "bar":
        hatch = marker.pattern.shape if isinstance(marker.pattern.shape, str) else ""
        corners = [(left + 4, middle - 6), (left + _KEY - 4, middle - 6), (left + _KEY - 4, middle + 6)]
        canvas.area([*corners, (left + 4, middle + 6)], shade, INK, 0.7, hatch=hatch)
        return
    mode = trace.mode or "lines"
    if trace.fill == "toself":
        corners = [(left + 2, middle - 6), (left + _KEY - 2, middle - 6), (left + _KEY - 2, middle + 6)]
        canvas.area([*corners, (left + 2, middle + 6)], trace.fillcolor)
    elif "lines" in mode:
        line = trace.line
        canvas.line(
            [(left + 1, middle), (left + _KEY - 1, middle)], line.color or shade, line.width or 2, line.dash or "solid"
        )
    if "markers" in mode:
        line, symbol = marker.line, marker.symbol or "circle"
        size = min(float(marker.size), 14.0) if isinstance(marker.size, int | float) else 9.0
        canvas.mark(
            (centre, middle),
            symbol if isinstance(symbol, str) else "circle",
            size,
            shade,
            line.color or "",
            line.width or 0,
        )


# Beside and above


def _shape(canvas: Canvas, shape: go.layout.Shape, drawn: Sequence[Panel], frame: Frame) -> None:
    x0, x1 = (_placed(drawn, frame, shape.xref, value, "x") for value in (shape.x0, shape.x1))
    y0, y1 = (_placed(drawn, frame, shape.yref, value, "y") for value in (shape.y0, shape.y1))
    line = shape.line
    if shape.type == "line":
        canvas.line([(x0, y0), (x1, y1)], line.color or FAINT, line.width or 2, line.dash or "solid")
    elif shape.type == "rect":
        corners = [(x0, y0), (x1, y0), (x1, y1), (x0, y1)]
        canvas.area(corners, shape.fillcolor or "rgba(0,0,0,0)", line.color or "", line.width or 0.0)
    else:
        raise NotImplementedError(f"Shapes of the type {shape.type} are not drawn on paper.")


def _note(canvas: Canvas, note: go.layout.Annotation, drawn: Sequence[Panel], frame: Frame) -> None:
    if note.showarrow is not False:
        raise NotImplementedError("Arrows are not drawn on paper.")
    at = _placed(drawn, frame, note.xref, note.x, "x"), _placed(drawn, frame, note.yref, note.y, "y")
    across: Across = note.xanchor if note.xanchor in {"left", "right"} else "center"
    down: Down = note.yanchor if note.yanchor in {"top", "bottom"} else "center"
    lifted = (at[0], at[1] - 3) if down == "bottom" else at
    canvas.text(lifted, note.text, note.font.size or _SMALL, note.font.color or INK, across, down)


def _placed(drawn: Sequence[Panel], frame: Frame, ref: str | None, value: str | float, letter: str) -> float:
    """Pixel of a place on an axis, on the part of one (``x domain``), or on the plotting area."""
    left, top, right, bottom = frame
    if ref == "paper":
        share = float(value)
        return left + share * (right - left) if letter == "x" else bottom + share * (top - bottom)
    name, _, domain = (ref or letter).partition(" ")
    panel = next(panel for panel in drawn if name in panel.names)
    scale = panel.x if letter == "x" else panel.y
    return scale.start + float(value) * (scale.end - scale.start) if domain else scale.at(value)


def _colour_bar(canvas: Canvas, trace: Trace, frame: Frame) -> None:
    """The scale of a map, at its right."""
    bar, thick = trace.colorbar, float(trace.colorbar.thickness or _BAR)
    scale = _bar_scale(trace, frame)
    left, right = frame[2] + 14, frame[2] + 14 + thick
    for step in range(_SHADES):
        low, high = (trace.zmin + (trace.zmax - trace.zmin) * part / _SHADES for part in (step, step + 1))
        shade = traces.shade_of(trace, (low + high) / 2)
        y0, y1 = scale.at(low), scale.at(high)
        canvas.area([(left, y0), (right, y0), (right, y1), (left, y1)], shade, shade, 0.6)
    widest = 0.0
    for value, words in _bar_ticks(trace):
        canvas.text((right + _PAD, scale.at(value)), words, _SMALL)
        widest = max(widest, canvas.extent(words, _SMALL)[0])
    if bar.title.text and bar.title.side == "right":
        at = right + _PAD + widest + 10, (frame[1] + frame[3]) / 2
        canvas.text(at, bar.title.text, _SMALL, INK, "center", "bottom", 90)
    elif bar.title.text:
        canvas.text((left, frame[1] - 4), bar.title.text, _SMALL, INK, "left", "bottom")


def _bar_scale(trace: Trace, frame: Frame) -> Scale:
    return Scale(float(trace.zmin), float(trace.zmax), frame[3], frame[1])


def _bar_ticks(trace: Trace) -> list[tuple[float, str]]:
    bar = trace.colorbar
    if bar.tickvals is not None:
        return list(zip(bar.tickvals, bar.ticktext, strict=True))
    return [(value, number_words(value, bar.tickformat)) for value in nice_ticks(trace.zmin, trace.zmax)]
