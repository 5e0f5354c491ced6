"""Files that hold further rows of a stored data set: which one it is, and a higher row limit."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dpcore.workspace.files.descriptions import DatasetInfo
from pages.components.custodian.intake.intake_tables import KEEP, remembered
from pages.components.kit import drawing
from pages.components.kit.markup import text
from pages.components.visitor import access

NEW_DATA = ""
_WHAT = "What these files are"


@dataclass(frozen=True)
class RowsToAppend:
    """Further rows of a data set; ``go`` once the button was pressed."""

    dataset: DatasetInfo
    max_rows: int
    go: bool


def ask_append() -> RowsToAppend | None:
    """Whether the files are further rows of a data set to which rows can be appended."""
    known = {info.id: info for info in access.service().appendable()}
    with drawing.placeholder():
        if not known:
            return None
        chosen = st.selectbox(
            _WHAT,
            [NEW_DATA, *known],
            key=remembered("intake-append", NEW_DATA, [NEW_DATA, *known]),
            format_func=lambda key: f"Further rows of '{known[key].name}'" if key else "A data set to be described",
            **KEEP,
        )
        return _further(known[chosen]) if chosen else None


def _further(dataset: DatasetInfo) -> RowsToAppend:
    st.markdown(text("append"))
    least = dataset.schema.max_rows
    limit = st.number_input(
        "Row limit (public, round) for old and new rows together",
        least,
        100_000_000,
        step=1000,
        key=remembered(f"intake-append-limit-{dataset.id}", least),
        **KEEP,
    )
    return RowsToAppend(dataset, int(limit), st.button("Append the rows", type="primary"))
