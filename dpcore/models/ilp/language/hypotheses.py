"""What a run of relational rules chooses from, and how many people that takes: public alone."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.domain.schemas.labels import Labels
from dpcore.domain.schemas.schema import Schema
from dpcore.models.ilp.language.atoms import Atom, bottom_atoms
from dpcore.models.ilp.language.ilp_parameters import ILPParameters, ILPSettings
from dpcore.models.ilp.language.lattice import Lattice, build_lattice
from dpcore.models.ilp.language.overlap_bounds import overlap_bounds
from dpcore.models.ilp.language.prolog import Prolog
from dpcore.models.ilp.language.sensitivities import CLAUSES, counts_sensitivity, divided, first_clause_epsilon
from dpcore.privacy.budgets import gaussian_tail, geometric_tail
from dpcore.released.plan import RunPlan


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


@dataclass(frozen=True)
class Hypotheses:
    """The hypothesis space of a run, before it reads a record."""

    conditions: int
    """Conditions that a clause may use."""
    clauses: int
    """Clauses that these make within the limits of the run."""
    needed: int
    """People without whom no private method over these columns is reliable: Theorem 3 of Zeng et al. (2013), with the
    budget of the whole run."""
    enough: int
    """People with whom the clause that report noisy max chooses covers nearly as well as the best one: within a tenth
    of the people, nine times out of ten."""
    people: int
    """People that the run can learn from, at most."""
    choice_margin: int | None
    """For the methods that count each clause with noise: 95 % margin of such a count, where it is largest."""
    bottom: str
    """The bottom clause in Prolog: every condition at once."""


def hypotheses(plan: RunPlan) -> Hypotheses:
    """Describe what a planned run chooses from; sees its plan and no record.

    Raises
    ------
    RequestError
        If there are too many clauses, or a condition is unknown.
    """
    chosen: ILPSettings = plan.parameters
    lattice = build_lattice(plan.schema, plan.target, chosen)
    atoms = lattice.conditions
    rho = _first_rho(plan)
    share = float(first_clause_epsilon(plan.row_epsilon(CLAUSES), chosen)) if rho is None else math.sqrt(8 * rho)
    held = plan.schema.holdout_percent if plan.part == "train" else 0
    return Hypotheses(
        conditions=len(atoms),
        clauses=len(lattice),
        needed=_needed(plan, _independent(atoms, chosen.max_variables)),
        enough=people_enough(_contenders(lattice, chosen), share / chosen.heaviest),
        people=plan.schema.max_rows * (100 - held) // 100,
        choice_margin=_choice_margin(lattice, chosen, share, rho),
        bottom=Prolog(plan.schema).bottom(atoms, plan.target, chosen.positive),
    )


def _first_rho(plan: RunPlan) -> float | None:
    """Rho of a row for the counts by which the first clause is chosen, if they have Gaussian noise.

    By report noisy max the same rho would choose a clause with the square root of eight times it as epsilon.
    """
    if plan.row_rho is None or plan.parameters.method == "noisy_max":
        return None
    _, choosing = divided(plan.split[CLAUSES], alike=plan.parameters.alike)
    return plan.row_rho * float(choosing / plan.split.total) / int(plan.parameters.clauses)


def _needed(plan: RunPlan, atoms: int) -> int:
    rho = float(plan.loss.rho) if plan.composed else None
    return people_needed(atoms, plan.parameters.max_literals, float(plan.epsilon), rho=rho)


def _contenders(lattice: Lattice, chosen: ILPParameters) -> int:
    """Clauses that share the chance evenly, for one among the clauses of the commonest stratum."""
    if not chosen.length_prior:
        return len(lattice)
    alike = np.bincount(lattice.strata)
    return int((alike > 0).sum() * alike.max())


def _independent(atoms: Sequence[Atom], variables: int) -> int:
    """Atoms that one person may all satisfy, and of which none follows from another.

    One for each column: of the main table, and of as many child tables as a clause may refer to.
    """
    columns = {(atom.table, atom.column) for atom in atoms if not atom.exists}
    sizes = Counter(table for table, _ in columns)
    own = sizes.pop("", 0)
    return own + sum(size for _, size in sizes.most_common(variables))


def _choice_margin(lattice: Lattice, chosen: ILPParameters, epsilon: float, rho: float | None) -> int | None:
    if chosen.method == "noisy_max":
        return None
    counted = [np.arange(len(lattice))]
    if chosen.method == "relevance_aware":
        counted = [np.flatnonzero(lattice.lengths == n) for n in range(chosen.max_literals + 1)]
    most = max(overlap_bounds(lattice).most(positions) for positions in counted)
    if rho is None:
        return geometric_tail(counts_sensitivity(most).value * len(counted) / epsilon, 0.95)
    return gaussian_tail(math.sqrt(counts_sensitivity(most).value * len(counted) / (2 * rho)), 0.95)


def condition_texts(schema: Schema, target: str, *, reserved: bool = False) -> Mapping[str, dict[str, str]]:
    """Every condition that a schema declares, by table: its full text, and how it is shown.

    The main table is called by what one of its rows is.
    """
    names = ("", *(child.name for child in schema.children))
    labels = Labels(schema)
    texts: dict[str, dict[str, str]] = {name or schema.entity: {} for name in names}
    for atom in bottom_atoms(schema, target, reserved=reserved):
        shown = f"any {atom.table} at all" if atom.exists else atom.called(labels).condition(labels.schema)
        texts[atom.table or schema.entity][atom.text(schema)] = shown
    return texts
