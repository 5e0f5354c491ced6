"""How much one person can change an answer; a limit to that loses something, and saves noise."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from dpcore.lessons import LONGEST_STAY, clamped_total
from dpcore.numerals import whole
from dpcore.plots.lessons.lessons_course import clamps_alt, clamps_figure
from pages.components.kit import figure, markup
from pages.components.kit.markup import text
from pages.components.lessons import guess
from pages.components.lessons import parts as lesson

STOPS = ("0.05", "0.1", "0.2", "0.5", "1", "2")
CLAMPS = (5, 10, 20, 40, 80, 160, 365)
#: Questions, and how much one person changes all of their answers together.
QUESTIONS = {
    "How many patients are there?": "1",
    "How many are in each group of ages?": "1: everybody is in one group",
    "How many have each of 3 diagnoses?": "3: somebody may have all of them",
    "How many days in hospital in all, with at most 40 of each stay counted?": "40",
    "How long is the longest stay?": "365: one person can set it",
    "What share has died?": "none by itself: ask for two counts and divide",
}
_KEY = "lesson-sensitivity"


@st.fragment
def render() -> None:
    """The lesson."""
    lesson.begin("Sensitivity", text("lesson_sensitivity"))
    if not guess.number("sensitivity", LONGEST_STAY, (1, 400), form="%d days"):
        return
    left, right = st.columns(2)
    with left:
        clamp = st.select_slider("Count at most so many days of a stay", CLAMPS, CLAMPS[-1], key=f"{_KEY}-clamp")
    with right:
        epsilon = lesson.epsilon(f"{_KEY}-epsilon", STOPS, "0.5")
    lesson.again("Ask again", _KEY)
    totals = [clamped_total(one, epsilon, lesson.draw(_KEY)) for one in CLAMPS]
    chosen = next(total for total in totals if total.clamp == clamp)
    st.html(
        f'<p class="fg-noise">Noisy answer: <b>{whole(chosen.noisy)}</b> days · truth: '
        f"<b>{whole(chosen.truth)}</b> · left out by the limit: <b>{whole(chosen.lost)}</b> · "
        f"noise: <b>±{whole(chosen.margin)}</b></p>"
    )
    figure.render(clamps_figure(totals, clamp), key=f"{_KEY}-chart", alt=clamps_alt(totals, clamp))
    with st.expander("The same as a table"):
        _table(totals)
    markup.pairs_table("The sensitivity of some questions", ("Question", "Sensitivity"), QUESTIONS)
    lesson.question(text("lesson_sensitivity_question"))


def _table(totals: Any) -> None:
    rows = [
        markup.row(
            [
                f"{total.clamp} days",
                whole(total.lost),
                f"±{whole(total.margin)}",
                f"±{whole(total.error)}",
                whole(total.noisy),
            ]
        )
        for total in totals
    ]
    header = ("Limit of a stay", "Left out", "Noise (95%)", "Together", escape("Noisy answer"))
    markup.table("Error of the total of days, for each limit", header, rows)
