"""The definition as a formula, beside the odds that it bounds, for a set of answers of one's own."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import streamlit as st

from dpcore.lessons import set_chances
from dpcore.numerals import percent, tenths, whole
from dpcore.plots.lessons.lessons_definition import set_alt, set_figure
from pages.components.kit import figure, markup
from pages.components.kit.markup import text
from pages.components.lessons import guess
from pages.components.lessons import parts as lesson

STOPS = ("0.1", "0.2", "0.5", "1", "2")
LOW, HIGH = -5, 15
#: Wide enough for a formula, in pixels; side by side where there is room.
_CARD = 385
FIRST, BEFORE = Decimal("0.5"), 0.2
_KEY = "lesson-definition"


@st.fragment
def render() -> None:
    """The lesson."""
    lesson.begin("The definition", text("lesson_definition"))
    st.latex(r"\Pr[M(D)\in S]\;\le\;e^{\varepsilon}\cdot\Pr[M(D')\in S]")
    st.markdown(text("lesson_definition_symbols"))
    if not guess.number("definition", 100 * BEFORE * math.exp(FIRST), (0, 100), form="%d%%"):
        return
    left, right = st.columns(2)
    with left:
        low, high = st.slider("The set S: answers from … to …", LOW, HIGH, (5, 8), key=f"{_KEY}-set")
    with right:
        epsilon = lesson.epsilon(f"{_KEY}-epsilon", STOPS, f"{FIRST:f}")
    found = set_chances(low, high, epsilon)
    figure.render(set_figure(found, LOW, HIGH), key=f"{_KEY}-chart", alt=set_alt(found))
    before = st.slider("Chance before the answer", 1, 99, 50, key=f"{_KEY}-before", format="%d%%")
    _formulas(found, before / 100)
    lesson.question(text("lesson_definition_question"))


def _formulas(found: Any, before: float) -> None:
    """Left the definition, right the odds; below each the same with the numbers of this set."""
    cards = st.container(horizontal=True)
    with cards, st.container(border=True, width=_CARD):
        st.markdown("**The definition**")
        st.latex(r"\Pr[M(D)\in S]\;\le\;e^{\varepsilon}\cdot\Pr[M(D')\in S]")
        st.latex(rf"{_percent(found.present)}\;\le\;{found.factor:.2f}\cdot {_percent(found.absent)}")
        st.latex(r"\Pr[M(D')\in S]\;\le\;e^{\varepsilon}\cdot\Pr[M(D)\in S]")
        st.latex(rf"{_percent(found.absent)}\;\le\;{found.factor:.2f}\cdot {_percent(found.present)}")
    with cards, st.container(border=True, width=_CARD):
        st.markdown("**The same as odds**")
        st.latex(
            r"\frac{\Pr[D\mid S]}{\Pr[D'\mid S]}="
            r"\frac{\Pr[M(D)\in S]}{\Pr[M(D')\in S]}\cdot\frac{\Pr[D]}{\Pr[D']}"
        )
        after, odds = found.after(before), before / (1 - before)
        st.latex(rf"{found.ratio * odds:.2f}\;=\;{found.ratio:.2f}\cdot {odds:.2f}")
        st.markdown(
            f"Whoever gave a chance of {percent(before)} to “this person is in the data”, and sees an answer in S, now "
            f"gives {tenths(after)}. The middle factor is never above e^ε = {found.factor:.2f} and never "
            f"below {1 / found.factor:.2f}."
        )
    chances = {
        "With this person (D)": tenths(found.present),
        "Without (D′)": tenths(found.absent),
        "Factor between them": f"{found.ratio:.2f}",
        "e^ε": f"{found.factor:.2f}",
    }
    with st.expander("The same as a table"):
        markup.pairs_table(f"Answers from {whole(found.low)} to {whole(found.high)}", ("", "Chance"), chances)


def _percent(share: float) -> str:
    return rf"{100 * share:.1f}\,\%"
