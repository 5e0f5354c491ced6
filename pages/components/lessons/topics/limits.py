"""What privacy does not prevent: a study that finds that smoking harms tells it about every smoker."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from dpcore.lessons import RISK_BEFORE, study
from dpcore.numerals import tenths, whole
from dpcore.plots.lessons.lessons_course import study_alt, study_figure
from pages.components.kit import figure, markup
from pages.components.kit.markup import text
from pages.components.lessons import guess
from pages.components.lessons import parts as lesson

STOPS = ("0.01", "0.1", "0.2", "0.5", "1", "2")
SIZES = (100, 1_000, 10_000, 100_000)
SIZE, EPSILON = 10_000, "1"
_KEY = "lesson-limits"


@st.fragment
def render() -> None:
    """The lesson."""
    lesson.begin("What privacy does not prevent", text("lesson_limits"))
    first = study(SIZE, Decimal(EPSILON), 1)
    if not guess.number("limits", 100 * first.risk_without, (0, 40), form="%.1f%%", step=0.5):
        return
    left, right = st.columns(2)
    with left:
        people = st.select_slider("People in the study", SIZES, SIZE, key=f"{_KEY}-people", format_func=whole)
    with right:
        epsilon = lesson.epsilon(f"{_KEY}-epsilon", STOPS, EPSILON, "ε of the study")
    lesson.again("Other noise", _KEY)
    found = study(people, epsilon, lesson.draw(_KEY))
    st.html(
        f'<p class="fg-noise">Before: <b>{tenths(RISK_BEFORE)}</b> · after, with Ann: <b>{tenths(found.risk)}</b> · '
        f"after, without her: <b>{tenths(found.risk_without)}</b> · others: <b>{tenths(found.risk_of_others)}</b></p>"
    )
    figure.render(study_figure(found), key=f"{_KEY}-chart", alt=study_alt(found))
    with st.expander("The same as a table"):
        shown = {
            "Before the study": f"{RISK_BEFORE:.2%}",
            "After it, Ann took part": f"{found.risk:.2%}",
            "After it, Ann stayed out": f"{found.risk_without:.2%}",
        }
        markup.pairs_table("Ann's risk, as the insurer sees it", ("When", "Risk"), shown)
    st.markdown(text("lesson_limits_both"))
    lesson.question(text("lesson_limits_question"))
