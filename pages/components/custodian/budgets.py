"""The custodian's view of the budget of a data set: what is left in all, and changing it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal

import streamlit as st

from dpcore.privacy.budgets import parse_delta, parse_epsilon, parse_limit, percent
from dpcore.report import spending
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.ledger.accounts import Account, LedgerEntry
from pages.components.kit import markup
from pages.components.kit.markup import text
from pages.components.visitor import access

_PARSED = {"analyst_cap": parse_limit, "delta": parse_delta}


def render() -> None:
    """Balance of the data set selected in the sidebar."""
    dataset = chosen("Add one first; its budget appears here.")
    if dataset is None:
        return
    above = st.container()
    _raise(dataset)
    with above:  # Drawn last, so that a change just made shows.
        _facts(dataset)


def chosen(missing: str) -> DatasetInfo | None:
    """The data set selected in the sidebar, named above what follows; or what to do, if there is none."""
    dataset = access.chosen_dataset()
    if dataset is None:
        markup.empty("No data set yet", missing)
    else:
        st.header(markup.plain(dataset.title), anchor=False)
    return dataset


def limits(entries: Sequence[LedgerEntry]) -> LedgerEntry:
    """The line that says which limits hold now."""
    return [entry for entry in entries if entry.kind in ("open", "caps")][-1]


def granted(accounts: Iterable[Account]) -> Decimal:
    """Sum of the limits that were given to single analysts."""
    given = (one.standing.limit for one in accounts if one.standing.granted)
    return sum((limit for limit in given if limit is not None), Decimal(0))


def _facts(dataset: DatasetInfo) -> None:
    balance = access.service().total_balance(dataset.id)
    present = limits(access.service().ledger_entries(dataset.id))
    given = granted(access.service().accounts(dataset.id))
    markup.facts(
        {
            "Total budget": spending.total(balance),
            **({"All grants together": spending.left(given)} if given else {}),
            "Spent by all analysts": percent(balance.spent),
            "Reserved": percent(balance.reserved),
            "Left": percent(balance.left, up=False),
            "Most per analyst": spending.each(present.analyst_cap),
            "Most per run": spending.limit(present.run_cap),
        }
    )
    if dataset.sharing:
        st.caption(markup.plain(dataset.sharing))


def _raise(dataset: DatasetInfo) -> None:
    with st.expander("Change the budget"), st.form(f"caps-{dataset.id}"):
        st.markdown("Leave a field empty to keep what is set. The ledger keeps every change.")
        total, delta, analyst, run = st.columns(4)
        own = f"caps-{dataset.id}"  # What was typed for one data set is not for the next.
        entries = {
            "budget": total.text_input("Total ε", key=f"{own}-budget"),
            "delta": delta.text_input("δ of the total", key=f"{own}-delta", help=text("delta")),
            "analyst_cap": analyst.text_input(
                "Per analyst without a grant",
                key=f"{own}-analyst",
                help="0: only those with a grant.",
            ),
            "run_cap": run.text_input("Per run", key=f"{own}-run"),
        }
        note = st.text_input("Reason (kept in the ledger)", key=f"{own}-note", max_chars=200)
        if st.form_submit_button("Change the budget"):
            _change(dataset, entries, note)


def _change(dataset: DatasetInfo, entries: dict[str, str], note: str) -> None:
    def act() -> object:
        caps: dict[str, Decimal] = {
            name: _PARSED.get(name, parse_epsilon)(entry) for name, entry in entries.items() if entry.strip()
        }
        return access.service().raise_caps(dataset.id, note=note, **caps)

    if not any(entry.strip() for entry in entries.values()):
        st.error("Type at least one new limit.")
        return
    _, problem = access.attempt(act)
    if problem:
        st.error(problem)
    else:
        st.success("The budget is changed.")
