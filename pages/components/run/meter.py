"""The privacy budget of a data set as a labelled bar."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from html import escape

import streamlit as st

from dpcore.privacy.budgets import alike, at_delta, format_parts
from dpcore.report import spending
from dpcore.report.spending import adds_reason, fitting, plain_sum_sentence
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.ledger.accounts import Balance
from dpcore.workspace.ledger.requests import Quote
from pages.components.kit import drawing, figure
from pages.components.kit.markup import text
from pages.components.visitor import access, login

REFRESH_SECONDS = 4
_ALL = Decimal(1)
_NONE_YET = "No budget yet: ask for some where you set up a run."


@drawing.every(REFRESH_SECONDS)
def render(dataset: DatasetInfo) -> None:
    """Draw the meter and keep it fresh while other tabs and runs spend."""
    figure.follow_ground()
    login.follow()
    whole = access.service().total_balance(dataset.id)
    balance = access.balance(dataset.id)
    st.html(meter_html(dataset.name, balance, whole, access.this_run(balance), sharing=dataset.sharing))
    if balance.delta:
        st.caption("Small runs cost less together than their sum.", help=text("composed"))


def meter_html(name: str, balance: Balance, whole: Balance, quote: Quote | None = None, *, sharing: str = "") -> str:
    """The meter of a visitor as HTML: sums of costs are rounded up, what is left is rounded down.

    Parameters
    ----------
    balance, whole : Balance
        What counts for the visitor, and the account of the data set.
    quote : Quote or None
        Price of the run that is being set up, if one is.
    sharing : str
        With which data sets the budget is shared.
    """
    own = balance.cap_states[0] != whole.cap_states[0]
    title = "Your budget" if own else "Privacy budget"
    shown = _parts(balance, quote)
    words = "; ".join(f"{label} {amount}" for _, label, _, amount in shown)
    bar = "".join(_bar(balance, quote, shown))
    legend = "".join(
        f'<li><i class="{style}" aria-hidden="true"></i><span>{label}</span><b>{amount}</b></li>'
        for style, label, _, amount in shown
    )
    below = "".join(f'<p class="fg-over">{escape(line)}</p>' for line in _warnings(balance, whole, quote))
    notes = [*_notes(balance, whole, quote, own=own), sharing]
    below += "".join(f'<p class="fg-note">{escape(line)}</p>' for line in notes if line)
    return (
        f'<section class="fg-meter" aria-label="{title}"><h2>{title}</h2>'
        f'<div class="name">{escape(name)}</div>'
        f'<div class="fg-bar" role="img" aria-label="{escape(words)}">{bar}</div>'
        f'<ul class="fg-legend">{legend}</ul>{below}</section>'
    )


def _parts(balance: Balance, quote: Quote | None) -> list[tuple[str, str, Decimal, str]]:
    """Style, label, amount and its words for each part of the bar."""
    costs = [
        ("fg-spent", "Spent so far", balance.spent),
        ("fg-reserved", "Reserved", balance.reserved),
        *([("fg-this", "This run adds", quote.adds)] if quote else []),
    ]
    fits = quote is not None and quote.affordable
    after = quote.left_after if quote is not None and fits else balance.left
    label = "Left after it" if fits else "Left"
    parts = [*costs, ("fg-left", label, after)]
    shown = alike([*(f"ε {amount}" for amount in format_parts(cost[2] for cost in costs)), spending.left(after)])
    return [(*part, amount) for part, amount in zip(parts, shown, strict=True)]


def _bar(balance: Balance, quote: Quote | None, shown: list[tuple[str, str, Decimal, str]]) -> Iterator[str]:
    """The bar; a run that does not fit takes all the room that is left, so that none is shown."""
    total, over = balance.spent + balance.reserved + balance.left, quote is not None and not quote.affordable
    for style, _, value, _ in shown:
        if over and style == "fg-this":
            yield _segment("fg-this over", balance.left, total) if total else _segment("fg-this over", _ALL, _ALL)
        elif not (over and style == "fg-left"):
            yield _segment(style, value, total)


def _warnings(balance: Balance, whole: Balance, quote: Quote | None) -> list[str]:
    if balance.frozen is not None:
        return [f"Frozen by the custodian: {balance.frozen}"]
    if spending.none_yet(balance, whole):
        return []
    if quote is not None and quote.short_by:
        if not quote.short_by.is_finite():
            return ["Over budget: no larger ε would help, as δ is too small for what was run."]
        return [f"Over budget: short by {spending.cost(quote.short_by)}."]
    return []


def _notes(balance: Balance, whole: Balance, quote: Quote | None, *, own: bool) -> list[str]:
    near = own and not spending.none_yet(balance, whole) and whole.left < balance.cap - balance.spent - balance.reserved
    return [
        f"Counted{at_delta(balance.delta)}." if balance.delta else "",
        _NONE_YET if spending.none_yet(balance, whole) else "",
        adds_reason(quote) if quote is not None else "",
        fitting(quote) if quote is not None and quote.affordable else "",
        plain_sum_sentence(balance),
        f"The data set has {spending.left(whole.left)} left in all." if near else "",
    ]


def _segment(style: str, value: Decimal, total: Decimal) -> str:
    """A part of the bar; what nothing bounds takes all of it."""
    if not value.is_finite():
        value = total = _ALL
    share = float(100 * value / total) if total > 0 else 0.0
    return f'<span class="{style}" style="width:{min(share, 100):.3f}%"></span>' if share else ""
