"""The custodian's view of the ledger: its lines, a page at a time, a filter, and the lines as a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import pandas as pd
import streamlit as st

from dpcore.numerals import whole
from dpcore.privacy.budgets import at_delta, exact_amount, plain_epsilon
from dpcore.workspace.ledger.accounts import LedgerEntry
from dpcore.workspace.ledger.audit_log import EVENTS, AuditLogFilter, chosen, event, to_csv
from pages.components.kit import made_file, markup
from pages.components.kit.markup import text
from pages.components.visitor import access

#: Lines that are made and sent together: a ledger has as many as ever happened.
LINES = 100
_ONE, _ALL = "This data set", "All data sets"
_KEYS = tuple(f"audit-{part}" for part in ("kinds", "analysts", "actors", "words", "run", "first", "last"))


def render() -> None:
    """Lines about the data set selected in the sidebar, or about all."""
    dataset = access.chosen_dataset()
    if dataset is None:
        markup.empty("No data set yet", "Everything that happens to a budget is kept here.")
        return
    st.markdown(text("ledger"))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        scope = st.segmented_control(
            "Lines about", [_ONE, _ALL], default=_ONE, required=True, key="audit-scope", persist_state="session"
        )
        newest = st.toggle("Newest first", True, key="audit-newest")
    entries = access.service().ledger_entries(None if scope == _ALL else dataset.id)
    names = {key: info.name for key, info in access.datasets().items()}
    with st.expander("Filter", icon=":material/filter_list:"):
        wanted, problem = access.attempt(lambda: _ask(entries))
        st.button("Clear the filter", on_click=_clear)
    if wanted is None:
        st.error(problem)
        return
    kept = chosen(entries, wanted)
    _count(len(kept), len(entries))
    if kept:
        title = "all data sets" if scope == _ALL else dataset.name
        several = scope == _ALL or bool(dataset.shares_with)
        _pages(kept[::-1] if newest else kept, names if several else None, title)
        _download(kept, names, "all" if scope == _ALL else dataset.id[:8])


def _ask(entries: Sequence[LedgerEntry]) -> AuditLogFilter:
    left, middle, right = st.columns(3)
    kinds = left.multiselect(
        "What happened", list(EVENTS), key=_KEYS[0], format_func=lambda kind: EVENTS[kind], placeholder="Anything"
    )
    analysts = middle.multiselect("Analyst", _people(entries, "analyst"), key=_KEYS[1], placeholder="Anybody")
    actors = right.multiselect("Done by", _people(entries, "actor"), key=_KEYS[2], placeholder="Anybody")
    left, right = st.columns(2)
    words = left.text_input("Words in the note", key=_KEYS[3])
    run = right.text_input("Run (how its id begins)", key=_KEYS[4])
    with st.container(horizontal=True):
        first = st.date_input("From (UTC)", None, key=_KEYS[5], width=180)
        last = st.date_input("Until (UTC)", None, key=_KEYS[6], width=180)
    return AuditLogFilter(kinds, analysts, actors, first, last, words, run)


def _people(entries: Sequence[LedgerEntry], which: str) -> list[str]:
    return sorted({name for entry in entries if (name := getattr(entry, which))})


def _clear() -> None:
    for key in _KEYS:
        st.session_state.pop(key, None)


def _count(kept: int, of: int) -> None:
    if not kept:
        markup.empty("No line fits the filter", f"There are {of} without it.")
    elif kept < of:
        st.caption(f"{kept} of {of} lines fit the filter.")
    else:
        st.caption(f"{of} line{'' if of == 1 else 's'}.")


def _pages(entries: Sequence[LedgerEntry], names: Mapping[str, str] | None, title: str) -> None:
    """The lines of one page, and which page that is where there are several."""
    table = st.container()
    page = 1
    if len(entries) > LINES:
        page = st.pagination(-(-len(entries) // LINES), key="audit-page")
    first = (page - 1) * LINES
    shown = entries[first : first + LINES]
    part = "" if len(shown) == len(entries) else f", of which lines {first + 1} to {first + len(shown)}"
    with table:
        _table(shown, names, _unused(entries), f"Ledger of {title}: {whole(len(entries))} lines{part}")


def _unused(entries: Sequence[LedgerEntry]) -> list[str]:
    """Columns that no line on any page has anything in."""
    used = {"δ": any(entry.delta for entry in entries), "ρ": any(entry.rho for entry in entries)}
    return [column for column in used if not used[column]]


def _table(entries: Sequence[LedgerEntry], names: Mapping[str, str] | None, without: Sequence[str], alt: str) -> None:
    lines = pd.DataFrame([_line(entry, names) for entry in entries]).drop(columns=without)
    medium = st.column_config.TextColumn(width="medium")
    st.dataframe(
        lines,
        hide_index=True,
        column_config={"What happened": medium, "Limits": medium, "Note": medium},
        alt=alt,
    )


def _line(entry: LedgerEntry, names: Mapping[str, str] | None) -> dict[str, str]:
    at = at_delta(entry.delta_cap or Decimal(0))
    caps = {"total": (entry.cap, at), "per analyst": (entry.analyst_cap, ""), "per run": (entry.run_cap, "")}
    limits = (f"{name} ε {plain_epsilon(cap)}{more}" for name, (cap, more) in caps.items() if cap is not None)
    return {
        "No.": str(entry.sequence),
        "Time (UTC)": f"{entry.time:%Y-%m-%d %H:%M:%S}",
        **({} if names is None else {"Data set": names.get(entry.dataset_id, "")}),
        "What happened": event(entry),
        "Analyst": entry.analyst or "",
        "ε": plain_epsilon(entry.epsilon) if entry.epsilon else "",
        "δ": exact_amount(entry.delta) if entry.delta else "",
        "ρ": exact_amount(entry.rho) if entry.rho else "",
        "Limits": ", ".join(limits),
        "Done by": entry.actor or "",
        "Run": (entry.run_id or "")[:8],
        "Note": entry.note,
    }


def _download(entries: Sequence[LedgerEntry], names: Mapping[str, str], which: str) -> None:
    lines = f"{len(entries)} line{'' if len(entries) == 1 else 's'}"
    name = f"frostglass-ledger-{which}.csv"
    st.download_button(
        f"Download CSV ({lines})",
        made_file.later(lambda: to_csv(entries, names), name, "text/csv"),
        name,
        "text/csv",
        key="audit-csv",
        on_click="ignore",
        help="With exact amounts and whole identifiers, oldest line first.",
    )
