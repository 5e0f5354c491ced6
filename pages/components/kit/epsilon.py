"""Choosing how much privacy a run may spend."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from dpcore.errors import BudgetError
from dpcore.privacy.budgets import USUAL_EPSILONS, format_epsilon, parse_epsilon
from pages.components.kit.markup import text

PRESETS = {"0.1": "Strict", "0.5": "Balanced", "1": "Detailed"}
LOW, HIGH = Decimal("0.1"), Decimal(2)
_TEXT, _PRESET, _SLIDER = "epsilon", "epsilon_preset", "epsilon_slider"
_LAST = "epsilon_last"


def choose() -> str:
    """Presets, a slider and an exact entry over one value; returns the text of the entry."""
    _keep_entry()
    _follow_entry(st.session_state[_TEXT])
    left, right = st.columns([5, 2], vertical_alignment="bottom")
    with left:
        st.segmented_control(
            "How much privacy may this run spend?",
            list(PRESETS),
            format_func=lambda value: f"{PRESETS[value]} (ε {value})",
            key=_PRESET,
            on_change=_take,
            args=(_PRESET,),
            help=text("epsilon"),
        )
    with right:
        st.text_input("Exact ε", key=_TEXT, persist_state="session")
    st.select_slider(
        "ε, from more privacy to more accuracy",
        USUAL_EPSILONS,
        key=_SLIDER,
        on_change=_take,
        args=(_SLIDER,),
        label_visibility="collapsed",
    )
    st.html('<div class="fg-ends"><span>◀ more privacy</span><span>more accuracy ▶</span></div>')
    return str(st.session_state[_TEXT])


def enter(value: Decimal) -> None:
    """Put a value into the entry. For use in callbacks."""
    st.session_state[_TEXT] = format_epsilon(value, places=9)


def advise(epsilon: Decimal) -> None:
    """A word of caution at either end of the scale."""
    if epsilon > HIGH:
        st.warning(text("high_epsilon"), icon="⚠️")
    elif epsilon < LOW:
        st.info(text("low_epsilon"), icon="ℹ️")


def _keep_entry() -> None:
    """An empty entry means the last one: browsers send one while pages change quickly."""
    entry = st.session_state.get(_TEXT) or st.session_state.get(_LAST, "0.5")
    st.session_state[_TEXT] = st.session_state[_LAST] = entry


def _take(source: str) -> None:
    chosen = st.session_state[source]
    if chosen is not None:
        st.session_state[_TEXT] = chosen


def _follow_entry(entry: str) -> None:
    """Let presets and slider show the entry, or stay where they are if it is not a number."""
    try:
        value = parse_epsilon(entry)
    except BudgetError:
        return
    st.session_state[_PRESET] = next((p for p in PRESETS if Decimal(p) == value), None)
    st.session_state[_SLIDER] = min(USUAL_EPSILONS, key=lambda stop: abs(Decimal(stop) - value))
