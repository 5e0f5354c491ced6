"""The rule list as a chart: one interval per rule."""

from __future__ import annotations

import plotly.graph_objects as go

from dpcore.domain.conditions import pretty
from dpcore.models.released import parse_model
from dpcore.models.rules.released.rule_list_model import RuleListModel
from dpcore.numerals import percent
from dpcore.plots.style import GRID, SYMBOLS, colour, lay_out, safe, shorten
from dpcore.released.noisy_counts import are_nobody, is_told
from dpcore.released.release import Release


def rule_list_figure(release: Release) -> go.Figure:
    """Noisy estimate of each rule with its 95 % noise interval, in list order.

    A binary target shows its second class; otherwise every class has a symbol. It is hollow where the noise
    leaves nothing to say.
    """
    model: RuleListModel = parse_model(release)
    labels = [f"{i + 1}. {safe(shorten(pretty(rule.text)))}" for i, rule in enumerate(model.rules)]
    figure = go.Figure()
    shown = range(len(model.classes)) if len(model.classes) > 2 else [1]
    for place, code in enumerate(shown):
        told = [rule for rule, own in enumerate(model.rules) if not are_nobody(own.noisy_counts)]
        clear = [rule for rule in told if is_told(model.rules[rule], code, model.count_margin)]
        figure.add_trace(_estimates(model, code, clear, labels, SYMBOLS[place % len(SYMBOLS)], colour(place)))
        if hidden := [rule for rule in told if rule not in clear]:
            hollow = _estimates(model, code, hidden, labels, f"{SYMBOLS[place % len(SYMBOLS)]}-open", colour(place))
            figure.add_trace(hollow.update(showlegend=False, marker={"line": {"width": 2}}))
    of = f" = {safe(model.classes[1])}" if len(model.classes) == 2 else ""
    title = f"noisy estimate of {safe(release.target)}{of}"
    # Every rule has its line: one that nobody is told of has no mark.
    lines = {"categoryorder": "array", "categoryarray": labels, "range": [len(labels) - 0.5, -0.5]}
    lay_out(
        figure,
        {"title": title, "range": [-0.02, 1.02], "tickformat": ".0%", "gridcolor": GRID},
        {"automargin": True, **lines},
        height=140 + 38 * len(labels),
        margin={"l": 10, "r": 20, "t": 30, "b": 50},
        showlegend=len(model.classes) > 2,
        legend={"orientation": "h", "y": 1.06},
    )
    return figure


def _estimates(
    model: RuleListModel, code: int, shown: list[int], labels: list[str], symbol: str, shade: str
) -> go.Scatter:
    estimates = [model.rules[place].estimates[code] for place in shown]
    intervals = [model.rules[place].intervals[code] for place in shown]
    return go.Scatter(
        name=safe(model.classes[code]),
        x=estimates,
        y=[labels[place] for place in shown],
        mode="markers",
        marker={"size": 11, "color": shade, "symbol": symbol},
        error_x={
            "type": "data",
            "symmetric": False,
            "array": [high - e for e, (_, high) in zip(estimates, intervals, strict=True)],
            "arrayminus": [e - low for e, (low, _) in zip(estimates, intervals, strict=True)],
            "thickness": 2,
            "width": 5,
        },
        hovertext=[
            f"noisy estimate {percent(estimate)}<br>noise alone: {percent(low)} to {percent(high)}"
            for estimate, (low, high) in zip(estimates, intervals, strict=True)
        ],
        hovertemplate="%{y}<br>%{hovertext}<extra></extra>",
    )


def rule_list_alt(release: Release) -> str:
    """The figure in words, for a reader who cannot see it."""
    model: RuleListModel = parse_model(release)
    return " ".join([*_ends(model, release.target), *model.reading(release.target)])


def _ends(model: RuleListModel, target: str) -> list[str]:
    """The rules with the highest and the lowest chance of the class that is shown, unless noise hides it."""
    told = [place for place, rule in enumerate(model.rules) if is_told(rule, 1, model.count_margin)]
    if len(model.classes) > 2 or len(told) < 2:
        return ["Noisy chances, rule by rule."]
    low, high = (end(told, key=lambda place: model.rules[place].estimates[1]) for end in (min, max))
    chances = (percent(model.rules[place].estimates[1]) for place in (high, low))
    highest, lowest = chances
    return [
        f"Of the rules, number {high + 1} has the highest noisy chance of {target} = {model.classes[1]} ({highest}), "
        f"number {low + 1} the lowest ({lowest})."
    ]
