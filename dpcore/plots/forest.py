"""A forest as charts: which columns its trees look at, and how they vote on a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dpcore.plots.style import clear_layout, colour, glyph, safe, shorten
from dpcore.released.noisy_counts import percent

_MOST_COLUMNS = 15


def attribute_use_figure(use: Mapping[str, float]) -> go.Figure:
    """How much the trees look at each column: one bar per column, most used first."""
    shown = list(use.items())[:_MOST_COLUMNS]
    return _bars(
        [safe(shorten(name, 40)) for name, _ in shown],
        [share for _, share in shown],
        [percent(share) for _, share in shown],
        [colour(0)] * len(shown),
        title="weighted share of the splits",
        tickformat=".0%",
    )


def votes_figure(classes: Sequence[str], ballots: Sequence[int]) -> go.Figure:
    """How many trees vote for each class that gets a vote; all of them if there are few."""
    votes = count_votes(classes, ballots)
    codes = [code for code, count in enumerate(votes) if count or len(classes) <= _MOST_COLUMNS]
    figure = _bars(
        [f"{glyph(code)} {safe(shorten(classes[code], 40))}" for code in codes],
        [votes[code] for code in codes],
        [f"{votes[code]} of {len(ballots)} trees" for code in codes],
        [colour(code) for code in codes],
        title="trees that vote for it",
    )
    step = max(1, len(ballots) // 10)
    ticks = list(range(0, len(ballots) + 1, step))
    figure.update_xaxes(range=[0, len(ballots) * 1.18], tickvals=ticks)
    return figure


def votes_alt(classes: Sequence[str], ballots: Sequence[int]) -> str:
    """The vote in words."""
    votes = count_votes(classes, ballots)
    told = ", ".join(f"{label}: {count}" for label, count in zip(classes, votes, strict=True))
    return f"Votes of {len(ballots)} trees. {told}."


def count_votes(classes: Sequence[str], ballots: Sequence[int]) -> list[int]:
    """Number of votes for each class."""
    return [sum(ballot == code for ballot in ballots) for code in range(len(classes))]


def _bars(
    labels: list[str],
    values: Sequence[float],
    texts: list[str],
    shades: list[str],
    *,
    title: str,
    **axis: Any,
) -> go.Figure:
    figure = go.Figure(
        go.Bar(
            x=list(values),
            y=labels,
            text=texts,
            orientation="h",
            textposition="outside",
            cliponaxis=False,
            marker={"color": shades},
            hovertemplate="%{y}: %{text}<extra></extra>",
        )
    )
    figure.update_layout(
        clear_layout(),
        height=80 + 36 * len(labels),
        margin={"l": 10, "r": 60, "t": 10, "b": 50},
        dragmode=False,
    )
    figure.update_xaxes(title=title, gridcolor="#dee2e6", fixedrange=True, rangemode="tozero", **axis)
    figure.update_yaxes(autorange="reversed", automargin=True, fixedrange=True, ticksuffix="  ")
    return figure
