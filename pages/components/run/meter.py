"""The privacy budget of a data set as a labelled bar in percent."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from html import escape

import streamlit as st

from dpcore.privacy.budgets import percent
from dpcore.report import spending
from dpcore.workspace.files.descriptions import DatasetInfo
from dpcore.workspace.ledger.accounts import Balance
from dpcore.workspace.ledger.requests import Quote
from pages.components.kit import drawing, figure
from pages.components.run import counting
from pages.components.visitor import access, login

REFRESH_SECONDS = 4
_NONE_YET = "No budget yet: ask for some where you set up a run."


@drawing.every(REFRESH_SECONDS)
def render(dataset: DatasetInfo) -> None:
    """Draw the meter and keep it fresh while other tabs and runs spend."""
    figure.follow_ground()
    login.follow()
    whole = access.service().total_balance(dataset.id)
    balance = access.balance(dataset.id)
    st.html(meter_html(balance, whole, access.this_run(balance), sharing=dataset.sharing))
    counting.offer(dataset)


def meter_html(balance: Balance, whole: Balance, quote: Quote | None = None, *, sharing: str = "") -> str:
    """The meter of a visitor as HTML: what is taken is rounded up, what is left is rounded down.

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
    quote = None if spending.none_yet(balance, whole) else quote
    title = "Your budget" if own else "Privacy budget"
    parts = _parts(balance, quote)
    words = "; ".join(f"{label} {_shown(style, share)}" for style, label, share in parts)
    bar = "".join(_bar(parts))
    legend = "".join(
        f'<li><i class="{style}" aria-hidden="true"></i><span>{label}</span><b>{_shown(style, share)}</b></li>'
        for style, label, share in parts
    )
    below = "".join(f'<p class="fg-over">{escape(line)}</p>' for line in _warnings(balance, quote))
    notes = [f"Of {spending.total(balance)}.", *_notes(balance, whole, own=own), sharing]
    below += "".join(f'<p class="fg-note">{escape(line)}</p>' for line in notes if line)
    return (
        f'<section class="fg-meter" aria-label="{title}"><h2>{title}</h2>'
        f'<div class="fg-bar" role="img" aria-label="{escape(words)}">{bar}</div>'
        f'<ul class="fg-legend">{legend}</ul>{below}</section>'
    )


def _parts(balance: Balance, quote: Quote | None) -> list[tuple[str, str, Decimal]]:
    """Style, label and share of each part of the bar."""
    over = quote is not None and not quote.affordable
    after = balance.left if quote is None or over else quote.left_after
    return [
        ("fg-spent", "Spent", balance.spent),
        *([("fg-reserved", "Reserved", balance.reserved)] if balance.reserved else []),
        *([("fg-this over" if over else "fg-this", "This run", quote.share)] if quote else []),
        ("fg-left", "Left" if quote is None or over else "Left after it", after),
    ]


def _shown(style: str, share: Decimal) -> str:
    return percent(share, up=style != "fg-left")


def _bar(parts: list[tuple[str, str, Decimal]]) -> Iterator[str]:
    """The bar; a run that does not fit takes all the room that is left, so that none is shown."""
    over = any(style == "fg-this over" for style, _, _ in parts)
    for style, _, share in parts:
        if style == "fg-this over":
            yield _segment(style, parts[-1][2] or Decimal(1))
        elif not (over and style == "fg-left"):
            yield _segment(style, share)


def _warnings(balance: Balance, quote: Quote | None) -> list[str]:
    if balance.frozen is not None:
        return [f"Frozen by the custodian: {balance.frozen}"]
    return ["This run does not fit."] if quote is not None and quote.short else []


def _notes(balance: Balance, whole: Balance, *, own: bool) -> list[str]:
    if spending.none_yet(balance, whole):
        return [_NONE_YET]
    return [f"The data set has {percent(whole.left, up=False)} of its whole budget left."] if own else []


def _segment(style: str, share: Decimal) -> str:
    """A part of the bar; what nothing bounds takes all of it."""
    width = min(100.0, float(100 * share)) if share.is_finite() else 100.0
    return f'<span class="{style}" style="width:{width:.3f}%"></span>' if width else ""
