"""Two counts that differ in one person, subtracted; with noise, hardly better than a coin."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from dpcore.lessons import difference_attack, secrets
from dpcore.numerals import whole
from dpcore.plots.lessons.lessons import answers_alt, answers_figure
from pages.components.kit import figure, markup
from pages.components.kit.markup import text
from pages.components.lessons import guess
from pages.components.lessons import parts as lesson

STOPS = ("0.1", "0.2", "0.5", "1", "2", "5")
REPETITIONS = 50
_KEY = "lesson-difference"


@st.fragment
def render() -> None:
    """The lesson."""
    lesson.begin("Two counts, one person", text("lesson_difference"))
    if not guess.number("difference", difference_attack(0, Decimal("0.5"), REPETITIONS, 1).right, (0, REPETITIONS)):
        return
    left, right = st.columns(2)
    with left:
        person = st.selectbox(
            "Whose secret?",
            range(len(secrets())),
            key=f"{_KEY}-person",
            format_func=lambda place: f"Person {place + 1}",
        )
    with right:
        epsilon = lesson.epsilon(f"{_KEY}-epsilon", STOPS, "0.5", "ε of both counts together")
    lesson.again("Attack again", _KEY)
    found = difference_attack(person, epsilon, REPETITIONS, lesson.draw(_KEY))
    secret = "yes" if found.exact else "no"
    st.html(
        f'<p class="fg-noise">Exact counts: {found.everyone} − {found.others} = '
        f"<b>{found.exact}</b>. The secret is out: <b>{secret}</b>.<br>Noisy counts: "
        f"<b>{found.right} of {REPETITIONS}</b> attempts guess right. A coin would get about "
        f"{REPETITIONS // 2}.</p>"
    )
    figure.render(
        answers_figure(found.exact, found.noisy, None, "first count − second count", "difference"),
        key=f"{_KEY}-chart",
        alt=answers_alt(found.exact, found.noisy, None, "difference"),
    )
    with st.expander("The same as a table"):
        rows = [
            markup.row([str(place), whole(noisy), "yes" if noisy >= 1 else "no"])
            for place, noisy in enumerate(found.noisy, start=1)
        ]
        header = ("Attempt", "Noisy difference", "Guess (yes from 1 on)")
        markup.table(f"Guesses of a secret that is '{secret}'", header, rows)
    lesson.question(text("lesson_difference_question"))
