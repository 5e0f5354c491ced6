"""What is asked of the people, with its sensitivity: proofs in ``docs/privacy/ilp.md``.

Neighbours differ in one person with all child rows. Whether a clause covers a person depends on
that person's rows alone, so adding a person changes the coverage of each clause by at most one
person of one class, and of nobody else.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, Decimal
from typing import Final

import numpy as np

from dpcore.arrays import Ints
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.privacy.budgets import EPSILON_STEP, first_share
from dpcore.privacy.sensitivity import Sensitivity

CLAUSES, COUNTS = "clauses", "estimates"


def coverage(counts: Ints, weights: tuple[int, int]) -> Ints:
    """Coverage of clauses: positives covered x their weight - negatives x theirs.

    Parameters
    ----------
    counts : array of shape (n_clauses, 2)
        Negatives and positives that each clause covers.
    weights : (int, int)
        Weight of a negative and of a positive.
    """
    return np.asarray(weights[1] * counts[:, 1] - weights[0] * counts[:, 0])


def coverage_sensitivity(weights: tuple[int, int]) -> Sensitivity:
    """Sensitivity of all coverages together, however many clauses.

    Between two neighbours all coverages move in one direction: up by at most the weight of a
    positive if the additional person is one, down by at most that of a negative if not. That is
    what a monotone selection needs; which of the two it is may differ from pair to pair.
    """
    return Sensitivity(max(weights), "Linf", monotone=True)


def sides_sensitivity() -> Sensitivity:
    """Sensitivity of the numbers of positives and of negatives together: a person is one of them, or neither."""
    return Sensitivity(1, "L1", monotone=True)


def counts_sensitivity(most: int) -> Sensitivity:
    """Sensitivity of the positives and negatives of clauses (Zeng et al. 2013, Theorem 4, sharper).

    A person is positive or negative, so is in at most one of the two counts of each clause, and
    in none of a clause that they do not satisfy. They move each count by one at most.

    Parameters
    ----------
    most : int
        Clauses among them that one person can satisfy together:
        :mod:`dpcore.models.ilp.language.overlap_bounds`.
    """
    return Sensitivity(most, "L1", monotone=True)


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
