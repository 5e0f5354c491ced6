"""A course in short lessons, each of which asks before it tells, on public numbers only. All of it is free."""

from __future__ import annotations

import streamlit as st

from pages.components.kit import markup
from pages.components.kit.markup import text
from pages.components.lessons import course
from pages.components.visitor import menu


def page() -> None:
    st.title("Learn", anchor=False)
    markup.lead("Thirteen short lessons and a sandbox. Each lesson asks first: guess, then see what is true.")
    markup.notice("public", "Free.", text("lesson_free"))
    menu.link("class_room.py", "With a class: join or open a classroom")
    course.render()


page()
