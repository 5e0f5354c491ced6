"""Pictures of the lessons about sensitivity and about what privacy does not prevent."""

from __future__ import annotations

from collections.abc import Sequence

import plotly.graph_objects as go

from dpcore.lessons.limits import RISK_BEFORE, Study
from dpcore.lessons.sensitivity import ClampedTotal
from dpcore.numerals import tenths, whole
from dpcore.plots.lessons.lessons import lesson_layout
from dpcore.plots.style import INK, NAMES_DOWN


def clamps_figure(totals: Sequence[ClampedTotal], chosen: int) -> go.Figure:
    """What each clamp leaves out, and the noise that it takes; the chosen one is marked.

    Parameters
    ----------
    totals : sequence of ClampedTotal
        One for each clamp, smallest first.
    chosen : int
        The clamp that was chosen.
    """
    figure, names = go.Figure(), [f"{total.clamp} days" for total in totals]
    for name, heights, fill, pattern in (
        ("left out by the limit", [total.lost for total in totals], "#f3c9a8", "/"),
        ("noise (95%)", [total.margin for total in totals], "#8fc3d2", ""),
    ):
        figure.add_trace(
            go.Bar(
                name=name,
                x=names,
                y=heights,
                marker={"color": fill, "pattern": {"shape": pattern}, "line": {"color": INK, "width": 0.7}},
                hovertext=[f"{whole(height)} days" for height in heights],
                hovertemplate="%{x}: %{hovertext}<extra>%{fullData.name}</extra>",
            )
        )
    marked = next(total for total in totals if total.clamp == chosen)
    figure.add_annotation(
        x=f"{chosen} days",
        y=marked.error,
        text=f"<b>±{whole(marked.error)}</b>",
        ay=-28,
        ax=0,
        arrowcolor=INK,
        font={"size": 16, "color": INK},
    )
    highest = 1.15 * max(total.error for total in totals)
    lesson_layout(
        figure,
        380,
        {"title": "most days that are counted of a stay", "showgrid": False},
        {"title": "error of the total (days)", "tickformat": ",", "rangemode": "tozero", "range": [0, highest]},
        barmode="stack",
        bargap=0.35,
    )
    return figure


def clamps_alt(totals: Sequence[ClampedTotal], chosen: int) -> str:
    """The bars in words."""
    marked = next(total for total in totals if total.clamp == chosen)
    best = min(totals, key=lambda total: total.error)
    return (
        f"If at most {chosen} days of a stay are counted, {whole(marked.lost)} days are left out and the noise is "
        f"within {whole(marked.margin)}: together at most {whole(marked.error)}. Of the limits shown, {best.clamp} "
        f"days have the smallest error: {whole(best.error)}."
    )


def study_figure(found: Study) -> go.Figure:
    """What an insurer believes of Ann's risk: before, and after the study with her and without her."""
    names = ["before the study", "after it, Ann took part", "after it, Ann stayed out"]
    shares = [RISK_BEFORE, found.risk, found.risk_without]
    figure = go.Figure(
        go.Bar(
            orientation="h",
            x=shares,
            y=names,
            text=[tenths(share) for share in shares],
            textposition="outside",
            textfont={"size": 16, "color": INK},
            cliponaxis=False,
            marker={
                "color": ["#c3ccd0", "#8fc3d2", "#f3c9a8"],
                "pattern": {"shape": ["", "", "/"]},
                "line": {"color": INK, "width": 0.7},
            },
            hovertemplate="%{y}: %{text}<extra></extra>",
            showlegend=False,
        )
    )
    end = max(0.25, 1.25 * max(shares))
    lesson_layout(
        figure,
        260,
        {"title": "Ann's risk, as the insurer sees it", "tickformat": ".0%", "rangemode": "tozero", "range": [0, end]},
        {**NAMES_DOWN, "showgrid": False},
        above=20,
    )
    return figure


def study_alt(found: Study) -> str:
    """The three bars in words."""
    return (
        f"Ann's risk, as the insurer sees it: {tenths(RISK_BEFORE)} before the study, {tenths(found.risk)} after it if "
        f"Ann took part, {tenths(found.risk_without)} if she stayed out."
    )
