"""The door of the classrooms: join one by its code, or open one as a teacher."""

from __future__ import annotations

import secrets

import streamlit as st

from dpcore.errors import FrostglassError
from dpcore.workspace.people.class_rooms import CAPS, HOURS, NAME, SEATS
from pages.components.classroom import class_place
from pages.components.classroom.class_place import REFUSED, Place
from pages.components.kit import drawing, markup
from pages.components.visitor import access, login, remembered

_CODE, _NAME, _CAP = "class-code", "class-name", "class-cap"
_BROWSER = "class-browser"


def render() -> None:
    """Two cards, side by side where there is room."""
    with drawing.placeholder():
        if refusal := st.session_state.pop(REFUSED, ""):
            st.error(markup.plain(refusal))
    with drawing.placeholder():
        if not login.login_needed():
            remembered.remember(remembered.SEAT, _browser())
    left, right = st.columns(2)
    with left, st.container(border=True, key="card-class-join"):
        _join()
    if login.may("teacher"):
        with right, st.container(border=True, key="card-class-open"):
            _open()


def _join() -> None:
    st.subheader("Join a room", anchor=False)
    st.session_state.setdefault(_CODE, class_place.asked_for())
    st.text_input("Code of the room", max_chars=12, key=_CODE, help="Your teacher has it: six letters and digits.")
    st.text_input(
        "Your name, if you like",
        max_chars=NAME,
        key=_NAME,
        autocomplete="off",
        help="Everybody in the room reads it. Without a name you have a number.",
    )
    st.button("Join", key="class-join", on_click=_enter, type="primary")


def _enter() -> None:
    code, name = (str(st.session_state.get(key, "")) for key in (_CODE, _NAME))
    try:
        key = access.service().join_room(code, name, None if login.login_needed() else _browser())
        room = access.service().board(code).room
    except FrostglassError as refusal:
        st.session_state[REFUSED] = str(refusal)
        return
    class_place.enter(Place(room.code, key, teaches=False))


def _browser() -> str:
    """What tells this browser from others, for a day: whoever joins a room twice comes back to one place."""
    known = st.session_state.get(_BROWSER) or remembered.remembered(remembered.SEAT) or secrets.token_urlsafe(16)
    st.session_state[_BROWSER] = known
    return str(known)


def _open() -> None:
    st.subheader("Open a room", anchor=False)
    st.markdown(f"For at most {SEATS} students. It lasts {HOURS} hours; then it is deleted with all answers.")
    st.segmented_control(
        "Toy budget of each student",
        CAPS,
        default=CAPS[1],
        required=True,
        key=_CAP,
        format_func=lambda cap: f"ε {cap:f}",
    )
    st.button("Open a room", key="class-open", on_click=_begin, type="primary")
    for room in access.service().own_rooms():
        state = "closed" if room.closed else "open"
        st.button(
            f"Back to room {room.code} ({state})", key=f"class-back-{room.code}", on_click=_return, args=(room.code,)
        )


def _begin() -> None:
    try:
        room, key = access.service().open_room(st.session_state[_CAP])
    except FrostglassError as refusal:
        st.session_state[REFUSED] = str(refusal)
        return
    class_place.enter(Place(room.code, key, teaches=True))


def _return(code: str) -> None:
    """A teacher who has logged in needs no key."""
    class_place.enter(Place(code, "mine", teaches=True))
