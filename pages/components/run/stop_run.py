"""The ways to stop a run: free while it waits; later only after a question that names the cost.

The free button asks the engine for nothing else: if the run has begun meanwhile, it goes on.
"""

from __future__ import annotations

import streamlit as st

from dpcore.privacy.budgets import plain_epsilon
from dpcore.workspace.ledger.requests import RunStatus
from pages.components.families import registry
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text
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


def question(active: list[RunStatus]) -> None:
    """The question about one of these runs, if there is one. A page shows one dialog at a time."""
    status = next((run for run in active if run.id == st.session_state.get(_ASKED)), None)
    if status is None:
        _let_go()
    elif not drawing.dialog_is_open():
        _dialog(status)


def ended(run_id: str) -> None:
    """This run has ended: a question about it is closed."""
    if st.session_state.get(_ASKED) == run_id:
        _let_go()


def _let_go() -> None:
    """Ask no longer; the run goes on unless it was stopped."""
    if st.session_state.pop(_ASKED, None) is not None:
        drawing.dialog_answered()


def _cancel(run_id: str) -> None:
    status, _ = access.attempt(lambda: access.service().cancel(run_id, only_free=True))
    if status is None:
        st.session_state[_REFUSED] = run_id


def _ask(run_id: str) -> None:
    st.session_state[_ASKED] = run_id


def _stop(run_id: str) -> None:
    access.attempt(lambda: access.service().cancel(run_id))
    _let_go()


@drawing.dialog("Stop this run?", on_dismiss=_let_go)
def _dialog(status: RunStatus) -> None:
    cost = f"ε {plain_epsilon(status.request.epsilon)}"
    heading = registry.run_heading(status.request)
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
    go_on.button("Let it go on", key="stop-not", on_click=_let_go, width="stretch")
