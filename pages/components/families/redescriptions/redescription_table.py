"""Tables of redescriptions: all that are kept, to sort and filter."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpcore.models.redescriptions.released.duplicates import SHORT
from dpcore.models.redescriptions.released.reading import interval_words, matching
from dpcore.numerals import whole
from pages.components.families.redescriptions import redescription_view as view
from pages.components.families.redescriptions.redescription_state import Reading, choose, turn_key
from pages.components.kit.markup import text

#: Rows that are sent to the browser; the CSV holds all.
_MOST_ROWS = 1000
#: Pixels of a row: high enough for texts to wrap.
_ROW = 76
#: Pixels of the table: six rows below its head.
_HIGHEST = 40 + 6 * _ROW


def render(reading: Reading) -> None:
    """All that are kept; a click on a row reads it."""
    if not reading.kept:
        st.info(view.all_aside(reading))
        return
    words = st.text_input(
        "Show only those that mention",
        key=f"{reading.key}-words",
        persist_state="session",
        placeholder="words of a condition, or a column",
    )
    items = matching(reading.kept, words)
    if not items:
        st.info("No kept redescription holds these words. Try fewer, or another spelling.")
        return
    _table(reading, items[:_MOST_ROWS])
    st.caption(_caption(len(items), len(reading.kept)))


def _caption(shown: int, kept: int) -> str:
    which = f"{whole(shown)} of {whole(kept)} that are kept" if shown < kept else f"All {whole(kept)} that are kept"
    first = f", the best {whole(_MOST_ROWS)} of them here" if shown > _MOST_ROWS else ""
    return f"{which}{first}. {text('pairs_table')}"


def _table(reading: Reading, items: Sequence[Any]) -> None:
    turn = st.session_state.get(turn_key(reading.key), 0)
    table = f"{reading.key}-table-{turn}"
    exact = [one.jaccard for item in items if (one := reading.exact_of(item)) is not None] or None
    st.dataframe(
        _frame(items, exact),
        key=table,
        hide_index=True,
        height=min(_HIGHEST, 40 + _ROW * len(items)),
        row_height=_ROW,
        column_config=_columns(),
        on_select=_picked(reading, items, table),
        selection_mode="single-row",
        alt=f"Table of {len(items)} redescriptions, best first.",
    )


def _frame(items: Sequence[Any], exact: Sequence[float] | None) -> pd.DataFrame:
    marks = {"missing": [SHORT[item.missing] for item in items]} if any(item.missing for item in items) else {}
    columns: dict[str, list[Any]] = {
        "left": [item.left for item in items],
        "right": [item.right for item in items],
        "jaccard": [item.jaccard for item in items],
        "support": [item.whole_support for item in items],
        "interval": [interval_words(item) for item in items],
        "chance": [item.chance for item in items],
        **marks,
    }
    if exact is not None:
        columns["true"] = list(exact)
    return pd.DataFrame(columns)


def _columns() -> dict[str, Any]:
    """All but the true index fit beside the menu in a window of 1280 pixels; in one of 800, up to the noisy support."""
    make = st.column_config
    return {
        "left": make.TextColumn("Left", width=140),
        "right": make.TextColumn("Right", width=140),
        "jaccard": make.NumberColumn("Noisy Jaccard", format="%.2f", width=100),
        "support": make.NumberColumn("Noisy support", format="localized", width=100),
        "interval": make.TextColumn("Jaccard interval", width=110),
        "chance": make.NumberColumn("By chance", format="%.2f", width=80),
        "missing": make.TextColumn("Missing values", width=105),
        "true": make.NumberColumn("◇ True Jaccard", format="%.2f", width=105),
    }


def _picked(reading: Reading, items: Sequence[Any], table: str) -> Callable[[], None]:
    def read() -> None:
        rows = st.session_state[table]["selection"]["rows"]
        if rows and rows[0] < len(items):
            choose(items[rows[0]], reading.key)

    return read
