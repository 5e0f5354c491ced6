"""The custodian's view of budgets: balances, raising them, the ledger."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

import pandas as pd
import streamlit as st

from dpcore.privacy import format_epsilon, parse_epsilon
from dpcore.requests import DatasetInfo, LedgerEntry
from pages.components import access, markup
from pages.components.texts import small, text

_EVENTS = {
    "open": "budget opened",
    "caps": "budget changed",
    "reserve": "reserved for a run",
    "touch": "run began to read records",
    "commit": "result released",
    "refund": "returned, nothing was read",
    "charge": "spent elsewhere, entered by hand",
}


def show() -> None:
    """Balance and ledger of the data set selected in the sidebar."""
    dataset = access.chosen_dataset()
    if dataset is None:
        markup.empty("No data set yet", "Add one first; its budget and ledger appear here.")
        return
    st.header(markup.plain(dataset.name), anchor=False)
    above = st.container()
    _raise(dataset)
    entries = access.service().ledger_entries(dataset.id)
    with above:  # Drawn last, so that a change just made shows.
        _facts(dataset, entries)
    _ledger(dataset, entries)


def _facts(dataset: DatasetInfo, entries: Sequence[LedgerEntry]) -> None:
    balance = access.service().balance(dataset.id, None)
    limits = [entry for entry in entries if entry.kind in ("open", "caps")][-1]
    markup.facts(
        {
            "Total budget": _limit(balance.cap),
            "Spent by all analysts": f"ε {format_epsilon(balance.spent)}",
            "Reserved": f"ε {format_epsilon(balance.reserved)}",
            "Left": _limit(balance.left),
            "Most per analyst": _limit(limits.analyst_cap),
            "Most per run": _limit(limits.run_cap),
            **({"δ of all runs": small(balance.delta)} if balance.delta else {}),
        }
    )


def _limit(cap: Decimal | None) -> str:
    """A limit or what is left: rounded down."""
    return "no limit" if cap is None else f"ε {format_epsilon(cap, up=False)}"


def _raise(dataset: DatasetInfo) -> None:
    with st.expander("Change the budget"), st.form(f"caps-{dataset.id}"):
        st.markdown("Leave a field empty to keep what is set. The ledger keeps every change.")
        total, analyst, run = st.columns(3)
        entries = {
            "budget": total.text_input("Total ε", key="caps-budget"),
            "analyst_cap": analyst.text_input("Per analyst", key="caps-analyst"),
            "run_cap": run.text_input("Per run", key="caps-run"),
        }
        note = st.text_input("Reason (kept in the ledger)", key="caps-note", max_chars=200)
        if st.form_submit_button("Change the budget"):
            _change(dataset, entries, note)


def _change(dataset: DatasetInfo, entries: dict[str, str], note: str) -> None:
    def act() -> object:
        caps: dict[str, Decimal] = {
            name: parse_epsilon(entry) for name, entry in entries.items() if entry.strip()
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


def _ledger(dataset: DatasetInfo, entries: Sequence[LedgerEntry]) -> None:
    st.subheader("Ledger", anchor=False)
    st.markdown(text("ledger"))
    st.dataframe(
        pd.DataFrame([_line(entry) for entry in entries]),
        hide_index=True,
        column_config={"Limits": st.column_config.TextColumn(width="medium")},
        alt=f"Ledger of {dataset.name}, oldest entry first",
    )


def _line(entry: LedgerEntry) -> dict[str, str]:
    caps = {"total": entry.cap, "per analyst": entry.analyst_cap, "per run": entry.run_cap}
    limits = ", ".join(f"{name} {_limit(cap)}" for name, cap in caps.items() if cap is not None)
    return {
        "No.": str(entry.sequence),
        "Time (UTC)": f"{entry.time:%Y-%m-%d %H:%M:%S}",
        "What happened": _EVENTS.get(entry.kind, entry.kind),
        "ε": format_epsilon(entry.epsilon) if entry.epsilon else "",
        "Analyst": entry.analyst or "",
        "Limits": limits,
        "Run": (entry.run_id or "")[:8],
        "Note": entry.note,
    }
