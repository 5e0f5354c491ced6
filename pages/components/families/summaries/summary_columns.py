"""Parts of a first look on a page: one column in large, codes down their groups, pairs of columns."""

from __future__ import annotations

import streamlit as st

from dpcore.domain.columns import RESERVED
from dpcore.domain.counted import counted
from dpcore.models.summaries.released.crosstab import crosstab_table
from dpcore.models.summaries.released.summary_reading import (
    codes_table,
    figures_table,
    pairs_table,
    pooled_tables,
    values_table,
)
from dpcore.models.summaries.released.summary_words import POOLED, branches, column_sentences, strength_words
from dpcore.plots.summaries.summaries import by_group, column_alt, column_figure, everybody
from dpcore.plots.summaries.summaries_codes import MOST_BARS
from dpcore.released.blocks import Figure
from pages.components.families.shared import blocks
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
        table_of(look, look.model.by, place)


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
