"""How a budget is counted: the one place of the application that explains it."""

from __future__ import annotations

import streamlit as st

from dpcore.numerals import small
from dpcore.privacy.budgets import delta_sentence, exact_amount, format_epsilon, percent
from dpcore.report import spending
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.ledger.accounts import Balance
from dpcore.workspace.ledger.requests import Quote
from pages.components.kit import drawing, markup
from pages.components.kit.markup import text
from pages.components.visitor import access

_KEY = "counting"


def offer(dataset: DatasetInfo) -> None:
    """The button that opens the explanation."""
    if st.button("How is this counted?", key=f"{_KEY}-open", type="tertiary"):
        st.session_state[_KEY] = dataset.id
        st.rerun()


def render() -> None:
    """Show the explanation, if it is open."""
    if st.session_state.get(_KEY) is not None:
        _dialog(st.session_state[_KEY])


def _close() -> None:
    st.session_state.pop(_KEY, None)


@drawing.dialog("How is this counted?", width="large", on_dismiss=_close)
def _dialog(dataset_id: str) -> None:
    balance = access.balance(dataset_id)
    st.markdown(text("counting_composed" if balance.delta else "counting_added"))
    markup.pairs_table("This budget", ("What", "Value"), _account(balance))
    quote = access.this_run(balance)
    if quote is not None:
        markup.pairs_table("This run", ("What", "Value"), _run(quote))


def _account(balance: Balance) -> dict[str, str]:
    lines = {
        "The whole budget": spending.total(balance),
        "Spent and reserved": percent(balance.spent + balance.reserved),
        "ε of everything so far, together": format_epsilon(balance.epsilon),
        "ε of all runs, added up": format_epsilon(balance.total.epsilon),
    }
    composed = {
        "δ of every run": small(balance.run_delta),
        "ρ of the whole budget": exact_amount(balance.rho),
        "ρ of all runs, added up": exact_amount(balance.total.rho),
    }
    return lines | composed if balance.delta else lines


def _run(quote: Quote) -> dict[str, str]:
    return {
        "Takes": percent(quote.share),
        **({"ρ": exact_amount(quote.loss.rho)} if quote.plan.delta else {}),
        "ε as odds": quote.odds,
        **({"What δ allows": delta_sentence(quote.plan.delta)} if quote.plan.delta else {}),
        "Guarantee": quote.guarantee,
    }
