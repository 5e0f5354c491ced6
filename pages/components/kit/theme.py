"""Whether the visitor's pages are light or dark: what follows their system, or their own choice."""

from __future__ import annotations

import streamlit as st

from pages.components.kit import refresh

_DRAWN = "drawn_in_the_dark"


def is_dark() -> bool:
    """Whether the background of the page is dark."""
    return bool(st.context.theme.type == "dark")


def declare_ground() -> None:
    """Tell the style sheet; dialogs and menus stand outside of what Streamlit tells."""
    st.session_state[_DRAWN] = is_dark()
    scheme = st.context.theme.type or "light dark"
    st.html(f"<style>:root {{ color-scheme: {scheme}; }}</style>")


def follow_ground() -> None:
    """Draw the page again if the visitor has changed its background. For use in fragments."""
    if st.context.theme.type is not None and st.session_state.get(_DRAWN) != is_dark():
        refresh.again()
