"""The forest learner: trees that share one budget, and whose chances are averaged."""

from __future__ import annotations

import math
from dataclasses import replace
from decimal import Decimal
from functools import partial
from typing import Final

import numpy as np

from dpcore.arrays import Ints
from dpcore.data.packing import word_count
from dpcore.data.partition import Partition
from dpcore.errors import BudgetError, RequestError
from dpcore.learning.exact_draws.balance import pulled_shares
from dpcore.learning.holdout import chance_groups, evaluate_groups, expected_rows, group_count_for, level_count_for
from dpcore.learning.learner import Learner, PlanRequest, Run, with_evaluation
from dpcore.models.trees.learning.contingency import NodeData, stopped_at
from dpcore.models.trees.learning.growth import NodeTable, freeze, prune
from dpcore.models.trees.learning.path_form import PURE, PathForm, epsilon_of_unit, path_budget, plan_paths
from dpcore.models.trees.learning.random_trees import (
    GrownForest,
    grow_adaptive_forest,
    grow_random_forest,
)
from dpcore.models.trees.learning.tree_learner import adaptive_noise
from dpcore.models.trees.learning.tree_workload import GROWING_TREES, forest_workload
from dpcore.models.trees.released.chance_groups import chance_cuts
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.tree_family import FOREST
from dpcore.models.trees.released.tree_model import MAX_NODES
from dpcore.models.trees.released.tree_parameters import ForestParameters, ForestSettings, Sharing
from dpcore.privacy.budgets import row_epsilon
from dpcore.released.evaluation import Evaluation
from dpcore.released.parameters import chosen_cuts
from dpcore.released.plan import EVALUATION, CountNoise, RunPlan
from dpcore.released.workload import Workload

TREES: Final = "trees"
#: Trees of a forest, if the analyst leaves it open, and epsilon times rows that is enough for each.
_FEWEST, _MOST, _ENOUGH = 2, 10, 30
#: Words that the trees may visit if all grow as far as they may: some hours.
_WORK_LIMIT: Final = 4 * 10**13


class ForestLearner(Learner):
    """Differentially private forests.

    Guarantee: pure epsilon-DP per person, or made to be composed (epsilon, delta)-DP by rho; one person
    added or removed, unconditional. Sensitivities and proofs: ``docs/privacy/trees.md``. The hold-out
    evaluation composes in parallel.
    """

    family = FOREST

    def _plan(self, plan_request: PlanRequest) -> RunPlan:
        plan = plan_paths(plan_request, TREES)
        form, budget = path_budget(plan)
        plan_request = replace(plan_request, parameters=_filled_in(plan_request, form, budget))
        _check_effort(plan_request)
        return replace(plan, parameters=plan_request.parameters, noise=_noise(plan_request, form, budget))

    def workload(self, plan: RunPlan) -> Workload:
        """How much a run of a plan has to do."""
        return forest_workload(plan)

    def run(self, run: Run) -> ForestModel:
        """Spend the plan's budget on the table and return the released forest."""
        parameters: ForestSettings = run.plan.parameters
        run.progress(GROWING_TREES, 0, parameters.trees)
        grow = grow_random_forest if parameters.method == "random_trees" else grow_adaptive_forest
        form, budget = path_budget(run.plan)
        grown = grow(
            NodeData(run.table, run.target, run.part, cuts=chosen_cuts(run.schema, parameters), form=form),
            budget,
            parameters,
            run.randomness,
            lambda done: run.progress(GROWING_TREES, done, parameters.trees),
        )
        if parameters.prunes:
            for root in grown.trees:
                prune(root)
        _expect(grown, parameters.sharing)
        return with_evaluation(run, _freeze(grown, run.plan), _evaluate)


def choose_trees(budget: Decimal, max_rows: int, form: PathForm = PURE) -> int:
    """How many trees share a budget if the analyst leaves it open: so many that each gets enough, from two to ten.

    The constant was chosen on 240 to 700 rows of ``heart_cleveland``, ``titanic`` and ``adult``, and checked on
    ``pima_diabetes`` and ``telco_churn`` (``docs/benchmarks.md``).

    Parameters
    ----------
    budget : Decimal
        Row-level budget of the run.
    """
    enough = float(form.signal(budget)) * max_rows / _ENOUGH
    return max(_FEWEST, min(_MOST, int(enough**form.norm)))


def _filled_in(plan_request: PlanRequest, form: PathForm, budget: Decimal) -> ForestSettings:
    parameters: ForestParameters = plan_request.parameters
    trees = parameters.trees or choose_trees(budget, plan_request.schema.max_rows, form)
    return ForestSettings(**(parameters.model_dump() | {"trees": trees}))


def _evaluate(run: Run, model: ForestModel) -> Evaluation:
    estimates, labels = model.group_estimates()
    limits = (0.0, *model.cuts) if len(model.classes) == 2 else ()
    return evaluate_groups(run, partial(_groups, model), estimates, labels, limits)


def _groups(model: ForestModel, partition: Partition) -> Ints:
    """Group of each place by its mean chance."""
    total = np.zeros((partition.rows, len(model.classes)))
    for tree in model.trees:
        chances = np.array([node.estimates for node in tree.nodes])
        total += chances[stopped_at(tree, np.arange(len(tree.nodes)), partition)]
    return chance_groups(total / len(model.trees), model.cuts)


def _expect(grown: GrownForest, sharing: Sharing) -> None:
    """Tell every node which class shares to expect: those of all people, by the noisy counts of all trees.

    Its own counts outweigh them the more, the larger it is beside its noise (``pulled_shares``). Post-processing.
    """
    counts = np.sum([root.counts() for root in grown.trees], axis=0)
    deviation = math.sqrt(sum(float(NodeTable.of(root).deviations()[0]) ** 2 for root in grown.trees))
    times = 1 if sharing == "parts" else len(grown.trees)
    even = np.full(len(counts), 1 / len(counts))
    (everyone,) = pulled_shares(np.rint(counts[None] / times).astype(np.int64), even, deviation / times)
    for root in grown.trees:
        for node in root.below():
            node.expected = everyone


def _check_effort(plan_request: PlanRequest) -> None:
    schema, parameters = plan_request.schema, plan_request.parameters
    cells = sum(len(column.cells) for column in schema)
    node = cells * plan_request.classes * word_count(schema.max_rows)
    if parameters.trees * MAX_NODES * node > _WORK_LIMIT:
        most = max(1, _WORK_LIMIT // (MAX_NODES * node))
        raise RequestError(
            f"{parameters.trees} trees on up to {schema.max_rows} rows could take hours: choose at most {most}."
        )


def _noise(plan_request: PlanRequest, form: PathForm, row_level: Decimal) -> tuple[CountNoise, ...]:
    parameters: ForestSettings = plan_request.parameters
    if parameters.sharing == "split":
        row_level = form.part(row_level, parameters.trees)
    if parameters.method == "random_trees":
        return (form.count_noise("a class count of a group in one tree", row_level),)
    return adaptive_noise(plan_request, form, row_level)


def _freeze(grown: GrownForest, plan: RunPlan) -> ForestModel:
    """Freeze every tree, and see that together they spent no more than the plan gave."""
    rows, unit = plan.schema.privacy_unit.max_rows_per_person, epsilon_of_unit(plan)
    parameters: ForestParameters = plan.parameters
    for root in grown.trees:
        root.scale_spending(unit)
    spent = [root.most_spent() * rows for root in grown.trees]
    whole = max(spent) if parameters.sharing == "parts" else sum(spent, Decimal(0))
    if whole > plan.epsilon:
        raise BudgetError("The trees would spend more than they were given.")
    trees = tuple(
        freeze(root, plan.schema, plan.classes, budget * unit * rows)
        for root, budget in zip(grown.trees, grown.budgets, strict=True)
    )
    aside, classes = row_epsilon(plan.parallel.get(EVALUATION, plan.epsilon), rows), len(plan.classes)
    signal = expected_rows(plan.schema) * float(aside)
    groups = group_count_for(signal) if classes == 2 else level_count_for(signal, classes)
    return ForestModel(
        classes=plan.classes,
        trees=trees,
        sharing=parameters.sharing,
        budget=plan.epsilon,
        cuts=chance_cuts(trees, groups),
        rows_per_person=rows,
        gaussian=plan.row_rho is not None,
    )
