"""The same question, other noisy answers; small counts drown."""

from __future__ import annotations

from decimal import Decimal
from html import escape

import streamlit as st

from dpcore.lessons import COUNTS, margin, noisy_answers
from dpcore.numerals import whole
from dpcore.plots.lessons.lessons import answers_alt, answers_figure
from pages.components.kit import figure, markup
from pages.components.kit.markup import text
from pages.components.lessons import guess
from pages.components.lessons import parts as lesson

STOPS = ("0.01", "0.02", "0.05", "0.1", "0.2", "0.5", "1", "2", "5")
#: Dots in the picture; the oldest ones leave it.
_MOST_DOTS = 100
_KEY = "lesson-noise"


@st.fragment
def render() -> None:
    """The lesson."""
    lesson.begin("Noise and counts", text("lesson_noise"))
    if not guess.number("noise", margin(Decimal("0.1")), (0, 100), form="±%d people"):
        return
    left, right = st.columns(2)
    with left:
        asked = st.selectbox(
            "How many patients are there …", COUNTS, 3, key=f"{_KEY}-count", format_func=lambda count: count.question
        )
    with right:
        epsilon = lesson.epsilon(f"{_KEY}-epsilon", STOPS, "0.1")
    with st.container(horizontal=True):
        lesson.again("Ask again", _KEY)
        lesson.again("Ask 20 times", _KEY, times=20, primary=False)
    last = lesson.draw(_KEY)
    answers = noisy_answers(asked.people, epsilon, range(max(1, last - _MOST_DOTS + 1), last + 1))
    reach = margin(epsilon)
    st.html(
        f'<p class="fg-noise">Noisy answer: <b>{whole(answers[-1])}</b> · true count: '
        f"<b>{whole(asked.people)}</b> · 95% margin: <b>±{whole(reach)}</b></p>"
    )
    figure.render(
        answers_figure(asked.people, answers, reach, "answer (people)"),
        key=f"{_KEY}-chart",
        alt=answers_alt(asked.people, answers, reach),
    )
    _sizes(epsilon)
    with st.expander("The same as a table"):
        rows = [
            markup.row([str(place), whole(answer), whole(answer - asked.people)])
            for place, answer in enumerate(answers, start=1)
        ]
        markup.table("Noisy answers, oldest first", ("Asked", "Noisy answer", "Noise"), rows)
    lesson.question(text("lesson_noise_question"))


def _sizes(epsilon: Decimal) -> None:
    """The same noise beside a large and a small count."""
    reach = margin(epsilon)
    rows = []
    for count in COUNTS:
        share = reach / count.people
        verdict = "clear" if share <= 0.1 else "rough" if share <= 0.5 else "drowned in noise"
        cells = [escape(count.question), whole(count.people), f"±{whole(reach)}", f"±{_percent(share)}"]
        rows.append(markup.row([*cells, verdict]))
    header = ("Patients", "True count", "Noise", "Noise, as a share", "What is left")
    markup.table("The same noise on large and on small counts (95% margin)", header, rows)


def _percent(share: float) -> str:
    return f"{share:.1%}" if share < 0.1 else f"{share:,.0%}"
