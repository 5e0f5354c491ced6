"""The custodian's view of runs whose process may have vanished with its machine."""

from __future__ import annotations

import streamlit as st

from dpcore.privacy.budgets import plain_epsilon
from dpcore.workspace.ledger.accounts import REASON_LIMIT
from dpcore.workspace.ledger.requests import RunStatus
from pages.components.families import registry
from pages.components.kit import markup
from pages.components.kit.markup import text
from pages.components.visitor import access

_SAID = "stranded-said"
_HEADER = ("Started", "Analyst", "Run", "Cost", "Step")


def render() -> None:
    """Such runs on all data sets, and a way to end one; nothing if there are none."""
    runs = {run.id: run for run in access.service().stranded_runs()}
    access.tell_outcome(_SAID)
    if not runs:
        return
    with st.container(border=True, key="card-stranded"):
        st.subheader("Runs that cannot be seen from this machine", anchor=False)
        st.markdown(text("stranded"))
        markup.table("Newest first", _HEADER, map(_row, runs.values()))
        left, right = st.columns(2)
        chosen = left.selectbox("Run", list(runs), format_func=lambda run: _title(runs[run]), key="stranded-run")
        right.text_input("Reason (kept in the ledger)", key="stranded-why", max_chars=REASON_LIMIT)
        st.button("End this run", on_click=_end, args=(chosen,), key="stranded-end")


def _row(run: RunStatus) -> str:
    cost = f"ε {plain_epsilon(run.request.epsilon)}"
    heading = registry.run_heading(run.request)
    cells = (_started(run), run.analyst, heading, cost, run.step or "not begun")
    return markup.row([markup.roomy(cell) for cell in cells])


def _title(run: RunStatus) -> str:
    return f"{_started(run)}, {run.analyst} ({run.id[:6]})"


def _started(run: RunStatus) -> str:
    return f"{run.created:%Y-%m-%d %H:%M} UTC"


def _end(run_id: str) -> None:
    """For use as a callback."""
    why = st.session_state["stranded-why"]
    told = "The run is ended. What it may have spent stays spent."
    if access.note_outcome(_SAID, lambda: access.service().end_run(run_id, why), told):
        st.session_state["stranded-why"] = ""
