"""A train and its cars, as a picture and in words."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from dpcore.domain.columns import RESERVED
from dpcore.domain.schemas.schema import Schema
from dpcore.plots.shapes import areas, lines
from dpcore.plots.style import FAINT, INK, SOFT, colour, lay_out, safe
from dpcore.plots.trees.tree_layout import Point

#: The table of cars, and what a picture of one cannot do without.
CAR = "car"
_NEEDED = ("length", "roof", "wheels")

#: Pixels. Height is measured downward from the top.
_WIDTHS = {"short": 92.0, "long": 164.0}
_ENGINE, _GAP, _MARGIN = 116.0, 16.0, 14.0
_TOP, _FLOOR, _RAIL = 42.0, 90.0, 118.0
_HEIGHT, _WHEEL, _ROOF, _LOAD = 130.0, 11.0, 16.0, 9.0
#: Height of the beam under a car, and half the distance between two pieces of load.
_BEAM, _APART = 5.0, 11.5
_GROUND, _UNSURE, _HUB = "#e3f0f3", "#f1f4f5", "#fbfdfe"
_GREY = "#7b8b92"

_ROOFS = ("open", "flat", "jagged", "peaked", "arc")
#: Shapes of a car, and the words for them.
_SHAPES = {
    "rectangle": "rectangular",
    "u_shaped": "U-shaped",
    "bucket": "bucket-shaped",
    "hexagon": "hexagonal",
    "ellipse": "elliptic",
}
#: Corners of a load on a circle: how many, and the angle of the first, in degrees.
_CORNERS = {
    "circle": (36, 0),
    "triangle": (3, -90),
    "inverted_triangle": (3, 90),
    "rectangle": (4, -45),
    "diamond": (4, 0),
    "hexagon": (6, 0),
}

Outline = list[Point]


def is_train(schema: Schema) -> bool:
    """Whether records of the schema are trains that can be drawn: cars with all that it takes."""
    for child in schema.children:
        if child.name == CAR:
            return {column.name for column in child.columns} >= set(_NEEDED)
    return False


@dataclass(frozen=True)
class _Car:
    """What is known of a car, as text; ``None`` is unknown."""

    length: str | None
    shape: str | None
    roof: str | None
    double: str | None
    load: str | None
    wheels: int | None
    pieces: int | None

    @classmethod
    def of(cls, row: Mapping[str, object]) -> _Car:
        """Values of a row; what the picture does not know counts as unknown."""
        text = {name: _text(value) for name, value in row.items()}

        def known(name: str, *values: str) -> str | None:
            value = text.get(name)
            return value if value in values else None

        wheels, pieces = known("wheels", "2", "3"), known("load_count", "0", "1", "2", "3")
        load = known("load", "empty", *_CORNERS)
        return cls(
            known("length", *_WIDTHS),
            known("shape", *_SHAPES),
            known("roof", "closed", *_ROOFS),
            known("double_sided", "yes", "no"),
            "empty" if pieces == "0" and load is None else load,
            None if wheels is None else int(wheels),
            _pieces(load, pieces),
        )

    @property
    def width(self) -> float:
        return _WIDTHS.get(self.length or "", sum(_WIDTHS.values()) / 2)

    @property
    def words(self) -> str:
        """The car in words."""
        parts = [self.length, None if self.shape is None else _SHAPES[self.shape]]
        parts.append({"yes": "double-sided", "no": "single-sided"}.get(self.double or ""))
        parts.append(self.roof if self.roof in {None, "open", "closed"} else f"{self.roof} roof")
        parts.append(None if self.wheels is None else f"{self.wheels} wheels")
        parts.append(self._load_words())
        known = [part for part in parts if part is not None]
        if not known:
            return "nothing known"
        return ", ".join(known) + ("" if len(known) == len(parts) else ", the rest unknown")

    def _load_words(self) -> str | None:
        if self.load is None and self.pieces is None:
            return None
        if self.load == "empty":
            return "no load"
        load = (self.load or "piece").replace("_", " ")
        if self.pieces is None:
            return f"load: {load}"
        return f"load: {self.pieces} {load}{'' if self.pieces == 1 else 's'}"


def _pieces(load: str | None, pieces: str | None) -> int | None:
    """Pieces of load; a shape that is named is there, whatever the count says."""
    if load == "empty":
        return 0
    if pieces is None:
        return None
    return int(pieces) if load is None else max(1, int(pieces))


def _text(value: Any) -> str | None:
    if isinstance(value, bool | np.bool_):
        return "yes" if value else "no"
    if value is None or pd.isna(value) or value in RESERVED:
        return None
    number = isinstance(value, float) and value.is_integer()
    return str(int(value)) if number else str(value)


def _cars(cars: pd.DataFrame) -> list[_Car]:
    """Cars from the engine on; in the order given where positions are unknown."""
    rows = [{str(name): value for name, value in row.items()} for row in cars.to_dict("records")]
    places = [_text(row.get("position")) for row in rows]
    if all(place is not None and place.isdigit() for place in places):
        rows = [rows[i] for i in sorted(range(len(rows)), key=lambda i: int(places[i] or 0))]
    return [_Car.of(row) for row in rows]


def train_figure(cars: pd.DataFrame) -> go.Figure:
    """Draw one train: its engine on the left, then its cars.

    Parameters
    ----------
    cars : DataFrame
        One row per car, columns as in the demonstration data ``trains``. What is absent, missing
        or no value known there is drawn in grey and dashed. ``closed`` is a roof of any kind.

    Returns
    -------
    plotly figure whose axes are pixels; ``layout.meta`` holds its width.
    """
    drawing = _Drawing(_cars(cars))
    figure = go.Figure(list(drawing.traces()))
    axis = {"visible": False, "fixedrange": True, "constrain": "domain"}
    lay_out(
        figure,
        {"range": [0, drawing.width], **axis},
        {"range": [_HEIGHT, 0], "scaleanchor": "x", "scaleratio": 1, **axis},
        height=_HEIGHT,
        showlegend=False,
        dragmode=False,
        hovermode="closest",
        margin={"l": 0, "r": 0, "t": 0, "b": 0},
        meta={"width": drawing.width},
    )
    return figure


def train_alt(cars: pd.DataFrame) -> str:
    """The picture in words."""
    known = _cars(cars)
    if not known:
        return "A train without cars."
    told = " ".join(f"Car {number}: {car.words}." for number, car in enumerate(known, 1))
    return f"A train of {len(known)} {'car' if len(known) == 1 else 'cars'}. {told}"


class _Drawing:
    """Outlines of one train, by what they are."""

    def __init__(self, cars: list[_Car]) -> None:
        self._cars = cars
        self._lefts = [_MARGIN + _ENGINE + _GAP]
        for car in cars:
            self._lefts.append(self._lefts[-1] + car.width + _GAP)
        self.width = self._lefts.pop() - _GAP + _MARGIN
        self._bodies: dict[bool, list[Outline]] = {True: [], False: []}
        self._beams: list[Outline] = []
        self._linings: list[Outline] = []
        self._roofs: dict[str, list[Outline]] = {"roofs": [], "closed": [], "unknown": []}
        self._wheels: dict[bool, list[Outline]] = {True: [], False: []}
        self._loads: dict[bool, list[Outline]] = {True: [], False: []}
        for car, left in zip(cars, self._lefts, strict=True):
            self._add(car, left)

    def _add(self, car: _Car, left: float) -> None:
        sure = car.shape is not None and car.length is not None
        self._bodies[sure].append(_body(car.shape, left, car.width))
        self._beams.append(_box(left, _FLOOR + 1, left + car.width, _FLOOR + 1 + _BEAM))
        if car.double == "yes":
            self._linings.append(_body(car.shape, left, car.width, inset=6))
        if car.roof != "open":
            kind = {None: "unknown", "closed": "closed"}.get(car.roof, "roofs")
            self._roofs[kind].append(_roof(car.roof, left, car.width))
        for middle in _spread(car.wheels or 2, left + 20, left + car.width - 20):
            self._wheels[car.wheels is not None].append(_round(middle, _RAIL - _WHEEL, _WHEEL))
        if car.load != "empty":
            pieces, centre = car.pieces or 1, left + car.width / 2
            reach = _APART * (pieces - 1)
            for middle in _spread(pieces, centre - reach, centre + reach):
                self._loads[car.load is not None].append(_load(car.load, middle))

    def traces(self) -> Iterator[go.Scatter]:
        """Everything that is drawn, from the ground up."""
        yield lines("rail", [[(0, _RAIL + 1), (self.width, _RAIL + 1)]], FAINT, 3)
        level = _FLOOR + _BEAM / 2 + 1
        links = [[(left - _GAP, level), (left, level)] for left in self._lefts]
        yield lines("couplings", links, SOFT, 3)
        yield areas("beams", self._beams, SOFT, SOFT, 1)
        yield from self._engine()
        yield areas("bodies", self._bodies[True], _GROUND, INK, 2)
        yield areas("unknown bodies", self._bodies[False], _UNSURE, _GREY, 1.5, "dash")
        yield lines("double sides", self._linings, INK, 1.5)
        yield areas("roofs", self._roofs["roofs"], colour(0), INK, 1.5)
        yield areas("roofs of any kind", self._roofs["closed"], _GROUND, INK, 1.5, "dash")
        yield areas("unknown roofs", self._roofs["unknown"], _UNSURE, _GREY, 1, "dot")
        yield areas("wheels", self._wheels[True], INK, INK, 1)
        yield areas("hubs", [_hub(wheel) for wheel in self._wheels[True]], _HUB, INK, 1)
        yield areas("unknown wheels", self._wheels[False], _UNSURE, _GREY, 1.5, "dot")
        yield areas("loads", self._loads[True], colour(1), INK, 1)
        yield areas("unknown loads", self._loads[False], _UNSURE, _GREY, 1.5, "dot")
        yield self._words()

    def _engine(self) -> Iterator[go.Scatter]:
        left, right = _MARGIN, _MARGIN + _ENGINE
        chimney = [(left + 18, 46), (left + 14, 22), (left + 40, 22), (left + 36, 46)]
        boiler = [
            (left + 10, 46),
            (right - 44, 46),
            (right - 44, _FLOOR),
            (left + 10, _FLOOR),
            (left + 4, _FLOOR - 12),
            (left + 4, 58),
        ]
        plough = [(left + 6, _FLOOR), (left + 20, _FLOOR), (left - 8, _RAIL - 4)]
        beam = _box(left + 10, _FLOOR, right, _FLOOR + 1 + _BEAM)
        cab, roof = _box(right - 44, 26, right, _FLOOR), _box(right - 51, 18, right + 5, 26)
        parts = [*(_closed(part) for part in (chimney, boiler, plough)), cab, roof, beam]
        yield areas("engine", parts, SOFT, INK, 1.5)
        yield areas("window", [_box(right - 35, 36, right - 10, 58)], _HUB, INK, 1.5)
        wheels = [_round(left + x, _RAIL - _WHEEL, _WHEEL) for x in (30, 58)]
        wheels.append(_round(right - 22, _RAIL - 15, 15))
        yield areas("wheels of the engine", wheels, INK, INK, 1)
        yield areas("hubs of the engine", [_hub(wheel) for wheel in wheels], _HUB, INK, 1)

    def _words(self) -> go.Scatter:
        """What is known of a car, under the pointer."""
        places = [left + car.width / 2 for car, left in zip(self._cars, self._lefts, strict=True)]
        said = [f"car {n}: {safe(car.words)}" for n, car in enumerate(self._cars, 1)]
        return go.Scatter(
            name="words",
            x=places,
            y=[(_TOP + _FLOOR) / 2] * len(places),
            mode="markers",
            marker={"size": 46, "opacity": 0},
            hovertext=said,
            hovertemplate="%{hovertext}<extra></extra>",
        )


def _closed(outline: Sequence[Point]) -> Outline:
    return [*outline, outline[0]]


def _box(left: float, top: float, right: float, bottom: float) -> Outline:
    return _closed([(left, top), (right, top), (right, bottom), (left, bottom)])


def _arc(x: float, y: float, wide: float, high: float, start: float, end: float) -> Outline:
    """Part of an ellipse around a point, angles in degrees, clockwise from the right."""
    angles = np.radians(np.linspace(start, end, 33))
    return [(x + wide * math.cos(angle), y + high * math.sin(angle)) for angle in angles]


def _round(x: float, y: float, radius: float) -> Outline:
    return _arc(x, y, radius, radius, 0, 360)


def _hub(wheel: Outline) -> Outline:
    """Small circle in the middle of a wheel."""
    left, right = min(x for x, _ in wheel), max(x for x, _ in wheel)
    top, bottom = min(y for _, y in wheel), max(y for _, y in wheel)
    return _round((left + right) / 2, (top + bottom) / 2, (right - left) / 5)


def _spread(number: int, first: float, last: float) -> list[float]:
    """Equally spaced places from the first to the last; one alone is in the middle."""
    if number == 1:
        return [(first + last) / 2]
    return [first + (last - first) * step / (number - 1) for step in range(number)]


def _body(shape: str | None, left: float, width: float, inset: float = 0) -> Outline:
    """Outline of a car; ``inset`` pixels inside of it."""
    left, right = left + inset, left + width - inset
    top, bottom = _TOP + inset, _FLOOR - inset
    middle, wide, high = (left + right) / 2, (right - left) / 2, (bottom - top) / 2
    if shape == "ellipse":
        return _arc(middle, (top + bottom) / 2, wide, high, 0, 360)
    if shape == "u_shaped":
        bend = 0.62 * 2 * high
        down = _arc(right - bend, bottom - bend, bend, bend, 0, 90)
        up = _arc(left + bend, bottom - bend, bend, bend, 90, 180)
        return _closed([(left, top), (right, top), *down, *up])
    if shape == "bucket":
        slant = 16.0 - inset / 4
        return _closed([(left, top), (right, top), (right - slant, bottom), (left + slant, bottom)])
    if shape == "hexagon":
        slant, half = 16.0 - inset / 4, (top + bottom) / 2
        return _closed(
            [
                (left + slant, top),
                (right - slant, top),
                (right, half),
                (right - slant, bottom),
                (left + slant, bottom),
                (left, half),
            ]
        )
    return _box(left, top, right, bottom)


def _roof(roof: str | None, left: float, width: float) -> Outline:
    """Outline of a roof, wider than its car by a little."""
    start, end, base = left - 4, left + width + 4, _TOP - 2
    if roof == "peaked":
        return _closed([(start, base), ((start + end) / 2, base - _ROOF - 6), (end, base)])
    if roof == "arc":
        return _closed(_arc((start + end) / 2, base, (end - start) / 2, _ROOF + 4, 180, 360))
    if roof == "jagged":
        teeth = round((end - start) / 20)
        step = (end - start) / teeth
        saw = [(start + step * i / 2, base - _ROOF * (i % 2)) for i in range(2 * teeth + 1)]
        return _closed(saw)
    return _box(start, base - 8, end, base)


def _load(load: str | None, middle: float) -> Outline:
    """Outline of one piece of load, or a circle if it is unknown."""
    corners, first = _CORNERS[load or "circle"]
    y = (_TOP + _FLOOR) / 2 + {"triangle": 3, "inverted_triangle": -3}.get(load or "", 0)
    angles = [math.radians(first + 360 * i / corners) for i in range(corners)]
    radius = _LOAD if load in {None, "circle", "rectangle"} else _LOAD + 2
    return _closed([(middle + radius * math.cos(angle), y + radius * math.sin(angle)) for angle in angles])
