"""Guess first: a lesson asks, and tells only what is true once somebody has guessed or declined to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape

import streamlit as st

from pages.components.kit import drawing
from pages.components.kit.markup import text

#: Guesses of this session by the name of what was asked; ``None``: shown without a guess.
_GUESSES = "lesson-guesses"


def number(name: str, truth: float, ends: tuple[int, int], *, form: str = "%d", step: float = 1) -> bool:
    """Ask for a number; afterwards the truth stands beside it. Returns whether the lesson may go on.

    Parameters
    ----------
    name : str
        The question is the text ``lesson_<name>_guess``, the explanation ``lesson_<name>_truth``.
    truth : float
        What is right.
    ends : (int, int)
        Smallest and largest guess.
    form : str
        How a number is shown, in the manner of ``printf``.
    step : float
        Steps of the slider; a fraction makes all of it fractions.
    """
    with drawing.placeholder():
        if name not in _made():
            low, high = (end if isinstance(step, int) else float(end) for end in ends)
            _ask(
                name,
                lambda: st.slider(
                    "Your guess",
                    low,
                    high,
                    low,  # Not in the middle, where the truth may be.
                    step,
                    format=form,
                    key=f"guess-{name}",
                    label_visibility="collapsed",
                ),
            )
            return False
        guessed = _made()[name]
        _tell_number(guessed, truth, ends, form)
        st.markdown(text(f"lesson_{name}_truth"))
    return True


def choice(name: str, options: Sequence[str], truth: str) -> bool:
    """Ask for one of several answers; the rest is as in :func:`number`."""
    with drawing.placeholder():
        if name not in _made():
            _ask(
                name,
                lambda: st.radio("Your guess", options, None, key=f"guess-{name}", label_visibility="collapsed"),
            )
            return False
        guessed = _made()[name]
        _compare("none" if guessed is None else str(guessed), truth, "")
        st.markdown(text(f"lesson_{name}_truth"))
    return True


def made(name: str) -> bool:
    """Whether somebody has guessed, or has had a look without it."""
    return name in _made()


def forget() -> None:
    """Start the course again. For use in callbacks."""
    st.session_state[_GUESSES] = {}


def _made() -> dict[str, object]:
    kept: dict[str, object] = st.session_state.setdefault(_GUESSES, {})
    return kept


def _ask(name: str, widget: Callable[[], object]) -> None:
    """A card with the question, its widget and two buttons; a press draws the whole page again."""
    with st.container(border=True, key=f"card-guess-{name}"):
        st.markdown(f"**Guess first.** {text(f'lesson_{name}_guess')}")
        guessed = widget()
        with st.container(horizontal=True):
            sure = st.button("This is my guess", key=f"guess-{name}-sure", type="primary", disabled=guessed is None)
            skip = st.button("Show it without a guess", key=f"guess-{name}-skip", type="tertiary")
    if sure or skip:
        _made()[name] = guessed if sure else None
        st.rerun()


def _tell_number(guessed: object, truth: float, ends: tuple[int, int], form: str) -> None:
    shown = form % (round(truth) if "%d" in form else truth)
    if not isinstance(guessed, int | float):
        _compare("none", shown, _scale(None, truth, ends))
        return
    _compare(form % guessed, shown, _scale(float(guessed), truth, ends))


def _compare(guessed: str, truth: str, below: str) -> None:
    st.html(
        f'<div class="fg-guess"><div><small>Your guess</small><b>{escape(guessed)}</b></div>'
        f'<div class="truth"><small>The truth</small><b>{escape(truth)}</b></div></div>{below}'
    )


def _scale(guessed: float | None, truth: float, ends: tuple[int, int]) -> str:
    """Where guess and truth lie between the ends; both stand above it in words."""
    low, high = ends

    def place(value: float) -> str:
        return f"left:{100 * min(1.0, max(0.0, (value - low) / (high - low))):.2f}%"

    point = "" if guessed is None else f'<span class="point" style="{place(guessed)}"></span>'
    return (
        '<div class="fg-guess-scale" aria-hidden="true"><div class="fg-interval">'
        f'{point}<span class="truth" style="{place(truth)}"></span></div></div>'
    )
