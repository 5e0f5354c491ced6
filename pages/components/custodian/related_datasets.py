"""In the form for a new data set: about whom it is, and whether they can be found again later."""

from __future__ import annotations

import streamlit as st

from dpcore.report import spending
from dpcore.workspace.files.descriptions import DatasetInfo
from pages.components.custodian.intake.intake_tables import KEEP, remembered
from pages.components.kit import drawing
from pages.components.kit.markup import plain, text
from pages.components.visitor import access

NEW = ""
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
        left = spending.left(access.service().total_balance(kin.id).left)
        st.info(f"It shares the budget of '{plain(kin.name)}': {left} is left for both together.")
    return kin, replaces


def ask_keys() -> bool:
    """Whether keys of people are kept."""
    return st.checkbox(KEYS, key=remembered("intake-keys", False), help=text("keep_keys"), **KEEP)
