"""What of a released theory follows from its clauses and noisy counts."""

from __future__ import annotations

from typing import Final

import numpy as np

from dpcore.models.ilp.language.atoms import Atom, chosen_atoms
from dpcore.models.ilp.language.clause import Clause
from dpcore.models.ilp.language.ilp_parameters import ILPSettings
from dpcore.models.ilp.language.nested_conditions import single
from dpcore.models.ilp.language.sensitivities import CLAUSES, COUNTS, coverage, divided
from dpcore.models.ilp.released.ilp_model import CoveredGroup, ILPModel
from dpcore.privacy.budgets import geometric_tail, row_epsilon
from dpcore.released.derived import (
    check_certificate,
    check_classes,
    check_counts,
    check_shares,
    demand,
    is_gaussian,
    rebuilt_evaluation,
    rebuilt_groups,
)
from dpcore.released.release import Release

#: How clauses are chosen, by the method; and if a run is made to be composed.
SAMPLERS: Final = {
    "noisy_max": "report noisy max over the lattice",
    "relevance_aware": "noisy counts, level by level",
    "naive": "noisy counts of the whole lattice",
}
EXPONENTIAL: Final = "exponential mechanism over the lattice"
#: How the parts compose if clauses are counted level by level.
PASSED_ON: Final = (
    f"the parts add up; what the levels of a clause do not need goes to the clauses after it, and what the last one "
    f"leaves to '{COUNTS}'"
)


def rebuilt_theory(release: Release, model: ILPModel) -> ILPModel:
    """The theory with every number that follows from the rest."""
    chosen, card = ILPSettings.model_validate(release.parameters), release.certificate
    by_level = chosen.method == "relevance_aware"
    exponential = is_gaussian(card) and chosen.method == "noisy_max"
    check_certificate(release, EXPONENTIAL if exponential else SAMPLERS[chosen.method], PASSED_ON if by_level else "")
    _check_sizes(release, model, chosen)
    steps, alpha = [COUNTS, CLAUSES] if by_level else [COUNTS], (1.0,) * len(model.classes)
    margin, numbers = rebuilt_groups(release, model.groups, model.count_margin, steps, alpha)
    groups = tuple(
        group.model_copy(update={**own, "kept": _kept(group, model, chosen)})
        for group, own in zip(model.groups, numbers, strict=True)
    )
    rebuilt = model.model_copy(
        update={
            "positive": model.classes.index(chosen.positive),
            "groups": groups,
            "count_margin": margin,
            "sides_margin": _sides_margin(release, model, chosen),
        }
    )
    shares, labels = [group.estimates for group in groups], np.array(rebuilt.labels)
    return rebuilt.model_copy(update={"evaluation": rebuilt_evaluation(release, model.evaluation, shares, labels)})


def _kept(group: CoveredGroup, model: ILPModel, chosen: ILPSettings) -> bool:
    """Whether a clause predicts; as it says where its weights are not known from parameters."""
    if group.clause is None:
        return False
    if model.sides is not None and model.alike is not False:
        return group.kept
    own = group.noisy_counts[model.positive]
    sides = np.array([[sum(group.noisy_counts) - own, own]])
    return bool(coverage(sides, chosen.weights)[0] > 0)


def _sides_margin(release: Release, model: ILPModel, chosen: ILPSettings) -> int:
    """Noise on the numbers of both sides."""
    demand((model.sides is not None) == chosen.alike)
    demand(model.sides is not None or not model.alike)
    if model.sides is None:
        return 0
    margin = model.sides_margin
    if not is_gaussian(release.certificate):
        rows = release.domain.privacy_unit.max_rows_per_person
        whole = row_epsilon(release.certificate.budget_split[CLAUSES], rows)
        margin = geometric_tail(1 / float(divided(whole, alike=True)[0]), 0.95)
    demand(margin >= 0)
    check_counts(model.sides, margin, release.domain.max_rows)
    return margin


def _check_sizes(release: Release, model: ILPModel, chosen: ILPSettings) -> None:
    check_classes(release, model.classes)
    classes, groups = len(model.classes), model.groups
    demand(0 < len(groups) <= chosen.clauses + 1 and len(groups) - 1 <= model.clause_count)
    demand(groups[-1].clause is None)
    for group in groups:
        demand(len(group.noisy_counts) == len(group.intervals) == classes)
    for group in groups[:-1]:
        demand(group.clause is not None and _length(group.clause) <= chosen.max_literals + chosen.max_variables)
    check_shares((group.estimates for group in groups), classes)
    reserved = chosen.reserved_literals
    known = {_said(atom) for atom in chosen_atoms(release.domain, release.target, chosen.literals, reserved=reserved)}
    for clause in model.clauses:
        rows = [atom for variable in clause.variables for atom in (*variable.atoms, *variable.later)]
        demand(chosen.negation or not any(variable.negated for variable in clause.variables))
        demand(all(variable.least <= chosen.most_counted for variable in clause.variables))
        demand(all(_said(atom) in known for atom in single([*clause.atoms, *rows])))


def _said(atom: Atom) -> tuple[object, ...]:
    """What an atom says, by the group that it names or by its cells."""
    return atom.table, atom.column, atom.cells, atom.group


def _length(clause: Clause) -> int:
    return len(clause.atoms) + sum(variable.length for variable in clause.variables)
