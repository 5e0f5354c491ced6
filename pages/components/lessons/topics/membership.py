"""Is this person in the data? Guesses by somebody who knows everybody else, against their ceiling."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from dpcore.lessons import ceiling, membership_attack
from dpcore.numerals import tenths, whole
from dpcore.plots.lessons.lessons_attacks import membership_alt, membership_figure
from pages.components.kit import figure, markup
from pages.components.kit.markup import text
from pages.components.lessons import guess
from pages.components.lessons import parts as lesson

STOPS = ("0.1", "0.2", "0.5", "1", "2", "5")
GUESSES = 1000
_KEY = "lesson-membership"


@st.fragment
def render() -> None:
    """The lesson."""
    lesson.begin("Who is in the data?", text("lesson_membership"))
    if not guess.number("membership", 100 * ceiling(Decimal("0.5")), (50, 100), form="%d%%"):
        return
    epsilon = lesson.epsilon(f"{_KEY}-epsilon", STOPS, "0.5")
    lesson.again("Attack again", _KEY)
    found = membership_attack(epsilon, GUESSES, lesson.draw(_KEY))
    figure.render(membership_figure(found), key=f"{_KEY}-chart", alt=membership_alt(found))
    with st.expander("The same as a table"):
        shares = {
            "From exact answers": tenths(found.exact / GUESSES),
            "From noisy answers": tenths(found.private / GUESSES),
            "Ceiling for noisy answers, in the long run": tenths(found.ceiling),
            "A coin": "50%",
        }
        markup.pairs_table(f"Right guesses of {whole(GUESSES)}", ("Guess", "Right"), shares)
    lesson.question(text("lesson_membership_question"))
