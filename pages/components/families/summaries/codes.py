"""Codes down their groups: one column, its branches as bars and as a table."""

from __future__ import annotations

import streamlit as st

from dpcore.domain.counted import counted
from dpcore.models.summaries.released.summary_reading import codes_table
from dpcore.models.summaries.released.summary_words import branches
from dpcore.plots.summaries.summaries_codes import MOST_BARS
from dpcore.released.blocks import Figure
from pages.components.families.shared import blocks
from pages.components.families.summaries.summary_state import Look
from pages.components.kit.markup import text


def codes(look: Look) -> None:
    """The branches of one column of codes that stand out of the noise."""
    place = _choose_codes(look)
    label, people = look.readings[look.model.trees[place].axis].label, counted(look.schema).several
    found = branches(look.model, look.schema, place)
    st.markdown(text("look_codes"))
    if not found:
        st.info("No group stands out of the noise. A larger ε, or fewer columns, would show more.")
        return
    blocks.render(Figure("codes", f"{label} by groups", (found, people, label)), f"{look.key}-codes-{place}")
    if len(found) > MOST_BARS:
        st.caption(f"The {MOST_BARS} largest of {len(found)} branches that stand out; the table holds all.")
    with st.expander("The same as a table"):
        blocks.render(codes_table(found, people, label))


def _choose_codes(look: Look) -> int:
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
