"""Codes down their groups: one column, its branches as bars and as a table."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from dpcore.numerals import whole
from pages.components.families.summaries.summary_state import Look
from pages.components.kit import figure, markup
from pages.components.kit.texts import text


def show(look: Look) -> None:
    """The branches of one column of codes that stand out of the noise."""
    from dpcore.domain.counted import counted
    from dpcore.models.summaries.released.code_reading import branches
    from dpcore.plots.summaries.summaries_codes import MOST_BARS, codes_alt, codes_figure

    place = _choose(look)
    label, people = look.readings[look.model.trees[place].axis].label, counted(look.schema).several
    found = branches(look.model, look.schema, place)
    st.markdown(text("look_codes"))
    if not found:
        st.info("No group stands out of the noise. A larger ε, or fewer columns, would show more.")
        return
    figure.show(codes_figure(found, people), key=f"{look.key}-codes-{place}", alt=codes_alt(found, label))
    if len(found) > MOST_BARS:
        st.caption(f"The {MOST_BARS} largest of {len(found)} branches that stand out; the table holds all.")
    with st.expander("The same as a table"):
        _table(found, label, people)


def _choose(look: Look) -> int:
    trees = look.model.trees
    if len(trees) == 1:
        return 0
    labels = [look.readings[tree.axis].label for tree in trees]
    return int(
        st.selectbox(
            "Column",
            range(len(trees)),
            format_func=labels.__getitem__,
            key=f"{look.key}-tree",
            persist_state="session",
        )
    )


def _table(found: list[Any], label: str, people: str) -> None:
    from dpcore.models.summaries.released.summary_words import range_of_counts
    from dpcore.numerals import percent, whole

    rows = [
        markup.row(
            [
                f'<span style="padding-left:{1.2 * branch.depth:.1f}em">{escape(branch.name)}</span>',
                f"{whole(branch.count.value)}<br><small>{range_of_counts(branch.count)}</small>",
                percent(branch.share),
                _folded(branch),
            ]
        )
        for branch in found
    ]
    caption = f"{label}: noisy numbers; small: where the true one may lie for the noise, 95%"
    markup.table(caption, ["Group", people.capitalize(), "Share of all", "Below it, hidden by the noise"], rows)


def _folded(branch: Any) -> str:
    return f"{whole(branch.folded)} more" if branch.folded else ""
