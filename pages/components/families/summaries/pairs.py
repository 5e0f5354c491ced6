"""Pairs of columns: how strongly they go together, and the crosstab of one."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from dpcore.domain.columns import RESERVED
from pages.components.families.summaries.summary_state import Look
from pages.components.kit import figure, markup
from pages.components.kit.texts import text

#: Rows and columns of a crosstab on the page; the JSON of the result holds all.
_MOST = 60


def show(look: Look) -> None:
    """The map of all pairs, the same as a table, and one pair to read."""
    from dpcore.models.summaries.released.summary_words import POOLED, pooled_words, strength_words
    from dpcore.plots.summaries.summaries_pairs import pairs_alt, pairs_figure

    with st.spinner("Comparing columns …"):
        found = look.associations
    labels = [reading.label for reading in look.readings]
    st.markdown(text("look_pairs"))
    figure.show(pairs_figure(found, labels), key=f"{look.key}-pairs", alt=pairs_alt(found, labels))
    pooled = pooled_words(look.model, look.schema)
    if pooled:
        st.caption(markup.plain(f"{POOLED} {', '.join(column for column, _, _ in pooled)}: see the table."))
    with st.expander("The same as a table"):
        rows = [
            markup.row([escape(labels[one.axes[0]]), escape(labels[one.axes[1]]), escape(strength_words(one.strength))])
            for one in found
        ]
        header = ["Column", "and", "Cramér's V (interval for the noise)"]
        markup.table("Pairs that were counted, the strongest first", header, rows)
        if pooled:
            caption, header = f"Rare values in Cramér's V. {POOLED}", ["Column", "Pooled", "Left out"]
            markup.table(caption, header, [markup.row(list(map(escape, line))) for line in pooled])
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
    from dpcore.models.summaries.released.crosstab import crosstab
    from dpcore.numerals import whole

    table = crosstab(look.model, look.schema, row, column)
    groups = _told(look, row, table.sizes.low)
    cells = _told(look, column, table.counts.low.max(axis=0))
    heads = {
        group: f"{escape(table.row_cells[group])}<br><small>{whole(table.sizes.values[group])} in all</small>"
        for group in groups
    }
    names = {cell: escape(table.column_cells[cell]) for cell in cells}
    # What has more values goes down the page.
    if len(cells) > len(groups):
        lines = [[names[cell], *(_cell(table, group, cell) for group in groups)] for cell in cells]
        head, within = [table.columns, *(table.row_cells[group] for group in groups)], "column"
        lines.append(["in all", *(whole(table.sizes.values[group]) for group in groups)])
    else:
        lines = [[heads[group], *(_cell(table, group, cell) for cell in cells)] for group in groups]
        head, within = [table.rows, *(table.column_cells[cell] for cell in cells)], "row"
    caption = f"{table.rows} and {table.columns}: share within the {within}, and count. Small: for the noise, 95%"
    markup.table(caption, head, [markup.row(line) for line in lines])


def _told(look: Look, place: int, low: Any) -> list[int]:
    """Cells that have a line: those for no value only if somebody seems to be in them."""
    cells = look.readings[place].cells
    return [cell for cell, name in enumerate(cells) if name not in RESERVED or low[cell] > 0][:_MOST]


def _cell(table: Any, row: int, column: int) -> str:
    from dpcore.models.summaries.released.summary_words import range_of_counts, range_of_shares, share_alone
    from dpcore.numerals import whole

    share, count = table.share(row, column), table.count(row, column)
    return (
        f'<div class="fg-counts"><b>{share_alone(share)}</b> <small>{range_of_shares(share)}</small><br>'
        f"{whole(count.value)} <small>{range_of_counts(count)}</small></div>"
    )
