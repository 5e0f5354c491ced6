"""A forest as charts: what its trees tell by which column, and which class each predicts for a case."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from dpcore.models.trees.released.column_use import ColumnUse
from dpcore.numerals import percent
from dpcore.plots.style import GRID, INK, NAMES_DOWN, SOFT, colour, glyph, lay_out, safe, shorten

_MOST_COLUMNS = 15
#: The bar of trees whose prediction depends on what is not known of a case.
OPEN_VOTE = "depends on what is not known"


def columns_used_figure(used: Sequence[ColumnUse]) -> go.Figure:
    """How much the questions about each column tell: one bar each, with a mark for what chance alone would tell."""
    shown = used[:_MOST_COLUMNS]
    names = [safe(shorten(use.column, 40)) for use in shown]
    ends = [max(use.told, use.by_chance) for use in shown]
    figure = _bars(
        names,
        [use.told for use in shown],
        [""] * len(shown),  # Told behind the mark.
        [colour(0) if use.clear else SOFT for use in shown],
        title="share of the differences that questions about it tell",
        tickformat=".0%",
        range=[0, 1.15],  # Room for the share behind a bar.
        tickvals=[0.0, 0.2, 0.4, 0.6, 0.8, 1.0],
    )
    figure.add_trace(
        go.Scatter(
            x=[use.by_chance for use in shown],
            y=names,
            mode="markers",
            name="by chance up to",
            marker={"symbol": "line-ns", "size": 18, "line": {"width": 3, "color": INK}},
            hovertext=[percent(use.by_chance) for use in shown],
            hovertemplate="%{y}: up to %{hovertext} by chance<extra></extra>",
        )
    )
    figure.add_trace(
        go.Scatter(
            x=ends,
            y=names,
            mode="text",
            text=[f"  {percent(use.told)}" for use in shown],
            textposition="middle right",
            hoverinfo="skip",
        )
    )
    figure.data[0].update(
        hovertext=[percent(use.told) for use in shown], hovertemplate="%{y}: %{hovertext}<extra></extra>"
    )
    return figure


def columns_used_alt(used: Sequence[ColumnUse]) -> str:
    """The same in words."""
    told = "; ".join(f"{use.column}: {percent(use.told)}, by chance up to {percent(use.by_chance)}" for use in used)
    clear = sum(use.clear for use in used)
    return (
        f"Questions about {used[0].column} tell most: {percent(used[0].told)}. {clear} of {len(used)} columns tell "
        f"more than chance would. All columns: {told}."
    )


def votes_figure(classes: Sequence[str], ballots: Sequence[Sequence[int]]) -> go.Figure:
    """How many trees predict each class that some tree does; all of them if there are few.

    Parameters
    ----------
    ballots : sequence of sequence of int
        Classes that each tree may predict; several if the case is not known well enough.
    """
    votes, open_votes = count_votes(classes, ballots)
    codes = [code for code, count in enumerate(votes) if count or len(classes) <= _MOST_COLUMNS]
    names = [f"{glyph(code)} {safe(shorten(classes[code], 40))}" for code in codes]
    counts, shades = [votes[code] for code in codes], [colour(code) for code in codes]
    if open_votes:
        names, counts, shades = [*names, OPEN_VOTE], [*counts, open_votes], [*shades, SOFT]
    told = [f"{count} of {len(ballots)} trees" for count in counts]
    ticks = list(range(0, len(ballots) + 1, max(1, len(ballots) // 10)))
    span = [0, len(ballots) * 1.18]
    return _bars(names, counts, told, shades, title="trees that predict it", range=span, tickvals=ticks)


def votes_alt(classes: Sequence[str], ballots: Sequence[Sequence[int]]) -> str:
    """The same in words."""
    votes, open_votes = count_votes(classes, ballots)
    told = ", ".join(f"{label}: {count}" for label, count in zip(classes, votes, strict=True))
    return f"Predictions of {len(ballots)} trees. {told}" + (f", {OPEN_VOTE}: {open_votes}." if open_votes else ".")


def count_votes(classes: Sequence[str], ballots: Sequence[Sequence[int]]) -> tuple[list[int], int]:
    """Number of trees that surely predict each class, and of those that may predict several."""
    votes = [sum(tuple(ballot) == (code,) for ballot in ballots) for code in range(len(classes))]
    return votes, len(ballots) - sum(votes)


def _bars(
    labels: list[str],
    values: Sequence[float],
    texts: list[str],
    shades: list[str],
    *,
    title: str,
    **axis: object,
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
    lay_out(
        figure,
        {"title": title, "gridcolor": GRID, "fixedrange": True, "rangemode": "tozero", **axis},
        {**NAMES_DOWN, "fixedrange": True},
        height=80 + 36 * len(labels),
        margin={"l": 10, "r": 60, "t": 10, "b": 50},
        dragmode=False,
        showlegend=False,
    )
    return figure
