"""A forest as charts: which columns its trees look at, and how they vote on a case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import plotly.graph_objects as go

from dpcore.plots.style import SOFT, clear_layout, colour, glyph, safe, shorten
from dpcore.released.noisy_counts import percent

_MOST_COLUMNS = 15
#: The bar of trees whose vote depends on what is not known of a case.
OPEN_VOTE = "depends on what is not known"


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


def attribute_use_alt(use: Mapping[str, float]) -> str:
    """The same in words."""
    told = "; ".join(f"{column}: {percent(share)}" for column, share in use.items())
    most = max(use, key=use.__getitem__)
    return f"The trees look most often at {most}: {percent(use[most])} of their splits, weighted. All columns: {told}."


def votes_figure(classes: Sequence[str], ballots: Sequence[Sequence[int]]) -> go.Figure:
    """How many trees vote for each class that gets a vote; all of them if there are few.

    Parameters
    ----------
    ballots : sequence of sequence of int
        Classes that each tree may vote for; several if the case is not known well enough.
    """
    votes, open_votes = count_votes(classes, ballots)
    codes = [code for code, count in enumerate(votes) if count or len(classes) <= _MOST_COLUMNS]
    names = [f"{glyph(code)} {safe(shorten(classes[code], 40))}" for code in codes]
    counts, shades = [votes[code] for code in codes], [colour(code) for code in codes]
    if open_votes:
        names, counts, shades = [*names, OPEN_VOTE], [*counts, open_votes], [*shades, SOFT]
    told = [f"{count} of {len(ballots)} trees" for count in counts]
    figure = _bars(names, counts, told, shades, title="trees that vote for it")
    step = max(1, len(ballots) // 10)
    ticks = list(range(0, len(ballots) + 1, step))
    figure.update_xaxes(range=[0, len(ballots) * 1.18], tickvals=ticks)
    return figure


def votes_alt(classes: Sequence[str], ballots: Sequence[Sequence[int]]) -> str:
    """The vote in words."""
    votes, open_votes = count_votes(classes, ballots)
    told = ", ".join(f"{label}: {count}" for label, count in zip(classes, votes, strict=True))
    return f"Votes of {len(ballots)} trees. {told}" + (f", {OPEN_VOTE}: {open_votes}." if open_votes else ".")


def count_votes(classes: Sequence[str], ballots: Sequence[Sequence[int]]) -> tuple[list[int], int]:
    """Number of trees that surely vote for each class, and of those that may vote for several."""
    votes = [sum(tuple(ballot) == (code,) for ballot in ballots) for code in range(len(classes))]
    return votes, len(ballots) - sum(votes)


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
