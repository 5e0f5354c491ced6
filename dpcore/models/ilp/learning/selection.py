"""Choosing one clause privately: report noisy max, and the two reductions of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Final, NamedTuple

import numpy as np

from dpcore.arrays import Flags, Ints
from dpcore.learning.count_budget import CountBudget
from dpcore.models.ilp.language.generality import Generality
from dpcore.models.ilp.language.ilp_parameters import ILPParameters
from dpcore.models.ilp.language.lattice import Lattice
from dpcore.models.ilp.language.overlap_bounds import overlap_bounds
from dpcore.models.ilp.language.sensitivities import counts_sensitivity, coverage, coverage_sensitivity
from dpcore.privacy.mechanisms import ExponentialMechanism, NoisyMax
from dpcore.privacy.randomness import RandomSource


class ChosenClause(NamedTuple):
    """Position of the chosen clause, and the row-level budget that choosing did not need."""

    place: int
    left: Decimal


#: Parts of a person into which a coverage is divided, so that a public prior fits between.
GRID = 1 << 10
#: Least that the prior adds to a score: beside it every coverage fits into 64 bits.
_LEAST_OFFSET: Final = -(2.0**61)


def select_clause(
    lattice: Lattice,
    counts: Ints,
    parameters: ILPParameters,
    max_rows: int,
    budget: Decimal,
    randomness: RandomSource,
    taken: Sequence[int] = (),
    *,
    composed: bool = False,
) -> ChosenClause:
    """Choose a clause. Costs ``budget``, less what is left.

    Parameters
    ----------
    budget : Decimal
        Epsilon; of noisy counts in a run that composes, rho.
    counts : array of shape (n_clauses, 2)
        Negatives and positives that each clause covers, exactly.
    taken : sequence of int
        Clauses chosen before: ``noisy_max`` does not choose them again. Their number tells the weights.
    composed : bool
        ``noisy_max`` chooses by the exponential mechanism, whose losses have a small range; the others count with
        Gaussian noise.
    """
    if parameters.method == "noisy_max":
        kind = ExponentialMechanism if composed else NoisyMax
        place = noisy_max(lattice, counts, parameters, budget, randomness, taken, kind)
        return ChosenClause(place, Decimal(0))
    counting = CountBudget(budget, gaussian=composed)
    if parameters.method == "naive":
        place = naive(lattice, counts, parameters.weights_of(len(taken)), counting, randomness)
        return ChosenClause(place, Decimal(0))
    return relevance_aware(lattice, counts, parameters, max_rows, counting, randomness, taken)


def noisy_max(
    lattice: Lattice,
    counts: Ints,
    parameters: ILPParameters,
    epsilon: Decimal,
    randomness: RandomSource,
    taken: Sequence[int] = (),
    kind: type[NoisyMax] | type[ExponentialMechanism] | None = None,
) -> int:
    """Report noisy max of the coverage over the whole lattice, but for the clauses ``taken``.

    The public prior adds to each coverage the logarithm of its clause's share, in units of the
    noise: it is the same for all data, so it changes no difference between neighbours.
    """
    weights = parameters.weights_of(len(taken))
    reach = coverage_sensitivity(weights)
    mechanism = (kind or NoisyMax)(GRID * reach.value, epsilon, reach.monotone)
    scores = GRID * coverage(counts, weights)
    if parameters.length_prior:
        scores = scores + prior_offsets(lattice.strata, mechanism.scale)
    free = np.delete(np.arange(len(lattice)), list(taken))
    return int(free[mechanism.select(scores[free], randomness)])


def prior_offsets(strata: Ints, scale: float) -> Ints:
    """Minus the logarithm of how many clauses are of the same stratum, times ``scale``, rounded.

    Clauses that only say that rows exist are as likely as if no others could be said. No offset is below a bound
    that only a tiny epsilon reaches: sums with coverages are exact.
    """
    alike = np.bincount(strata)[strata]
    return np.asarray(np.maximum(np.rint(-scale * np.log(alike)), _LEAST_OFFSET), dtype=np.int64)


def naive(
    lattice: Lattice, counts: Ints, weights: tuple[int, int], budget: CountBudget, randomness: RandomSource
) -> int:
    """Count clauses with noise for all of them (Zeng et al. 2013, Algorithm 2); take the best."""
    most = overlap_bounds(lattice).most(np.arange(len(lattice)))
    mechanism = budget.mechanism(counts_sensitivity(most))
    return int(np.argmax(coverage(mechanism.release(counts, randomness), weights)))


def relevance_aware(
    lattice: Lattice,
    counts: Ints,
    parameters: ILPParameters,
    max_rows: int,
    budget: CountBudget,
    randomness: RandomSource,
    taken: Sequence[int] = (),
) -> ChosenClause:
    """Level by level, deleting subtrees by their noisy counts (Zeng et al. 2013, Algorithm 3).

    Each level of which clauses are left has an equal part of what is left of the budget, for
    those clauses: how many these are follows from what was released before.
    """
    levels, weights = parameters.max_literals + 1, parameters.weights_of(len(taken))
    generality = Generality(lattice)
    best, best_coverage, spare = 0, -np.inf, budget.amount
    for level in range(levels):
        left = generality.left_at(level)
        if not len(left):
            continue
        below = sum(len(generality.left_at(deeper)) > 0 for deeper in range(level + 1, levels))
        share = replace(budget, amount=spare).first([1.0] * (1 + below))
        spare -= share
        mechanism = replace(budget, amount=share).mechanism(counts_sensitivity(overlap_bounds(lattice).most(left)))
        noisy = mechanism.release(counts[left], randomness)
        quality = coverage(noisy, weights)
        place = int(np.argmax(quality))
        if quality[place] > best_coverage:
            best, best_coverage = int(left[place]), float(quality[place])
        generality.delete(left[_hopeless(noisy, best_coverage, weights[1], parameters, max_rows)])
    return ChosenClause(best, spare)


def _hopeless(noisy: Ints, best: float, weight: int, parameters: ILPParameters, max_rows: int) -> Flags:
    """The criterion by which a clause's subtree is deleted: from noisy counts alone."""
    if parameters.criterion == "share":
        return np.asarray(noisy[:, 1] < parameters.min_share * max_rows)
    return np.asarray(weight * noisy[:, 1] <= best)
