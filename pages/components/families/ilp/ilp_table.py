"""The clauses of a released theory as a table: what each says, and whom it covers."""

from __future__ import annotations

import re
from html import escape
from typing import Any

import streamlit as st

from dpcore.numerals import whole
from dpcore.released.release import Release
from pages.components.families.shared import cells
from pages.components.families.shared.truth import Truth
from pages.components.kit import markup
from pages.components.kit.texts import text


def show(release: Release, model: Any, truth: Truth | None = None) -> None:
    """The table; ``truth`` adds true values (public data only)."""
    from dpcore.plots.ilp.ilp import clause_texts

    label = f"{release.target} = {model.classes[model.positive]}"
    header = ["Clause", f"Noisy chance of {label}", "Noisy counts"]
    header += ["True values"] if truth else []
    rows = []
    for place, told in enumerate(clause_texts(release)):
        row = [
            _clause(told, model.groups[place], label),
            _chance(model, place, truth),
            _counts(model, place),
        ]
        if truth:
            row.append(cells.true_cell(truth, place, model.positive, model.classes))
        rows.append(markup.row(row, style="" if told.prolog else "default"))
    markup.table(_caption(release.domain, model), header, rows)
    if any(count < 0 for group in model.groups for count in group.noisy_counts):
        st.caption(text("negative_counts"))


def side(release: Release, model: Any) -> None:
    """A table of two columns, without Prolog, for half the width."""
    from dpcore.plots.ilp.ilp import clause_texts

    label = f"{release.target} = {model.classes[model.positive]}"
    rows = [
        markup.row(
            [
                _clause(told, group, label, narrow=True),
                f'{_chance(model, place)}<div class="narrow-counts">{_counts(model, place)}</div>',
            ],
            style="" if told.prolog else "default",
        )
        for place, (told, group) in enumerate(zip(clause_texts(release), model.groups, strict=True))
    ]
    header = ["Clause", f"Noisy chance of {label}, and noisy counts"]
    markup.table(_caption(release.domain, model), header, rows)


def _caption(schema: Any, model: Any) -> str:
    from dpcore.models.ilp.released.ilp_words import one_row, rows_in_words

    return (
        f"Each {one_row(schema)} belongs to the first clause that covers it. Bars run from 0% to 100%; the "
        f"band is the 95% interval for the noise. Counts are of {rows_in_words(schema)}; noise on each: "
        f"±{whole(model.count_margin)}, 95%."
    )


def _chance(model: Any, place: int, truth: Truth | None = None) -> str:
    return cells.estimate(model.groups[place], model.positive, model.count_margin, truth, place)


def _counts(model: Any, place: int) -> str:
    counts = model.groups[place].noisy_counts
    return cells.counts(counts, model.classes, model.positive, f" ±{whole(model.count_margin)}")


def _clause(told: Any, group: Any, label: str, *, narrow: bool = False) -> str:
    """One clause in words and in Prolog, with a mark of whether it predicts."""
    from dpcore.plots.style import pretty

    words = escape(pretty(told.words[:1].upper() + told.words[1:]))
    lines = [f'<div><span class="fg-if">{escape(told.title)}</span>{words}</div>']
    if told.prolog:
        if not narrow:
            lines.append(f'<pre class="fg-prolog">{_code(told.prolog)}</pre>')
        lines.append(_mark(label, kept=group.kept))
    style = "fg-clause narrow" if narrow else "fg-clause"
    return f'<div class="{style}">{"".join(lines)}</div>'


def _code(prolog: str) -> str:
    """Prolog whose long lines break between goals."""
    lines = (re.sub(r"\w+\([^()]*\)", r"<i>\g<0></i>", escape(li)) for li in prolog.splitlines())
    return "".join(f"<span>{line}\n</span>" for line in lines)


def _mark(label: str, *, kept: bool) -> str:
    if kept:
        return f'<div class="fg-predicts">✓ predicts {escape(label)}</div>'
    return '<div class="fg-predicts not">✗ does not predict</div>'
