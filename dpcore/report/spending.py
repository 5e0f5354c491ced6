"""Budgets in words: costs rounded up, limits and what is left rounded down; everywhere the same."""

from __future__ import annotations

from decimal import Decimal

from dpcore.numerals import whole
from dpcore.privacy.budgets import at_delta, exact_amount, format_epsilon, percent
from dpcore.privacy.filters import PrivacyFilter
from dpcore.released.plan import UNCONDITIONAL
from dpcore.released.release import Certificate
from dpcore.workspace.ledger.accounts import Balance, Standing
from dpcore.workspace.ledger.requests import Quote


def price(quote: Quote) -> str:
    """What a run takes of the budget, and how many like it fit, itself included; exact. Follows "takes"."""
    takes = f"{percent(quote.share)} of the budget"
    if not quote.affordable:
        return takes
    more = quote.runs_like_this_left
    return f"{takes}; {whole(more)} such runs are left" if more > 1 else f"{takes}; no other like it fits after it"


def states_rho(card: Certificate) -> bool:
    """Whether a rho may be stated of a result; one with a condition has none, whatever an earlier version wrote."""
    return card.rho is not None and card.guarantee == UNCONDITIONAL


def rho_sentence(rho: Decimal) -> str:
    """The loss by which a run is counted together with others."""
    return (
        f"ρ = {exact_amount(rho)} (zero-concentrated differential privacy), by which it is counted together with others"
    )


def left(epsilon: Decimal) -> str:
    """A cap or limit."""
    return f"ε {format_epsilon(epsilon, up=False)}"


def whole_budget(cap: PrivacyFilter) -> str:
    """The whole of a budget, at which delta."""
    return f"{left(cap.epsilon)}{at_delta(cap.delta)}"


def total(balance: Balance) -> str:
    """The same of what somebody may spend."""
    return whole_budget(balance.cap_states[0].cap)


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
