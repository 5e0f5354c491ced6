"""The forest learner: trees that share one budget and vote."""

from __future__ import annotations

from decimal import Decimal
from typing import Any, Final

from dpcore.data.bits import word_count
from dpcore.data.table import PrivateTable
from dpcore.domain.schema import Schema
from dpcore.errors import BudgetError, RequestError
from dpcore.learning.holdout import cell_codes, evaluate_groups
from dpcore.learning.learner import Learner, Progress
from dpcore.models.trees.learning.contingency import NodeData
from dpcore.models.trees.learning.driver import MAX_NODES, share_of
from dpcore.models.trees.learning.growth import freeze
from dpcore.models.trees.learning.methods import adaptive_noise
from dpcore.models.trees.learning.plans import base_plan
from dpcore.models.trees.learning.pruning import prune
from dpcore.models.trees.learning.random_trees import (
    GrownForest,
    grow_adaptive_forest,
    grow_random_forest,
)
from dpcore.models.trees.released.family import FOREST
from dpcore.models.trees.released.forest_model import ForestModel
from dpcore.models.trees.released.parameters import ForestParameters
from dpcore.privacy.budgets import BudgetSplit, row_epsilon
from dpcore.privacy.randomness import RandomSource
from dpcore.released.evaluation import Evaluation
from dpcore.released.plan import CountNoise, RunPlan, check_classes, training_part
from dpcore.validation import validated

TREES: Final = "trees"
#: Words that the trees may visit if all grow as far as they may: some hours.
_WORK_LIMIT: Final = 4 * 10**13


class ForestLearner(Learner):
    """Differentially private forests.

    Guarantee: pure epsilon-DP per person, one person added or removed, unconditional.
    Sensitivities and proofs: ``docs/privacy/trees.md``. The hold-out evaluation composes in
    parallel.
    """

    family = FOREST

    def plan(self, schema: Schema, target: str, epsilon: Decimal, parameters: Any) -> RunPlan:
        """Validate a request and say what it costs; sees no record.

        Raises
        ------
        RequestError
            If a parameter or the target cannot be used, or the run could take hours.
        BudgetError
            If epsilon is too small to be split.
        """
        chosen = validated(ForestParameters, parameters)
        check_classes(schema, target)
        _check_effort(schema, target, chosen)
        return base_plan(
            schema,
            target,
            epsilon,
            chosen,
            BudgetSplit(epsilon, {TREES: epsilon}),
            chosen.method,
            estimates_step=TREES,
            noise=_noise(schema, target, epsilon, chosen),
        )

    def run(
        self, table: PrivateTable, plan: RunPlan, randomness: RandomSource, progress: Progress
    ) -> ForestModel:
        """Spend the plan's budget on the table and return the released forest."""
        parameters: ForestParameters = plan.parameters
        progress("growing trees", 0, parameters.trees)
        part = training_part(plan.schema, evaluated=parameters.evaluate)
        grow = grow_random_forest if parameters.method == "random_trees" else grow_adaptive_forest
        grown = grow(
            NodeData.of_table(table, plan.target, part),
            plan.row_epsilon(TREES),
            parameters,
            randomness,
            lambda done: progress("growing trees", done, parameters.trees),
        )
        if parameters.prunes:
            for root in grown.trees:
                prune(root)
        model = _freeze(grown, plan)
        progress("checking on people set aside", 0, 1)
        evaluation = self._evaluate(table, plan, model, randomness)
        progress("checking on people set aside", 1, 1)
        return model.model_copy(update={"evaluation": evaluation})

    def _evaluate(
        self, table: PrivateTable, plan: RunPlan, model: ForestModel, randomness: RandomSource
    ) -> Evaluation | None:
        if not plan.parallel:
            return None
        votes = model.votes_of_codes(cell_codes(table, model.columns()), plan.schema.max_rows)
        estimates, labels = model.group_estimates()
        return evaluate_groups(table, plan, model.groups(votes), estimates, labels, randomness)


def _check_effort(schema: Schema, target: str, parameters: ForestParameters) -> None:
    cells = sum(len(column.cells) for column in schema)
    node = cells * len(schema.column(target).classes) * word_count(schema.max_rows)
    if parameters.trees * MAX_NODES * node > _WORK_LIMIT:
        most = max(1, _WORK_LIMIT // (MAX_NODES * node))
        raise RequestError(
            f"{parameters.trees} trees on up to {schema.max_rows} rows could take hours: "
            f"choose at most {most}."
        )


def _noise(
    schema: Schema, target: str, epsilon: Decimal, parameters: ForestParameters
) -> tuple[CountNoise, ...]:
    row_level = row_epsilon(epsilon, schema.privacy_unit.max_rows_per_person)
    if parameters.sharing == "split":
        row_level = share_of(row_level, parameters.trees)
    if parameters.method == "random_trees":
        return (CountNoise("a class count of a group in one tree", row_level),)
    classes = len(schema.column(target).classes)
    return adaptive_noise(row_level, schema, classes, spend_rest=parameters.spend_rest)


def _freeze(grown: GrownForest, plan: RunPlan) -> ForestModel:
    """Freeze every tree, and see that together they spent no more than the plan gave."""
    rows = plan.schema.privacy_unit.max_rows_per_person
    parameters: ForestParameters = plan.parameters
    spent = [root.most_spent() * rows for root in grown.trees]
    whole = max(spent) if parameters.sharing == "parts" else sum(spent, Decimal(0))
    if whole > plan.epsilon:
        raise BudgetError("The trees would spend more than they were given.")
    trees = tuple(
        freeze(root, plan.schema, plan.classes, budget * rows)
        for root, budget in zip(grown.trees, grown.budgets, strict=True)
    )
    return ForestModel(
        classes=plan.classes, trees=trees, sharing=parameters.sharing, budget=plan.epsilon
    )
