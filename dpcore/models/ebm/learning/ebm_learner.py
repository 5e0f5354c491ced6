"""The learner of explainable boosting machines: plan, run and release."""

from __future__ import annotations

import math

from dpcore.domain.columns import NumericColumn
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.learning.learner import Learner, PlanRequest, Run, with_evaluation
from dpcore.models.ebm.learning.accounting import (
    BINS,
    Cost,
    EBMSettings,
    check_budget,
    cost_of,
    histogram_mechanism,
    most_cells,
    output_count,
    pair_count,
)
from dpcore.models.ebm.learning.ebm_workload import ebm_workload
from dpcore.models.ebm.learning.fit import EBMFit
from dpcore.models.ebm.learning.grid import count_deviation, feature_cells
from dpcore.models.ebm.learning.holdout import error_share, evaluate
from dpcore.models.ebm.released.ebm_derived import CHOICE, composition_words
from dpcore.models.ebm.released.ebm_family import EBM
from dpcore.models.ebm.released.ebm_model import EBMModel
from dpcore.models.ebm.released.ebm_parameters import EBMParameters
from dpcore.privacy.budgets import default_delta
from dpcore.released.plan import CountNoise, RunPlan, target_column
from dpcore.released.workload import Workload

#: Most visits of a record's cell in one run: hours of work.
_WORK_LIMIT = 2_000_000_000_000
#: Distances of the bounds of a numeric target whose fourth powers are numbers.
_NARROWEST, _WIDEST = 1e-30, 1e30
#: Most bytes that the codes of the features and the scores of a place may take, for all places.
_MEMORY_LIMIT, _SCORE_BYTES = 16 * 2**30, 4


class EBMLearner(Learner):
    """Differentially private explainable boosting machines.

    Guarantee: (epsilon, delta)-DP per person, one person added or removed, unconditional.
    Sensitivities and proofs: ``docs/privacy/ebm.md``. The hold-out evaluation is on other
    people and composes in parallel.
    """

    family = EBM

    def _check_target(self, plan_request: PlanRequest) -> None:
        column = target_column(plan_request.schema, plan_request.target)
        if not isinstance(column, NumericColumn):
            super()._check_target(plan_request)
        elif not _NARROWEST <= column.upper - column.lower <= _WIDEST:
            raise RequestError(
                f"The bounds of '{plan_request.target}' are too far apart or too close together to "
                "predict it as a number: their distance must be between "
                f"{_NARROWEST:g} and {_WIDEST:g}."
            )

    def _plan(self, plan_request: PlanRequest) -> RunPlan:
        schema, target, chosen = plan_request.schema, plan_request.target, plan_request.parameters
        _check_directions(schema, target, chosen)
        _check_pairs(schema, target, chosen)
        rho = plan_request.rho if plan_request.delta and not chosen.delta else None
        delta = chosen.delta or plan_request.delta or default_delta(schema.max_rows)
        if rho is None:  # Else it would be planned anew as a run with a delta of its own.
            chosen = chosen.model_copy(update={"delta": delta})
        cost = cost_of(schema, target, plan_request.epsilon, delta, chosen, rho)
        _check_effort(schema, target, cost.parameters)
        check_budget(cost, schema, target)
        plan = plan_request.plan(
            cost.split,
            delta=delta,
            definition="approximate",
            parameters=cost.parameters,
            sampler=chosen.method,
            estimates_step=BINS,
            noise=_count_noise(cost, schema, target),
            composition=composition_words(cost.mu, chooses=CHOICE in cost.split.parts),
            rho=cost.rho,
        )
        if rho is not None:
            plan = plan_request.composed(plan, cost.split.parts, {CHOICE}, lambda *_: cost.choice)
        if plan.evaluated and isinstance(schema.column(target), NumericColumn):
            error_share(plan)
        return plan

    def workload(self, plan: RunPlan) -> Workload:
        """How much a run of a plan has to do."""
        return ebm_workload(plan)

    def run(self, run: Run) -> EBMModel:
        """Spend the plan's budget on the table and return the released model."""
        return with_evaluation(run, EBMFit(run).model(), evaluate)


def _check_pairs(schema: Schema, target: str, parameters: EBMParameters) -> None:
    features = len(schema.columns) - 1
    if features < 1:
        raise RequestError("This data set has no column to learn from but the target.")
    if parameters.pairs > pair_count(schema, target, parameters):
        held = len({*parameters.increasing, *parameters.decreasing})
        without = f", without those whose shape only rises or only falls ({held})," if held else ""
        raise RequestError(f"{features} columns{without} make fewer than {parameters.pairs} pairs.")


def _check_directions(schema: Schema, target: str, parameters: EBMParameters) -> None:
    """Refuse to hold a shape monotone where more and less mean nothing."""
    asked = (*parameters.increasing, *parameters.decreasing)
    if asked and output_count(schema, target) > 1:
        raise RequestError("Shapes that only rise or only fall need a target that is a number or has two classes.")
    for name in asked:
        column = schema.column(name)
        if name == target:
            raise RequestError(f"'{name}' is what is predicted: it has no shape.")
        if not column.ordered:
            raise RequestError(f"The values of '{name}' are in no order, so its shape can neither rise nor fall.")


def _check_effort(schema: Schema, target: str, parameters: EBMSettings) -> None:
    """Refuse, from public inputs, what this engine could not finish: it would cost its budget."""
    features, rows = len(schema.columns) - 1, schema.max_rows
    scores = parameters.replicates * output_count(schema, target)
    per_epoch = features * rows * scores
    if (features + _SCORE_BYTES * scores) * rows > _MEMORY_LIMIT:
        raise RequestError(f"{features} columns of up to {rows} rows need more memory than a run may use.")
    if per_epoch * parameters.epochs > _WORK_LIMIT:
        raise RequestError(
            f"{parameters.epochs} epochs on up to {rows} rows would take hours: "
            f"choose at most {max(1, _WORK_LIMIT // per_epoch)}."
        )


def _count_noise(cost: Cost, schema: Schema, target: str) -> tuple[CountNoise, ...]:
    """Of one cell, and of a numeric feature's bin if it were made of all cells, as hardly one will be."""
    deviation = count_deviation(histogram_mechanism(cost, schema))
    most = most_cells(cost.parameters.max_bins)
    counted = (cells.merged(most)[0] for cells in feature_cells(schema, target))
    widest = max(len(cells) if cells.edges is not None else 1 for cells in counted)
    one = CountNoise("a category's count", deviation=deviation)
    if widest == 1:
        return (one,)
    return (one, CountNoise("the count of a bin as wide as its column", deviation=deviation * math.sqrt(widest - 1)))
