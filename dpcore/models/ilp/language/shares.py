"""How the budget of the clauses is divided: public, and known before a record is read."""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import Final

from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.privacy.budgets import EPSILON_STEP, first_share

#: Of the budget of all clauses, where both sides weigh alike.
_SHARE: Final = Decimal("0.05")


def divided(epsilon: Decimal, *, alike: bool) -> tuple[Decimal, Decimal]:
    """Parts of the budget of all clauses: that of the counts of both sides, 0 if weights are given, and the rest."""
    part = (epsilon * _SHARE).quantize(EPSILON_STEP, rounding=ROUND_CEILING) if alike else Decimal(0)
    return part, epsilon - part


def first_clause_epsilon(epsilon: Decimal, chosen: ILPParameters) -> Decimal:
    """What the choice of the first clause gets of the budget of all: each other one gets as much, but for rounding.

    Raises
    ------
    BudgetError
        If there is not enough for each clause.
    """
    _, choosing = divided(epsilon, alike=chosen.alike)
    return first_share(choosing, [1.0] * chosen.clauses)
