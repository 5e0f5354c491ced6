"""Pictures of the lessons about noise: answers around a truth, neighbours, odds, averages."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Final

import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dpcore.lessons.composition import Averages, Shares
from dpcore.lessons.neighbours import Neighbours
from dpcore.lessons.odds import Odds, shown_chance, worst_odds
from dpcore.numerals import whole
from dpcore.plots.style import GRID, INK, SOFT, SYMBOLS, colour, lay_out
from dpcore.privacy.budgets import percent

_BAND = "rgba(143, 195, 210, 0.35)"
#: Chances before an answer for which the curves of the odds are drawn.
_BEFORE = tuple(step / 200 for step in range(1, 200))


#: Axes of every lesson: a grid, and no dragging.
_ACROSS: Final = {"gridcolor": GRID, "zerolinecolor": SOFT, "fixedrange": True}
_UPWARDS: Final = {"gridcolor": GRID, "zerolinecolor": GRID, "fixedrange": True, "automargin": True}


def lesson_layout(
    figure: go.Figure, height: int, x: Mapping[str, object], y: Mapping[str, object], *, above: int = 60, **more: object
) -> None:
    """Axes, room for a legend above, and no dragging."""
    lay_out(
        figure,
        {**_ACROSS, **x},
        {**_UPWARDS, **y},
        height=height,
        dragmode=False,
        margin={"l": 10, "r": 20, "t": above, "b": 60},
        legend={"orientation": "h", "y": 1, "yref": "container", "yanchor": "top", "x": 0, "traceorder": "normal"},
        **more,
    )


def answers_figure(
    truth: int, answers: Sequence[int], margin: int | None, title: str, noun: str = "answer"
) -> go.Figure:
    """Noisy answers as dots around the truth, latest on top, on an axis that holds 0.

    Parameters
    ----------
    truth : int
        The exact answer.
    answers : sequence of int
        Noisy answers, oldest first.
    margin : int or None
        Half the width of the band that is drawn around the truth.
    title : str
        What the horizontal axis counts.
    noun : str
        What an answer is called.
    """
    figure, rows = go.Figure(), len(answers)
    top = 1.06 * max(rows, 4) + 1
    if margin is not None:
        figure.add_trace(_band(truth - margin, truth + margin, top))
    figure.add_trace(
        go.Scatter(
            name=f"exact {noun}",
            x=[truth, truth],
            y=[0, top],
            mode="lines",
            line={"color": INK, "width": 2, "dash": "dash"},
            hoverinfo="skip",
        )
    )
    for name, shown, code, symbol, size in (
        (f"noisy {noun}s", answers[:-1], 0, "circle", 9),
        (f"latest noisy {noun}", answers[-1:], 1, "diamond", 14),
    ):
        first = rows if code else 1
        figure.add_trace(
            go.Scatter(
                name=name,
                x=list(shown),
                y=[first + place for place in range(len(shown))],
                mode="markers",
                hovertext=[whole(answer) for answer in shown],
                hovertemplate="number %{y}: %{hovertext}<extra></extra>",
                marker={
                    "color": colour(code),
                    "symbol": symbol,
                    "size": size,
                    "line": {"color": "#ffffff", "width": 1},
                },
            )
        )
    reach = margin or 1
    low = min(0, truth - 1.5 * reach, *answers)
    high = max(truth + 1.5 * reach, *answers)
    space = 0.04 * (high - low)
    lesson_layout(
        figure,
        380,
        {"title": title, "range": [low - space, high + space], "tickformat": ","},
        {"title": "asked, in order", "range": [0, top], "nticks": 5},
    )
    return figure


def _band(low: float, high: float, top: float) -> go.Scatter:
    return go.Scatter(
        name="95% of the answers",
        x=[low, high, high, low, low],
        y=[0, 0, top, top, 0],
        fill="toself",
        fillcolor=_BAND,
        mode="none",
        hoverinfo="skip",
    )


def answers_alt(truth: int, answers: Sequence[int], margin: int | None, noun: str = "answer") -> str:
    """The dots in words."""
    told = f"1 noisy {noun}"
    if len(answers) > 1:
        told = f"{len(answers)} noisy {noun}s, from {whole(min(answers))} to {whole(max(answers))}"
    if margin is not None:
        told += f"; 95% of such {noun}s are within {whole(margin)} of the exact one"
    return f"{told}. Latest: {whole(answers[-1])}. Exact {noun}: {whole(truth)}.".replace("-", "−")


def neighbours_figure(pair: Neighbours) -> go.Figure:
    """Chance of every answer with a person and without, and the largest factor between them."""
    figure = go.Figure()
    for name, chances, code, dash, symbol in (
        ("with this person", pair.present, 0, "solid", "circle"),
        ("without this person", pair.absent, 1, "dash", "diamond"),
    ):
        figure.add_trace(
            go.Scatter(
                name=name,
                x=list(pair.answers),
                y=list(chances),
                mode="lines+markers",
                line={"color": colour(code), "dash": dash, "width": 2.5, "shape": "hvh"},
                marker={"symbol": symbol, "size": 7},
                hovertext=[f"{chance:.2%}" for chance in chances],
                hovertemplate="answer %{x}: %{hovertext}<extra>%{fullData.name}</extra>",
            )
        )
    place = pair.answers.index(pair.count)
    high, low = pair.present[place], pair.absent[place]
    if pair.count != pair.count_without:
        figure.add_trace(
            go.Scatter(
                x=[pair.count, pair.count],
                y=[low, high],
                mode="lines",
                showlegend=False,
                line={"color": INK, "width": 4},
                hoverinfo="skip",
            )
        )
    factor = "the same chance" if high == low else f"× {pair.largest_ratio:.2f} = e<sup>ε</sup>"
    figure.add_annotation(
        x=pair.count, y=high, text=f"<b>{factor}</b>", ax=70, ay=-18, arrowcolor=INK, font={"size": 16, "color": INK}
    )
    highest = 1.2 * max(*pair.present, *pair.absent)
    lesson_layout(
        figure,
        380,
        {"title": "noisy answer (people)", "nticks": 12},
        {"title": "chance of this answer", "tickformat": ".1~%", "rangemode": "tozero", "range": [0, highest]},
    )
    return figure


def neighbours_alt(pair: Neighbours) -> str:
    """The two distributions in words."""
    if pair.count == pair.count_without:
        return (
            f"Chances of noisy answers around {pair.count}. With and without this person every "
            "answer has the same chance."
        )
    return (
        f"Chances of noisy answers: around {pair.count} with this person, around "
        f"{pair.count_without} without. For no answer do the two chances differ by more than a "
        f"factor of {pair.largest_ratio:.2f}."
    )


def odds_figure(odds: Odds, epsilon: Decimal) -> go.Figure:
    """What somebody may believe after an answer, against what they believed before."""
    bounds = [worst_odds(before, epsilon) for before in _BEFORE]
    figure = go.Figure()
    for name, ends, dash in (
        ("at most", [bound.highest for bound in bounds], "solid"),
        ("at least", [bound.lowest for bound in bounds], "dash"),
    ):
        figure.add_trace(
            go.Scatter(
                name=f"after the answer, {name}",
                x=list(_BEFORE),
                y=ends,
                mode="lines",
                line={"color": colour(0), "width": 2.5, "dash": dash},
                hoverinfo="skip",
                fill="tonexty" if name == "at least" else None,
                fillcolor=_BAND,
            )
        )
    figure.add_trace(
        go.Scatter(
            name="nothing learned",
            x=[0, 1],
            y=[0, 1],
            mode="lines",
            hoverinfo="skip",
            line={"color": SOFT, "width": 1.5, "dash": "dot"},
        )
    )
    figure.add_trace(_chosen(odds))
    axis = {"range": [-0.08, 1.1], "tickformat": ".0%", "dtick": 0.2}
    before, after = ({"title": f"chance {when} the answer", **axis} for when in ("before", "after"))
    lesson_layout(figure, 430, before, after)
    return figure


def _chosen(odds: Odds) -> go.Scatter:
    ends = [odds.lowest, odds.before, odds.highest]
    return go.Scatter(
        name="your example",
        x=[odds.before] * 3,
        y=ends,
        mode="lines+markers+text",
        line={"color": colour(1), "width": 4},
        marker={"symbol": ["triangle-up", "circle", "triangle-down"], "size": 11},
        text=[shown_chance(odds.lowest), "", shown_chance(odds.highest)],
        textposition=["bottom center", "middle right", "top center"],
        textfont={"color": INK, "size": 15},
        cliponaxis=False,
        hoverinfo="skip",
    )


def odds_alt(odds: Odds, epsilon: Decimal) -> str:
    """The worst case in words."""
    return (
        f"With epsilon {epsilon:f}, somebody who gave a chance of {shown_chance(odds.before)} "
        f"before the answer gives between {shown_chance(odds.lowest)} and "
        f"{shown_chance(odds.highest)} after it."
    )


def averages_figure(truth: int, found: Averages, taken: Shares) -> go.Figure:
    """Above, the average closes in on the truth; below, what the questions take of the budget.

    Parameters
    ----------
    truth : int
        The exact answer to the question that is repeated.
    found : Averages
        Averages of the answers that were bought.
    taken : Shares
        Of all questions, also of those that were not asked.
    """
    questions = len(taken.added)
    figure = make_subplots(rows=2, cols=1, shared_xaxes=True, vertical_spacing=0.09)
    asked = list(range(1, len(found.means) + 1))
    ends = {
        "95% of such averages": [truth + margin for margin in found.margins],
        "lower end": [truth - margin for margin in found.margins],
    }
    for name, end in ends.items():
        fill = "tonexty" if name == "lower end" else None
        trace = go.Scatter(
            name=name,
            x=asked,
            y=end,
            mode="lines",
            fill=fill,
            fillcolor=_BAND,
            hoverinfo="skip",
            line={"color": "#8fc3d2", "width": 1.5},
            showlegend=fill is None,
        )
        figure.add_trace(trace, row=1, col=1)
    figure.add_trace(_means(asked, found.means), row=1, col=1)
    line = {"color": INK, "width": 2, "dash": "dash"}
    truths = go.Scatter(
        name="true count", x=[1, questions], y=[truth, truth], mode="lines", line=line, hoverinfo="skip"
    )
    figure.add_trace(truths, row=1, col=1)
    for trace in _shares(taken):
        figure.add_trace(trace, row=2, col=1)
    across = {"range": [0.5, questions + 0.5], "nticks": 10}
    lesson_layout(
        figure,
        600,
        across,
        {"title": "people", "tickformat": ","},
        xaxis2={**_ACROSS, **across, "title": "questions asked"},
        yaxis2={**_UPWARDS, "title": "share of the budget", "tickformat": ".0%", "range": [0, 2]},
    )
    return figure


def _shares(taken: Shares) -> list[go.Scatter]:
    limit = _curve("whole budget", [Decimal(1)] * len(taken.added), color=INK, width=2, dash="dot")
    limit.hoverinfo, limit.hovertemplate = "skip", None
    return [
        _curve("if ε were added", taken.added, color=colour(1), width=2.5, dash="dash"),
        _curve("as it is counted", taken.composed, color=colour(2), width=2.5),
        limit,
    ]


def _curve(name: str, shares: Sequence[Decimal], **line: object) -> go.Scatter:
    return go.Scatter(
        name=name,
        x=list(range(1, len(shares) + 1)),
        y=list(map(float, shares)),
        mode="lines",
        line=line,
        hovertext=[percent(share) for share in shares],
        hovertemplate="%{x} questions: %{hovertext}<extra>%{fullData.name}</extra>",
    )


def _means(asked: Sequence[int], means: Sequence[float]) -> go.Scatter:
    return go.Scatter(
        name="average so far",
        x=list(asked),
        y=list(means),
        mode="lines+markers",
        line={"color": colour(0), "width": 2.5},
        marker={"size": 5 if len(means) > 1 else 10, "symbol": SYMBOLS[0]},
        hovertext=[f"{mean:,.1f}" for mean in means],
        hovertemplate="%{x} questions: %{hovertext}<extra>%{fullData.name}</extra>",
    )


def averages_alt(truth: int, found: Averages, taken: Shares) -> str:
    """Both panels in words."""
    answered, every = len(found.means), len(taken.added)
    return (
        f"The average of {answered} noisy answers is {found.means[-1]:,.1f}; the true count is "
        f"{whole(truth)}. 95% of such averages are within {math.ceil(found.margins[-1])} of it; for a "
        f"single answer it is {math.ceil(found.margins[0])}. Share of the budget of {every} questions: "
        f"{percent(taken.added[-1])} if their epsilons were added, {percent(taken.composed[-1])} as it is counted."
    )
