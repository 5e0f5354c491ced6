"""What do you want to know? Proposes a method and an epsilon, with reasons, and sets the run up. Free."""

from __future__ import annotations

import streamlit as st

from pages.components.kit import markup
from pages.components.run import advice_form
from pages.components.visitor import access, menu


def page() -> None:
    st.title("Which method?", anchor=False)
    markup.lead("Say what you want to know. What is proposed follows from public facts alone and costs nothing.")
    dataset = access.chosen_dataset()
    if dataset is None:
        markup.empty("No data set yet", "Start with public demonstration data, or add your own.")
        menu.link("data_sets.py", "Go to Data sets")
        return
    advice_form.render(dataset)


page()
