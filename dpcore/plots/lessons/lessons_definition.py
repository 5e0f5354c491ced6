"""Pictures of the lessons about the definition: one set of answers, and the area that delta is."""

from __future__ import annotations

import math
from statistics import NormalDist

import plotly.graph_objects as go

from dpcore.lessons.definition import SetChances
from dpcore.lessons.delta import DeltaExample
from dpcore.lessons.noise import noise_chance
from dpcore.numerals import tenths, tiny
from dpcore.plots.lessons.lessons import lesson_layout
from dpcore.plots.style import INK, SOFT, colour

_IN, _OUT = 0.95, 0.25
#: Points at which a density is drawn.
_POINTS = 241


def set_figure(found: SetChances, low: int, high: int) -> go.Figure:
    """Chances of all answers from ``low`` to ``high``, with a person and without; those in the set stand out."""
    figure, answers = go.Figure(), list(range(low, high + 1))
    opacity = [_IN if found.low <= answer <= found.high else _OUT for answer in answers]
    for name, middle, code, pattern in (
        ("with this person", found.count, 0, ""),
        ("without this person", found.count - 1, 1, "/"),
    ):
        chances = [noise_chance(answer - middle, found.epsilon) for answer in answers]
        figure.add_trace(
            go.Bar(
                name=name,
                x=answers,
                y=chances,
                marker={"color": colour(code), "opacity": opacity, "pattern": {"shape": pattern}},
                hovertext=[f"{chance:.2%}" for chance in chances],
                hovertemplate="answer %{x}: %{hovertext}<extra>%{fullData.name}</extra>",
            )
        )
    lesson_layout(
        figure,
        340,
        {"title": "noisy answer (people); the set S is framed", "nticks": 12},
        {"title": "chance of this answer", "tickformat": ".1~%", "rangemode": "tozero"},
        bargap=0.15,
        bargroupgap=0,
    )
    figure.add_vrect(found.low - 0.5, found.high + 0.5, line={"color": INK, "width": 2, "dash": "dot"})
    return figure


def set_alt(found: SetChances) -> str:
    """The two chances of the set in words."""
    return (
        f"An answer from {found.low} to {found.high} has a chance of {tenths(found.present)} with this person and of "
        f"{tenths(found.absent)} without: {found.ratio:.2f} times as much. No set has more than "
        f"{found.factor:.2f} times."
    ).replace("-", "−")


def delta_figure(example: DeltaExample) -> go.Figure:
    """Density of answers with a person, and e^epsilon times the one without; delta is the area between them."""
    noise, factor = NormalDist(0, example.deviation), math.exp(example.epsilon)
    low, high = -3.5 * example.deviation, 1 + 3.5 * example.deviation
    grid = [low + (high - low) * place / (_POINTS - 1) for place in range(_POINTS)]
    grid = sorted({*grid, example.threshold})
    present, bound = [noise.pdf(at - 1) for at in grid], [factor * noise.pdf(at) for at in grid]
    figure = go.Figure()
    beyond = [at for at in grid if at >= example.threshold]
    if len(beyond) > 1:
        figure.add_trace(_area("chance to exceed e<sup>ε</sup>", beyond, [noise.pdf(at - 1) for at in beyond]))
        figure.add_trace(_between(beyond, [(noise.pdf(at - 1), factor * noise.pdf(at)) for at in beyond]))
    for name, heights, code, dash in (
        ("with this person", present, 0, "solid"),
        ("without this person", [noise.pdf(at) for at in grid], 1, "dash"),
    ):
        figure.add_trace(_line(name, grid, heights, {"color": colour(code), "width": 2.5, "dash": dash}))
    figure.add_trace(_line("e<sup>ε</sup> × without", grid, bound, {"color": SOFT, "width": 2, "dash": "dot"}))
    lesson_layout(
        figure,
        400,
        {"title": "noisy answer, above the true count without this person"},
        {"title": "density", "range": [0, 1.35 * max(present)], "nticks": 5},
    )
    return figure


def _line(name: str, grid: list[float], heights: list[float], line: dict[str, object]) -> go.Scatter:
    return go.Scatter(name=name, x=grid, y=heights, mode="lines", line=line, hoverinfo="skip")


def _area(name: str, grid: list[float], heights: list[float]) -> go.Scatter:
    """Everything below a density from the threshold on."""
    return go.Scatter(
        name=name,
        x=[grid[0], *grid, grid[-1]],
        y=[0.0, *heights, 0.0],
        mode="none",
        fill="toself",
        fillcolor="rgba(143, 195, 210, 0.5)",
        hoverinfo="skip",
    )


def _between(grid: list[float], heights: list[tuple[float, float]]) -> go.Scatter:
    """What of it lies above e^epsilon times the other density."""
    upper, lower = ([pair[side] for pair in heights] for side in (0, 1))
    return go.Scatter(
        name="δ",
        x=[*grid, *reversed(grid)],
        y=[*upper, *reversed(lower)],
        mode="lines",
        line={"color": INK, "width": 1},
        fill="toself",
        fillcolor="rgba(194, 65, 12, 0.75)",
        hoverinfo="skip",
    )


def delta_alt(example: DeltaExample) -> str:
    """Both areas in words."""
    return (
        f"Gaussian noise with a standard deviation of {example.deviation:g}, looked at with epsilon "
        f"{example.epsilon:g}. The area delta is {small_chance(example.delta)}. "
        f"The area of all answers that exceed the factor e^epsilon "
        f"is {small_chance(example.exceeded)}, which is larger."
    )


def small_chance(chance: float) -> str:
    """A chance with two digits, also a tiny one: ``13%``, ``0.0016%``, ``1.2 · 10⁻⁹``."""
    if chance >= 0.00001:
        return f"{100 * chance:.2g}%"
    digits, _, power = f"{chance:.1e}".partition("e-")
    return tiny(digits, int(power)) if power else "0"
