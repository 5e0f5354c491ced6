"""Which axes belong together in a figure, and where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import plotly.graph_objects as go

from dpcore.plots.printed.canvas import Frame
from dpcore.plots.printed.scales import Axis, Scale, categories, ends
from dpcore.plots.printed.spans import Span, Trace, span

_DRAWN = frozenset({"bar", "heatmap", "scatter"})


@dataclass(frozen=True)
class Panel:
    """A horizontal and an upright axis with what is drawn between them."""

    names: tuple[str, str]
    """Plotly's names of both axes, such as ``x2`` and ``y2``."""
    across: Axis
    down: Axis
    """``across``, ``down``: their descriptions."""
    traces: tuple[Trace, ...]
    x: Scale
    y: Scale

    @property
    def frame(self) -> Frame:
        """The edges, in pixels."""
        return self.x.start, self.y.end, self.x.end, self.y.start

    @property
    def counted(self) -> tuple[bool, bool]:
        """Whether each axis has lines of a grid: not those along which bars or fields stand."""
        upright = any(trace.type == "bar" and trace.orientation != "h" for trace in self.traces)
        lying = any(trace.type == "bar" and trace.orientation == "h" for trace in self.traces)
        fields = any(trace.type == "heatmap" for trace in self.traces)
        return not (upright or fields), not (lying or fields)


def panels(figure: go.Figure, frame: Frame) -> list[Panel]:
    """The panels of a figure whose plotting area has these edges."""
    return list(_panels(figure, frame))


def _panels(figure: go.Figure, frame: Frame) -> Iterator[Panel]:
    for trace in figure.data:
        if trace.type not in _DRAWN:
            raise NotImplementedError(f"Traces of the type {trace.type} are not drawn on paper.")
    pairs = list(dict.fromkeys((trace.xaxis or "x", trace.yaxis or "y") for trace in figure.data))
    left, top, right, bottom = frame
    for pair in pairs:
        traces = tuple(t for t in figure.data if (t.xaxis or "x", t.yaxis or "y") == pair)
        across, down = (axis_of(figure, name) for name in pair)
        x = _scale(figure, pair[0], left, right)
        y = _scale(figure, pair[1], bottom, top)
        yield Panel(pair, across, down, traces, x, y)


def axis_of(figure: go.Figure, name: str) -> Axis:
    """The description of an axis by its short name, such as ``x2``."""
    return figure.layout[f"{name[0]}axis{name[1:]}"]


def _scale(figure: go.Figure, name: str, start: float, end: float) -> Scale:
    """The axis of a name, on its part of the way from ``start`` to ``end``."""
    axis, letter = axis_of(figure, name), name[0]
    root = axis.matches or name
    spans = [span(trace, letter) for trace in _on(figure, letter, root)]
    own = axis if axis.range is not None else axis_of(figure, root)
    places = categories([one.labels for one in spans], axis.categoryarray)
    low, high = ends(own, _placed(spans, places), [foot for one in spans for foot in one.feet], places)
    first, last = axis.domain or (0.0, 1.0)
    way = end - start
    return Scale(low, high, start + first * way, start + last * way, axis.type == "log", places)


def _on(figure: go.Figure, letter: str, root: str) -> Iterator[Trace]:
    """Traces along an axis, and along those that match it."""
    for trace in figure.data:
        name = (trace.xaxis if letter == "x" else trace.yaxis) or letter
        if name == root or axis_of(figure, name).matches == root:
            yield trace


def _placed(spans: Sequence[Span], places: dict[str, int]) -> list[float]:
    return [] if places else [value for one in spans for value in one.values]
