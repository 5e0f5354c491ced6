"""The review before spending, and the only button of the app that spends."""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import streamlit as st

from dpcore.errors import FrostglassError
from dpcore.numerals import whole
from dpcore.privacy.budgets import at_delta, delta_sentence, format_epsilon
from dpcore.report import spending
from dpcore.report.spending import adds, adds_reason, fitting
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
    markup.pairs_table("What you are about to do", ("What", "Value"), _lines(review, quote))
    if quote.form:
        st.markdown(f"**In which form.** {markup.plain(quote.form)}")
    counts = review.request.algorithm == "summaries"  # It asks the same with any limit.
    releases = access.service().releases(review.request.dataset_id)
    if few := "" if counts else limit_far_above(releases, quote.plan.schema):
        markup.notice("amber", "Few records.", few)
    _promise(quote)
    if quote.allowance:
        st.caption(markup.plain(quote.allowance))
    st.markdown(text("irreversible"))
    if review.problem or not quote.affordable:
        st.error(review.problem or markup.plain(quote.refusal))
    if quote.short:
        st.markdown(ask.sentence())
    st.button(
        f"Run and spend ε = {format_epsilon(quote.cost)}",
        type="primary",
        key="spend",
        disabled=not quote.affordable,
        on_click=_spend,
        args=(review,),
        width="stretch",
    )


def _lines(review: Review, quote: Quote) -> dict[str, str]:
    before, family = quote.balance, registry.of_request(review.request)
    used, at = before.spent + before.reserved, at_delta(before.delta)
    reason = adds_reason(quote)
    so_far = "spent or reserved" if before.reserved else "spent"  # What is reserved may still be cancelled for free.
    after = f"{spending.cost(used + quote.adds)} {so_far}, {spending.left(quote.left_after)} left{at}"
    return {
        "Algorithm": family.describe(review.request.parameters),
        "Data set": review.dataset_name,
        **registry.predicted("To predict", registry.column_label(review.request.dataset_id, review.request.target)),
        **(family.asked(review.request.parameters) if family.asked else {}),
        "Asked for": spending.cost(quote.cost),
        "Adds to what is spent": f"ε {adds(quote)}{at}{reason and f'. {reason}'}",
        "Budget before": f"{spending.cost(used)} {so_far}, {spending.left(before.left)} left{at}",
        "Budget after": after if quote.affordable else "not enough",
        "How many fit": fitting(quote),
        **{f"Noise on {kind.what}": f"±{whole(kind.margin())}, 95%" for kind in quote.plan.count_noise},
        "Time and memory": quote.forecast.text,
    }


def _promise(quote: Quote) -> None:
    promised = quote.plan.promised
    kind = f"Kind of guarantee: {promised}"
    if promised == "unconditional":
        st.markdown(f"**{kind}.** {quote.guarantee}")
    else:
        st.warning(quote.guarantee, icon="⚠️", title=kind)
    st.markdown(f"**What ε means here.** {quote.odds}")
    if quote.plan.delta and promised != "none":
        st.markdown(f"**What δ means here.** {delta_sentence(quote.plan.delta)}")
