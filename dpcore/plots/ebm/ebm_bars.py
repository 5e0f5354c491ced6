"""The shape of a column of categories: bars with the noise, noisy counts beside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import plotly.graph_objects as go
from plotly.subplots import make_subplots

from dpcore.models.ebm.released.ebm_model import Term
from dpcore.models.ebm.released.ebm_words import EBMWords
from dpcore.plots.ebm.ebm_details import details, noisy_count, score_limits, score_ticks, title
from dpcore.plots.palette import faded
from dpcore.plots.style import GRID, INK, SOFT, colour, lay_out, safe, shorten
from dpcore.released.evaluation import Z95

#: Most bars; the table holds the rest.
MOST_BARS = 30
#: Pixels at the right at least, those of a sign of a count, and signs ahead of it.
_NARROWEST, _PER_SIGN, _AHEAD = 70, 8, 2
_PATTERNS = ("", "/", "x", "-", "\\", "+")
_BARS, _BELOW, _TRUTH = "#8fc3d2", "#c9a0a0", "#c4622d"


def shown_bins(term: Term) -> list[int]:
    """Bins that get a bar, in schema order: those with most noisy records if there are many."""
    order = np.argsort([-count for count in term.noisy_counts], kind="stable")
    return sorted(int(place) for place in order[:MOST_BARS])


def category_figure(words: EBMWords, term: Term, outputs: Sequence[int], truth: Sequence[int] | None) -> go.Figure:
    """One bar per category and output, from 0, with a 95 % whisker for the noise."""
    bins = shown_bins(term)
    names = words.bins(term)
    labels = [safe(shorten(names[code], 40)) for code in bins]
    figure = make_subplots(rows=1, cols=2, shared_yaxes=True, column_widths=[0.7, 0.3], horizontal_spacing=0.05)
    for trace in _scores(words, term, outputs, truth, bins):
        figure.add_trace(trace, row=1, col=1)
    for trace in _counts(words, term, outputs, truth, bins):
        figure.add_trace(trace, row=1, col=2)
    rows = len(bins) * (22 + 16 * len(outputs))
    up = {
        "autorange": "reversed",
        "automargin": True,
        "fixedrange": True,
        "ticklabelstandoff": 10,
        "tickvals": list(range(len(bins))),
        "ticktext": labels,
    }
    across = {
        "gridcolor": GRID,
        "zerolinecolor": SOFT,
        "zerolinewidth": 1.5,
        "fixedrange": True,
        "automargin": True,
        "tickangle": 0,
    }
    lay_out(
        figure,
        {**_score_axis(words, term, outputs), **across},
        up,
        xaxis2={"title": {"text": "noisy<br>records", "standoff": 14}, "nticks": 3, "tickformat": ",d", **across},
        yaxis2=up,
        height=150 + rows,
        dragmode=False,
        hovermode="closest",
        barmode="group",
        margin={"l": 10, "r": _room(term, bins), "t": 40 if len(outputs) > 1 else 12, "b": 60},
        showlegend=len(outputs) > 1,
        bargap=0.3,
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "traceorder": "normal"},
    )
    return figure


def _room(term: Term, bins: list[int]) -> int:
    """Pixels at the right for the counts, which begin where the longest bar ends."""
    return max(_NARROWEST, _PER_SIGN * max(len(noisy_count(term, code)) + _AHEAD for code in bins))


def _score_axis(words: EBMWords, term: Term, outputs: Sequence[int]) -> dict[str, object]:
    limits = score_limits(term, outputs)
    ticks = score_ticks(words, *limits, about=3)
    heading = title(words, outputs)
    if words.model.task == "binary":
        ticks["ticktext"] = [text.replace(" (odds ", "<br>").removesuffix(")") for text in ticks["ticktext"]]
        heading += "<br>(×: as a factor of the odds)"
    return {"title": {"text": heading, "standoff": 14}, "range": list(limits), **ticks}


def _scores(
    words: EBMWords, term: Term, outputs: Sequence[int], truth: Sequence[int] | None, bins: list[int]
) -> Iterator[go.Bar]:
    told = details(words, term, outputs, truth)
    for output in outputs:
        yield go.Bar(
            name=safe(words.outcome(output)),
            orientation="h",
            y=list(range(len(bins))),
            x=[term.scores[code][output] for code in bins],
            error_x={
                "type": "data",
                "array": [Z95 * term.errors[c][output] for c in bins],
                "thickness": 2.5,
                "width": 5,
                "color": INK,
            },
            marker={
                "color": faded(colour(output), 0.3),  # So that the whisker stands out from its bar.
                "line": {"color": INK, "width": 0.7},
                "pattern": {"shape": _PATTERNS[output % len(_PATTERNS)], "fgcolor": colour(output), "solidity": 0.2},
            },
            hovertext=[told[code] for code in bins],
            hovertemplate="%{hovertext}<extra></extra>",
            legendgroup=str(output),
        )


def _counts(
    words: EBMWords, term: Term, outputs: Sequence[int], truth: Sequence[int] | None, bins: list[int]
) -> Iterator[go.Bar | go.Scatter]:
    told = details(words, term, outputs, truth)
    counts = [term.noisy_counts[code] for code in bins]
    yield go.Bar(
        name="noisy records",
        orientation="h",
        y=list(range(len(bins))),
        x=counts,
        marker={
            "color": [_BELOW if count < 0 else _BARS for count in counts],
            "line": {"color": "#4b7f90", "width": 0.7},
            "pattern": {"shape": ["/" if count < 0 else "" for count in counts], "fgcolor": INK},
        },
        hovertext=[told[code] for code in bins],
        hovertemplate="%{hovertext}<extra></extra>",
        showlegend=False,
    )
    yield go.Scatter(
        name="counts",
        mode="text",
        x=[max(count, 0) for count in counts],
        y=list(range(len(bins))),
        text=[f"  {noisy_count(term, code)}" for code in bins],
        textposition="middle right",
        textfont={"size": 13, "color": INK},
        hoverinfo="skip",
        cliponaxis=False,
        showlegend=False,
    )
    if truth is not None:
        yield go.Scatter(
            name="true records",
            mode="markers",
            x=[truth[code] for code in bins],
            y=list(range(len(bins))),
            hoverinfo="skip",
            showlegend=False,
            marker={"symbol": "diamond-open", "size": 9, "color": _TRUTH, "line": {"width": 2}},
        )
