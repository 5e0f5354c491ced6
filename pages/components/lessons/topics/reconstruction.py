"""The attack that opens the course: everybody's secret read off exact counts; then noise repairs it."""

from __future__ import annotations

from decimal import Decimal
from html import escape
from typing import Any

import streamlit as st

from dpcore.lessons import reconstruction_attack
from dpcore.plots.lessons.lessons_attacks import people_alt, people_figure
from pages.components.kit import figure, markup
from pages.components.kit.markup import text
from pages.components.lessons import guess
from pages.components.lessons import parts as lesson

#: For many counts at once: a large ε protects nobody.
STOPS = ("1", "5", "20", "100", "500")
COUNTS, EPSILON = 40, "1"
_KEY = "lesson-reconstruction"


@st.fragment
def render() -> None:
    """The lesson."""
    lesson.begin("Everybody at once", text("lesson_reconstruction"))
    first = reconstruction_attack(COUNTS, Decimal(EPSILON), 1)
    people = len(first.truth)
    if not guess.number("reconstruction", first.right(first.exact), (0, people)):
        return
    if not guess.made("repair"):
        _picture(first, repaired=False)
    if not guess.number("repair", first.right(first.private), (0, people)):
        return
    _both()
    lesson.question(text("lesson_reconstruction_question"))


def _both() -> None:
    """Exact and noisy counts side by side, as many as one likes."""
    left, right = st.columns(2)
    with left:
        counts = st.select_slider("Counts that are asked", (10, 20, 40, 80, 160), COUNTS, key=f"{_KEY}-counts")
    with right:
        epsilon = lesson.epsilon(f"{_KEY}-epsilon", STOPS, EPSILON, "ε of all counts together")
    lesson.again("Attack again", _KEY)
    found = reconstruction_attack(counts, epsilon, lesson.draw(_KEY))
    people = len(found.truth)
    st.html(
        f'<p class="fg-noise">From exact counts: <b>{found.right(found.exact)} of {people}</b> '
        f"people right. From noisy counts: <b>{found.right(found.private)} of {people}</b>. "
        f"A coin would get about {people // 2}.</p>"
    )
    _picture(found, repaired=True)
    with st.expander("The same as a table"):
        _people(found)


def _picture(found: Any, *, repaired: bool) -> None:
    figure.render(
        people_figure(found, repaired=repaired),
        key=f"{_KEY}-chart-{repaired}",
        alt=people_alt(found, repaired=repaired),
    )


def _people(found: Any) -> None:
    rows = []
    for place, (true, *guesses) in enumerate(zip(found.truth, found.exact, found.private, strict=True), start=1):
        told = [f"{_yes(one)}{'' if one == true else ' (wrong)'}" for one in guesses]
        rows.append(markup.row([str(place), *map(escape, (_yes(true), *told))]))
    header = ("Person", "Secret", "From exact counts", "From noisy counts")
    markup.table("Secrets of invented people, and guesses", header, rows)


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"
