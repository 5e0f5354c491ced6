"""Cells of the tables of results: a chance with its interval, noisy counts, true values."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import streamlit as st

from dpcore.numerals import percent, whole
from dpcore.released.noisy_counts import TOO_NOISY, are_nobody, is_told, why_apart
from pages.components.families.shared.truth import Truth

#: With more classes than this, only the chosen one's counts are open.
MANY_CLASSES = 4
#: What a chance rests on, said of the tables that tell where it is not the share of its counts.
LEANS = (
    "Where counts are few for their noise, the chance leans on more than them, such as what was expected before, "
    "or which rules or questions were drawn."
)


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


def estimate(node: Any, shown: int, margin: int, truth: Truth | None = None, position: int = 0) -> str:
    """The noisy chance of a class in a rule or node, with its interval as a bar.

    It stands out in bold only if the noise leaves something to say of it.
    """
    if are_nobody(node.noisy_counts):
        return '<div class="fg-unclear">too few records to estimate</div>'
    value, (low, high) = node.estimates[shown], node.intervals[shown]
    told = is_told(node, shown, margin)
    chance = f"<b>{percent(value)}</b>" if told else percent(value)
    true = truth.share(position, shown) if truth else None
    words = f"noisy estimate {percent(value)}, interval {percent(low)} to {percent(high)}"
    mark = f'<span class="truth" style="left:{100 * true:.2f}%"></span>' if true is not None else ""
    if true is not None:
        words += f", true value {percent(true)}"
    return (
        f'<div class="fg-estimate">{chance} '
        f"<small>noise alone: {percent(low)} to {percent(high)}</small>"
        f'<div class="fg-interval" role="img" aria-label="{words}">'
        f'<span class="range" style="left:{100 * low:.2f}%;width:{100 * (high - low):.2f}%"></span>'
        f'<span class="point" style="left:{100 * value:.2f}%"></span>{mark}</div></div>'
    ) + ("" if told else f'<div class="fg-unclear">{TOO_NOISY}</div>')


def count(number: int, margin: str = "") -> str:
    """One noisy count; marked if it is negative."""
    style = ' class="neg"' if number < 0 else ""
    return f"<span{style}>{whole(number)}</span>{margin}"


def counts_of(node: Any, classes: Sequence[str], shown: int, margin: int) -> str:
    """Counts of a rule or node, and why its chance may not be their share."""
    why = why_apart(node, shown)
    own = counts(node.noisy_counts, classes, shown, f" ±{whole(margin)}")
    return own + (f'<small class="fg-said">{why}</small>' if why else "")


def counts(numbers: Sequence[int], classes: Sequence[str], shown: int, margin: str) -> str:
    """One count per class; ``margin`` stands behind each."""
    lines = _count_lines(numbers, classes, margin)
    if len(lines) <= MANY_CLASSES:
        return f'<div class="fg-counts">{"".join(lines)}</div>'
    return (
        f'<div class="fg-counts">{lines[shown]}'
        f"<details><summary>all {len(lines)} values</summary>{''.join(lines)}</details></div>"
    )


def _count_lines(counts: Sequence[int], classes: Sequence[str], margin: str) -> list[str]:
    return [
        f"<div>{escape(label)}: {count(number, margin)}</div>" for label, number in zip(classes, counts, strict=True)
    ]


def true_cell(truth: Truth, position: int, shown: int, classes: Sequence[str]) -> str:
    """True share and counts of a rule or node. For public records only."""
    share = truth.share(position, shown)
    head = f"◇ {percent(share)} true" if share is not None else "no records"
    return f"<div><b>{head}</b></div>" + counts(truth.counts[position], classes, shown, " true")
