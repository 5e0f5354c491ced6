"""Back to where a visitor was when their login ended: a login always leads to the first page."""

from __future__ import annotations

from urllib.parse import parse_qsl, urlencode

import streamlit as st

from pages.components.visitor import access, login, menu, remembered

_STATE = "returned"


def note_address(url_path: str) -> None:
    """Remember the address of somebody who has to log in first."""
    needed, _ = access.attempt(login.login_needed)  # It may not be known, if the settings are faulty.
    if not needed:
        return
    query = urlencode([(name, value) for name in st.query_params for value in st.query_params.get_all(name)])
    if url_path or query:
        remembered.remember(remembered.PLACE, f"{url_path}?{query}")


def return_after_login(url_path: str) -> None:
    """Open that page, once, if this is the first page after a login."""
    state = st.session_state
    if state.get(_STATE) == "done" or not login.login_needed():
        return
    wanted, _, query = remembered.remembered(remembered.PLACE).partition("?")
    path = menu.path_of(wanted)
    if _STATE not in state and not url_path and path is not None:
        state[_STATE] = "on the way"
        st.switch_page(path, query_params=dict(parse_qsl(query)))
    state[_STATE] = "done"
    if wanted or query:
        remembered.remember(remembered.PLACE, "")
