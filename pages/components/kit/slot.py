"""Slots for what comes and goes on a page, so that nothing below it moves.

A browser knows a container by its position among its neighbours. If something appears above it,
its position changes: then the browser draws it again, and what was being typed in it is gone. So
what is not always there stands in a slot that is: an empty one takes no room.
"""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator


def placeholder() -> DeltaGenerator:
    """A slot for something that may be there or not."""
    return st.container()


def placeholders(key: str, present: Sequence[str]) -> dict[str, DeltaGenerator]:
    """A slot for each of several things, whose number changes.

    What is gone leaves its slot empty; what is new comes last, whatever its order.

    Parameters
    ----------
    key : str
        Where the order is remembered for the session.
    """
    order: list[str] = st.session_state.setdefault(key, [])
    order += [name for name in present if name not in order]
    with placeholder():
        slots = {name: st.container() for name in order}
    return {name: slots[name] for name in present}
