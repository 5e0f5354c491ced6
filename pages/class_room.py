"""A classroom: everybody asks with a toy budget of their own; one board shows all answers."""

from __future__ import annotations

import streamlit as st

from pages.components.classroom import class_door, class_place, class_student, class_teacher
from pages.components.kit import markup
from pages.components.kit.markup import text


def page() -> None:
    st.title("Classroom", anchor=False)
    markup.lead("One question, many noisy answers: each student asks for themselves, and one board shows them all.")
    markup.notice("public", "Free.", text("class_room_free"))
    place = class_place.here()
    if place is None:
        class_door.render()
    elif place.teaches:
        class_teacher.render(place)
    else:
        class_student.render(place)


page()
