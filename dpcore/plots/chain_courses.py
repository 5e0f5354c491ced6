"""Markov chains as they went: the log score of each after every step."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from dpcore.arrays import Floats
from dpcore.numerals import measured, whole
from dpcore.plots.style import DASHES, GRID, colour, lay_out

#: Points of a line, at most.
_POINTS = 400


def chains_figure(scores: Floats) -> go.Figure:
    """Log score against steps, a line for each chain, of so many steps that a screen can show them.

    Parameters
    ----------
    scores : array of shape (n_chains, n_steps)
    """
    steps = np.unique(np.linspace(0, scores.shape[1] - 1, _POINTS).astype(np.int64))
    figure = go.Figure(
        [
            go.Scatter(
                name=f"Chain {place + 1}",
                x=(steps + 1).tolist(),
                y=own[steps].tolist(),
                mode="lines",
                line={"color": colour(place), "dash": DASHES[place % len(DASHES)], "width": 1.5},
                hovertext=[f"Chain {place + 1}, step {whole(step + 1)}: {measured(own[step])}" for step in steps],
                hoverinfo="text",
            )
            for place, own in enumerate(scores)
        ]
    )
    axis = {"gridcolor": GRID, "fixedrange": True}
    lay_out(
        figure,
        {"title": "Step", **axis},
        {"title": "Log score", "automargin": True, **axis},
        height=320,
        margin={"l": 10, "r": 20, "t": 30, "b": 50},
        legend={"orientation": "h", "y": 1.02, "yanchor": "bottom"},
        dragmode=False,
    )
    return figure


def chains_alt(scores: Floats) -> str:
    """The chart in words."""
    ends = ", ".join(f"{measured(own[0])} to {measured(own[-1])}" for own in scores)
    return f"Log score of {len(scores)} chains over {whole(scores.shape[1])} steps, from first to last: {ends}."
