"""How far a trace reaches along each axis."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    import plotly.graph_objects as go
    from plotly.basedatatypes import BaseTraceHierarchyType

#: What is drawn on paper.
Trace: TypeAlias = "go.Bar | go.Heatmap | go.Scatter"


@dataclass(frozen=True)
class Span:
    """What a trace has along one axis."""

    labels: tuple[str, ...] = ()
    """Its categories, if it has any."""
    values: tuple[float, ...] = ()
    """Its numbers, ends of whiskers included."""
    feet: tuple[float, ...] = ()
    """Of these, where bars and fields begin and end: nothing is left free beyond them."""


def span(trace: Trace, letter: str) -> Span:
    """How far a trace reaches along ``x`` or ``y``."""
    if trace.type == "heatmap":
        return _beside(_values(trace, letter))
    if trace.type == "bar":
        along = (trace.orientation == "h") == (letter == "x")
        return _bars(trace, letter) if along else _beside(_values(trace, letter))
    return _points(trace, letter)


def whiskers(error: BaseTraceHierarchyType, count: int) -> list[tuple[float, float]]:
    """How far the whiskers of each of ``count`` points reach down and up; empty if there are none."""
    if error.type == "constant":
        return [(float(error.value), float(error.value))] * count
    if error.array is None:
        return []
    up = [float(value) for value in error.array]
    down = up if error.symmetric is not False or error.arrayminus is None else [float(v) for v in error.arrayminus]
    return list(zip(down, up, strict=True))


def _values(trace: Trace, letter: str) -> Sequence[Any]:
    """Coordinates of a trace: numbers, or labels."""
    told = trace[letter]
    if told is None:
        return []
    return [value if isinstance(value, str) or value is None else float(value) for value in told]


def _labels(values: Sequence[object]) -> tuple[str, ...]:
    return tuple(value for value in values if isinstance(value, str))


def _beside(values: Sequence[Any]) -> Span:
    """Bars or fields that stand side by side."""
    numbers = [value for value in values if not isinstance(value, str)]
    reach = tuple(value + half for value in numbers for half in (-0.5, 0.5))
    return Span(_labels(values), reach, reach)


def _bars(trace: Trace, letter: str) -> Span:
    """The lengths of bars."""
    lengths, count = _values(trace, letter), len(trace[letter])
    bases = bases_of(trace, count)
    tops = [base + length for base, length in zip(bases, lengths, strict=True)]
    error = trace[f"error_{letter}"]
    ends = [top + way for top, (down, up) in zip(tops, whiskers(error, count), strict=False) for way in (-down, up)]
    return Span((), (*tops, *bases, *ends), tuple(bases))


def bases_of(trace: Trace, count: int) -> list[float]:
    """Where each bar begins."""
    base = trace.base
    if base is None:
        return [0.0] * count
    return [float(base)] * count if isinstance(base, int | float) else [float(value) for value in base]


def _points(trace: Trace, letter: str) -> Span:
    values = _values(trace, letter)
    numbers = [v for v in values if v is not None and not isinstance(v, str) and math.isfinite(v)]
    reach = list(numbers)
    for value, (down, up) in zip(values, whiskers(trace[f"error_{letter}"], len(values)), strict=False):
        if isinstance(value, float):
            reach += [value - down, value + up]
    return Span(_labels(values), tuple(reach))
