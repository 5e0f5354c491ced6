"""Pictures of the lessons about attacks: guesses against their ceiling, and people read off."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from dpcore.lessons.attacks import MembershipAttack, Reconstruction
from dpcore.numerals import tenths, whole
from dpcore.plots.style import GRID, INK, NAMES_DOWN, SOFT, lay_out

_WRONG, _RIGHT = "#c2410c", "#0b7285"


def membership_figure(found: MembershipAttack) -> go.Figure:
    """Share of right guesses from exact and from noisy answers, with ceiling and coin."""
    shares = [found.exact / found.repetitions, found.private / found.repetitions]
    figure = go.Figure(
        go.Bar(
            name="right guesses",
            orientation="h",
            x=shares,
            y=["exact answers", "noisy answers"],
            text=[tenths(share) for share in shares],
            textposition="inside",
            insidetextanchor="start",
            textfont={"size": 16, "color": INK},
            marker={"color": ["#f3c9a8", "#8fc3d2"], "line": {"color": INK, "width": 0.7}},
            hovertemplate="%{y}: %{text} of the guesses are right<extra></extra>",
            showlegend=False,
        )
    )
    for name, share, dash, shade in (
        ("no better than a coin (50%)", 0.5, "dot", SOFT),
        (f"ceiling for noisy answers ({tenths(found.ceiling)})", found.ceiling, "dash", INK),
    ):
        figure.add_trace(
            go.Scatter(
                name=name,
                x=[share, share],
                y=[-0.5, 1.5],
                mode="lines",
                hoverinfo="skip",
                yaxis="y2",
                line={"color": shade, "width": 3, "dash": dash},
            )
        )
    lay_out(
        figure,
        {
            "title": "guesses that are right",
            "range": [0, 1.02],
            "tickformat": ".0%",
            "gridcolor": GRID,
            "fixedrange": True,
        },
        {**NAMES_DOWN, "fixedrange": True},
        height=280,
        dragmode=False,
        margin={"l": 10, "r": 20, "t": 60, "b": 60},
        legend={"orientation": "h", "y": 1, "yref": "container", "yanchor": "top", "x": 0},
        yaxis2={"overlaying": "y", "range": [-0.5, 1.5], "visible": False, "fixedrange": True},
    )
    return figure


def membership_alt(found: MembershipAttack) -> str:
    """The bars in words."""
    return (
        f"Of {whole(found.repetitions)} guesses, {tenths(found.exact / found.repetitions)} are right from "
        f"exact answers and {tenths(found.private / found.repetitions)} from noisy ones. The ceiling "
        f"for noisy answers is {tenths(found.ceiling)}, a coin is right for 50%."
    )


def people_figure(found: Reconstruction, *, repaired: bool = True) -> go.Figure:
    """One column per person: the secret, the guess from exact and, if repaired, the guess from noisy counts."""
    rows = (found.truth, found.exact, found.private) if repaired else (found.truth, found.exact)
    marks: dict[str, tuple[list[int], list[int]]] = {}
    for row, guesses in enumerate(rows):
        for place, (guess, true) in enumerate(zip(guesses, found.truth, strict=True)):
            across, down = marks.setdefault(_name(row, guess, guess == true), ([], []))
            across.append(place + 1)
            down.append(row)
    figure = go.Figure([_marks(name, *marks.get(name, ([None], [None]))) for name in _STYLES])
    axis = {"showgrid": False, "zeroline": False, "fixedrange": True}
    lay_out(
        figure,
        {"title": "invented person", "range": [0.2, len(found.truth) + 0.8], "dtick": 5, "tick0": 5, **axis},
        {
            "tickvals": list(range(len(rows))),
            "ticktext": ["the secret", "from exact counts", "from noisy counts"][: len(rows)],
            "range": [len(rows) - 0.5, -0.5],
            "automargin": True,
            "ticksuffix": "  ",
            **axis,
        },
        height=290 if repaired else 230,
        dragmode=False,
        margin={"l": 10, "r": 20, "t": 60, "b": 60},
        legend={"orientation": "h", "y": 1, "yref": "container", "yanchor": "top", "x": 0},
    )
    return figure


_STYLES = {"yes": ("circle", _RIGHT), "no": ("circle-open", _RIGHT), "wrong guess": ("x", _WRONG)}


def _name(row: int, guess: bool, right: bool) -> str:
    if row and not right:
        return "wrong guess"
    return "yes" if guess else "no"


def _marks(name: str, across: Sequence[int | None], down: Sequence[int | None]) -> go.Scatter:
    symbol, shade = _STYLES[name]
    return go.Scatter(
        name=name,
        x=list(across),
        y=list(down),
        mode="markers",
        marker={"symbol": symbol, "size": 13, "color": shade, "line": {"width": 2}},
        hovertemplate=f"person %{{x}}: {name}<extra></extra>",
        showlegend=True,
    )


def people_alt(found: Reconstruction, *, repaired: bool = True) -> str:
    """How many people were read off, in words."""
    noisy = f", from noisy counts {found.right(found.private)}" if repaired else ""
    return (
        f"The secret of {len(found.truth)} invented people, and guesses of it. From exact counts "
        f"{found.right(found.exact)} guesses are right{noisy}."
    )
