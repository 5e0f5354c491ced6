"""A guide in a few steps: a dialog on the first visit, remembered, and open again on demand."""

from __future__ import annotations

import streamlit as st

from pages.components.kit import drawing
from pages.components.kit.markup import text
from pages.components.visitor import access, login, menu, remembered

#: Holds the page on which the tour is open; nothing before the first page, empty when closed.
_TOUR = "tour"
#: Set once it was closed in this session, and still has to be remembered for the next.
_CLOSED = "tour-closed"
#: The first page of the menu has no name of its own.
_FIRST = "first"
#: Whoever comes to these first, by a link, comes for a lesson.
_LESSONS = ("learn", "class_room")


def tour(page: str) -> None:
    """The tour, if it is open on this page; a visitor who comes for a result or a lesson needs none."""
    page, state = page or _FIRST, st.session_state
    with drawing.placeholder():
        if state.get(_CLOSED) and not login.login_needed():
            remembered.remember(remembered.TOUR, "seen")
    if _TOUR not in state:
        elsewhere = access.RUN_PARAMETER in st.query_params or page in _LESSONS
        state[_TOUR] = "" if elsewhere or _tour_seen() else page
    if state[_TOUR] == page and drawing.dialog_is_open():  # Whoever is asked something has found the way.
        state[_TOUR] = ""
    elif state[_TOUR] == page:
        _tour_dialog()


def offer_tour(page: str) -> None:
    """A button that opens the tour again."""
    page = page or _FIRST
    if st.session_state.get(_TOUR) != page:
        st.button("Show the tour", key="tour-show", on_click=_open_tour, args=(page,), icon=":material/tour:")


def _tour_seen() -> bool:
    """Whether the visitor has closed it before: by name where there is a login, else by browser."""
    if not login.login_needed():
        return remembered.remembered(remembered.TOUR) != ""
    seen, _ = access.attempt(lambda: access.service().has_seen(remembered.TOUR))
    return bool(seen)


def _open_tour(page: str) -> None:
    st.session_state[_TOUR] = page


def _close_tour() -> None:
    st.session_state[_TOUR] = ""
    drawing.dialog_answered()
    if not st.session_state.get(_CLOSED):
        st.session_state[_CLOSED] = True
        if login.login_needed():
            access.attempt(lambda: access.service().note_seen(remembered.TOUR))


@drawing.dialog("New here? Five steps.", width="medium", on_dismiss=_close_tour)
def _tour_dialog() -> None:
    steps = text("tour" if menu.may_open("rule_list.py") else "tour_custodian")
    st.html(f'<section class="fg-tour" aria-label="Tour">{steps}</section>')
    with st.container(horizontal=True):
        if st.button("Which method? Help me choose", key="tour-guide") and menu.may_open(menu.GUIDE):
            _close_tour()
            st.switch_page(menu.GUIDE)
        st.button("Got it", key="tour-hide", type="primary", on_click=_close_tour)
