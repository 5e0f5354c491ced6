"""What results cost together, and what a data set has cost: exact."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from dpcore.numerals import small
from dpcore.privacy.budgets import plain_epsilon
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import UNBOUNDED, Loss, run_loss, total_loss
from dpcore.released.plan import Guarantee
from dpcore.released.release import Certificate, Release
from dpcore.workspace.ledger.accounts import Balance

_WEAKEST_FIRST: tuple[Guarantee, ...] = ("none", "conditional on convergence", "unconditional")


@dataclass(frozen=True)
class Total:
    """What some results cost together."""

    what: str
    """What it is the cost of."""
    epsilon: str
    delta: str
    """``epsilon``, ``delta``: to the last digit."""
    guarantee: Guarantee
    """The weakest of all."""


def totals(releases: Sequence[Release], balance: Balance, guarantee: Guarantee) -> list[Total]:
    """What the chosen results cost together, which is never more than the second: what everything cost.

    Parameters
    ----------
    balance : Balance
        Of the data set, all analysts together.
    guarantee : str
        The weakest of all results on the data set.
    """
    epsilon, delta = cost_together(releases, balance)
    number = len(releases)
    chosen = f"The {number} results in this dossier, together" if number > 1 else "The result in this dossier"
    every = "Everything that was spent on this data set, by anybody, as its budget counts it"
    return [
        _total(chosen, epsilon, delta, weakest(releases)),
        _total(every, balance.epsilon, balance.delta, guarantee),
    ]


def cost_together(releases: Sequence[Release], balance: Balance) -> tuple[Decimal, Decimal]:
    """Epsilon and delta of some results together: the least that follows from their certificates and their account.

    They are bounded by the sums of their own epsilons and deltas; at the delta of the account by the composition of
    their losses; and by everything that was spent, of which they are a part.
    """
    losses = [_loss(release.certificate) for release in releases]
    if len(releases) == 1:
        return releases[0].certificate.epsilon, releases[0].certificate.delta
    added, whole = total_loss(losses), balance.epsilon
    ways = [(added.epsilon, added.delta)] if added.delta <= balance.delta or not whole.is_finite() else []
    ways.append((whole, balance.delta))
    # A learned schema may fail with a part of delta that the account has set aside; only the ledger knows which.
    if balance.delta and not any(release.domain.learned for release in releases):
        ways.append((PrivacyFilter(balance.cap, balance.delta).spent(added), balance.delta))
    return min(ways)


def _loss(card: Certificate) -> Loss:
    return run_loss(card.epsilon, card.delta, UNBOUNDED if card.rho is None else card.rho)


def weakest(releases: Sequence[Release]) -> Guarantee:
    """The kind of guarantee that holds for all of some results."""
    kinds = {release.certificate.guarantee for release in releases}
    return next((kind for kind in _WEAKEST_FIRST if kind in kinds), "unconditional")


def _total(what: str, epsilon: Decimal, delta: Decimal, guarantee: Guarantee) -> Total:
    return Total(what, plain_epsilon(epsilon), small(delta), guarantee)
