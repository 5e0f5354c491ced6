"""How many people a hypothesis space asks for: at least, whatever the learner, and enough."""

from __future__ import annotations

import math


def people_needed(atoms: int, epsilon: float, delta: float = 0.9, eta: float = 0.1) -> int:
    """People without whom no learner can be both private and useful (paper 001, Theorem 3).

    The theorem bounds epsilon from below by ln(2**atoms (1 - eta)) / (2 ((1 - delta) n + 1)) for
    every epsilon-DP learner over all conjunctions of ``atoms`` atoms that gives, with probability
    at least 1 - eta, a theory that holds for a share delta of n people. Solved here for n.
    """
    information = atoms * math.log(2) + math.log1p(-eta)
    return max(1, math.ceil((information / (2 * epsilon) - 1) / (1 - delta)))


def people_enough(clauses: int, epsilon: float, delta: float = 0.9, eta: float = 0.1) -> int:
    """People with whom report noisy max errs by at most a share 1 - delta of them.

    With probability at least 1 - eta its clause's coverage is within ln(clauses / eta) / epsilon
    of the best one's (McKenna and Sheldon 2020), if every clause has the same prior.
    """
    return max(1, math.ceil(math.log(clauses / eta) / (epsilon * (1 - delta))))
