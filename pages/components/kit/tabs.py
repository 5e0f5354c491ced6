"""Tabs of which only the open one is made."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

import streamlit as st
from streamlit.elements.lib.mutable_expander_container import ExpanderContainer
from streamlit.elements.lib.mutable_tab_container import TabContainer


def tabs(parts: Mapping[str, Callable[[], None]], key: str, stay: Collection[str] = ()) -> None:
    """Draw the open tab; opening another one draws the page, or the fragment in which they stand, anew.

    Parameters
    ----------
    parts : mapping
        Name of each tab, and what draws what is in it.
    key : str
        Remembers which tab is open. Other names need another key.
    stay : collection of str
        Tabs in which something can be typed or chosen: once opened they are always drawn, for Streamlit forgets what
        is not drawn.
    """
    opened: set[str] = st.session_state.setdefault(f"{key}-opened", set())
    places = dict(zip(parts, st.tabs(list(parts), key=key, on_change="rerun"), strict=True))
    for name, tab in places.items():
        if is_open(tab):
            opened.add(name)
        elif name not in opened or name not in stay:
            continue
        with tab:
            parts[name]()


#: The same; opening another one draws nothing but the tabs.
tabs_apart = st.fragment(tabs)


def is_open(part: TabContainer | ExpanderContainer) -> bool:
    """Whether somebody has opened a tab, or a part that is closed at first."""
    return bool(part.open)
