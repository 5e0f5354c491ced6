"""Weights by noisy counts: where a value is rare, each person who has it weighs as much as several who do not.

Noisy counts of both sides are bought once, before a clause is chosen, and weights are a function of them: given these,
they are as public as weights that were asked for. Proof: ``docs/privacy/ilp.md``, section 2b.
"""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from typing import Final

import numpy as np

from dpcore.arrays import Ints
from dpcore.learning.exact_draws.balance import posterior_counts, weigh_classes
from dpcore.models.ilp.language.ilp_parameters import ILPSettings
from dpcore.models.ilp.language.sensitivities import divided, sides_sensitivity
from dpcore.privacy.budgets import EPSILON_STEP, geometric_tail
from dpcore.privacy.losses import largest_epsilon, pure_rho, selection_epsilon, selection_rho
from dpcore.privacy.mechanisms import GeometricMechanism
from dpcore.privacy.randomness import RandomSource

#: Noisy numbers of people without the value, and with it.
Sides = tuple[int, int]
#: Where nothing was asked for, both sides weigh alike if those described are surely fewer than this share of both.
_RARE: Final = 0.25


def clauses_epsilon(rho: Decimal, rows: int, clauses: int, *, alike: bool) -> Decimal:
    """Row-level epsilon of all clauses, each drawn by the exponential mechanism, for which a person's rho pays.

    The counts of both sides are paid of it as what is epsilon-DP. Clauses have the same whole number of steps.
    """
    if not alike:
        return clauses * (selection_epsilon(rho / clauses) / rows).quantize(EPSILON_STEP, rounding=ROUND_FLOOR)

    def cost(epsilon: Decimal) -> Decimal:
        counts, rest = divided(epsilon, alike=True)
        each = (rest / clauses).quantize(EPSILON_STEP, rounding=ROUND_CEILING)
        return pure_rho(rows * counts) + clauses * selection_rho(rows * each)

    return largest_epsilon(cost, rho)


def noisy_sides(counts: Ints, epsilon: Decimal, randomness: RandomSource) -> Sides:
    """Noisy numbers of people of both sides; costs epsilon.

    Parameters
    ----------
    counts : array of shape (n_clauses, 2)
        Negatives and positives that each clause covers, exactly. The first clause covers everybody.
    """
    mechanism = GeometricMechanism(sides_sensitivity().value, epsilon)
    negatives, positives = mechanism.release(counts[0], randomness).tolist()
    return negatives, positives


def weights_told(asked: ILPSettings, sides: Sides, epsilon: Decimal) -> dict[str, int]:
    """Weights with which both sides weigh alike, times those asked for; none if that is not wanted.

    Unless somebody asked for it or against it, it is wanted where few have the value, whatever the noise: then clauses
    of which most people have it hardly exist. Elsewhere such clauses predict better.

    Parameters
    ----------
    epsilon : Decimal
        That of the noise on the counts.
    """
    if asked.weigh_alike is None and not _rare(sides, sides_margin(epsilon)):
        return {}
    class_weights = weigh_classes(posterior_counts(np.array(sides), 1 / float(epsilon), None)).tolist()
    negative, positive = asked.weights
    return {"negative_weight": class_weights[0] * negative, "positive_weight": class_weights[1] * positive}


def sides_margin(epsilon: Decimal) -> int:
    """Noise on each of the two numbers stays within plus or minus this, with 95 % confidence."""
    return geometric_tail(1 / float(epsilon), 0.95)


def _rare(sides: Sides, margin: int) -> bool:
    others, described = (max(0, side) for side in sides)
    return described + margin < _RARE * (described + others)
