"""Figures of explainable boosting machines: shapes, importances, one case step by step."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from dpcore.models.ebm.released.ebm_model import Term
from dpcore.models.ebm.released.ebm_words import EBMWords
from dpcore.plots.ebm.ebm_bars import category_figure
from dpcore.plots.ebm.ebm_numbers import number_figure
from dpcore.plots.ebm.ebm_pair import pair_figure
from dpcore.plots.style import GRID, INK, NAMES_DOWN, colour, lay_out, safe, shorten

#: An alternative text tells every bin of a short shape, and the extremes of a long one.
_TOLD = 16
_UNCLEAR, _GROUND = "#c3ccd0", "#ffffff"


def shape_figure(words: EBMWords, term: Term, outputs: Sequence[int], truth: Sequence[int] | None = None) -> go.Figure:
    """What a term adds, with the noise, and how many records there are.

    Parameters
    ----------
    outputs : sequence of int
        Outputs to show; a pair shows the first of them.
    truth : sequence of int or None
        True records per bin; for public records only.
    """
    if len(term.axes) == 2:
        return pair_figure(words, term, outputs[0], truth)
    draw = category_figure if term.axes[0].edges is None else number_figure
    return draw(words, term, outputs, truth)


def shape_alt(words: EBMWords, term: Term, outputs: Sequence[int]) -> str:
    """The shape of a term in words."""
    start = f"Shape of {term.name}. {words.sentence(term)}"
    if len(term.scores) * len(outputs) > _TOLD:
        return f"{start} The table below holds all {len(term.scores)} groups."
    parts = []
    for output in outputs:
        told = (
            f"{name}: {words.amount(score[output])}" for name, score in zip(words.bins(term), term.scores, strict=True)
        )
        parts.append(f"Added to {words.effect(output)}: {', '.join(told)}.")
    return " ".join([start, *parts])


def importance_figure(words: EBMWords, most: int) -> go.Figure:
    """Mean size of what each of at most ``most`` terms adds; hatched and grey if it lies within the noise."""
    terms = words.model.ranked()[:most]
    labels = [safe(shorten(term.name, 40)) for term in terms]
    rows = list(range(len(terms)))
    marks = [words.model.mark(term) for term in terms]
    marked = [row for row in rows if marks[row] is not None]
    right = [max(term.importance, mark or 0.0) for term, mark in zip(terms, marks, strict=True)]
    figure = go.Figure(
        go.Bar(
            name="importance",
            orientation="h",
            y=rows,
            x=[term.importance for term in terms],
            marker={
                "color": [colour(0) if term.clear else _UNCLEAR for term in terms],
                "line": {"color": INK, "width": 0.7},
                "pattern": {"shape": ["" if term.clear else "/" for term in terms]},
            },
            hoverinfo="skip",
            showlegend=False,
        )
    )
    # A pale border, so that the mark stands out from the bar that it lies on.
    for name, width, shade in (("border", 7, _GROUND), (words.model.mark_words, 3, INK)):
        figure.add_trace(
            go.Scatter(
                name=name,
                mode="markers",
                y=marked,
                x=[marks[row] for row in marked],
                hoverinfo="skip",
                showlegend=shade == INK,
                marker={"symbol": "line-ns", "size": 17, "line": {"width": width, "color": shade}},
            )
        )
    figure.add_trace(
        go.Scatter(
            name="amounts",
            mode="text",
            x=right,
            y=rows,
            textposition="middle right",
            text=[f"   {importance(words, term)}" for term in terms],
            cliponaxis=False,
            textfont={"size": 14, "color": INK},
            hoverinfo="skip",
            showlegend=False,
        )
    )
    lay_out(
        figure,
        {
            "title": {"text": _average_title(words), "standoff": 12},
            "gridcolor": GRID,
            "fixedrange": True,
            "range": [0, 1.3 * max(right, default=1.0)],
            "automargin": True,
        },
        {**NAMES_DOWN, "fixedrange": True, "tickvals": rows, "ticktext": labels},
        height=110 + 32 * len(terms),
        dragmode=False,
        showlegend=True,
        margin={"l": 10, "r": 30, "t": 30, "b": 50},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom"},
    )
    return figure


def importance(words: EBMWords, term: Term) -> str:
    """Mean size of what a term adds, told apart if it lies within the noise."""
    size = words.amount(term.importance).lstrip("+")
    return size if term.clear else f"{size}, within the noise"


def _average_title(words: EBMWords) -> str:
    what = {
        "binary": f"log-odds of {words.outcome(0)}",
        "multiclass": f"scores of {words.target}",
        "regression": f"{words.unit or 'units'} of {words.target}",
    }[words.model.task]
    return f"adds or takes, on average,<br>in {safe(shorten(what, 50))}"


def importance_alt(words: EBMWords, _most: int) -> str:
    """The importances in words."""
    ranked = words.model.ranked()
    told = "; ".join(f"{term.name}: {importance(words, term)}" for term in ranked)
    clear = sum(term.clear for term in ranked)
    start = f"{ranked[0].name} counts most. " if ranked else ""
    return (
        f"{start}{clear} of {len(ranked)} columns or pairs stand out from the noise. Mean size of what each adds, the "
        f"largest first. {told}."
    )
