"""Setting up a run: what it does, what it costs, a free rehearsal, and on to the review."""

from __future__ import annotations

from typing import Any

import streamlit as st

from dpcore.errors import RequestError
from dpcore.privacy import format_epsilon, parse_epsilon
from dpcore.requests import DatasetInfo, Quote, RunRequest
from pages.components import access, configure, epsilon, markup, result, review
from pages.components.families import Family
from pages.components.texts import step_name, text


def show(dataset: DatasetInfo, family: Family) -> None:
    """The form of a run, its price, and the two ways to go on."""
    with st.container(border=True, key="card-what"):
        target = _target(dataset, family)
        parameters, fault = access.attempt(family.parameters)
    with st.container(border=True, key="card-epsilon"):
        entry = epsilon.choose()
        request, problem = None, fault
        if parameters is not None:
            request, problem = access.attempt(
                lambda: _request(dataset, family, target, entry, parameters)
            )
        quote = _quote(request, problem)
        if quote is not None and family.hint is not None:
            family.hint(quote)
    _buttons(dataset, request, quote)
    _rehearsal(request)


def _target(dataset: DatasetInfo, family: Family) -> str | None:
    """The column to predict; empty for a family that predicts none."""
    if not family.targeted:
        return ""
    return configure.target(dataset.schema, numbers=family.numbers)


def _request(
    dataset: DatasetInfo,
    family: Family,
    target: str | None,
    entry: str,
    parameters: dict[str, Any],
) -> RunRequest:
    if target is None:
        raise RequestError("Choose what should be predicted.")
    return RunRequest(
        dataset_id=dataset.id,
        algorithm=family.name,
        target=target,
        epsilon=parse_epsilon(entry),
        parameters=parameters,
    )


def _quote(request: RunRequest | None, problem: str | None) -> Quote | None:
    quote = None
    if request is not None:
        quote, problem = access.attempt(lambda: access.service().quote(request, access.ANALYST))
    if quote is None:
        st.error(problem)
        return None
    access.show_cost_of_this_run(quote.cost, quote.plan.delta)
    first, *_ = quote.plan.count_noise
    markup.notice("plain", f"Noise on {first.what}: ±{first.margin()}, 95%.", _meaning(quote))
    epsilon.advise(quote.cost)
    if not quote.affordable:
        st.error(markup.plain(quote.refusal), title="Over budget")
    return quote


def _meaning(quote: Quote) -> str:
    first, *others = quote.plan.count_noise
    *some, last = [
        f"ε {format_epsilon(part)} for {step_name(step)}"
        for step, part in quote.plan.split.parts.items()
        if part
    ]
    split = f"{', '.join(some)} and {last}" if some else last
    more = "".join(f" Noise on {kind.what}: ±{kind.margin()}." for kind in others)
    clear = 3 * first.margin()
    return f"Counts of {clear} and more stand out clearly.{more} This uses {split}."


def _buttons(dataset: DatasetInfo, request: RunRequest | None, quote: Quote | None) -> None:
    left, right = st.columns(2)
    with left:
        if st.button("Rehearse (free)", disabled=quote is None, width="stretch"):
            _rehearse(request)
        st.caption(text("rehearsal"))
    with right:
        st.button(
            "Review and spend …",
            type="primary",
            disabled=quote is None or not quote.affordable,
            on_click=review.open_review,
            args=(request, dataset.name),
            width="stretch",
        )
        st.caption("Opens a summary. Nothing is spent until you confirm there.")


def _rehearse(request: RunRequest | None) -> None:
    assert request is not None
    with st.spinner("Rehearsing on synthetic data …"):
        release, problem = access.attempt(lambda: access.service().rehearse(request))
    if problem:
        st.error(problem)
    st.session_state[access.REHEARSAL_KEY] = (request, release)


def _rehearsal(request: RunRequest | None) -> None:
    rehearsed, release = st.session_state.get(access.REHEARSAL_KEY, (None, None))
    if release is None or request is None or not _alike(rehearsed, request):
        return
    st.divider()
    st.header("Rehearsal", anchor=False)
    if rehearsed != request:
        st.info("The settings have changed since. Rehearse again to see their effect.")
    result.show(release, key="rehearsal", rehearsal=True)


def _alike(one: RunRequest, other: RunRequest) -> bool:
    return one.dataset_id == other.dataset_id and one.algorithm == other.algorithm
