"""What somebody may believe about one person, before an answer and after it."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from dpcore.lessons import shown_chance, worst_odds
from dpcore.plots.lessons.lessons import odds_alt, odds_figure
from dpcore.privacy.budgets import odds_sentence
from pages.components.kit import figure, markup
from pages.components.kit.markup import text
from pages.components.lessons import guess
from pages.components.lessons import parts as lesson

STOPS = ("0.01", "0.1", "0.2", "0.5", "1", "2", "3", "5", "10")
_KEY = "lesson-odds"


@st.fragment
def render() -> None:
    """The lesson."""
    lesson.begin("Epsilon as odds", text("lesson_odds"))
    if not guess.number("odds", 100 * worst_odds(0.1, Decimal("0.5")).highest, (10, 100), form="%d%%"):
        return
    left, right = st.columns(2)
    with left:
        before = st.slider("Chance before the answer", 1, 99, 10, key=f"{_KEY}-before", format="%d%%")
    with right:
        epsilon = lesson.epsilon(f"{_KEY}-epsilon", STOPS, "0.5", "ε of everything they see")
    odds = worst_odds(before / 100, epsilon)
    st.html(
        f'<p class="fg-noise">Before: <b>{before}%</b> · after, in the worst case: between '
        f"<b>{shown_chance(odds.lowest)}</b> and <b>{shown_chance(odds.highest)}</b></p>"
    )
    st.markdown(markup.plain(odds_sentence(epsilon, Decimal(0))))
    figure.render(odds_figure(odds, epsilon), key=f"{_KEY}-chart", alt=odds_alt(odds, epsilon))
    with st.expander("The same as a table"):
        rows = []
        for percent in sorted({1, 10, 25, 50, 75, 90, 99, before}):
            bounds = worst_odds(percent / 100, epsilon)
            ends = [shown_chance(bounds.lowest), shown_chance(bounds.highest)]
            rows.append(markup.row([f"{percent}%", *ends]))
        markup.table("Chances after an answer", ("Before", "After, at least", "At most"), rows)
    lesson.question(text("lesson_odds_question"))
