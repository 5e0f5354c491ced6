"""Pairs of columns: how strongly they go together, and the crosstab of one."""

from __future__ import annotations

import streamlit as st

from dpcore.models.summaries.released.crosstab import crosstab_table
from dpcore.models.summaries.released.summary_reading import pairs_table, pooled_tables
from dpcore.models.summaries.released.summary_words import POOLED, strength_words
from dpcore.released.blocks import Figure
from pages.components.families.shared import blocks
from pages.components.families.summaries.summary_state import Look
from pages.components.kit import markup
from pages.components.kit.markup import text


def pairs(look: Look) -> None:
    """The map of all pairs, the same as a table, and one pair to read."""
    with st.spinner("Comparing columns …"):
        found = look.associations
    labels = [reading.label for reading in look.readings]
    st.markdown(text("look_pairs"))
    blocks.render(Figure("pairs", "Pairs of columns", (found, labels)), f"{look.key}-pairs")
    pooled = pooled_tables(look.model, look.schema)
    for table in pooled:
        st.caption(markup.plain(f"{POOLED} {', '.join(column for column, _, _ in table.texts)}: see the table."))
    with st.expander("The same as a table"):
        for table in (pairs_table(found, labels), *pooled):
            blocks.render(table)
    place = st.selectbox(
        "Read one pair",
        range(len(found)),
        format_func=lambda n: (
            f"{labels[found[n].axes[0]]} and {labels[found[n].axes[1]]}: V {strength_words(found[n].strength)}"
        ),
        key=f"{look.key}-pair",
        persist_state="session",
    )
    _crosstab(look, found[place].axes)


def _crosstab(look: Look, axes: tuple[int, int]) -> None:
    """Which of the two is divided, the groups if they are one of them, and the table."""
    labels = [reading.label for reading in look.readings]
    row = st.radio(
        "Shares within each value of",
        list(axes),
        0 if axes[0] != look.model.by else 1,
        format_func=lambda axis: markup.plain(labels[axis]),
        horizontal=True,
        key=f"{look.key}-rows-{axes[0]}-{axes[1]}",
    )
    column = axes[1] if row == axes[0] else axes[0]
    table_of(look, int(row), column)


def table_of(look: Look, row: int, column: int) -> None:
    """Two columns against each other, with shares within each value of the first."""
    blocks.render(crosstab_table(look.model, look.schema, row, column))
