"""What results cost together, and what a data set has cost: exact, in words and as odds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from dpcore.numerals import small
from dpcore.privacy.budgets import delta_sentence, format_epsilon, plain_epsilon
from dpcore.released.plan import Guarantee, guaranteed_odds
from dpcore.released.release import Release
from dpcore.report.spending import plain_sum_sentence
from dpcore.workspace.accounts import Balance

_ZERO = Decimal(0)
_WEAKEST_FIRST: tuple[Guarantee, ...] = ("none", "conditional on convergence", "unconditional")


@dataclass(frozen=True)
class Total:
    """What some results cost together.

    Attributes
    ----------
    what : str
        What it is the cost of.
    epsilon, delta : str
        To the last digit.
    odds : str
        What they mean.
    """

    what: str
    epsilon: str
    delta: str
    odds: str


def exact_epsilon(epsilon: Decimal, *, up: bool = True) -> str:
    """An epsilon to the last digit, and as the budget meter rounds it if that differs."""
    exact = plain_epsilon(epsilon)
    shown = format_epsilon(epsilon, up=up)
    return exact if exact == shown else f"{exact} (the budget meter rounds it to {shown})"


def totals(releases: Sequence[Release], balance: Balance, guarantee: Guarantee) -> list[Total]:
    """What the chosen results promise by themselves, added up; and what everything together cost.

    Parameters
    ----------
    balance : Balance
        Of the data set, all analysts together.
    guarantee : str
        The weakest of all results on the data set.
    """
    epsilon = sum((release.certificate.epsilon for release in releases), _ZERO)
    delta = sum((release.certificate.delta for release in releases), _ZERO)
    number = len(releases)
    chosen = f"the {number} results in this dossier" if number > 1 else "the result in this dossier"
    seen = f"in {chosen} together" if number > 1 else f"in {chosen}"
    spent = balance.spent + balance.reserved
    every = "everything that was spent on this data set, by anybody, as its budget counts it"
    return [
        _total(f"{chosen}, added up" if number > 1 else chosen, epsilon, delta, weakest(releases), seen),
        _total(
            every,
            spent,
            balance.delta,
            guarantee,
            "in all results on this data set together",
            plain_sum_sentence(balance),
        ),
    ]


def weakest(releases: Sequence[Release]) -> Guarantee:
    """The kind of guarantee that holds for all of some results."""
    kinds = {release.certificate.guarantee for release in releases}
    return next((kind for kind in _WEAKEST_FIRST if kind in kinds), "unconditional")


def _total(what: str, epsilon: Decimal, delta: Decimal, guarantee: Guarantee, seen: str, more: str = "") -> Total:
    odds = guaranteed_odds(epsilon, delta, guarantee, seen)
    if delta and guarantee != "none":
        odds += f" {delta_sentence(delta)}"
    return Total(what, exact_epsilon(epsilon), small(delta), f"{odds} {more}".strip())
