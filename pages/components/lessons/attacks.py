"""Lesson 6: three attacks that succeed on exact counts and fail on noisy ones."""

from __future__ import annotations

from html import escape
from typing import Any

import streamlit as st

from pages.components.kit import figure, markup
from pages.components.kit.texts import text
from pages.components.lessons import parts as lesson

STOPS = ("0.1", "0.2", "0.5", "1", "2", "5")
#: For many counts at once: a large ε protects nobody.
WIDE_STOPS = ("1", "5", "20", "100", "500")
REPETITIONS, GUESSES = 50, 1000
_KEY = "lesson-attacks"


@st.fragment
def show() -> None:
    """The lesson."""
    lesson.begin("What goes wrong without noise", text("lesson_attacks"))
    attacks = {
        "Two counts, one difference": _difference,
        "Who is in the data?": _membership,
        "Everybody at once": _reconstruction,
    }
    chosen = st.radio("Attack", list(attacks), key=f"{_KEY}-which", horizontal=True)
    attacks[chosen]()


def _difference() -> None:
    from dpcore.lessons import difference_attack, secrets
    from dpcore.plots.lessons import answers_alt, answers_figure

    key = f"{_KEY}-difference"
    st.markdown(text("lesson_difference"))
    left, right = st.columns(2)
    with left:
        person = st.selectbox(
            "Whose secret?", range(len(secrets())), key=f"{key}-person", format_func=lambda place: f"Person {place + 1}"
        )
    with right:
        epsilon = lesson.epsilon(f"{key}-epsilon", STOPS, "0.5", "ε of both counts together")
    lesson.again("Attack again", key)
    found = difference_attack(person, epsilon, REPETITIONS, lesson.draw(key))
    secret = "yes" if found.exact else "no"
    st.html(
        f'<p class="fg-noise">Exact counts: {found.everyone} − {found.others} = '
        f"<b>{found.exact}</b>. The secret is out: <b>{secret}</b>.<br>Noisy counts: "
        f"<b>{found.right} of {REPETITIONS}</b> attempts guess right. A coin would get about "
        f"{REPETITIONS // 2}.</p>"
    )
    figure.show(
        answers_figure(found.exact, found.noisy, None, "first count − second count", "difference"),
        key=f"{key}-chart",
        alt=answers_alt(found.exact, found.noisy, None, "difference"),
    )
    with st.expander("The same as a table"):
        rows = [
            markup.row([str(place), lesson.minus(noisy), "yes" if noisy >= 1 else "no"])
            for place, noisy in enumerate(found.noisy, start=1)
        ]
        header = ("Attempt", "Noisy difference", "Guess (yes from 1 on)")
        markup.table(f"Guesses of a secret that is '{secret}'", header, rows)
    lesson.question(text("lesson_difference_question"))


def _membership() -> None:
    from dpcore.lessons import membership_attack
    from dpcore.plots.lessons_attacks import membership_alt, membership_figure

    key = f"{_KEY}-membership"
    st.markdown(text("lesson_membership"))
    epsilon = lesson.epsilon(f"{key}-epsilon", STOPS, "0.5")
    lesson.again("Attack again", key)
    found = membership_attack(epsilon, GUESSES, lesson.draw(key))
    figure.show(membership_figure(found), key=f"{key}-chart", alt=membership_alt(found))
    with st.expander("The same as a table"):
        shares = {
            "From exact answers": f"{found.exact / GUESSES:.1%}",
            "From noisy answers": f"{found.private / GUESSES:.1%}",
            "Ceiling for noisy answers, in the long run": f"{found.ceiling:.1%}",
            "A coin": "50%",
        }
        markup.pairs_table(f"Right guesses of {GUESSES:,}", ("Guess", "Right"), shares)
    lesson.question(text("lesson_membership_question"))


def _reconstruction() -> None:
    from dpcore.lessons import reconstruction_attack
    from dpcore.plots.lessons_attacks import people_alt, people_figure

    key = f"{_KEY}-reconstruction"
    st.markdown(text("lesson_reconstruction"))
    left, right = st.columns(2)
    with left:
        counts = st.select_slider("Counts that are asked", (10, 20, 40, 80, 160), 40, key=f"{key}-counts")
    with right:
        epsilon = lesson.epsilon(f"{key}-epsilon", WIDE_STOPS, "1", "ε of all counts together")
    lesson.again("Attack again", key)
    found = reconstruction_attack(counts, epsilon, lesson.draw(key))
    people = len(found.truth)
    st.html(
        f'<p class="fg-noise">From exact counts: <b>{found.right(found.exact)} of {people}</b> '
        f"people right. From noisy counts: <b>{found.right(found.private)} of {people}</b>. "
        f"A coin would get about {people // 2}.</p>"
    )
    figure.show(people_figure(found), key=f"{key}-chart", alt=people_alt(found))
    with st.expander("The same as a table"):
        _people(found)
    lesson.question(text("lesson_reconstruction_question"))


def _people(found: Any) -> None:
    rows = []
    for place, (true, *guesses) in enumerate(zip(found.truth, found.exact, found.private, strict=True), start=1):
        told = [f"{_yes(guess)}{'' if guess == true else ' (wrong)'}" for guess in guesses]
        rows.append(markup.row([str(place), *map(escape, (_yes(true), *told))]))
    header = ("Person", "Secret", "From exact counts", "From noisy counts")
    markup.table("Secrets of invented people, and guesses", header, rows)


def _yes(answer: bool) -> str:
    return "yes" if answer else "no"
