"""Picture of a classroom: everybody's answer to one question, around the truth."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
import plotly.graph_objects as go

from dpcore.arrays import Floats
from dpcore.lessons.noise import margin
from dpcore.lessons.pooled_answers import ClassAnswer, PooledAnswers
from dpcore.numerals import whole
from dpcore.plots.lessons.lessons import lesson_layout
from dpcore.plots.style import DASHES, INK, colour

#: Bars at most; the noise of more answers is not read off more of them.
_BARS = 25
#: Answers beyond so many margins stand in the first or last bar: one far away must not hide the others.
_REACH = 3
_PATTERNS = ("", "/", "x", ".", "-", "+")


@lru_cache(maxsize=32)  # Many browsers look at one room; public numbers only.
def class_figure(answers: tuple[ClassAnswer, ...], found: PooledAnswers, *, revealed: bool) -> go.Figure:
    """Histogram of noisy answers to one question, with their mean and, if it is revealed, the truth.

    Parameters
    ----------
    answers : tuple of ClassAnswer
        At least one, all to the same question.
    found : PooledAnswers
        The same answers taken together.
    revealed : bool
        Whether the true count is drawn.
    """
    epsilons = sorted({answer.epsilon for answer in answers})
    edges = _edges(answers)
    middles = (edges[:-1] + edges[1:]) / 2
    figure, top = go.Figure(), np.zeros(len(middles))
    for code, epsilon in enumerate(epsilons):
        noisy = np.clip([one.noisy for one in answers if one.epsilon == epsilon], edges[0], edges[-1])
        heights = np.histogram(noisy, edges)[0]
        top += heights
        figure.add_trace(
            go.Bar(
                name=f"answers with ε = {epsilon.normalize():f}",
                x=middles.tolist(),
                y=heights.tolist(),
                width=float(edges[1] - edges[0]),
                marker={
                    "color": colour(code),
                    "pattern": {"shape": _PATTERNS[code % len(_PATTERNS)]},
                    "line": {"color": "#ffffff", "width": 1},
                },
                hovertext=[whole(middle) for middle in middles],
                hovertemplate="around %{hovertext}: %{y} answers<extra>%{fullData.name}</extra>",
            )
        )
    highest = 1.15 * float(top.max()) + 0.5
    figure.add_trace(_line("mean of the class", found.mean, highest, {"dash": DASHES[1], "width": 3}))
    if revealed:
        figure.add_trace(_line("true count", answers[0].asked.people, highest, {"width": 3}))
    lines = [found.mean, *([answers[0].asked.people] if revealed else [])]
    reach = max(margin(answer.epsilon) for answer in answers)
    lesson_layout(
        figure,
        360,
        {"title": "noisy answer (people)", "tickformat": ",", "nticks": 9, "range": _range(edges, lines, reach)},
        {"title": "answers", "range": [0, highest], "tick0": 0, "dtick": max(1, int(np.ceil(highest / 5)))},
        barmode="stack",
        bargap=0,
    )
    return figure


def _range(edges: Floats, lines: Sequence[float], reach: float) -> list[float]:
    """What is drawn, and no less than the noise reaches: else a single answer is a wall."""
    middle = (edges[0] + edges[-1]) / 2
    half = max(reach, edges[-1] - middle, *(1.05 * abs(line - middle) for line in lines))
    return [float(middle - half), float(middle + half)]


def _edges(answers: Sequence[ClassAnswer]) -> Floats:
    """Ends of bars of equal width in whole people, which hold every answer but those far away."""
    reach = _REACH * max(margin(answer.epsilon) for answer in answers)
    middle = float(np.median([answer.noisy for answer in answers]))
    noisy = np.clip([answer.noisy for answer in answers], middle - reach, middle + reach)
    low, high = np.floor(noisy.min()), np.ceil(noisy.max())
    width = max(1, int(np.ceil((high - low + 1) / _BARS)))
    return np.arange(low - 0.5, high + width, width)


def _line(name: str, at: float, top: float, line: dict[str, object]) -> go.Scatter:
    return go.Scatter(
        name=name,
        x=[at, at],
        y=[0, top],
        mode="lines",
        line={"color": INK, **line},
        hovertemplate=f"{name}: {at:,.1f}<extra></extra>",
    )


def class_alt(answers: Sequence[ClassAnswer], found: PooledAnswers, *, revealed: bool) -> str:
    """The histogram in words."""
    low, high = min(one.noisy for one in answers), max(one.noisy for one in answers)
    told = "1 answer" if found.answers == 1 else f"{found.answers} answers, from {whole(low)} to {whole(high)}"
    told += f". Their mean is {found.mean:,.1f}"
    if revealed:
        told += f"; the true count is {whole(answers[0].asked.people)}"
    return f"{told}.".replace("-", "−")
