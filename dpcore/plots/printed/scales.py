"""The axes of a figure: from values to pixels, and what is written along them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, TypeAlias

from dpcore.plots.ticks import nice_ticks

if TYPE_CHECKING:
    import plotly.graph_objects as go

#: As plotly describes one.
Axis: TypeAlias = "go.layout.XAxis | go.layout.YAxis"

#: What plotly leaves free beside points, as a share of the axis.
_ROOM: Final = 0.06
#: Pixels between two ticks, about.
_APART: Final = 80


@dataclass(frozen=True)
class Scale:
    """One axis: ``low`` and ``high`` are the values at ``start`` and ``end``, in pixels."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False
    places: Mapping[str, int] = field(default_factory=dict)
    """Where categories stand; empty for numbers."""

    def at(self, value: str | float) -> float:
        """Pixel of a value."""
        number = float(self.places[value] if self.places and isinstance(value, str) else value)
        if self.log:
            number = math.log10(max(number, 1e-12))
        return self.start + (number - self.low) / (self.high - self.low) * (self.end - self.start)

    def between(self, value: float) -> bool:
        """Whether a value lies on the axis."""
        low, high = sorted((self.low, self.high))
        number = math.log10(max(value, 1e-12)) if self.log else value
        slack = 1e-6 * (high - low)
        return low - slack <= number <= high + slack


def categories(values: Sequence[Sequence[str]], order: Sequence[str] | None) -> dict[str, int]:
    """Place of each category, if an axis has any: in the order given, else as they come."""
    found = dict.fromkeys(value for one in values for value in one if isinstance(value, str))
    if not found:
        return {}
    ordered = list(order) if order is not None else list(found)
    return {name: place for place, name in enumerate(dict.fromkeys([*ordered, *found]))}


def ends(axis: Axis, values: Sequence[float], bars: Sequence[float], places: Mapping[str, int]) -> tuple[float, float]:
    """The values at both ends of an axis; logarithms if it has such.

    Parameters
    ----------
    values : sequence of float
        Everything that is drawn along it.
    bars : sequence of float
        Of these, what must not be given room: feet of bars.
    """
    if axis.range is not None:
        low, high = axis.range
        return float(low), float(high)
    if places:
        low, high = -0.5, len(places) - 0.5
    else:
        low, high = _numbers(axis, values, bars)
    return (high, low) if axis.autorange == "reversed" else (low, high)


def _numbers(axis: Axis, values: Sequence[float], bars: Sequence[float]) -> tuple[float, float]:
    told = [math.log10(value) for value in values if value > 0] if axis.type == "log" else list(values)
    low, high = min(told, default=0.0), max(told, default=1.0)
    if axis.rangemode == "tozero":
        low, high = min(low, 0.0), max(high, 0.0)
    if high <= low:
        low, high = low - 0.5, high + 0.5
    room = _ROOM * (high - low)
    feet = set(bars) | ({0.0} if axis.rangemode == "tozero" else set())
    return low - (0 if low in feet else room), high + (0 if high in feet else room)


def ticks(axis: Axis, scale: Scale) -> list[tuple[float, str]]:
    """Pixels and words of what stands along an axis."""
    if axis.showticklabels is False or axis.visible is False:
        return []
    suffix = axis.ticksuffix or ""
    if axis.tickvals is not None:
        words = (
            axis.ticktext if axis.ticktext is not None else [number_words(v, axis.tickformat) for v in axis.tickvals]
        )
        told = zip(axis.tickvals, words, strict=True)
        return [(scale.at(value), f"{word}{suffix}") for value, word in told if scale.between(float(value))]
    if scale.places:
        return [(scale.at(name), f"{name}{suffix}") for name in scale.places]
    low, high = sorted((scale.low, scale.high))
    if scale.log:
        values = [
            float(step * 10.0**power) for power in range(math.floor(low), math.ceil(high) + 1) for step in (1, 2, 5)
        ]
        values = [value for value in values if scale.between(value)]
    else:
        values = nice_ticks(low, high, axis.nticks or max(2, min(6, round(abs(scale.end - scale.start) / _APART))))
    return [(scale.at(value), number_words(value, axis.tickformat) + suffix) for value in values]


def number_words(value: float, form: str | None) -> str:
    """A number in plotly's form: percent, two digits, whole, or as it is, with a true minus."""
    if form is None:
        told = f"{value:,.10g}"
    elif form.endswith("%"):
        told = f"{value:{form}}"
    elif form.endswith("~f"):
        told = f"{value:{form.replace('~', '')}}".rstrip("0").rstrip(".")
    else:
        told = f"{round(value) if form.endswith('d') else value:{form}}"
    return told.replace("-", "−")
