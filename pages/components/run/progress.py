"""Runs in progress and how they ended. What is shown comes from the ledger, never the session."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Final

import streamlit as st

from dpcore.privacy.budgets import plain_epsilon
from dpcore.released.workload import duration
from dpcore.workspace.ledger.requests import RunStatus
from pages.components.families import registry
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text
from pages.components.run import stop_run
from pages.components.visitor import access, login

#: What is ready within so many seconds needs no time of day.
_SOON: Final = 90
_ENDINGS = {
    "cancelled": "The run was cancelled",
    "failed": "The run failed",
    "interrupted": "The run was interrupted",
}


def render(dataset_id: str) -> tuple[RunStatus | None, str]:
    """Cards of the visitor's runs on a data set, and of the run in the address.

    Returns the run named in the address, if any, and a key of all that was shown: empty if
    there was nothing.
    """
    named, problem = _named_run()
    if named is not None:
        _select_data_set_of(named, dataset_id)
    if problem:
        st.warning(problem)
    return named, "-".join(_cards(dataset_id, named))


def watch_active(dataset_id: str) -> None:
    """A card for each run of the visitor's in progress, whichever tab started it."""
    _cards(dataset_id, None)


def _cards(dataset_id: str, named: RunStatus | None) -> list[str]:
    """Draw the cards, oldest run first, that in the address last; return whose they are."""
    runs = _in_their_places(dataset_id)
    going_on = [status for status in runs if status.active]
    if named is not None and named.id not in [status.id for status in runs]:
        runs.append(named)
    stop_run.question(going_on)
    for status in runs:
        if status.active:
            _watch(status)
        else:
            _ended(status, named, going_on)
    return [status.id for status in runs]


def _in_their_places(dataset_id: str) -> list[RunStatus]:
    """The visitor's runs, such that no button comes to stand where that of another run was.

    One that ends keeps its place as long as a run goes on below it; new ones come last.
    """
    service = access.service()
    runs = service.runs(dataset_id, active=True)  # To custodians everybody's.
    found = {run.id: run for run in reversed(runs) if run.analyst == service.user.name}
    key = f"run-cards-{dataset_id}"
    drawn: list[str] = st.session_state.get(key, [])
    for run_id in drawn:
        if run_id not in found:
            ended, _ = access.attempt(partial(service.run, run_id))
            if ended is not None:
                found[run_id] = ended
    kept = [*(run for run in drawn if run in found), *(run for run in found if run not in drawn)]
    while kept and not found[kept[-1]].active:
        kept.pop()
    st.session_state[key] = kept
    return [found[run] for run in kept]


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


def _watch(status: RunStatus) -> None:
    with st.container(border=True, key=f"card-run-{status.id}"):
        _follow(status.id, status.state)
        if _is_own(status):
            stop_run.button(status)


@drawing.every(1)
def _follow(run_id: str, drawn: str) -> None:
    """The part of a card that refreshes itself; ``drawn`` is the state that its button is for."""
    login.follow()
    status, problem = access.attempt(lambda: access.service().run(run_id))
    if status is None:
        st.warning(problem)
        return
    if status.state != drawn:
        ended = not status.active
        if ended and access.RUN_PARAMETER not in st.query_params:  # Else another is being read.
            st.query_params[access.RUN_PARAMETER] = run_id
        if ended:
            stop_run.ended(run_id)
            drawing.follow_dialog()
        drawing.again()
    _panel(status)


def _panel(status: RunStatus) -> None:
    _heading(status)
    waiting = status.state == "queued"
    st.progress(0.0 if waiting else status.fraction, text=_words(status))
    st.caption(text("leave_page"))
    if _is_own(status):
        st.markdown(stop_run.words(status))


def _heading(status: RunStatus) -> None:
    heading = markup.plain(registry.run_heading(status.request))
    st.subheader(f"{heading}, ε = {plain_epsilon(status.request.epsilon)}", anchor=False)
    family = registry.of_request(status.request)
    started = f"{markup.local_time(status.created):%Y-%m-%d %H:%M}"
    st.caption(markup.plain(f"{family.describe(status.request.parameters)} · started {started}"))
    _by(status)


def _is_own(status: RunStatus) -> bool:
    return status.analyst == access.service().user.name


def _by(status: RunStatus) -> None:
    """Whose a run is, if it is not the visitor's: custodians may follow all."""
    if not _is_own(status):
        st.caption(f"This is a run by {markup.person(status.analyst)}.")


def _words(status: RunStatus) -> str:
    if status.state == "queued":
        return f"Waiting for a free worker{_behind(status.ahead)}"
    step = status.step or "starting"
    return f"{step[:1].upper()}{step[1:]}: {status.fraction:.0%} of the run is done{_ready(status.ready)}"


def _behind(ahead: int) -> str:
    """How many runs go first."""
    return "" if not ahead else "; 1 other run goes first" if ahead == 1 else f"; {ahead} other runs go first"


def _ready(ready: datetime | None) -> str:
    """When a run should be done: at a time of the visitor's own clock, unless that is soon."""
    if ready is None:
        return ""
    seconds = (ready - datetime.now(UTC)).total_seconds()
    if seconds < _SOON:
        return f", ready in {duration(seconds)}"
    return f", ready at about {markup.local_time(ready):%H:%M}"


def _ended(status: RunStatus, named: RunStatus | None, going_on: list[RunStatus]) -> None:
    """How a run ended: in its card while runs go on; the one in the address can be closed."""
    card = st.container(border=bool(going_on), key=f"{'card' if going_on else 'end-of'}-run-{status.id}")
    with card:
        if going_on:
            _heading(status)
        else:
            _by(status)
        _ending(status)
        if named is not None and status.id == named.id:
            st.button("Close", key="close-run", on_click=access.forget_run, help="Hides this; the result stays.")


def _ending(status: RunStatus) -> None:
    cost = f"ε {plain_epsilon(status.request.epsilon)}"
    if status.state == "done":
        markup.notice(
            "plain",
            "Finished.",
            f"This run was asked for at {cost}. Reading its result again is free.",
        )
    else:
        kept = "spent" if status.charged else "returned to the budget"
        show_it = st.info if status.state == "cancelled" else st.error
        show_it(f"{markup.plain(status.message)} ({cost} {kept}.)", title=_ENDINGS[status.state])
