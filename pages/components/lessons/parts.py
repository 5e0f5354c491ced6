"""What all lessons share: a title with two or three sentences, controls, a question at the end."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import streamlit as st

from pages.components.kit.markup import text


def begin(title: str, sentences: str) -> None:
    """Title and text of a lesson."""
    st.subheader(title, anchor=False)
    st.markdown(sentences)


def epsilon(key: str, stops: Sequence[str], first: str, label: str = "ε of an answer") -> Decimal:
    """A slider from more privacy to more accuracy."""
    chosen = st.select_slider(label, stops, first, key=key, help=text("epsilon"))
    st.html('<div class="fg-ends"><span>◀ more privacy</span><span>more accuracy ▶</span></div>')
    return Decimal(chosen)


def draw(key: str) -> int:
    """Number of the draw of noise that is shown: the first is 1."""
    return int(st.session_state.setdefault(f"{key}-draw", 1))


def again(label: str, key: str, *, times: int = 1, primary: bool = True) -> None:
    """A button that moves on to another draw of noise."""
    st.button(
        label,
        key=f"{key}-again-{times}",
        on_click=_move_on,
        args=(f"{key}-draw", times),
        type="primary" if primary else "secondary",
    )


def _move_on(key: str, times: int) -> None:
    st.session_state[key] = st.session_state.get(key, 1) + times


def question(words: str) -> None:
    """A question whose answer shows when it is opened. ``words``: question, blank line, answer."""
    asked, _, answer = words.partition("\n\n")
    with st.expander(f"**Question.** {asked}", icon=":material/help:"):
        st.markdown(answer)
