"""What delta is: an area, not the chance that the factor e^epsilon is exceeded."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.lessons import DeltaExample
from dpcore.plots.lessons.lessons_definition import delta_alt, delta_figure, small_chance
from pages.components.kit import figure, markup
from pages.components.kit.markup import text
from pages.components.lessons import guess
from pages.components.lessons import parts as lesson

EPSILONS = (0.1, 0.5, 1.0, 1.5, 2.0, 3.0)
DEVIATIONS = (0.5, 1.0, 2.0, 4.0)
NEVER, LESS, SAME, MORE = "never", "more rarely than δ", "with exactly the chance δ", "more often than δ"
_KEY = "lesson-delta"


@st.fragment
def render() -> None:
    """The lesson."""
    lesson.begin("What delta is", text("lesson_delta"))
    st.latex(r"\Pr[M(D)\in S]\;\le\;e^{\varepsilon}\cdot\Pr[M(D')\in S]+\delta")
    if not guess.choice("delta", (NEVER, LESS, SAME, MORE), MORE):
        return
    left, right = st.columns(2)
    with left:
        deviation = st.select_slider(
            "Standard deviation of the noise", DEVIATIONS, 1.0, key=f"{_KEY}-deviation", format_func=lambda d: f"{d:g}"
        )
    with right:
        epsilon = st.select_slider("ε", EPSILONS, 1.0, key=f"{_KEY}-epsilon", format_func=lambda e: f"{e:g}")
    found = DeltaExample(deviation, epsilon)
    st.html(
        f'<p class="fg-noise">δ: <b>{small_chance(found.delta)}</b> · chance that the factor e<sup>ε</sup> is '
        f"exceeded: <b>{small_chance(found.exceeded)}</b>, <b>{found.exceeded / found.delta:,.1f} times δ</b></p>"
    )
    figure.render(delta_figure(found), key=f"{_KEY}-chart", alt=delta_alt(found))
    st.markdown(text("lesson_delta_picture"))
    with st.expander("The same as a table"):
        _table(deviation, DeltaExample)
    lesson.question(text("lesson_delta_question"))


def _table(deviation: float, example: Any) -> None:
    rows = []
    for epsilon in EPSILONS:
        found = example(deviation, epsilon)
        chances = (found.delta, found.exceeded, found.far_exceeded, 3 * found.delta)
        rows.append(markup.row([f"{epsilon:g}", *map(small_chance, chances)]))
    header = ("ε", "δ", "Chance to exceed e^ε", "Odds move by more than 2e^ε", "At most (3 δ)")
    markup.table(f"Gaussian noise with a standard deviation of {deviation:g}", header, rows)
