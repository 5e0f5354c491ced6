"""The analyst's way to ask the custodian for more budget."""

from __future__ import annotations

from decimal import Decimal

import streamlit as st

from dpcore.privacy.budgets import parse_epsilon, percent, plain_epsilon
from dpcore.report import spending
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.ledger.accounts import REASON_LIMIT, BudgetRequest
from pages.components.kit import drawing
from pages.components.kit.markup import plain, text
from pages.components.visitor import access, login, menu

#: Followed by a data set: several forms may stand on one page.
_SAID = "ask-said"
_CUSTODIAN = "You are the custodian here: change the budget on the page Custodian."


def offer(dataset: DatasetInfo, short_by: Decimal | None = None) -> None:
    """What became of the visitor's last request, and a form for a new one.

    Without a login, a link to where the local user changes the budget.
    """
    if not login.login_needed():
        st.markdown(_CUSTODIAN)
        menu.link("custodian.py", "Change the budget")
        return
    if not login.may("analyst", "teacher"):
        return
    access.tell_outcome(f"{_SAID}-{dataset.id}")
    last = _newest(dataset.id)
    with drawing.placeholder():
        if last is not None:
            st.markdown(_state(last))
            st.markdown(_blocked(dataset, last))
    if access.service().balance(dataset.id).frozen is not None:
        st.markdown("More budget does not help while yours is frozen: write to the custodian.")
    elif last is None or last.state != "open":
        _form(dataset, short_by)


def sentence() -> str:
    """Where to get more budget, for a place without room for a form."""
    if not login.login_needed():
        return _CUSTODIAN
    return "You can ask for more: close this summary and look below the price of the run."


def _newest(dataset_id: str) -> BudgetRequest | None:
    """The visitor's own last request on a data set, or on another that shares its budget."""
    own = access.service().own_requests(dataset_id)
    return own[-1] if own else None


def _state(last: BudgetRequest) -> str:
    more, day = spending.left(last.epsilon), f"{last.time:%Y-%m-%d}"
    if last.state == "open":
        return f"You asked for {more} more on {day}; the custodian has not answered yet."
    limit = "" if last.granted is None else f": {spending.left(last.granted)} in all, with what you have spent"
    told = f"Your request of {day} for {more} more was {last.state}{limit}."
    answer = plain(" ".join(last.answer.split()))
    return f"{told} The custodian wrote: {answer}" if answer else told


def _blocked(dataset: DatasetInfo, last: BudgetRequest) -> str:
    """What keeps somebody from spending what was granted, if the total of the data set does."""
    service = access.service()
    if last.state != "granted":
        return ""
    own, whole = service.balance(dataset.id), service.total_balance(dataset.id)
    if own.left >= own.cap_states[0].left():
        return ""
    return (
        f"Yet the data set has only {percent(whole.left, up=False)} of its budget left for everybody. Ask the "
        "custodian to raise its total."
    )


def _form(dataset: DatasetInfo, short_by: Decimal | None) -> None:
    amount, proposed = _proposal(dataset.id, "" if short_by is None else plain_epsilon(short_by))
    reason = f"ask-reason-{dataset.id}"
    with st.form(f"ask-{dataset.id}"):
        st.markdown(f"**Ask for more budget.** {text('ask')}")
        left, right = st.columns([1, 2])
        left.text_input("How much more, ε", proposed, key=amount, placeholder="for example 0.5")
        right.text_input("Reason (the custodian reads it)", key=reason, max_chars=REASON_LIMIT)
        st.form_submit_button("Ask the custodian", on_click=_ask, args=(dataset.id, amount, reason))


def _proposal(dataset_id: str, proposed: str) -> tuple[str, str]:
    """Key of the entry of an amount, and what is proposed there: the same, if something else was typed over it.

    A new proposal is a new entry: every drawing of it brings its value, also if the first one is interrupted.
    """
    state, kept, entry = st.session_state, f"ask-proposed-{dataset_id}", f"ask-amount-{dataset_id}"
    last = state.get(kept, proposed)
    if state.get(f"{entry}-{last}", last) == last:
        last = proposed
    state[kept] = last
    return f"{entry}-{last}", last


def _ask(dataset_id: str, amount: str, reason: str) -> None:
    """For use as a callback."""
    state = st.session_state

    def act() -> BudgetRequest:
        return access.service().ask(dataset_id, parse_epsilon(state[amount]), state[reason])

    access.note_outcome(f"{_SAID}-{dataset_id}", act, "Your request is on its way to the custodian.")
