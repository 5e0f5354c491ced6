"""The review before spending, and the only button of the app that spends."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import streamlit as st

from dpcore.errors import FrostglassError
from dpcore.numerals import whole
from dpcore.privacy.budgets import at_delta, percent, plain_epsilon
from dpcore.released.workload import duration
from dpcore.report.spending import price
from dpcore.service.advice import limit_far_above
from dpcore.workspace.ledger.requests import Quote, RunRequest
from pages.components.families import registry
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text
from pages.components.run import ask
from pages.components.visitor import access

KEY = "review"


@dataclass
class Review:
    """One opened review. The nonce makes spending idempotent, whatever the browser sends.

    Pressing its button gives it a run or a problem.
    """

    request: RunRequest
    dataset_name: str
    nonce: str
    run_id: str | None = None
    problem: str = ""


def open_review(request: RunRequest, dataset_name: str) -> None:
    """Mint a nonce for this request. For use as a callback."""
    st.session_state[KEY] = Review(request, dataset_name, secrets.token_urlsafe(24))


def close_review() -> None:
    """Forget the review. Nothing has been spent unless its button was pressed."""
    st.session_state.pop(KEY, None)


def follow() -> bool:
    """After an answer: draw the page with it. A run goes into the address instead of the review.

    The review goes last: if a rerun interrupts this, the next one does it again.

    Returns
    -------
    bool
        Whether a run has just begun.
    """
    review: Review | None = st.session_state.get(KEY)
    if review is None or review.run_id is None:
        return False
    st.query_params[access.RUN_PARAMETER] = review.run_id
    st.session_state.pop(access.REHEARSAL_KEY, None)
    close_review()
    return True


def render() -> None:
    """Show the review that is open, if one is."""
    review: Review | None = st.session_state.get(KEY)
    if review is not None:
        _dialog(review)


def _spend(review: Review) -> None:
    try:
        review.run_id = access.service().submit(review.request, review.nonce)
    except FrostglassError as refusal:
        review.problem = markup.plain(str(refusal))
    drawing.dialog_answered()


@drawing.dialog("Review and spend", width="medium", on_dismiss=close_review)
def _dialog(review: Review) -> None:
    quote, problem = access.attempt(lambda: access.service().quote(review.request))
    if quote is None:
        st.error(problem)
        return
    markup.pairs_table("What you are about to do", ("", ""), _lines(review, quote))
    _warn(review, quote)
    st.caption(text("irreversible"))
    if review.problem or not quote.affordable:
        st.error(review.problem or markup.plain(quote.refusal))
    if quote.short:
        st.markdown(ask.sentence())
    st.button(
        f"Run and spend {percent(quote.share)}",
        type="primary",
        key="spend",
        disabled=not quote.affordable,
        on_click=_spend,
        args=(review,),
        width="stretch",
    )


def _lines(review: Review, quote: Quote) -> dict[str, str]:
    family, noise = registry.of_request(review.request), quote.plan.count_noise[0]
    asked = family.describe(review.request.parameters)
    target = registry.column_label(review.request.dataset_id, review.request.target)
    return {
        "Asks for": f"{asked}, to predict {target}" if review.request.target else asked,
        "Data set": review.dataset_name,
        "Promises": f"ε = {plain_epsilon(quote.epsilon)}{at_delta(quote.plan.delta)}",
        "Takes": price(quote),
        "Left after it": percent(quote.left_after, up=False) if quote.affordable else "not enough",
        f"Noise on {noise.what.partition(' (')[0]}": f"±{whole(noise.margin())}, 95%",
        "Time": duration(quote.forecast.seconds),
    }


def _warn(review: Review, quote: Quote) -> None:
    """What is not as usual: a guarantee with a condition, few records, what the custodian has allowed."""
    counts = review.request.algorithm == "summaries"  # It asks the same with any limit.
    releases = access.service().releases(review.request.dataset_id)
    if few := "" if counts else limit_far_above(releases, quote.plan.schema):
        markup.notice("amber", "Few records.", few)
    if quote.plan.promised != "unconditional":
        st.warning(quote.guarantee, icon="⚠️", title=f"Kind of guarantee: {quote.plan.promised}")
    if quote.allowance:
        st.caption(markup.plain(quote.allowance))
