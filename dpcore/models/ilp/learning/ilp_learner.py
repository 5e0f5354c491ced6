"""The learner of relational rules: a theory of a few clauses, clause by clause."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import NamedTuple

import numpy as np

from dpcore.arrays import Ints
from dpcore.data.queries import CAPTURES, capture_counts
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.learning.count_budget import CountBudget
from dpcore.learning.holdout import evaluate_rules
from dpcore.learning.learner import Learner, PlanRequest, Run, composed_form
from dpcore.models.ilp.language.clause import Clause
from dpcore.models.ilp.language.ilp_parameters import ILPParameters, ILPSettings
from dpcore.models.ilp.language.lattice import Lattice, build_lattice
from dpcore.models.ilp.language.richness import quantifiers_for
from dpcore.models.ilp.language.sensitivities import CLAUSES, COUNTS, coverage, divided, first_clause_epsilon
from dpcore.models.ilp.learning.coverage import check_effort, clause_vectors, covered
from dpcore.models.ilp.learning.ilp_workload import ilp_workload
from dpcore.models.ilp.learning.selection import select_clause
from dpcore.models.ilp.learning.weighing import Sides, clauses_epsilon, noisy_sides, sides_margin, weights_told
from dpcore.models.ilp.released.ilp_derived import EXPONENTIAL, PASSED_ON, SAMPLERS
from dpcore.models.ilp.released.ilp_family import ILP
from dpcore.models.ilp.released.ilp_model import CoveredGroup, ILPModel
from dpcore.privacy.budgets import BudgetSplit, first_share, row_epsilon
from dpcore.released.noisy_counts import holding, noise_intervals, point_estimates
from dpcore.released.plan import CountNoise, RunPlan
from dpcore.released.workload import Workload

#: Most clauses that the published reductions may have to count with noise, one by one.
_MOST_COUNTED = 200_000
#: Nats of a choice that all people together make, each with a weight of 1, from which strict clauses come first. On
#: invented patients (``benchmarks ilp``, other seeds) they rank worse at 36, alike at 62 and 89, better at 178.
_ROOM = 100


class ILPLearner(Learner):
    """Differentially private inductive logic programming (Zeng et al. 2013, Algorithm 4).

    Guarantee: pure epsilon-DP per person with all child rows, or within an account that composes
    (epsilon, delta)-DP by its rho; unconditional. The bottom clause
    comes from the schema. Each clause of the theory is chosen with an equal part of the
    budget, then the people whom it covers leave the data (cover removal), which is a function
    of the person and of what was released. Cost: O(clauses x lattice x max_rows / 64).
    Deviations: report noisy max with sensitivity 1 chooses by default; the clauses chosen are
    counted once more, together, at the end. Proofs: ``docs/privacy/ilp.md``.
    """

    family = ILP

    def _plan(self, plan_request: PlanRequest) -> RunPlan:
        asked, plan_request = plan_request, plan_request.pure()
        schema, target = plan_request.schema, plan_request.target
        # Counts with Gaussian noise need less of rho than others of epsilon.
        counting = plan_request.parameters.count_share / (2 if asked.delta else 1)
        weights = {CLAUSES: 1 - counting, COUNTS: counting}
        split = BudgetSplit.by_weights(plan_request.epsilon, weights)
        share = first_clause_epsilon(
            row_epsilon(split[CLAUSES], schema.privacy_unit.max_rows_per_person), plan_request.parameters
        )
        chosen = _resolved(plan_request, float(share))
        lattice = build_lattice(schema, target, chosen)
        _check_lattice(schema, lattice, chosen)
        plan = plan_request.plan(
            split,
            parameters=chosen,
            sampler=SAMPLERS[chosen.method],
            estimates_step=COUNTS,
            composition=PASSED_ON if chosen.method == "relevance_aware" else "",
        )
        if asked.delta and chosen.method != "noisy_max":
            plan = asked.composed(plan, weights)
            plan = replace(plan, noise=(CountBudget.of(plan, COUNTS).noise("a count"),))
        elif chosen.method == "relevance_aware":
            first_share(share, [1.0] * (chosen.max_literals + 1))
        return _in_its_form(asked, plan) if chosen.method == "noisy_max" else plan

    def workload(self, plan: RunPlan) -> Workload:
        """How much a run of a plan has to do."""
        return ilp_workload(plan)

    def run(self, run: Run) -> ILPModel:
        """Spend the plan's budget on the table and return the released theory."""
        lattice = build_lattice(run.schema, run.target, run.plan.parameters)
        chosen = _choose_clauses(run, lattice)
        run.progress("counting with noise", 0, 1)
        rules = partial(clause_vectors, clauses=chosen.clauses)
        exact = capture_counts(run.table, run.target, run.part, rules)
        counting = CountBudget.of(run.plan, COUNTS)
        counting = replace(counting, amount=counting.amount + chosen.left)
        noisy = counting.mechanism(CAPTURES).release(exact, run.randomness)
        model = _model(run.plan, chosen, noisy, counting.noise("a count"), len(lattice))
        estimates = np.array([group.estimates for group in model.groups])
        evaluation = evaluate_rules(run, rules, estimates, np.array(model.labels))
        run.progress("counting with noise", 1, 1)
        return model.model_copy(update={"evaluation": evaluation})


def _in_its_form(plan_request: PlanRequest, pure: RunPlan) -> RunPlan:
    """The pure plan, or one that composes: with an exponential mechanism for each clause."""
    chosen: ILPSettings = pure.parameters
    rows = plan_request.schema.privacy_unit.max_rows_per_person

    def select(_: str, rho: Decimal) -> Decimal:
        """Epsilon of all clauses, each of which has the same whole number of steps for a row."""
        return rows * clauses_epsilon(rho, rows, chosen.clauses, alike=chosen.alike)

    made = composed_form(plan_request, pure, select)
    return replace(made, sampler=EXPONENTIAL) if made.composed else pure


def _resolved(plan_request: PlanRequest, epsilon: float) -> ILPSettings:
    """What was asked for, with what the house rule adds where there is ``epsilon`` for the choice of each clause."""
    parameters: ILPParameters = plan_request.parameters
    classes = plan_request.schema.column(plan_request.target).classes
    positive = parameters.positive if parameters.positive is not None else classes[-1]
    if positive not in classes:
        listed = ", ".join(f"'{label}'" for label in classes[:20])
        raise RequestError(f"'{positive}' is not a class of '{plan_request.target}'. Classes: {listed}.")
    share = epsilon / parameters.heaviest
    held = plan_request.schema.holdout_percent if parameters.evaluate else 0
    people = plan_request.schema.max_rows * (100 - held) // 100
    said = quantifiers_for(plan_request.schema, plan_request.target, parameters, share, people)
    strict = share * people >= _ROOM if parameters.strict_first is None else parameters.strict_first
    return ILPSettings(
        **(parameters.model_dump() | {"positive": positive, "quantifiers": said, "strict_first": strict})
    )


def _check_lattice(schema: Schema, lattice: Lattice, parameters: ILPParameters) -> None:
    if len(lattice) < 2:
        raise RequestError("There is no condition to choose from: choose at least one.")
    if len(lattice) < parameters.clauses:
        raise RequestError(f"Only {len(lattice)} clauses are possible: ask for fewer, or choose more conditions.")
    check_effort(schema, lattice.atoms, lattice.factors, len(lattice) * parameters.clauses)
    if parameters.method != "noisy_max" and len(lattice) > _MOST_COUNTED:
        raise RequestError(
            f"This method counts all {len(lattice):,} clauses with noise, and at most "
            f"{_MOST_COUNTED:,} can be: choose fewer conditions, a shorter clause or the method "
            "'noisy_max'."
        )


class _Chosen(NamedTuple):
    """Clauses, row-level budget that the last one left, weights, and noisy counts that told these with their margin."""

    clauses: list[Clause]
    left: Decimal
    weights: tuple[int, int]
    sides: Sides | None
    margin: int


def _choose_clauses(run: Run, lattice: Lattice) -> _Chosen:
    """One clause after another, each for the people whom those before it do not cover.

    Each gets an equal part of what is left of the budget.
    """
    chosen: ILPSettings = run.plan.parameters
    weighed, sides, margin = chosen, None, 0
    run.progress("choosing clauses", 0, chosen.clauses)
    places: list[int] = []
    composed = run.plan.composed is not None
    drawn = chosen.method == "noisy_max"
    budget = CountBudget(run.row_epsilon(CLAUSES)) if drawn else CountBudget.of(run.plan, CLAUSES)
    weighing, left = divided(budget.amount, alike=chosen.alike)
    for done in range(1, chosen.clauses + 1):
        counts = run.table.total(covered, run.target, run.part, chosen, places)
        share = replace(budget, amount=left).first([1.0] * (chosen.clauses + 1 - done))
        if weighing and not places:
            sides, margin = noisy_sides(counts, weighing, run.randomness), sides_margin(weighing)
            weighed = chosen.model_copy(update=weights_told(chosen, sides, weighing))
        public = weighed, run.schema.max_rows, share
        choice = select_clause(lattice, counts, *public, run.randomness, places, composed=composed)
        left -= share - choice.left
        places.append(choice.place)
        run.progress("choosing clauses", done, chosen.clauses)
    return _Chosen([lattice.clause(place) for place in places], left, weighed.weights, sides, margin)


def _model(plan: RunPlan, chosen: _Chosen, noisy: Ints, noise: CountNoise, clause_count: int) -> ILPModel:
    """The theory with noisy counts of shape (n_clauses + 1, n_classes), not yet evaluated."""
    positive = plan.classes.index(plan.parameters.positive)
    alpha = (1.0,) * len(plan.classes)
    estimates = point_estimates(noisy, alpha)
    intervals = holding(noise_intervals(noisy, alpha, noise.scale, gaussian=noise.gaussian), estimates)
    groups = []
    for row, clause in enumerate([*chosen.clauses, None]):
        sides = np.array([[noisy[row].sum() - noisy[row, positive], noisy[row, positive]]])
        kept = clause is not None and bool(coverage(sides, chosen.weights)[0] > 0)
        group = CoveredGroup(
            clause=clause,
            noisy_counts=tuple(int(count) for count in noisy[row]),
            estimates=tuple(float(share) for share in estimates[row]),
            intervals=tuple((float(low), float(high)) for low, high in intervals[row]),
            kept=kept,
        )
        groups.append(group)
    return ILPModel(
        classes=plan.classes,
        positive=positive,
        groups=tuple(groups),
        count_margin=noise.margin(),
        clause_count=clause_count,
        sides=chosen.sides,
        sides_margin=chosen.margin,
        alike=chosen.sides is not None and chosen.weights != plan.parameters.weights,
        evaluation=None,
    )
