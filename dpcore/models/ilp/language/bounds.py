"""How many people a hypothesis space asks for: at least, whatever the learner, and enough."""

from __future__ import annotations

import math


def people_needed(
    atoms: int, longest: int, epsilon: float, delta: float = 0.9, eta: float = 0.1, *, rho: float | None = None
) -> int:
    """People without whom no learner can be both private and useful (Zeng et al. 2013, Theorem 3).

    The theorem bounds epsilon from below by ln(H (1 - eta)) / (2 ((1 - delta) n + 1)) for every
    epsilon-DP learner that gives, with probability at least 1 - eta, a theory that holds for a
    share delta of n people. H is the number of conjunctions that it may give: 2**atoms in the
    paper, and here those of at most ``longest`` atoms. Its proof needs ``atoms`` that one person
    may all satisfy, none of which follows from another. Solved here for n.

    Of a learner that is known by its ``rho`` in zero-concentrated DP, Fano's inequality says the
    same: tables t people apart have a divergence of at most rho t^2, so that
    (1 - eta) ln(H) - ln(2) <= rho t^2, for t = 2 ((1 - delta) n + 1).
    """
    possible = math.log(sum(math.comb(atoms, size) for size in range(longest + 1)))
    if rho is None:
        apart = (possible + math.log1p(-eta)) / epsilon
    else:
        apart = math.sqrt(max(0.0, (1 - eta) * possible - math.log(2)) / rho)
    return max(1, math.ceil((apart / 2 - 1) / (1 - delta)))


def people_enough(clauses: int, epsilon: float, delta: float = 0.9, eta: float = 0.1) -> int:
    """People with whom report noisy max errs by at most a share 1 - delta of them.

    With probability at least 1 - eta its clause's coverage is within ln(clauses / eta) / epsilon
    of the best one's (McKenna and Sheldon 2020), if every clause has the same prior.
    """
    return max(1, math.ceil(math.log(clauses / eta) / (epsilon * (1 - delta))))
