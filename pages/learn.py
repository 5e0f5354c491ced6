"""Five short lessons and a sandbox, on public numbers only. All of it is free."""

from __future__ import annotations

import streamlit as st

from pages.components import (
    lesson_attacks,
    lesson_budget,
    lesson_neighbours,
    lesson_noise,
    lesson_odds,
    lesson_sandbox,
    markup,
)
from pages.components.texts import text

LESSONS = {
    "1 Noise": lesson_noise.show,
    "2 Neighbours": lesson_neighbours.show,
    "3 Odds": lesson_odds.show,
    "4 Budget": lesson_budget.show,
    "5 Attacks": lesson_attacks.show,
    "Sandbox": lesson_sandbox.show,
}


def page() -> None:
    st.title("Learn", anchor=False)
    markup.lead("Five short lessons: what noise does, what it costs, and what it prevents.")
    markup.notice("public", "Free.", text("lesson_free"))
    for tab, show in zip(st.tabs(list(LESSONS), key="lessons"), LESSONS.values(), strict=True):
        with tab:
            show()


page()
