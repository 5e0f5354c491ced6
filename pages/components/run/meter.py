"""The privacy budget of a data set as a labelled bar."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from html import escape

import streamlit as st

from dpcore.privacy.budgets import format_epsilon
from dpcore.workspace.requests import Balance
from pages.components.kit import refresh, theme
from pages.components.kit.texts import small, text
from pages.components.run import review
from pages.components.visitor import access, login

REFRESH_SECONDS = 4
_TITLE = "Privacy budget"
_ZERO = Decimal(0)


@refresh.every(REFRESH_SECONDS)
def show(dataset_id: str, name: str, this_run: Decimal | None, delta: Decimal = _ZERO) -> None:
    """Draw the meter and keep it fresh while other tabs and runs spend."""
    theme.follow()
    login.follow()
    if review.is_answered():
        st.rerun()
    whole = access.service().total_balance(dataset_id)
    balance = access.balance(dataset_id)
    st.html(render_account(name, balance, whole, this_run))
    used = {"used so far": balance.delta, "of this run": delta}
    if told := "; ".join(f"δ {what}: {small(value)}" for what, value in used.items() if value):
        st.caption(told, help=text("delta"))


def render_account(name: str, balance: Balance, whole: Balance, this_run: Decimal | None) -> str:
    """The meter of a visitor: whose budget it is, and whether the custodian has frozen it.

    Parameters
    ----------
    balance, whole : Balance
        What counts for the visitor, and the account of the data set.
    """
    spent, reserved, left = balance.spent, balance.reserved, balance.left
    own = replace(balance, left=whole.left, frozen=None) != whole
    note = ""
    if own and whole.left < balance.cap - spent - reserved:
        note = f"The data set has {_epsilon(whole.left, False)} left in all."
    return render(
        name, spent, reserved, left, this_run, title="Your budget" if own else _TITLE, note=note, frozen=balance.frozen
    )


def render(
    name: str,
    spent: Decimal,
    reserved: Decimal,
    left: Decimal,
    this_run: Decimal | None,
    *,
    title: str = _TITLE,
    note: str = "",
    frozen: str | None = None,
) -> str:
    """The meter as HTML: costs are rounded up, what is left is rounded down."""
    cost = this_run or _ZERO
    fits = cost <= left
    after = left - cost if fits else left
    parts = [
        ("fg-spent", "Spent", spent, True),
        ("fg-reserved", "Reserved (waiting)", reserved, True),
        ("fg-this", "This run", cost, True),
        ("fg-left", "Left after this run" if this_run and fits else "Left", after, False),
    ]
    shown = [part for part in parts if part[0] != "fg-this" or this_run is not None]
    words = "; ".join(f"{label} {_epsilon(v, up)}" for _, label, v, up in shown)
    bar = "".join(_segment(style, value, spent + reserved + left) for style, _, value, _ in shown)
    legend = "".join(
        f'<li><i class="{style}" aria-hidden="true"></i><span>{label}</span><b>{_epsilon(value, up)}</b></li>'
        for style, label, value, up in shown
    )
    warnings = [] if fits or frozen is not None else [f"Over budget: {_short(cost, left)}"]
    warnings += [] if frozen is None else [f"Frozen by the custodian: {frozen}"]
    below = "".join(f'<p class="fg-over">{escape(warning)}</p>' for warning in warnings)
    below += f'<p class="fg-note">{escape(note)}</p>' if note else ""
    return (
        f'<section class="fg-meter" aria-label="{title}"><h2>{title}</h2>'
        f'<div class="name">{escape(name)}</div>'
        f'<div class="fg-bar" role="img" aria-label="{escape(words)}">{bar}</div>'
        f'<ul class="fg-legend">{legend}</ul>{below}</section>'
    )


def _segment(style: str, value: Decimal, total: Decimal) -> str:
    share = float(100 * value / total) if total > 0 else 0.0
    return f'<span class="{style}" style="width:{min(share, 100):.3f}%"></span>' if share else ""


def _epsilon(value: Decimal, up: bool) -> str:
    return f"ε {format_epsilon(value, up=up)}"


def _short(cost: Decimal, left: Decimal) -> str:
    return f"short by ε {format_epsilon(cost - left)}."
