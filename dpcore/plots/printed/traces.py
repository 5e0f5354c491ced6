"""Bars, points, lines, areas and fields of a figure."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from dpcore.plots.printed.canvas import Across, Canvas, Down, Frame, Point
from dpcore.plots.printed.panels import Panel
from dpcore.plots.printed.spans import Trace, bases_of, whiskers
from dpcore.plots.style import INK, SOFT, colour

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from plotly.basedatatypes import BaseTraceHierarchyType

_GAP: Final = 0.2
_SIDES: Final[dict[str, tuple[Across, Down, float, float]]] = {
    "top center": ("center", "bottom", 0.0, -5.0),
    "bottom center": ("center", "top", 0.0, 5.0),
    "middle left": ("right", "center", -3.0, 0.0),
    "middle right": ("left", "center", 3.0, 0.0),
    "middle center": ("center", "center", 0.0, 0.0),
    "bottom right": ("left", "top", 3.0, 2.0),
}


def draw(canvas: Canvas, panel: Panel, layout: go.Layout) -> None:
    """Everything of a panel, from the back to the front."""
    bars = [trace for trace in panel.traces if trace.type == "bar"]
    for trace in panel.traces:
        if trace.type == "bar":
            _bars(canvas, panel, trace, bars.index(trace), len(bars), layout)
        elif trace.type == "heatmap":
            _fields(canvas, panel, trace)
        else:
            _scatter(canvas, panel, trace, layout)


def each(value: Any, count: int, other: object) -> list[Any]:
    """A setting for each of ``count`` marks; ``other`` if there is none."""
    if value is None:
        return [other] * count
    if isinstance(value, str | int | float):
        return [value] * count
    return [other if one is None else one for one in value]


# Bars


def _bars(canvas: Canvas, panel: Panel, trace: Trace, place: int, among: int, layout: go.Layout) -> None:
    lying = trace.orientation == "h"
    stands, lengths = (trace.y, trace.x) if lying else (trace.x, trace.y)
    along, beside = (panel.x, panel.y) if lying else (panel.y, panel.x)
    count = len(stands)
    if layout.barmode not in (None, "group", "overlay"):
        raise NotImplementedError(f"Bars in the mode {layout.barmode} are not drawn on paper.")
    share = 1 - (_GAP if layout.bargap is None else layout.bargap)
    number = 1 if layout.barmode == "overlay" else among
    widths = each(trace.width, count, share / number)
    shift = 0.0 if number == 1 or trace.width is not None else (place - (number - 1) / 2) * share / number
    looks = zip(
        each(trace.marker.color, count, colour(place)), each(trace.marker.pattern.shape, count, ""), strict=True
    )
    ends = whiskers(trace.error_x if lying else trace.error_y, count)
    error = trace.error_x if lying else trace.error_y
    for number, (stand, length, base, wide, (shade, hatch)) in enumerate(
        zip(stands, lengths, bases_of(trace, count), widths, looks, strict=True)
    ):
        middle = (beside.places[stand] if isinstance(stand, str) else float(stand)) + shift
        near, far = beside.at(middle - wide / 2), beside.at(middle + wide / 2)
        foot, head = along.at(base), along.at(base + float(length))
        corners = [(foot, near), (head, near), (head, far), (foot, far)]
        line = trace.marker.line
        canvas.area(
            corners if lying else [(b, a) for a, b in corners],
            shade,
            line.color or "",
            line.width or 0.0,
            hatch=hatch,
            frame=panel.frame,
        )
        if ends:
            down, up = ends[number]
            value = base + float(length)
            whisker = along.at(value - down), along.at(value + up)
            _whisker(canvas, whisker, beside.at(middle), lying, error, panel.frame)
    if trace.text is not None:
        _bar_texts(canvas, panel, trace, layout)


def _bar_texts(canvas: Canvas, panel: Panel, trace: Trace, layout: go.Layout) -> None:
    """What stands at the end of lying bars."""
    if trace.textposition != "outside" or trace.orientation != "h":
        raise NotImplementedError("Texts stand at the end of lying bars only.")
    for stand, length, told in zip(trace.y, trace.x, trace.text, strict=True):
        canvas.text((panel.x.at(length) + 5, panel.y.at(stand)), told, layout.font.size)


def _whisker(
    canvas: Canvas,
    ends: tuple[float, float],
    beside: float,
    lying: bool,
    error: BaseTraceHierarchyType,
    frame: Frame | None,
) -> None:
    shade, wide = error.color or INK, error.thickness or 2
    half = 4 if error.width is None else error.width
    low, high = ends

    def turned(points: Sequence[Point]) -> list[Point]:
        return list(points) if lying else [(b, a) for a, b in points]

    canvas.line(turned([(low, beside), (high, beside)]), shade, wide, frame=frame)
    if half:
        for end in ends:
            canvas.line(turned([(end, beside - half), (end, beside + half)]), shade, wide, frame=frame)


# Points, lines and areas


def _scatter(canvas: Canvas, panel: Panel, trace: Trace, layout: go.Layout) -> None:
    mode = trace.mode or "lines"
    points = list(_points(panel, trace))
    frame = None if trace.cliponaxis is False else panel.frame
    if "lines" in mode:
        _lines(canvas, trace, points, frame)
    _whiskers(canvas, panel, trace)
    if "markers" in mode:
        _marks(canvas, trace, points, frame)
    if "text" in mode:
        _texts(canvas, trace, points, layout.font.size)


def _points(panel: Panel, trace: Trace) -> Iterator[Point | None]:
    for x, y in zip(trace.x, trace.y, strict=True):
        if x is None or y is None or any(isinstance(v, float) and math.isnan(v) for v in (x, y)):
            yield None
        else:
            yield panel.x.at(x), panel.y.at(y)


def parts(points: Sequence[Point | None]) -> list[list[Point]]:
    """The points between gaps."""
    found: list[list[Point]] = [[]]
    for point in points:
        if point is None:
            found.append([])
        else:
            found[-1].append(point)
    return [part for part in found if part]


def _lines(canvas: Canvas, trace: Trace, points: Sequence[Point | None], frame: Frame | None) -> None:
    line = trace.line
    if line.shape not in (None, "linear"):
        raise NotImplementedError(f"Lines of the shape {line.shape} are not drawn on paper.")
    if trace.fill not in (None, "none", "toself"):
        raise NotImplementedError(f"Areas that are filled {trace.fill} are not drawn on paper.")
    shade, wide = line.color or colour(0), 2.0 if line.width is None else line.width
    for part in parts(points):
        if trace.fill == "toself":
            canvas.area(part, trace.fillcolor, shade, wide, line.dash or "solid", frame=frame)
        elif len(part) > 1:
            canvas.line(part, shade, wide, line.dash or "solid", frame)


def _marks(canvas: Canvas, trace: Trace, points: Sequence[Point | None], frame: Frame | None) -> None:
    marker, count = trace.marker, len(points)
    if marker.opacity == 0:  # What pointing at finds, on a page.
        return
    looks = zip(each(marker.color, count, colour(0)), each(marker.symbol, count, "circle"), strict=True)
    sizes = each(marker.size, count, 6)
    for point, size, (shade, symbol) in zip(points, sizes, looks, strict=True):
        if point is not None and _inside(point, frame):
            line = marker.line
            opacity = 1.0 if marker.opacity is None else marker.opacity
            canvas.mark(point, symbol, size, shade, line.color or "", line.width or 0.0, opacity)


def _inside(point: Point, frame: Frame | None) -> bool:
    if frame is None:
        return True
    left, top, right, bottom = frame
    return left - 1 <= point[0] <= right + 1 and top - 1 <= point[1] <= bottom + 1


def _whiskers(canvas: Canvas, panel: Panel, trace: Trace) -> None:
    for lying, error, scale, beside in (
        (True, trace.error_x, panel.x, panel.y),
        (False, trace.error_y, panel.y, panel.x),
    ):
        values, others = (trace.x, trace.y) if lying else (trace.y, trace.x)
        if values is None or error is None:
            continue
        for value, other, (down, up) in zip(values, others, whiskers(error, len(values)), strict=False):
            ends = scale.at(float(value) - down), scale.at(float(value) + up)
            coloured = error if error.color else _Coloured(error, trace.marker.color)
            _whisker(canvas, ends, beside.at(other), lying, coloured, panel.frame)


class _Coloured:
    """A whisker in the colour of its mark, as plotly draws it if it has none of its own."""

    def __init__(self, error: BaseTraceHierarchyType, shade: object) -> None:
        self.color = shade if isinstance(shade, str) else INK
        self.thickness, self.width = error.thickness, error.width


def _texts(canvas: Canvas, trace: Trace, points: Sequence[Point | None], usual: float) -> None:
    across, down, right, below = _SIDES[trace.textposition or "middle center"]
    size, shade = trace.textfont.size or usual, trace.textfont.color or INK
    for point, told in zip(points, each(trace.text, len(points), ""), strict=True):
        if point is not None and told:
            canvas.text((point[0] + right, point[1] + below), told, size, shade, across, down)


# Fields


def _fields(canvas: Canvas, panel: Panel, trace: Trace) -> None:
    gap_x, gap_y = trace.xgap or 0.0, trace.ygap or 0.0
    written = trace.text is not None and trace.texttemplate == "%{text}"
    for row, y in enumerate(trace.y):
        for column, x in enumerate(trace.x):
            value = trace.z[row][column]
            if value is None or math.isnan(value):
                continue
            left, right = sorted((panel.x.at(x - 0.5), panel.x.at(x + 0.5)))
            top, bottom = sorted((panel.y.at(y - 0.5), panel.y.at(y + 0.5)))
            left, right = left + gap_x / 2, right - gap_x / 2
            top, bottom = top + gap_y / 2, bottom - gap_y / 2
            corners = [(left, top), (right, top), (right, bottom), (left, bottom)]
            canvas.area(corners, shade_of(trace, float(value)), SOFT, 0.3)
            if written and trace.text[row][column]:
                middle = (left + right) / 2, (top + bottom) / 2
                canvas.text(middle, trace.text[row][column], trace.textfont.size, trace.textfont.color, "center")


def shade_of(trace: Trace, value: float) -> str:
    """The colour of a value on the scale of a map."""
    share = min(1.0, max(0.0, (value - trace.zmin) / (trace.zmax - trace.zmin)))
    stops = [(float(at), str(shade)) for at, shade in trace.colorscale]
    for (low, first), (high, second) in pairwise(stops):
        if share <= high:
            part = (share - low) / (high - low)
            mixed = (round(a + (b - a) * part) for a, b in zip(_rgb(first), _rgb(second), strict=True))
            return "#" + "".join(f"{one:02x}" for one in mixed)
    return stops[-1][1]


def _rgb(shade: str) -> tuple[int, ...]:
    return tuple(int(shade[place : place + 2], 16) for place in (1, 3, 5))
