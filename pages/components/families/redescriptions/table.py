"""Tables of redescriptions: all that are kept, to sort and filter, and a short one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import Any

import pandas as pd
import streamlit as st

from dpcore.numerals import hundredths, whole
from pages.components.families.redescriptions import view
from pages.components.families.redescriptions.state import Reading, choose, turn_key
from pages.components.kit import markup
from pages.components.kit.texts import text

#: Rows that are sent to the browser; the CSV holds all.
_MOST_ROWS = 1000
#: Pixels of a row: high enough for texts to wrap.
_ROW = 76
#: Pixels of the table: six rows below its head.
_HIGHEST = 40 + 6 * _ROW


def show(reading: Reading) -> None:
    """All that are kept; a click on a row reads it."""
    from dpcore.models.redescriptions.released.reading import matching

    if not reading.kept:
        st.info(view.all_aside(reading))
        return
    words = st.text_input(
        "Show only those that mention",
        key=f"{reading.key}-words",
        placeholder="words of a condition, or a column",
        help=text("filter"),
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
    from dpcore.models.redescriptions.released.missingness import SHORT
    from dpcore.models.redescriptions.released.reading import interval_words

    marks = {"missing": [SHORT[item.missing] for item in items]} if any(item.missing for item in items) else {}
    columns: dict[str, list[Any]] = {
        "left": [item.left for item in items],
        "right": [item.right for item in items],
        "jaccard": [item.jaccard for item in items],
        "interval": [interval_words(item) for item in items],
        "support": [round(item.support) for item in items],
        "margin": [item.support_margin for item in items],
        **marks,
        "chance": [item.chance for item in items],
        "similar": [item.similar for item in items],
    }
    if exact is not None:
        columns["true"] = list(exact)
    return pd.DataFrame(columns)


def _columns() -> dict[str, Any]:
    def share(label: str, width: int = 90) -> Any:
        return st.column_config.NumberColumn(label, format="%.2f", width=width)

    def count(label: str, width: int = 90) -> Any:
        return st.column_config.NumberColumn(label, format="localized", width=width)

    return {
        "left": st.column_config.TextColumn("Left", width=210),
        "right": st.column_config.TextColumn("Right", width=210),
        "jaccard": share("Noisy Jaccard"),
        "interval": st.column_config.TextColumn("Interval", width=85),
        "support": count("Noisy support"),
        "margin": count("±", 50),
        "chance": share("By chance"),
        "similar": count("Merged"),
        "missing": st.column_config.TextColumn("Missing values", width=115),
        "true": share("◇ True Jaccard"),
    }


def _picked(reading: Reading, items: Sequence[Any], table: str) -> Callable[[], None]:
    def read() -> None:
        rows = st.session_state[table]["selection"]["rows"]
        if rows and rows[0] < len(items):
            choose(items[rows[0]], reading.key)

    return read


def best(items: Sequence[Any]) -> None:
    """A short table without anything to click."""
    from dpcore.models.redescriptions.released.reading import interval_words

    rows = [
        markup.row(
            [
                f"{escape(item.left)} <span class='fg-and'>⇔</span> {escape(item.right)}",
                f"<b>{hundredths(item.jaccard)}</b> <small>{interval_words(item)}</small>",
                f"{whole(item.support)} ±{whole(item.support_margin)}",
            ]
        )
        for item in items
    ]
    header = ["Left ⇔ right", "Noisy Jaccard index", "Noisy support"]
    markup.table(f"The best {len(items)} that are kept", header, rows)
