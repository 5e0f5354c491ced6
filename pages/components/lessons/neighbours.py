"""Lesson 2: remove one person, and compare the chances of every answer."""

from __future__ import annotations

from typing import Any

import streamlit as st

from pages.components.kit import figure, markup
from pages.components.kit.texts import text
from pages.components.lessons import parts as lesson

STOPS = ("0.1", "0.2", "0.5", "1", "2")
_KEY = "lesson-neighbours"


@st.fragment
def show() -> None:
    """The lesson."""
    from dpcore.lessons import GROUP, neighbours
    from dpcore.plots.lessons import neighbours_alt, neighbours_figure

    lesson.begin("Neighbours", text("lesson_neighbours"))
    left, right = st.columns(2)
    with left:
        person = st.selectbox(
            "Remove", range(len(GROUP)), key=f"{_KEY}-person", format_func=lambda place: _name(place, GROUP[place])
        )
    with right:
        epsilon = lesson.epsilon(f"{_KEY}-epsilon", STOPS, "0.5")
    pair = neighbours(person, epsilon)
    st.html(
        f'<p class="fg-noise">True count: <b>{pair.count}</b> with this person, '
        f"<b>{pair.count_without}</b> without · largest factor between two chances: "
        f"<b>{pair.largest_ratio:.2f}</b></p>"
    )
    figure.show(neighbours_figure(pair), key=f"{_KEY}-chart", alt=neighbours_alt(pair))
    with st.expander("The same as a table"):
        chances = zip(pair.answers, pair.present, pair.absent, strict=True)
        rows = [
            markup.row([lesson.minus(answer), f"{here:.3%}", f"{there:.3%}", _factor(here, there)])
            for answer, here, there in chances
        ]
        header = ("Noisy answer", "With this person", "Without", "Factor between them")
        markup.table("Exact chance of every answer", header, rows)
    lesson.question(text("lesson_neighbours_question"))


def _name(place: int, person: Any) -> str:
    answer = "yes" if person.counted else "no"
    return f"Person {place + 1}: {person.age} years, irregular heartbeat: {answer}"


def _factor(here: float, there: float) -> str:
    return f"{max(here / there, there / here):.2f}"
