"""For the owner of the data: upload, describe, set budgets, read the ledger."""

from __future__ import annotations

import streamlit as st

from pages.components import budgets, intake, markup

ADD, BUDGETS = "Add a data set", "Budget and ledger"


def page() -> None:
    st.title("Custodian", anchor=False)
    markup.lead("Add a data set, decide what is public about it and how much privacy may be spent.")
    view = st.segmented_control(
        "Task", [ADD, BUDGETS], default=ADD, required=True, key="custodian-view",
        label_visibility="collapsed", persist_state="session",
    )  # fmt: skip
    if view == BUDGETS:
        budgets.show()
    else:
        intake.show()


page()
