"""The shape of a pair of columns: a heat map of what each combination adds."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import plotly.graph_objects as go

from dpcore.models.ebm.released.ebm_model import Term
from dpcore.models.ebm.released.ebm_words import EBMWords, bin_names
from dpcore.plots.ebm.ebm_details import axis_title, details, score_ticks, title
from dpcore.plots.style import INK, lay_out, safe, shorten
from dpcore.released.evaluation import Z95

#: Orange takes away, blue-green adds; both deepen with the amount, and cells carry signs that
#: are readable on every one of these colours.
_SCALE = ((0.0, "#e58a52"), (0.25, "#f6c8a8"), (0.5, "#ffffff"), (0.75, "#a9d4de"), (1.0, "#5aa9bb"))
#: More cells than this have no room for numbers.
_MOST_NUMBERS = 120


def pair_figure(words: EBMWords, term: Term, output: int, truth: Sequence[int] | None) -> go.Figure:
    """First column upwards, second to the right. Cells within the noise carry no number."""
    shape = tuple(len(axis) for axis in term.axes)
    scores = np.asarray(term.scores)[:, output].reshape(shape)
    most = max(float(np.abs(scores).max()), 1e-9)
    sides = [_names(words, term, side) for side in (0, 1)]
    told = np.array(details(words, term, [output], truth), dtype=object).reshape(shape)
    ticks = score_ticks(words, -most, most, about=4)
    ticks["ticktext"] = [text.partition(" (")[0] for text in ticks["ticktext"]]
    figure = go.Figure(
        go.Heatmap(
            z=scores.tolist(),
            x=list(range(shape[1])),
            y=list(range(shape[0])),
            xgap=1,
            ygap=1,
            zmin=-most,
            zmax=most,
            colorscale=[list(stop) for stop in _SCALE],
            hovertext=told.tolist(),
            hovertemplate="%{hovertext}<extra></extra>",
            colorbar={
                "title": {"text": title(words, [output]), "side": "right"},
                "outlinecolor": INK,
                "outlinewidth": 0.5,
                **ticks,
            },
        )
    )
    figure.add_trace(_numbers(words, term, output))
    up, right = (
        {
            "title": axis_title(words.schema.column(term.axes[side].column)),
            "automargin": True,
            "tickvals": list(range(shape[side])),
            "ticktext": sides[side],
            "showgrid": False,
            "zeroline": False,
            "fixedrange": True,
            "range": [-0.5, shape[side] - 0.5],
        }
        for side in (0, 1)
    )
    lay_out(
        figure,
        right,
        up,
        height=200 + 40 * min(shape[0], 12),
        dragmode=False,
        margin={"l": 10, "r": 10, "t": 20, "b": 60},
        showlegend=False,
    )
    return figure


def _names(words: EBMWords, term: Term, side: int) -> list[str]:
    axis = term.axes[side]
    names = bin_names(axis, words.schema.column(axis.column))
    return [safe(shorten(name, 24)) for name in names]


def _numbers(words: EBMWords, term: Term, output: int) -> go.Scatter:
    """Signed numbers in the cells that stand out from the noise, a dot in the others.

    A cell that next to nobody falls into gets a dot too.
    """
    width = len(term.axes[1])
    cells = range(len(term.scores) if len(term.scores) <= _MOST_NUMBERS else 0)
    scores = [term.scores[cell][output] for cell in cells]
    seen = [
        abs(score) > Z95 * term.errors[cell][output] and term.noisy_counts[cell] > Z95 * term.count_errors[cell]
        for cell, score in zip(cells, scores, strict=True)
    ]
    return go.Scatter(
        name="numbers",
        mode="text",
        hoverinfo="skip",
        x=[cell % width for cell in cells],
        y=[cell // width for cell in cells],
        text=[words.amount(s) if clear else "·" for s, clear in zip(scores, seen, strict=True)],
        textfont={"size": 13, "color": INK},
    )
