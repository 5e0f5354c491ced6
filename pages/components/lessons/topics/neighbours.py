"""Take one person out of the data, and compare the chances of every answer."""

from __future__ import annotations

import math
from html import escape
from typing import Any

import streamlit as st

from dpcore.lessons import GROUP, neighbours
from dpcore.numerals import whole
from dpcore.plots.lessons.lessons import neighbours_alt, neighbours_figure
from pages.components.kit import figure, markup
from pages.components.kit.markup import text
from pages.components.lessons import guess
from pages.components.lessons import parts as lesson

STOPS = ("0.1", "0.2", "0.5", "1", "2")
_KEY = "lesson-neighbours"


@st.fragment
def render() -> None:
    """The lesson."""
    lesson.begin("Neighbours", text("lesson_neighbours"))
    if not guess.number("neighbours", math.exp(0.5), (1, 10), form="%.2f times", step=0.05):
        return
    person = st.pills(
        "Press a person to take them out of the data",
        range(len(GROUP)),
        default=0,
        required=True,
        key=f"{_KEY}-person",
        format_func=lambda place: _name(place, GROUP[place]),
    )
    _wards(person)
    epsilon = lesson.epsilon(f"{_KEY}-epsilon", STOPS, "0.5")
    pair = neighbours(person, epsilon)
    st.html(
        f'<p class="fg-noise">True count: <b>{pair.count}</b> with this person, '
        f"<b>{pair.count_without}</b> without · largest factor between two chances: "
        f"<b>{pair.largest_ratio:.2f}</b></p>"
    )
    figure.render(neighbours_figure(pair), key=f"{_KEY}-chart", alt=neighbours_alt(pair))
    with st.expander("The same as a table"):
        chances = zip(pair.answers, pair.present, pair.absent, strict=True)
        rows = [
            markup.row([whole(answer), f"{here:.3%}", f"{there:.3%}", _factor(here, there)])
            for answer, here, there in chances
        ]
        header = ("Noisy answer", "With this person", "Without", "Factor between them")
        markup.table("Exact chance of every answer", header, rows)
    lesson.question(text("lesson_neighbours_question"))


def _wards(out: int) -> None:
    """Who is in the data, and who was taken out."""
    people = [_person(place, one) for place, one in enumerate(GROUP)]
    inside = "".join(person for place, person in enumerate(people) if place != out)
    st.html(
        f'<div class="fg-wards"><section aria-label="In the data"><small>In the data</small><ul>{inside}</ul></section>'
        f'<section class="out" aria-label="Taken out"><small>Taken out</small><ul>{people[out]}</ul></section></div>'
    )


def _person(place: int, person: Any) -> str:
    mark = "irregular heartbeat" if person.counted else "regular"
    style = "counted" if person.counted else ""
    return f'<li class="{style}"><b>Person {place + 1}</b>{escape(mark)}</li>'


def _name(place: int, person: Any) -> str:
    return f"Person {place + 1}, {person.age} years"


def _factor(here: float, there: float) -> str:
    return f"{max(here / there, there / here):.2f}"
