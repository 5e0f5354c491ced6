"""One column in large: figure, words and table."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from pages.components.families.summaries import pairs
from pages.components.families.summaries.summary_state import Look
from pages.components.kit import figure, markup
from pages.components.kit.texts import text


def choose(look: Look) -> int:
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


def show(look: Look, place: int) -> None:
    """The figure of everybody, what it says, the groups, and all numbers."""
    from dpcore.plots.summaries.summaries import by_group, column_alt, column_figure, everybody

    reading = look.readings[place]
    column = everybody(look.schema, reading, look.truth_of(place))
    markup.sentences(sentences(look, place))
    figure.show(column_figure(column), key=f"{look.key}-figure", alt=column_alt(column))
    st.caption(text("look_steps" if column.steps else "look_time" if column.time else "look_bars"))
    if look.model.by is not None and place != look.model.by:
        by = look.readings[look.model.by].label
        st.subheader(markup.plain(f"{reading.label} by {by}"), anchor=False)
        grouped = by_group(look.model, look.schema, reading)
        figure.show(column_figure(grouped), key=f"{look.key}-groups", alt=column_alt(grouped))
        st.caption(_which(look, len(grouped.series)) + text("look_groups"))
    with st.expander("The same as a table"):
        _tables(look, place)


def _which(look: Look, shown: int) -> str:
    """Which groups a picture shows, if they are not all."""
    from dpcore.domain.columns import RESERVED

    groups = sum(cell not in RESERVED for cell in look.readings[look.model.by].cells)
    return f"The {shown} largest of {groups} groups; the table holds all. " if shown < groups else ""


def sentences(look: Look, place: int) -> list[str]:
    """A column in words: mean and quantiles, the largest categories, who has no value."""
    from dpcore.models.summaries.released.summary_words import column_sentences

    return column_sentences(look.readings[place], look.schema)


def _tables(look: Look, place: int) -> None:
    from dpcore.domain.counted import counted
    from dpcore.models.summaries.released.summary_words import cell_words

    reading, people = look.readings[place], counted(look.schema).several
    names = cell_words(reading.axis, look.schema)
    columns: dict[str, list[Any]] = {
        "cell": list(names),
        "count": [round(float(value)) for value in reading.counts.values],
        "count_range": _ranges(reading.counts, share=False),
        "share": [100 * float(value) for value in reading.shares.values],
        "share_range": _ranges(reading.shares, share=True),
    }
    if look.truth is not None:
        columns["true"] = [int(count) for count in look.truth[place]]
    st.dataframe(
        pd.DataFrame(columns),
        hide_index=True,
        key=f"{look.key}-table",
        column_config={
            "cell": st.column_config.TextColumn("Value"),
            "count": st.column_config.NumberColumn(f"{people.capitalize()} (noisy)", format="localized"),
            "count_range": st.column_config.TextColumn("Interval for the noise"),
            "share": st.column_config.NumberColumn("Share (noisy)", format="%.1f%%"),
            "share_range": st.column_config.TextColumn("Interval of the share"),
            "true": st.column_config.NumberColumn(f"◇ True {people}", format="localized"),
        },
        alt=f"Table of {reading.label}: noisy counts and shares of every value, with intervals.",
    )
    if reading.quantiles:
        _figures(look, reading)
    if look.model.by is not None and place != look.model.by:
        pairs.table_of(look, look.model.by, place)


def _figures(look: Look, reading: Any) -> None:
    """Mean and quantiles of a number."""
    from dpcore.models.summaries.released.summary_words import figures

    markup.pairs_table(
        f"{reading.label} among those with a value; 95% intervals, for the noise and numbers anywhere in their range",
        ("Figure", "Noisy value"),
        figures(reading, look.schema),
    )


def _ranges(cells: Any, *, share: bool) -> list[str]:
    from dpcore.models.summaries.released.summary_words import range_of_counts, range_of_shares

    told = range_of_shares if share else range_of_counts
    return [told(cells.amount(place)) for place in range(len(cells.values))]
