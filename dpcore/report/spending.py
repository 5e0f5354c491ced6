"""What is spent of a budget, in words: pages, reports and the command line say the same."""

from __future__ import annotations

from decimal import Decimal

from dpcore.privacy.budgets import at_delta, format_epsilon
from dpcore.workspace.requests import Balance, Quote


def plain_sum(balance: Balance) -> Decimal | None:
    """What the epsilons of all runs come to by adding, if the account says something else."""
    added = balance.total.epsilon
    return None if added == balance.spent + balance.reserved else added


def plain_sum_sentence(balance: Balance) -> str:
    """The same for comparison; empty if it says nothing."""
    added = plain_sum(balance)
    return "" if added is None else f"Added up, the epsilons of all runs come to ε = {format_epsilon(added)}."


def largest_sentence(balance: Balance) -> str:
    """How large a single run may be, if that is less than what is left."""
    if balance.largest >= balance.left:
        return ""
    return f"A single run without a delta may have up to ε = {format_epsilon(balance.largest, up=False)}."


def adds_sentence(quote: Quote) -> str:
    """What a run adds to what is spent, beside what was asked for."""
    at = at_delta(quote.balance_before.delta)
    return f"It adds ε = {format_epsilon(quote.adds)} to what is spent{at}."


def fitting(quote: Quote) -> str:
    """How many runs like this fit, this one included; exact."""
    if not quote.affordable:
        return "This run does not fit."
    more = quote.runs_like_this_left
    return f"This run and {more:,} more like it fit." if more else "This run fits, and no other like it after it."
