"""What became of a press of a button: kept by its callback, told when the page is next drawn."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.components import access


def of(key: str, action: Callable[[], object], success: str) -> bool:
    """Do something, and remember to say ``success`` (Markdown) or why it failed."""
    _, problem = access.attempt(action)
    st.session_state[key] = (problem, success)
    return problem is None


def tell(key: str) -> None:
    """Say it, once."""
    problem, success = st.session_state.pop(key, (None, None))
    if problem:
        st.error(problem)
    elif success:
        st.success(success)
