"""A guide in a few steps, on the first page that a visitor opens."""

from __future__ import annotations

import streamlit as st

from pages.components.kit import slot
from pages.components.kit.texts import text
from pages.components.visitor import access, menu

#: Holds the page on which the tour is open; nothing before the first page, empty when closed.
_KEY = "tour"
#: The first page of the menu has no name of its own.
_FIRST = "first"


def show(page: str) -> None:
    """The tour, if it is open on this page; a visitor who comes back for a result needs none."""
    page = page or _FIRST
    opened = "" if access.RUN_PARAMETER in st.query_params else page
    above = slot.kept()
    if st.session_state.setdefault(_KEY, opened) != page:
        return
    with above, st.container(border=True, key="card-tour"):
        steps = text("tour" if menu.may_open("rule_list.py") else "tour_custodian")
        st.html(f'<section class="fg-tour" aria-label="Tour">{steps}</section>')
        st.button("Got it, hide the tour", key="tour-hide", on_click=_hide)


def offer(page: str) -> None:
    """A button that opens the tour again."""
    page = page or _FIRST
    if st.session_state.get(_KEY) != page:
        st.button("Show the tour", key="tour-show", on_click=_open, args=(page,))


def _open(page: str) -> None:
    st.session_state[_KEY] = page


def _hide() -> None:
    st.session_state[_KEY] = ""
