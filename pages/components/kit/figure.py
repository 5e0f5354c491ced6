"""The ground of a page, light or dark, and the one place where figures are put on it."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.components.kit import drawing

_DRAWN = "drawn_in_the_dark"
_CONFIG = {"displayModeBar": False, "scrollZoom": False}


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
        drawing.again()


def render(figure: Any, *, key: str, alt: str, **options: Any) -> Any:
    """Show a figure; ``options`` are those of ``st.plotly_chart``.

    Returns what ``st.plotly_chart`` returns.
    """
    from dpcore.plots.palette import in_the_dark

    return st.plotly_chart(
        in_the_dark(figure) if is_dark() else figure, key=key, alt=alt, theme=None, config=_CONFIG, **options
    )
