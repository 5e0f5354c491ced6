"""Six short lessons and a sandbox, on public numbers only. All of it is free."""

from __future__ import annotations

import streamlit as st

from pages.components.kit import markup
from pages.components.kit.texts import text
from pages.components.lessons import attacks, budget, histogram, neighbours, noise, odds, sandbox

LESSONS = {
    "1 Noise": noise.show,
    "2 Neighbours": neighbours.show,
    "3 Odds": odds.show,
    "4 Budget": budget.show,
    "5 Histogram": histogram.show,
    "6 Attacks": attacks.show,
    "Sandbox": sandbox.show,
}


def page() -> None:
    st.title("Learn", anchor=False)
    markup.lead("Six short lessons: what noise does, what it costs, and what it prevents.")
    markup.notice("public", "Free.", text("lesson_free"))
    for tab, show in zip(st.tabs(list(LESSONS), key="lessons"), LESSONS.values(), strict=True):
        with tab:
            show()


page()
