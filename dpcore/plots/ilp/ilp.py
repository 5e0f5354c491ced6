"""Relational rules: clauses as texts, and as bars of the people whom they cover."""

from __future__ import annotations

import plotly.graph_objects as go

from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.models.ilp.released.ilp_reading import clause_texts
from dpcore.models.ilp.released.ilp_words import rows_in_words
from dpcore.models.released import parse_model
from dpcore.numerals import whole
from dpcore.plots.style import FAINT, colour, lay_out, safe, shorten
from dpcore.released.release import Release

_PATTERNS = ("", "/")


def ilp_figure(release: Release) -> go.Figure:
    """Noisy people of each clause: with the class that it describes, and without."""
    model: ILPModel = parse_model(release)
    texts = clause_texts(release)
    figure = go.Figure()
    for place, (name, counts) in enumerate(zip(_side_names(model, release.target), _sides(model), strict=True)):
        others = len(model.classes) - 1 if place else 1
        figure.add_trace(
            go.Bar(
                name=safe(name),
                x=counts,
                y=[text.title for text in texts],
                orientation="h",
                marker={"color": colour(place), "pattern": {"shape": _PATTERNS[place]}},
                error_x={"type": "constant", "value": model.count_margin * others**0.5, "thickness": 1.5, "width": 4},
                hovertext=[
                    f"{safe(shorten(text.words, 90))}<br>noisy count {whole(count)}"
                    for text, count in zip(texts, counts, strict=True)
                ],
                hovertemplate="%{y}: %{hovertext}<extra>%{fullData.name}</extra>",
            )
        )
    rows = safe(rows_in_words(release.domain))
    lay_out(
        figure,
        {"title": f"noisy number of {rows}", "gridcolor": FAINT, "zerolinecolor": FAINT},
        {"autorange": "reversed", "automargin": True},
        height=120 + 62 * len(texts),
        barmode="group",
        bargap=0.35,
        margin={"l": 10, "r": 20, "t": 36, "b": 50},
        legend={"orientation": "h", "y": 1.0, "yanchor": "bottom", "traceorder": "normal"},
    )
    return figure


def _side_names(model: ILPModel, target: str) -> tuple[str, str]:
    """The described class, and the others."""
    positive = f"{target} = {model.classes[model.positive]}"
    if len(model.classes) == 2:
        return positive, f"{target} = {model.classes[1 - model.positive]}"
    return positive, f"any other {target}"


def _sides(model: ILPModel) -> tuple[list[int], list[int]]:
    """Noisy counts with the described class, and with any other, per group."""
    positives = [group.noisy_counts[model.positive] for group in model.groups]
    everyone = [sum(group.noisy_counts) for group in model.groups]
    return positives, [a - b for a, b in zip(everyone, positives, strict=True)]


def ilp_alt(release: Release) -> str:
    """The figure in words, for a reader who cannot see it."""
    model: ILPModel = parse_model(release)
    label, rest = _side_names(model, release.target)
    told = " ".join(
        f"{text.title} ({text.words}): {whole(positive)} with {label}, {whole(other)} with {rest}."
        for text, positive, other in zip(clause_texts(release), *_sides(model), strict=True)
    )
    positives, others = _sides(model)
    rows = rows_in_words(release.domain)
    covered = (
        f"The clauses cover {whole(sum(positives[:-1]))} of {whole(sum(positives))} {rows} with {label}, and "
        f"{whole(sum(others[:-1]))} of {whole(sum(others))} with {rest}. All numbers are noisy."
    )
    return f"{covered} {told}"
