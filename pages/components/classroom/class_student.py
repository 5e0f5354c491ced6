"""A student's place in a classroom: a question, a toy budget, and below it the board."""

from __future__ import annotations

from html import escape

import streamlit as st

from dpcore.errors import FrostglassError
from dpcore.lessons import COUNTS
from dpcore.numerals import whole
from dpcore.privacy.budgets import format_epsilon
from dpcore.workspace.people.class_rooms import Seat
from pages.components.classroom import class_board, class_place
from pages.components.classroom.class_place import REFUSED, Place
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text
from pages.components.lessons import parts as lesson
from pages.components.lessons.topics.budget import toy_meter
from pages.components.visitor import access

STOPS = ("0.05", "0.1", "0.2", "0.5", "1", "2")
_QUESTION, _EPSILON = "class-question", "class-epsilon"


def render(place: Place) -> None:
    """The student's part of the page."""
    room = access.service().board(place.code).room
    seat = access.service().seat(place.code, place.key)
    st.subheader(f"Room {room.code}", anchor=False)
    st.markdown(f"You are {markup.plain(class_board.called(seat.student, seat.name))}. {text('class_room_lost')}")
    left, right = st.columns(2)
    with left:
        st.selectbox(
            "How many patients are there …",
            range(len(COUNTS)),
            2,
            key=_QUESTION,
            format_func=lambda number: COUNTS[number].question,
        )
    with right:
        lesson.epsilon(_EPSILON, STOPS, "0.2", "ε of this question")
    st.button("Ask", key="class-ask", on_click=_ask, args=(place,), type="primary", disabled=room.closed)
    with drawing.placeholder():
        if room.closed:
            st.info(
                "Your teacher has closed this room: nobody asks any more. The board stays until the room is deleted."
            )
        elif refusal := st.session_state.pop(REFUSED, ""):
            st.warning(markup.plain(refusal), icon=":material/block:")
    toy_meter("yours", seat.budget.cap, seat.budget.total)
    with drawing.placeholder():
        _answers(seat, revealed=room.revealed)
    class_board.render(place.code, room)
    st.button("Leave this room", key="class-leave", on_click=class_place.leave, type="tertiary")


def _ask(place: Place) -> None:
    try:
        access.service().ask_in_room(place.code, place.key, st.session_state[_QUESTION], st.session_state[_EPSILON])
    except FrostglassError as refusal:
        st.session_state[REFUSED] = str(refusal)


def _answers(seat: Seat, *, revealed: bool) -> None:
    if not seat.budget.answers:
        markup.empty("You have not asked yet", "Choose a question and an ε, then press Ask.")
        return
    header = ["Your question", "Patients", "ε", "Noisy answer", *(["True count"] if revealed else [])]
    rows = []
    epsilons = [format_epsilon(answer.epsilon) for answer in seat.budget.answers]
    for number, (answer, epsilon) in enumerate(zip(seat.budget.answers, epsilons, strict=True), start=1):
        noisy = f"{whole(answer.noisy)} ± {whole(answer.margin)}"
        cells = [str(number), escape(answer.asked.question), epsilon, noisy]
        rows.append(markup.row(cells + ([whole(answer.asked.people)] if revealed else [])))
    markup.table("Your noisy answers, each with its 95% margin", header, rows)
