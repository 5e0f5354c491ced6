"""The ways to stop a run: free while it waits; later only after a question that names the cost.

The free button asks the engine for nothing else: if the run has begun meanwhile, it goes on.
"""

from __future__ import annotations

import streamlit as st

from dpcore.privacy.budgets import format_epsilon
from dpcore.workspace.requests import RunStatus
from pages.components.families import run_names
from pages.components.kit import markup
from pages.components.kit.texts import text
from pages.components.run import review
from pages.components.visitor import access

#: The run about which the visitor is being asked.
_ASKED = "stop-asked"
_REFUSED = "stop-refused"


def button(status: RunStatus) -> None:
    """Below a run that has not ended."""
    if status.state == "queued":
        st.button("Cancel run (free)", key=f"cancel-{status.id}", on_click=_cancel, args=(status.id,))
    else:
        st.button("Stop run …", key=f"stop-{status.id}", on_click=_ask, args=(status.id,))


def words(status: RunStatus) -> str:
    """What stopping a run means; first, if a press of the free button came too late, that."""
    if status.state == "queued":
        return text("cancel_queued")
    refused = st.session_state.get(_REFUSED) == status.id
    return text("cancel_refused" if refused else "cancel_running")


def being_asked() -> str | None:
    """The run about which there is a question on the page."""
    asked: str | None = st.session_state.get(_ASKED)
    return asked


def question(active: list[RunStatus]) -> None:
    """The question about one of these runs, if there is one. A page shows one dialog at a time."""
    status = next((run for run in active if run.id == being_asked()), None)
    if status is None:
        let_go()
    elif review.KEY not in st.session_state:
        _dialog(status)


def let_go() -> None:
    """The run goes on."""
    st.session_state.pop(_ASKED, None)


def _cancel(run_id: str) -> None:
    status, _ = access.attempt(lambda: access.service().cancel(run_id, only_free=True))
    if status is None:
        st.session_state[_REFUSED] = run_id


def _ask(run_id: str) -> None:
    st.session_state[_ASKED] = run_id


def _stop(run_id: str) -> None:
    access.attempt(lambda: access.service().cancel(run_id))
    let_go()


@st.dialog("Stop this run?", on_dismiss=let_go)
def _dialog(status: RunStatus) -> None:
    if being_asked() is None:
        st.rerun()
    cost = f"ε {format_epsilon(status.request.epsilon)}"
    heading = run_names.heading(status.request)
    st.markdown(f"**{markup.plain(heading)}** has begun to read records.")
    st.markdown(f"If you stop it, its {cost} stays spent, and there will be no result.")
    # A press that was meant for something else cannot tick a box and then hit a button.
    sure = st.checkbox(f"I give up this result; {cost} stays spent", key=f"stop-sure-{status.id}")
    stop, go_on = st.columns(2)
    stop.button(
        "Stop the run",
        key="stop-now",
        type="primary",
        disabled=not sure,
        on_click=_stop,
        args=(status.id,),
        width="stretch",
    )
    go_on.button("Let it go on", key="stop-not", on_click=let_go, width="stretch")
