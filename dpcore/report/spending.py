"""Budgets in words: costs rounded up, limits and what is left rounded down; everywhere the same."""

from __future__ import annotations

from decimal import Decimal
from typing import Final

from dpcore.numerals import whole
from dpcore.privacy.budgets import at_delta, exact_amount, format_epsilon, format_parts
from dpcore.released.plan import UNCONDITIONAL
from dpcore.released.release import Certificate
from dpcore.workspace.ledger.accounts import Balance, Standing
from dpcore.workspace.ledger.requests import Quote

#: Two amounts that differ by no more are shown alike, or differ by how they are rounded.
_ROUNDED: Final = Decimal("0.0001")


def plain_sum(balance: Balance) -> Decimal | None:
    """The sum of the epsilons of all runs, if composition makes it less."""
    added = balance.total.epsilon
    return None if added == balance.spent + balance.reserved else added


def plain_sum_sentence(balance: Balance) -> str:
    """The same as a sentence; empty if there is nothing to say."""
    added = plain_sum(balance)
    return "" if added is None else f"Without composition, the ε of all runs would add up to {format_epsilon(added)}."


def adds(quote: Quote) -> str:
    """What a run adds to what is spent: the difference of what is shown before it and after it, but never nothing."""
    before = quote.balance
    shown = format_parts([before.spent + before.reserved, quote.adds])[-1]
    return format_epsilon(quote.adds) if not shown.strip("0.") else shown


def adds_sentence(quote: Quote) -> str:
    """The same as a sentence, with the reason if it is not what was asked for."""
    at = at_delta(quote.balance.delta)
    return f"It adds ε = {adds(quote)} to what is spent{at}. {adds_reason(quote)}".strip()


def adds_reason(quote: Quote) -> str:
    """Why a run adds more or less than what was asked for; empty if it does neither, or nothing bounds it."""
    own = format_epsilon(quote.cost)
    if not quote.adds.is_finite() or abs(quote.adds - quote.cost) <= _ROUNDED:
        return ""
    if quote.plan.loss.without_rho:
        return "The ε of a Markov chain is added in full, and beside it other runs are composed less closely."
    return (
        f"This run adds {'more' if quote.adds > quote.cost else 'less'} than the ε = {own} asked for, as runs are not "
        "added up but counted together: of many small ones the first add most, and later ones less and less."
    )


def fitting(quote: Quote) -> str:
    """How many runs like this fit, this one included; exact."""
    if not quote.affordable:
        return "This run does not fit."
    more = quote.runs_like_this_left
    return f"This run and {whole(more)} more like it fit." if more else "This run fits, and no other like it after it."


def states_rho(card: Certificate) -> bool:
    """Whether a rho may be stated of a result; one with a condition has none, whatever an earlier version wrote."""
    return card.rho is not None and card.guarantee == UNCONDITIONAL


def rho_sentence(rho: Decimal) -> str:
    """The loss by which a run is counted together with others."""
    return (
        f"ρ = {exact_amount(rho)} (zero-concentrated differential privacy), by which it is counted together with others"
    )


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
