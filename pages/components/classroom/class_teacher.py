"""The teacher's part of a classroom: the code, what the class may see and do, and the board."""

from __future__ import annotations

import streamlit as st

from dpcore.errors import FrostglassError
from dpcore.privacy.budgets import format_epsilon
from dpcore.workspace.people.class_rooms import Room
from pages.components.classroom import class_board, class_place
from pages.components.classroom.class_place import Place
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text
from pages.components.lessons import parts as lesson
from pages.components.visitor import access

_SAID, _STUDENT = "class-said", "class-student"


def render(place: Place) -> None:
    """The teacher's page."""
    room = access.service().board(place.code).room
    st.html(
        f'<section class="fg-code" aria-label="Code of the room"><small>Code of the room</small>'
        f"<b>{room.code}</b><span>Toy budget of each student: ε {format_epsilon(room.cap)}. Deleted at "
        f"{room.ends:%Y-%m-%d %H:%M} UTC.</span></section>"
    )
    _address(room)
    st.markdown(text("class_room_lesson"))
    _controls(place, room)
    with drawing.placeholder():
        if said := st.session_state.pop(_SAID, ""):
            st.info(markup.plain(said))
    class_board.render(place.code, room)
    lesson.question(text("class_room_question"))
    st.button("Leave this page of the room", key="class-leave", on_click=class_place.leave, type="tertiary")
    st.caption(text("class_room_teacher_key"))


def _address(room: Room) -> None:
    """Where students find the door, with the code filled in."""
    here = st.context.url
    if here:
        st.markdown(f"Students open `{here}?room={room.code}` and press *Join*.")


def _controls(place: Place, room: Room) -> None:
    with st.container(horizontal=True):
        _switch(place, "revealed", room.revealed, "Show the true counts", "Hide the true counts", main=True)
        _switch(place, "full", room.full, "Let nobody else in", "Let others in")
        st.button("Remove idle students", key="class-free", on_click=_free, args=(place,))
        _switch(place, "closed", room.closed, "Close the room", "Open it again")
        with st.popover("Remove a student", key="class-remove"):
            students = dict(access.service().board(place.code).students)
            st.selectbox(
                "Student",
                list(students),
                index=None,
                key=_STUDENT,
                format_func=lambda number: f"{number}: {class_board.called(number, students.get(number, ''))}",
                placeholder="Choose one",
            )
            st.markdown("The place is freed, and its answers are deleted.")
            st.button("Remove", key="class-remove-one", on_click=_remove, args=(place,))


def _switch(place: Place, setting: str, now: bool, on: str, off: str, *, main: bool = False) -> None:
    st.button(
        off if now else on,
        key=f"class-{setting}",
        on_click=_set,
        args=(place, setting, not now),
        type="primary" if main else "secondary",
    )


def _set(place: Place, setting: str, value: bool) -> None:
    try:
        access.service().steer_room(place.code, place.key, **{setting: value})
    except FrostglassError as refusal:
        st.session_state[_SAID] = str(refusal)


def _free(place: Place) -> None:
    try:
        freed = access.service().free_seats(place.code, place.key)
        st.session_state[_SAID] = f"{freed} student{'' if freed == 1 else 's'} removed."
    except FrostglassError as refusal:
        st.session_state[_SAID] = str(refusal)


def _remove(place: Place) -> None:
    student = st.session_state.pop(_STUDENT, None)
    if student is None:
        st.session_state[_SAID] = "Choose a student first."
        return
    try:
        access.service().remove_student(place.code, place.key, student)
        st.session_state[_SAID] = "1 student removed."
    except FrostglassError as refusal:
        st.session_state[_SAID] = str(refusal)
