"""Entries that begin with what is stored: what was typed is told from what is stored by now.

Somebody else may have changed that since the entry was drawn, in another tab or as another user. What was
not typed here is then not to be written over it.
"""

from __future__ import annotations

import streamlit as st


def begin(key: str, stored: str) -> str:
    """The key of an entry that is about to be drawn, with what it begins with if it is new."""
    if key not in st.session_state:
        st.session_state[_begun(key)] = stored
    return key


def typed(key: str, stored: str) -> str:
    """What is to be stored: what was typed, else what is ``stored`` by now."""
    written = str(st.session_state[key])
    return stored if written == st.session_state.get(_begun(key)) else written.strip()


def saved(*keys: str) -> None:
    """What these entries hold is stored now, so it is what they begin with."""
    for key in keys:
        st.session_state[_begun(key)] = st.session_state[key]


def _begun(key: str) -> str:
    return f"begun-{key}"
