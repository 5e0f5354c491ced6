"""Choosing how much privacy a run may spend."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import NamedTuple

import streamlit as st

from dpcore.privacy.budgets import percent, plain_epsilon
from pages.components.kit.markup import text

#: Shares of the budget that are proposed.
SIZES = {"Small": Decimal("0.02"), "Medium": Decimal("0.05"), "Large": Decimal("0.15")}
_FIRST = "Medium"
_TEXT, _SIZE = "epsilon", "epsilon_size"
_LAST = "epsilon_last"


class Preset(NamedTuple):
    """What a size comes to on a data set: its epsilon, and the 95 % margin of the noise on a count if known."""

    epsilon: Decimal
    margin: int | None


def choose(presets: Mapping[str, Preset]) -> str:
    """Sizes by price and an exact entry over one value; returns the text of the entry."""
    _follow(presets)
    left, right = st.columns([6, 1], vertical_alignment="bottom")
    with left:
        st.segmented_control(
            "How much of the budget may this run take?",
            list(presets),
            format_func=lambda size: _label(size, presets[size]),
            key=_SIZE,
            help=text("epsilon_size"),
        )
    with right:
        st.text_input("Exact ε", key=_TEXT, on_change=_typed, persist_state="session")
    return str(st.session_state[_TEXT])


def enter(value: Decimal) -> None:
    """Put a value into the entry. For use in callbacks."""
    st.session_state[_TEXT] = plain_epsilon(value)
    _typed()


def _typed() -> None:
    """What was typed is no size. For use in callbacks."""
    st.session_state[_SIZE] = None


def _label(size: str, preset: Preset) -> str:
    noise = "" if preset.margin is None else f", ±{preset.margin}"
    return f"{size}: {percent(SIZES[size])} (ε {plain_epsilon(preset.epsilon)}{noise})"


def _follow(presets: Mapping[str, Preset]) -> None:
    """The entry follows a chosen size, whatever its price is here.

    An empty entry means the last one: browsers send one while pages change quickly.
    """
    state = st.session_state
    if _LAST not in state and _TEXT not in state:
        state[_SIZE] = _FIRST
    preset = presets.get(state.get(_SIZE) or "")
    entry = state.get(_TEXT) or state.get(_LAST) if preset is None else plain_epsilon(preset.epsilon)
    state[_TEXT] = state[_LAST] = entry or plain_epsilon(presets[_FIRST].epsilon)
