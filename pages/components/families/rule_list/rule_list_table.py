"""The IF / ELSE IF table of a released rule list."""

from __future__ import annotations

from html import escape
from itertools import groupby
from typing import Any

import streamlit as st

from dpcore.domain.schemas.schema import Schema
from dpcore.numerals import whole
from dpcore.released.noisy_counts import TOO_NOISY, is_told
from dpcore.released.release import Release
from pages.components.families.shared import cells
from pages.components.families.shared.truth import Truth
from pages.components.kit import markup
from pages.components.kit.texts import text


def show(release: Release, model: Any, shown: int, truth: Truth | None = None) -> None:
    """The table; ``truth`` adds true values (public data only)."""
    label = f"{release.target} = {model.classes[shown]}"
    header = ["Rule", f"Noisy chance of {label}", "Noisy counts"]
    header += ["True values"] if truth else []
    rows = [
        _folded(model, release.domain, group, shown, len(header))
        if hidden and truth is None
        else "".join(_row(model, release.domain, position, shown, truth) for position in group)
        for hidden, group in _runs(model, shown)
    ]
    caption = (
        f"Read from the top: the first rule that fits decides. Bars run from 0% to 100%; the band "
        f"is the 95% interval for the noise. Counts are of records (rows); noise on each: "
        f"±{whole(model.count_margin)}, 95%. {cells.LEANS}"
    )
    markup.table(caption, header, rows)
    if any(count < 0 for rule in model.rules for count in rule.noisy_counts):
        st.caption(text("negative_counts"))


def _runs(model: Any, shown: int) -> list[tuple[bool, list[int]]]:
    """Rules in their order, those beside each other together of which the noise hides the chance."""
    hidden = [bool(rule.conditions) and not is_told(rule, shown, model.count_margin) for rule in model.rules]
    return [(bool(key), list(group)) for key, group in groupby(range(len(hidden)), key=hidden.__getitem__)]


def _folded(model: Any, schema: Schema, positions: list[int], shown: int, width: int) -> str:
    """One row for rules that the noise hides, which opens."""
    named = f"Rule {positions[0] + 1}: {TOO_NOISY}"
    if len(positions) > 1:
        named = f"Rules {positions[0] + 1} to {positions[-1] + 1}: {TOO_NOISY}"
    inner = "".join(_row(model, schema, position, shown, None) for position in positions)
    return markup.folded(named, inner, width)


def _row(model: Any, schema: Schema, position: int, shown: int, truth: Truth | None) -> str:
    rule = model.rules[position]
    row = [
        _condition(rule, schema, position),
        cells.estimate(rule, shown, model.count_margin, truth, position),
        cells.counts_of(rule, model.classes, shown, model.count_margin),
    ]
    if truth:
        row.append(cells.true_cell(truth, position, shown, model.classes))
    return markup.row(row, style="" if rule.conditions else "default")


def _condition(rule: Any, schema: Schema, position: int) -> str:
    from dpcore.plots.style import pretty

    if not rule.conditions:
        return "Everyone else" if position else "Everyone"
    word = "IF" if position == 0 else "ELSE IF"
    parts = [escape(pretty(item.text(schema))) for item in rule.conditions]
    return f'<span class="fg-if">{word}</span>' + ' <span class="fg-and">and</span> '.join(parts)
