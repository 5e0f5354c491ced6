"""The IF / ELSE IF table of a released rule list."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from dpcore.estimates import percent
from dpcore.release import Release
from dpcore.schema import Schema
from pages.components import markup
from pages.components.texts import text
from pages.components.truth import Truth

#: A wider interval tells nothing about a rule; nor does a count within the noise.
UNCLEAR = 0.5
#: With more classes than this, only the chosen one's counts are open.
MANY_CLASSES = 4


def choose_class(model: Any, target: str, key: str) -> int:
    """Which class the estimates are shown for; asked only if there are more than two."""
    if len(model.classes) == 2:
        return 1
    label = st.selectbox(
        f"Show the chance of this value of {target}",
        model.classes,
        index=len(model.classes) - 1,
        key=f"{key}-class",
    )
    return int(model.classes.index(label))


def show(release: Release, model: Any, shown: int, truth: Truth | None = None) -> None:
    """The table; ``truth`` adds true values (public data only)."""
    label = f"{release.target} = {model.classes[shown]}"
    header = ["Rule", f"Noisy chance of {label}", "Noisy counts"]
    header += ["True values"] if truth else []
    rows = [
        _row(model, release.domain, position, shown, truth) for position in range(len(model.rules))
    ]
    caption = (
        f"Read from the top: the first rule that fits decides. Bars run from 0% to 100%; the band "
        f"is the 95% interval for the noise. Counts are of records (rows); noise on each: "
        f"±{model.count_margin}, 95%."
    )
    markup.table(caption, header, rows)
    if any(count < 0 for rule in model.rules for count in rule.noisy_counts):
        st.caption(text("negative_counts"))


def _row(model: Any, schema: Schema, position: int, shown: int, truth: Truth | None) -> str:
    rule = model.rules[position]
    unclear = _unclear(rule, shown, model.count_margin)
    cells = [_condition(rule, schema, position), _estimate(rule, shown, truth, position) + unclear]
    cells.append(_counts(rule.noisy_counts, model.classes, shown, f" ±{model.count_margin}"))
    if truth:
        cells.append(_true_cell(truth, position, shown, model.classes))
    return markup.row(cells, style="" if rule.conditions else "default")


def _condition(rule: Any, schema: Schema, position: int) -> str:
    if not rule.conditions:
        return '<span class="fg-if">ELSE</span>everyone else'
    word = "IF" if position == 0 else "ELSE IF"
    parts = [escape(item.text(schema).replace(" <= ", " ≤ ")) for item in rule.conditions]
    return f'<span class="fg-if">{word}</span>' + ' <span class="fg-and">and</span> '.join(parts)


def _estimate(rule: Any, shown: int, truth: Truth | None, position: int) -> str:
    value, (low, high) = rule.estimates[shown], rule.intervals[shown]
    true = truth.share(position, shown) if truth else None
    words = f"noisy estimate {percent(value)}, interval {percent(low)} to {percent(high)}"
    mark = f'<span class="truth" style="left:{100 * true:.2f}%"></span>' if true is not None else ""
    if true is not None:
        words += f", true value {percent(true)}"
    return (
        f'<div class="fg-estimate"><b>{percent(value)}</b> '
        f"<small>noise alone: {percent(low)} to {percent(high)}</small>"
        f'<div class="fg-interval" role="img" aria-label="{words}">'
        f'<span class="range" style="left:{100 * low:.2f}%;width:{100 * (high - low):.2f}%"></span>'
        f'<span class="point" style="left:{100 * value:.2f}%"></span>{mark}</div></div>'
    )


def _unclear(rule: Any, shown: int, margin: int) -> str:
    low, high = rule.intervals[shown]
    if high - low <= UNCLEAR and sum(rule.noisy_counts) > margin:
        return ""
    return '<div class="fg-unclear">too noisy to tell</div>'


def _counts(counts: Sequence[int], classes: Sequence[str], shown: int, margin: str) -> str:
    lines = _count_lines(counts, classes, margin)
    if len(lines) <= MANY_CLASSES:
        return f'<div class="fg-counts">{"".join(lines)}</div>'
    return (
        f'<div class="fg-counts">{lines[shown]}'
        f"<details><summary>all {len(lines)} values</summary>{''.join(lines)}</details></div>"
    )


def _count_lines(counts: Sequence[int], classes: Sequence[str], margin: str) -> list[str]:
    lines = []
    for label, count in zip(classes, counts, strict=True):
        number = str(count).replace("-", "−")
        style = ' class="neg"' if count < 0 else ""
        lines.append(f"<div>{escape(label)}: <span{style}>{number}</span>{margin}</div>")
    return lines


def _true_cell(truth: Truth, position: int, shown: int, classes: Sequence[str]) -> str:
    share = truth.share(position, shown)
    head = f"◇ {percent(share)} true" if share is not None else "no records"
    return f"<div><b>{head}</b></div>" + _counts(truth.counts[position], classes, shown, " true")
