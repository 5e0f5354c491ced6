"""Budgets in words: costs rounded up, limits and what is left rounded down."""

from __future__ import annotations

from decimal import Decimal

from dpcore.privacy.budgets import at_delta, format_epsilon
from dpcore.workspace.ledger.accounts import Balance, Standing


def cost(epsilon: Decimal) -> str:
    """What was or would be spent."""
    return f"ε {format_epsilon(epsilon)}"


def left(epsilon: Decimal) -> str:
    """What is left."""
    return f"ε {format_epsilon(epsilon, up=False)}"


def total(balance: Balance) -> str:
    """All that may ever be spent, at which delta."""
    return f"{left(balance.cap)}{at_delta(balance.delta)}"


def none_yet(balance: Balance, whole: Balance) -> bool:
    """Whether somebody has not been given any budget so far, though the data set has some left."""
    used = balance.spent or balance.reserved or balance.left
    return not used and balance.frozen is None and whole.left > 0


def limit(cap: Decimal | None) -> str:
    """A limit on a total or on a run."""
    return "no limit" if cap is None else left(cap)


def each(cap: Decimal | None) -> str:
    """The limit of everybody without a grant."""
    return "nothing without a grant" if cap == 0 else limit(cap)


def standing(decided: Standing) -> str:
    """Which limit one analyst has, and where it comes from."""
    if decided.limit is None:
        return "no limit of their own"
    return f"{'granted' if decided.granted else 'as all:'} {left(decided.limit)}"
