"""One column in large: figure, words and table."""

from __future__ import annotations

import streamlit as st

from dpcore.domain.columns import RESERVED
from dpcore.models.summaries.released.summary_reading import figures_table, values_table
from dpcore.models.summaries.released.summary_words import column_sentences
from dpcore.plots.summaries.summaries import by_group, column_alt, column_figure, everybody
from pages.components.families.shared import blocks
from pages.components.families.summaries import pairs
from pages.components.families.summaries.summary_state import Look
from pages.components.kit import figure, markup
from pages.components.kit.markup import text


def choose_column(look: Look) -> int:
    """Which column; at first the one that comes first."""
    order = look.order()
    labels = [reading.label for reading in look.readings]
    return int(
        st.selectbox(
            "Look closer at",
            order,
            format_func=labels.__getitem__,
            key=f"{look.key}-column",
            persist_state="session",
        )
    )


def column_in_large(look: Look, place: int) -> None:
    """The figure of everybody, what it says, the groups, and all numbers."""
    reading = look.readings[place]
    column = everybody(look.schema, reading, look.truth_of(place))
    markup.sentences(column_sentences(reading, look.schema))
    figure.render(column_figure(column), key=f"{look.key}-figure", alt=column_alt(column))
    st.caption(text("look_steps" if column.steps else "look_time" if column.time else "look_bars"))
    if look.model.by is not None and place != look.model.by:
        by = look.readings[look.model.by].label
        st.subheader(markup.plain(f"{reading.label} by {by}"), anchor=False)
        grouped = by_group(look.model, look.schema, reading)
        figure.render(column_figure(grouped), key=f"{look.key}-groups", alt=column_alt(grouped))
        st.caption(_which_groups(look, len(grouped.series)) + text("look_groups"))
    with st.expander("The same as a table"):
        _column_tables(look, place)


def _which_groups(look: Look, shown: int) -> str:
    """Which groups a picture shows, if they are not all."""
    groups = sum(cell not in RESERVED for cell in look.readings[look.model.by].cells)
    return f"The {shown} largest of {groups} groups; the table holds all. " if shown < groups else ""


def _column_tables(look: Look, place: int) -> None:
    reading = look.readings[place]
    blocks.render(values_table(reading, look.schema, look.truth_of(place)))
    if reading.quantiles:
        blocks.render(figures_table(reading, look.schema))
    if look.model.by is not None and place != look.model.by:
        pairs.table_of(look, look.model.by, place)
