"""In the form for a new data set: stored ones with the same people, or of which the files are further rows."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from dpcore.privacy.budgets import percent
from dpcore.workspace.files.descriptions import DatasetInfo
from pages.components.custodian.intake.intake_tables import KEEP, remembered
from pages.components.kit import drawing
from pages.components.kit.markup import plain, text
from pages.components.visitor import access

NEW = ""
_WHAT = "What these files are"
KEYS = "Keep keys, so that rows of these people can be appended later"
PEOPLE, REPLACES = "Who these people are", "It replaces that data set, as its next version"


def ask() -> tuple[DatasetInfo | None, bool]:
    """A data set about the same people, if there is one, and whether the new one replaces it."""
    known = {key: info for key, info in access.datasets().items() if not info.retired}
    with drawing.placeholder():
        if not known:
            return None, False
        chosen = st.selectbox(
            PEOPLE,
            [NEW, *known],
            key=remembered("intake-kin", NEW, [NEW, *known]),
            format_func=lambda key: f"The same people as in '{known[key].name}'" if key else "In no data set yet",
            help=text("same_people"),
            **KEEP,
        )
        kin = known.get(chosen)
        if kin is None:
            return None, False
        replaces = st.checkbox(REPLACES, key=remembered("intake-replaces", False), help=text("replaces"), **KEEP)
        left = percent(access.service().total_balance(kin.id).left, up=False)
        st.info(f"It shares the budget of '{plain(kin.name)}': {left} is left for both together.")
    return kin, replaces


def ask_keys() -> bool:
    """Whether keys of people are kept."""
    return st.checkbox(KEYS, key=remembered("intake-keys", False), help=text("keep_keys"), **KEEP)


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
            [NEW, *known],
            key=remembered("intake-append", NEW, [NEW, *known]),
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
