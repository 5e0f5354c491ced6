"""For the owner of the data: upload, describe, decide who may spend what, read the ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from pages.components.custodian import analysts, audit_log, budget_requests, budgets, cluster, interrupted_runs, upkeep
from pages.components.custodian.intake import intake
from pages.components.kit import markup
from pages.components.visitor import menu

ADD, REQUESTS = "Add a data set", "Requests"
VIEWS: Mapping[str, Callable[[], None]] = {
    ADD: intake.render,
    "Data set": upkeep.render,
    "Budget": budgets.render,
    "Analysts": analysts.render,
    REQUESTS: budget_requests.render,
    "Audit log": audit_log.render,
}


def page() -> None:
    st.title("Custodian", anchor=False)
    markup.lead("Add a data set, decide what is public about it and how much privacy may be spent.")
    interrupted_runs.render()
    waiting = menu.waiting()
    view = st.segmented_control(
        "Task",
        list(VIEWS),
        default=ADD,
        required=True,
        key="custodian-view",
        format_func=lambda name: f"{name} ({waiting})" if name == REQUESTS and waiting else name,
        label_visibility="collapsed",
        persist_state="session",
    )
    VIEWS[view or ADD]()
    cluster.render()


page()
