"""Relational rules: clauses as texts, and as bars of the people whom they cover."""

from __future__ import annotations

from dataclasses import dataclass

import plotly.graph_objects as go

from dpcore.models.ilp.released.ilp_model import ILPModel
from dpcore.models.ilp.released.ilp_words import clause_words, one_row, rows_in_words
from dpcore.models.released import parse_model
from dpcore.numerals import whole
from dpcore.plots.style import FAINT, colour, lay_out, safe, shorten
from dpcore.privacy.budgets import format_epsilon
from dpcore.released.noisy_counts import NOISE_ALONE, told_share
from dpcore.released.release import Release

_PATTERNS = ("", "/")


@dataclass(frozen=True)
class ClauseText:
    """One group of a theory as text.

    Attributes
    ----------
    title : str
        ``Clause 1``, or who is left.
    words : str
        Who is in the group, in plain words.
    prolog : str
        The clause in Prolog; empty for the last group.
    """

    title: str
    words: str
    prolog: str


def clause_texts(release: Release) -> list[ClauseText]:
    """Every group of a released theory as text, in order."""
    model: ILPModel = parse_model(release)
    one = one_row(release.domain)
    texts = [
        ClauseText(
            f"Clause {number}",
            f"any {'' if number == 1 else 'other '}{one} {clause_words(clause, release.domain)}",
            written,
        )
        for number, (clause, written) in enumerate(zip(model.clauses, clauses_in_prolog(release), strict=True), 1)
    ]
    return [*texts, ClauseText("No clause", f"every {'other ' if texts else ''}{one}", "")]


def clauses_in_prolog(release: Release) -> list[str]:
    """Each clause of a released theory over the names in the records."""
    stored = release.stored
    model: ILPModel = parse_model(stored)
    return model.prolog_clauses(stored.domain, stored.target)


def prolog_program(release: Release) -> str:
    """A theory as a Prolog program over the names in the records; what does not predict stands in comments."""
    release = release.stored
    model: ILPModel = parse_model(release)
    card, label = release.certificate, model.classes[model.positive]
    lines = [
        f"% Relational rules for {_comment(f'{release.target} = {label}')}, learned {card.learned}.",
        f"% Data set {_comment(release.dataset_name)}, epsilon {format_epsilon(card.epsilon)}. "
        f"Noise on each count: +-{model.count_margin}, 95%.",
    ]
    program = model.program(release.domain, release.target)
    for text, group, written in zip(clause_texts(release), model.groups, program, strict=False):
        counts = ", ".join(
            f"{_comment(name)}: {count}" for name, count in zip(model.classes, group.noisy_counts, strict=True)
        )
        chance = told_share(group, model.positive, model.count_margin, NOISE_ALONE)
        lines += [
            "",
            f"% {text.title}. Noisy chance: {chance}. Noisy counts: {counts}.",
        ]
        if group.kept:
            lines.append(written)
        else:
            lines.append("% It does not predict: the noisy counts speak against it.")
            lines += [f"% {line}" for line in text.prolog.splitlines()]
    return "\n".join(lines) + "\n"


def _comment(text: str) -> str:
    """Text of a schema on one line."""
    return " ".join(text.split())


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
