"""Randomised response: everybody tosses a coin before answering, and nobody has to be trusted."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from dpcore.lessons import coin_epsilon, estimate, margin, survey, toss
from dpcore.numerals import percent, whole
from dpcore.plots.lessons.lessons import answers_alt, answers_figure
from pages.components.kit import drawing, figure, markup
from pages.components.kit.markup import text
from pages.components.lessons import guess
from pages.components.lessons import parts as lesson

HONEST = (0.1, 0.25, 0.5, 0.75, 0.9)
PEOPLE = (100, 1_000, 10_000)
SHARE, SURVEYS = 0.3, 20
_KEY = "lesson-coin"
_TOSSED = f"{_KEY}-tossed"


@st.fragment
def render() -> None:
    """The lesson."""
    lesson.begin("A coin for everybody", text("lesson_coin"))
    if not guess.number("coin", estimate(60, 100, 0.5), (0, 100), form="%d people"):
        return
    _toss()
    _survey()
    lesson.question(text("lesson_coin_question"))


def _toss() -> None:
    """One's own coins."""
    st.markdown("**Try it.** Choose a secret and toss.")
    with st.container(horizontal=True, vertical_alignment="bottom"):
        secret = st.radio("Your secret", ("yes", "no"), key=f"{_KEY}-secret", horizontal=True)
        st.button("Toss the coins", key=f"{_KEY}-toss", on_click=_count, type="primary")
    with drawing.placeholder():
        if number := st.session_state.get(_TOSSED, 0):
            done = toss(secret == "yes", number)
            coins = (
                "Heads: you tell the truth." if done.honest else "Tails: you toss again and say what that coin says."
            )
            st.html(
                f'<p class="fg-noise">Toss {number}. {coins} You say: <b>{"yes" if done.said else "no"}</b>.<br>'
                f"Whoever hears you does not know whether it was your secret or the coin.</p>"
            )


def _count() -> None:
    st.session_state[_TOSSED] = st.session_state.get(_TOSSED, 0) + 1


def _survey() -> None:
    """A whole survey, many times over, beside noise that a trusted office would add."""
    left, right = st.columns(2)
    with left:
        people = st.select_slider("People who are asked", PEOPLE, 1_000, key=f"{_KEY}-people", format_func=whole)
    with right:
        honest = st.select_slider("Chance to tell the truth", HONEST, 0.5, key=f"{_KEY}-honest", format_func=percent)
    lesson.again("Ask all of them again", _KEY, primary=False)
    found = survey(people, round(SHARE * people), honest, SURVEYS, lesson.draw(_KEY))
    epsilon = coin_epsilon(honest)
    trusted = margin(Decimal(f"{epsilon:.9f}"))
    st.html(
        f'<p class="fg-noise">ε of each answer: <b>{epsilon:.2f}</b> · true count: <b>{whole(found.yes)}</b> · the '
        f"coins leave <b>±{whole(found.margin)}</b> (95%); a trusted office with the same ε leaves "
        f"<b>±{whole(trusted)}</b></p>"
    )
    figure.render(
        answers_figure(found.yes, found.estimates, found.margin, "people with the secret, as estimated", "estimate"),
        key=f"{_KEY}-chart",
        alt=answers_alt(found.yes, found.estimates, found.margin, "estimate"),
    )
    with st.expander("The same as a table"):
        rows = [
            markup.row([str(place), whole(said), whole(guessed)])
            for place, (said, guessed) in enumerate(zip(found.said, found.estimates, strict=True), start=1)
        ]
        markup.table(f"{SURVEYS} surveys of {whole(people)} people", ("Survey", "Said yes", "Estimate"), rows)
