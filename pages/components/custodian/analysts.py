"""The custodian's view of analysts: who may spend how much, and who is frozen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import streamlit as st

from dpcore.privacy.budgets import parse_limit, percent
from dpcore.privacy.losses import NOTHING
from dpcore.report import spending
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.ledger.accounts import REASON_LIMIT, Account, Balance, CapState, left_of, missing_for
from dpcore.workspace.people.users import NAME_LENGTH
from pages.components.custodian import budgets
from pages.components.kit import markup
from pages.components.kit.markup import text
from pages.components.visitor import access

_SAID = "analysts-said"
_NEW = "Somebody else"
_HEADER = ("Analyst", "Limit", "Spent", "Reserved", "Left", "Runs", "State")


def render() -> None:
    """Accounts on the data set selected in the sidebar, and ways to change them."""
    dataset = budgets.chosen("Add one first; its analysts appear here.")
    if dataset is None:
        return
    access.tell_outcome(_SAID)
    accounts = {one.analyst: one for one in access.service().accounts(dataset.id)}
    _everybody(dataset, accounts)
    if accounts:
        caption = f"Analysts of {dataset.name}; what is left obeys the total of the data set too"
        markup.table(caption, _HEADER, _rows(list(accounts.values())))
    else:
        markup.empty(
            "No analyst yet",
            "Nobody has been given a budget here, asked for one, or spent anything.",
        )
    _give(dataset, accounts)
    if accounts:
        _stop(dataset, accounts)


def _everybody(dataset: DatasetInfo, accounts: Mapping[str, Account]) -> None:
    balance = access.service().total_balance(dataset.id)
    limits = budgets.limits(access.service().ledger_entries(dataset.id))
    granted = budgets.granted(accounts.values())
    markup.facts(
        {
            "Total budget": spending.total(balance),
            **({"All grants together": spending.left(granted)} if granted else {}),
            "Left in all": percent(balance.left, up=False),
            "Most per analyst": spending.each(limits.analyst_cap),
        }
    )
    if granted > balance.cap:
        st.caption(text("more_granted"))


def _rows(accounts: Sequence[Account]) -> Iterator[str]:
    balances = [account.balance for account in accounts]
    columns = (
        (percent(balance.spent) for balance in balances),
        (percent(balance.reserved) for balance in balances),
        (percent(balance.left, up=False) for balance in balances),
    )
    for account, *budget in zip(accounts, *columns, strict=True):
        frozen = account.standing.frozen
        numbers = (spending.standing(account.standing), *budget, str(account.runs))
        state = "may spend" if frozen is None else f"frozen: {frozen}"
        yield markup.row([markup.roomy(account.analyst), *map(markup.unbroken, numbers), markup.roomy(state)])


def _give(dataset: DatasetInfo, accounts: Mapping[str, Account]) -> None:
    keys = [f"grant-{part}-{dataset.id}" for part in ("who", "new", "limit", "reason")]
    with st.container(border=True, key="card-grant"):
        st.subheader("Give or change a budget", anchor=False)
        st.markdown(text("grants"))
        left, right = st.columns(2)
        chosen = left.selectbox("Analyst", [*_known(accounts), _NEW], key=keys[0])
        if chosen == _NEW:
            right.text_input(
                "E-mail address",
                key=keys[1],
                max_chars=NAME_LENGTH,
                help="The address they log in with: the ledger knows them by it.",
            )
        left, right = st.columns([1, 2])
        entry = left.text_input("Limit in all, ε", key=keys[2], placeholder="for example 2")
        right.text_input("Reason (kept in the ledger)", key=keys[3], max_chars=REASON_LIMIT)
        with st.container():  # Keeps the button below in its place.
            _meaning(dataset, accounts.get(chosen), entry)
        st.button("Give this budget", type="primary", on_click=_grant, args=(dataset, *keys))


def _known(accounts: Mapping[str, Account]) -> list[str]:
    """Analysts of this data set, then those of others."""
    everywhere = {entry.analyst for entry in access.service().ledger_entries() if entry.analyst}
    return [*accounts, *sorted(everywhere - set(accounts))]


def _meaning(dataset: DatasetInfo, account: Account | None, entry: str) -> None:
    """What a limit would come to, before it is given."""
    if not entry.strip():
        return
    limit, problem = access.attempt(lambda: parse_limit(entry))
    if limit is None:
        st.error(problem)
        return
    whole = access.service().total_balance(dataset.id)
    used = Balance((CapState(whole.cap_states[-1].cap, NOTHING, NOTHING),)) if account is None else account.balance
    left = left_of(limit, used)
    if not left:
        markup.notice("plain", "Nothing more could be spent.", "As much is spent or reserved already.")
    elif missing_for(limit, used, whole):
        stops = f"The data set has only {percent(whole.left, up=False)} of its budget left for everybody."
        markup.notice("amber", "The total of the data set stops it first.", stops)
    else:
        rest = "Nothing is spent yet." if left == 1 else "The rest is spent or reserved already."
        markup.notice("plain", f"{percent(left, up=False)} of it could be spent.", rest)


def _grant(dataset: DatasetInfo, who: str, new: str, limit: str, reason: str) -> None:
    """For use as a callback; the arguments after the first are keys of widgets."""
    state = st.session_state
    analyst = state[new] if state[who] == _NEW else state[who]

    def act() -> Sequence[Account]:
        return access.service().grant(dataset.id, analyst, parse_limit(state[limit]), state[reason])

    if access.note_outcome(_SAID, act, "The budget is set."):
        state[limit] = state[reason] = ""
        if state[who] == _NEW:
            state[new] = ""


def _stop(dataset: DatasetInfo, accounts: Mapping[str, Account]) -> None:
    keys = [f"stop-{part}-{dataset.id}" for part in ("who", "reason")]
    with st.container(border=True, key="card-stop"):
        st.subheader("Freeze an analyst, or unfreeze one", anchor=False)
        st.markdown(text("freeze"))
        left, right = st.columns(2)
        chosen = left.selectbox("Analyst", list(accounts), key=keys[0])
        right.text_input("Reason (the analyst reads it)", key=keys[1], max_chars=REASON_LIMIT)
        frozen = accounts[chosen].standing.frozen is not None
        st.button(
            "Unfreeze this analyst" if frozen else "Freeze this analyst",
            key="stop-button",
            on_click=_switch,
            args=(dataset, chosen, frozen, keys[1]),
        )


def _switch(dataset: DatasetInfo, analyst: str, frozen: bool, reason: str) -> None:
    """For use as a callback."""
    act = access.service().thaw if frozen else access.service().freeze
    told = f"The analyst is {'not frozen any more' if frozen else 'frozen'}."
    if access.note_outcome(_SAID, lambda: act(dataset.id, analyst, st.session_state[reason]), told):
        st.session_state[reason] = ""
