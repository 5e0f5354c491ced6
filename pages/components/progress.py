"""Runs in progress and how they ended. What is shown comes from the ledger, never the session."""

from __future__ import annotations

import streamlit as st

from dpcore.privacy import format_epsilon
from dpcore.requests import RunStatus
from pages.components import access, families, markup, refresh, who
from pages.components.texts import text

_ENDINGS = {
    "cancelled": "The run was cancelled",
    "failed": "The run failed",
    "interrupted": "The run was interrupted",
}


def show(dataset_id: str) -> tuple[RunStatus | None, str]:
    """Panels of active runs on a data set.

    Returns the run named in the address, if any, and a key of all that was shown: empty if
    there was nothing.
    """
    named, problem = _named_run()
    if named is not None:
        _select_data_set_of(named, dataset_id)
    shown = watch_active(dataset_id)
    if problem:
        st.warning(problem)
    if named is not None and named.id not in shown:
        if named.active:
            _watch(named.id)
        else:
            _ending(named)
        shown.append(named.id)
    return named, "-".join(shown)


def watch_active(dataset_id: str) -> list[str]:
    """A panel for each run of the visitor's in progress, whichever tab started it."""
    service = access.service()
    runs = service.runs(dataset_id, active=True)  # To custodians everybody's.
    active = [status.id for status in runs if status.analyst == service.user.name]
    for run_id in active:
        _watch(run_id)
    return active


def _named_run() -> tuple[RunStatus | None, str | None]:
    run_id = st.query_params.get(access.RUN_PARAMETER)
    if not run_id:
        return None, None
    return access.attempt(lambda: access.service().run(run_id))


def _select_data_set_of(run: RunStatus, selected: str) -> None:
    """Let the sidebar and the form show the data set that the run in the address is about."""
    if run.request.dataset_id != selected:
        access.choose_later(run.request.dataset_id)
        st.rerun()


def _watch(run_id: str) -> None:
    with st.container(border=True, key=f"card-run-{run_id}"):
        _follow(run_id)
        st.button("Cancel run", key=f"cancel-{run_id}", on_click=_cancel, args=(run_id,))


@refresh.every(1)
def _follow(run_id: str) -> None:
    who.follow()
    status, problem = access.attempt(lambda: access.service().run(run_id))
    if status is None:
        st.warning(problem)
        return
    if not status.active:
        if access.RUN_PARAMETER not in st.query_params:  # Else another result is being read.
            st.query_params[access.RUN_PARAMETER] = run_id
        st.rerun()
    _panel(status)


def _panel(status: RunStatus) -> None:
    cost = format_epsilon(status.request.epsilon)
    heading = families.of_request(status.request).heading(status.request.target)
    st.subheader(f"{markup.plain(heading)}, ε = {cost}", anchor=False)
    _by(status)
    waiting = status.state == "queued"
    st.progress(0.0 if waiting else status.fraction, text=_words(status))
    st.caption(text("leave_page"))
    st.markdown(text("cancel_queued" if waiting else "cancel_running"))


def _by(status: RunStatus) -> None:
    """Whose a run is, if it is not the visitor's: custodians may follow all."""
    if status.analyst != access.service().user.name:
        st.caption(f"This is a run by {markup.person(status.analyst)}.")


def _words(status: RunStatus) -> str:
    if status.state == "queued":
        return "Waiting for a free worker"
    step = status.step or "starting"
    return f"{step[:1].upper()}{step[1:]}: {status.fraction:.0%} of this step"


def _cancel(run_id: str) -> None:
    access.attempt(lambda: access.service().cancel(run_id))


def _ending(status: RunStatus) -> None:
    _by(status)
    cost = f"ε {format_epsilon(status.request.epsilon)}"
    if status.state == "done":
        markup.notice("plain", "Finished.", f"This run spent {cost}. Reading it again is free.")
    else:
        kept = "spent" if status.charged else "returned to the budget"
        show_it = st.info if status.state == "cancelled" else st.error
        show_it(f"{markup.plain(status.message)} ({cost} {kept}.)", title=_ENDINGS[status.state])
    st.button(
        "Close", key="close-run", on_click=access.forget_run, help="Hides this; the result stays."
    )
