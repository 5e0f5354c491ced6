"""The review before spending, and the only button of the app that spends."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from decimal import Decimal

import streamlit as st

from dpcore.errors import FrostglassError
from dpcore.privacy.budgets import delta_sentence, format_epsilon
from dpcore.workspace.requests import Quote, RunRequest
from pages.components.families import registry
from pages.components.kit import markup
from pages.components.kit.texts import small, text
from pages.components.run import ask
from pages.components.visitor import access

KEY = "review"


@dataclass
class Review:
    """One opened review. The nonce makes spending idempotent, whatever the browser sends.

    Pressing its button gives it a run or a problem. It is then ``answered``, until the whole page
    has been drawn with that answer: what a dialog draws by itself may get lost on its way if
    another part of the page refreshes in the same moment.
    """

    request: RunRequest
    dataset_name: str
    nonce: str
    run_id: str | None = None
    problem: str = ""
    answered: bool = False


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
    if review is None:
        return False
    review.answered = False
    if review.run_id is None:
        return False
    st.query_params[access.RUN_PARAMETER] = review.run_id
    st.session_state.pop(access.REHEARSAL_KEY, None)
    close_review()
    return True


def is_answered() -> bool:
    """Whether a review waits for the whole page to be drawn with its answer.

    The dialog asks for that itself, but a part that refreshes in the same moment may come first:
    so that part asks too.
    """
    review: Review | None = st.session_state.get(KEY)
    return review is not None and review.answered


def show() -> None:
    """Show the review that is open, if one is."""
    review: Review | None = st.session_state.get(KEY)
    if review is not None:
        _dialog(review)


def _spend(review: Review) -> None:
    try:
        review.run_id = access.service().submit(review.request, review.nonce)
    except FrostglassError as refusal:
        review.problem = markup.plain(str(refusal))
    review.answered = True


@st.dialog("Review and spend", width="medium", on_dismiss=close_review)
def _dialog(review: Review) -> None:
    if review.answered:
        st.rerun()
    quote, problem = access.attempt(lambda: access.service().quote(review.request))
    if quote is None:
        st.error(problem)
        return
    markup.pairs_table("What you are about to do", ("What", "Value"), _lines(review, quote))
    _promise(quote)
    st.markdown(text("irreversible"))
    if review.problem or not quote.affordable:
        st.error(review.problem or markup.plain(quote.refusal))
    before = quote.balance_before
    if quote.cost > before.left and before.frozen is None:
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
    before = format_epsilon(quote.balance_before.left, up=False)
    more = quote.runs_like_this_left
    after = f"ε {format_epsilon(quote.left_after, up=False)}"
    runs = f"about {more} more run{'' if more == 1 else 's'} like this left"
    return {
        "Algorithm": registry.of_request(review.request).describe(review.request.parameters),
        "Data set": review.dataset_name,
        **registry.predicted("To predict", review.request.target),
        "Cost now": f"ε {format_epsilon(quote.cost)}" + _and_delta(quote.plan.delta),
        "Budget before": f"ε {before} left",
        "Budget after": f"{after} left; {runs}" if quote.affordable else "not enough",
        **_delta_used(quote),
        **{f"Noise on {kind.what}": f"±{kind.margin()}, 95%" for kind in quote.plan.count_noise},
    }


def _and_delta(delta: Decimal) -> str:
    return f", δ {small(delta)}" if delta else ""


def _delta_used(quote: Quote) -> dict[str, str]:
    """What δ adds up to; nothing if no run has one."""
    before, now = quote.balance_before.delta, quote.plan.delta
    if not before + now:
        return {}
    return {"δ of all runs": f"{small(before) if before else 0} before, {small(before + now)} after"}


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
