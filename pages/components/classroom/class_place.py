"""Which classroom the visitor is in, as student or teacher: kept in the session and in the address.

The address brings people back after a reload; the session after a look at another page.
"""

from __future__ import annotations

from typing import NamedTuple

import streamlit as st

from dpcore.errors import FrostglassError
from pages.components.visitor import access

_ROOM, _KEY, _ROLE = "room", "key", "as"
_PLACE = "class-place"
#: Where a refusal is kept until the page is drawn: at the door, or beside the question.
REFUSED = "class-refused"
_TEACHER, _STUDENT = "teacher", "student"


class Place(NamedTuple):
    """A room and the key that the visitor has to it."""

    code: str
    key: str
    teaches: bool


def here() -> Place | None:
    """Where the visitor is, if the room still exists and the key fits."""
    place = _named() or st.session_state.get(_PLACE)
    if place is None or not _good(place):
        return None
    enter(place)
    return place


def enter(place: Place) -> None:
    """Note where the visitor is."""
    st.session_state[_PLACE] = place
    wanted = {_ROOM: place.code, _KEY: place.key, _ROLE: _TEACHER if place.teaches else _STUDENT}
    for name, value in wanted.items():
        if st.query_params.get(name) != value:
            st.query_params[name] = value


def leave() -> None:
    """Forget it. For use in callbacks."""
    st.session_state.pop(_PLACE, None)
    for name in (_ROOM, _KEY, _ROLE):
        st.query_params.pop(name, None)


def asked_for() -> str:
    """Code of a room in the address, for somebody who has no place in it yet."""
    return str(st.query_params.get(_ROOM, ""))[:12]


def _named() -> Place | None:
    named = {name: st.query_params.get(name, "") for name in (_ROOM, _KEY, _ROLE)}
    if not (named[_ROOM] and named[_KEY] and named[_ROLE] in {_TEACHER, _STUDENT}):
        return None
    return Place(named[_ROOM], named[_KEY], named[_ROLE] == _TEACHER)


def _good(place: Place) -> bool:
    try:
        if place.teaches:
            return access.service().steers_room(place.code, place.key)
        access.service().seat(place.code, place.key)
    except FrostglassError:
        return False
    return True
