"""What became of a press of a button: kept by its callback, told when the page is next drawn."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.components.kit import drawing
from pages.components.visitor import access


def note_outcome(key: str, action: Callable[[], object], success: str) -> bool:
    """Do something, and remember to say ``success`` (Markdown) or why it failed."""
    _, problem = access.attempt(action)
    st.session_state[key] = (problem, success)
    return problem is None


def tell_outcome(key: str) -> None:
    """Say it, once, in a slot that is always there."""
    problem, success = _said(key)
    with drawing.placeholder():
        if problem:
            st.error(problem)
        elif success:
            st.success(success)


def _said(key: str) -> tuple[str | None, str | None]:
    said: tuple[str | None, str | None] = st.session_state.pop(key, (None, None))
    return said
