"""Many questions asked one by one, and the same answers added up from one measurement."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

import streamlit as st

from dpcore.lessons import AGES, both_ways
from dpcore.numerals import whole
from dpcore.plots.lessons.lessons_histogram import both_ways_alt, both_ways_figure
from pages.components.kit import figure, markup
from pages.components.kit.markup import text
from pages.components.lessons import guess
from pages.components.lessons import parts as lesson

if TYPE_CHECKING:
    from dpcore.lessons import BothWays

STOPS = ("0.05", "0.1", "0.2", "0.5", "1", "2")
_KEY = "lesson-histogram"


@st.fragment
def render() -> None:
    """The lesson."""
    lesson.begin("Many questions, one measurement", text("lesson_histogram"))
    first = both_ways(len(AGES), Decimal("0.1"), 1)
    if not guess.number("histogram", max(first.added_margins), (0, first.alone_margin), form="±%d patients"):
        return
    left, right = st.columns(2)
    with left:
        questions = st.slider("Ages to ask about", 1, len(AGES), len(AGES), key=f"{_KEY}-questions")
    with right:
        epsilon = lesson.epsilon(f"{_KEY}-epsilon", STOPS, "0.1", "ε of all answers together")
    lesson.again("Ask again", _KEY)
    found = both_ways(questions, epsilon, lesson.draw(_KEY))
    st.html(
        f'<p class="fg-noise">{"1 question" if questions == 1 else f"{questions} questions"}, one by one: '
        f"<b>±{whole(found.alone_margin)}</b> · added up from one histogram: at most "
        f"<b>±{whole(max(found.added_margins))}</b></p>"
    )
    figure.render(both_ways_figure(found), key=f"{_KEY}-chart", alt=both_ways_alt(found))
    with st.expander("The same as a table"):
        _table(found)
    lesson.question(text("lesson_histogram_question"))


def _table(found: BothWays) -> None:
    rows = []
    for age, truth, alone, added, margin in zip(
        found.ages, found.truths, found.alone, found.added, found.added_margins, strict=True
    ):
        asked = [f"older than {age}", whole(truth), whole(alone), f"±{whole(found.alone_margin)}"]
        rows.append(markup.row([*asked, whole(added), f"±{whole(margin)}"]))
    header = ("Patients", "True count", "Asked by itself", "95% margin", "From the histogram", "95% margin")
    markup.table("The same answers, both ways", header, rows)
