"""The custodian's view of requests for more: what is open, with a form to answer; what was."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal
from html import escape

import streamlit as st

from dpcore.errors import ConflictError, FrostglassError
from dpcore.privacy.budgets import parse_limit, percent, plain_epsilon
from dpcore.report import spending
from dpcore.workspace.ledger.accounts import (
    REASON_LIMIT,
    Account,
    Balance,
    BudgetRequest,
    LedgerEntry,
    missing_for,
)
from pages.components.kit import drawing, markup
from pages.components.visitor import access

_SAID, _SEEN = "requests-said", "requests-seen"
_HEADER = ("Asked", "Analyst", "Data set", "More, ε", "Reason", "Answer", "By", "What was written")


def render() -> None:
    """The queue, and below it the answered ones."""
    access.tell_outcome(_SAID)
    asked = access.service().budget_requests()
    names = {key: info.name for key, info in access.datasets().items()}
    waiting = {str(one.number): one for one in asked if one.state == "open"}
    for number, card in drawing.placeholders(_SEEN, list(waiting)).items():
        with card:
            _card(waiting[number], names)
    if not waiting:
        markup.empty("No open request", "When an analyst asks for more, it appears here.")
    _answered([one for one in reversed(asked) if one.state != "open"], names)


def _card(request: BudgetRequest, names: Mapping[str, str]) -> None:
    accounts = access.service().accounts(request.dataset_id)
    account = next(one for one in accounts if one.analyst == request.analyst)
    whole = access.service().total_balance(request.dataset_id)
    with st.container(border=True, key=f"card-request-{request.number}"):
        _heading(request, names)
        markup.facts(_facts(account, whole))
        st.caption("Reason")
        st.text(request.reason)
        with drawing.placeholder():
            _advise(request, account, whole)
        _form(request, account, whole)


def _heading(request: BudgetRequest, names: Mapping[str, str]) -> None:
    """Who asks for how much; not Markdown, which makes links of addresses."""
    asks = f"{request.analyst} asks for {spending.left(request.epsilon)} more"
    where = f"On {names.get(request.dataset_id, '')}, {request.time:%Y-%m-%d %H:%M} UTC"
    st.html(f'<div class="fg-request"><h2>{escape(asks)}</h2><p class="fg-note">{escape(where)}</p></div>')


def _facts(account: Account, whole: Balance) -> dict[str, str]:
    reserved = account.balance.reserved
    return {
        "Limit now": spending.standing(account.standing),
        "Spent": percent(account.balance.spent),
        **({"Reserved": percent(reserved)} if reserved else {}),
        "Left": percent(account.balance.left, up=False),
        "Left of the data set": percent(whole.left, up=False),
    }


def _advise(request: BudgetRequest, account: Account, whole: Balance) -> None:
    if account.standing.frozen is not None:
        markup.notice(
            "amber",
            "This analyst is frozen.",
            f"A grant alone does not unfreeze them. The reason given: {account.standing.frozen}",
        )
    if not whole.epsilon.is_finite():
        markup.notice(
            "amber",
            "Nothing bounds what was spent on the data set at the δ of its total.",
            "Nothing can be run on it, whatever is granted, until you raise that δ: see the view Budget.",
        )
    if account.standing.limit is None:
        markup.notice(
            "plain",
            "This analyst has no limit of their own.",
            "What you grant becomes one: it is all that they may spend on this data set, together with what is spent.",
        )
    if more := missing_for(_proposed(request, account), account.balance, whole):
        markup.notice(
            "amber",
            "The data set has less left than is asked for.",
            f"A grant alone could not be spent. Tick the box below to raise the total by {spending.left(more)}, too.",
        )


def _form(request: BudgetRequest, account: Account, whole: Balance) -> None:
    keys = tuple(f"answer-{part}-{request.number}" for part in ("limit", "reason", "raise"))
    with st.form(f"answer-{request.number}", border=False, enter_to_submit=False):
        left, right = st.columns([1, 2])
        left.text_input("New limit in all, ε", plain_epsilon(_proposed(request, account)), key=keys[0])
        right.text_input("Answer (the analyst reads it; needed to decline)", key=keys[1], max_chars=REASON_LIMIT)
        with drawing.placeholder():
            if missing_for(_proposed(request, account), account.balance, whole):
                st.checkbox("Also raise the total of the data set, so that the grant can be spent", key=keys[2])
        with st.container(horizontal=True):
            for label, grants in (("Grant", True), ("Decline", False)):
                st.form_submit_button(
                    label,
                    type="primary" if grants else "secondary",
                    key=f"{label}-{request.number}",
                    on_click=_answer,
                    args=(request, grants, *keys),
                )


def _proposed(request: BudgetRequest, account: Account) -> Decimal:
    """What is asked for, on top of the limit, or of what is used if that is more and anything bounds it."""
    used, limit = account.balance.epsilon, account.standing.limit or Decimal(0)
    return (max(used, limit) if used.is_finite() else limit) + request.epsilon


def _answer(request: BudgetRequest, grants: bool, limit: str, reason: str, raises: str) -> None:
    """For use as a callback."""
    state = st.session_state

    def act() -> None:
        amount = parse_limit(state[limit]) if grants else None
        access.service().answer(request.number, amount, state[reason])
        if amount is not None and state.get(raises):
            try:
                _raise_total(request, amount)
            except FrostglassError as problem:
                told = f"The request is granted, but the total was not raised: {problem} Raise it below."
                raise ConflictError(told) from None

    done = "granted" if grants else "declined"
    access.note_outcome(_SAID, act, f"The request is {done}.")


def _raise_total(request: BudgetRequest, limit: Decimal) -> None:
    """Let a data set have room for a limit that was granted."""
    service = access.service()
    account = next(one for one in service.accounts(request.dataset_id) if one.analyst == request.analyst)
    whole = service.total_balance(request.dataset_id)
    if more := missing_for(limit, account.balance, whole):
        note = f"raised with the grant to {request.analyst}"[:REASON_LIMIT]
        service.raise_caps(request.dataset_id, budget=whole.cap + more, note=note)


def _answered(answered: Sequence[BudgetRequest], names: Mapping[str, str]) -> None:
    if not answered:
        return
    st.header("Answered", anchor=False)
    lines = {entry.answers: entry for entry in access.service().ledger_entries() if entry.answers is not None}
    rows = (_row(one, lines[one.number], names) for one in answered)
    markup.table("Newest first", _HEADER, rows)


def _row(request: BudgetRequest, answer: LedgerEntry, names: Mapping[str, str]) -> str:
    end = "declined" if request.granted is None else f"granted: {spending.left(request.granted)} in all"
    return markup.row(
        [
            markup.unbroken(f"{request.time:%Y-%m-%d}"),
            markup.roomy(request.analyst),
            escape(names.get(request.dataset_id, "")),
            markup.unbroken(plain_epsilon(request.epsilon)),
            markup.roomy(request.reason),
            markup.unbroken(end),
            markup.roomy(answer.actor or ""),
            markup.roomy(request.answer),
        ]
    )
