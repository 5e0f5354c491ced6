"""The tree learner: one plan and one released form for every way to grow a tree."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

from dpcore.data.table import PrivateTable
from dpcore.domain.schema import Schema
from dpcore.learning.holdout import cell_codes, evaluate_groups
from dpcore.learning.learner import Learner, Progress
from dpcore.models.trees.learning.growth import freeze
from dpcore.models.trees.learning.methods import METHODS
from dpcore.models.trees.released.family import TREE
from dpcore.models.trees.released.model import TreeModel
from dpcore.models.trees.released.parameters import TreeParameters
from dpcore.privacy.randomness import RandomSource
from dpcore.released.evaluation import Evaluation
from dpcore.released.plan import RunPlan, check_classes
from dpcore.validation import validated


class TreeLearner(Learner):
    """Differentially private decision trees.

    Guarantee: pure epsilon-DP per person, one person added or removed, unconditional for every
    method. Sensitivities and proofs: ``docs/privacy/trees.md``. The hold-out evaluation
    composes in parallel.
    """

    family = TREE

    def plan(self, schema: Schema, target: str, epsilon: Decimal, parameters: Any) -> RunPlan:
        """Validate a request and say what it costs; sees no record.

        Raises
        ------
        RequestError
            If a parameter or the target cannot be used, or the run would take hours.
        BudgetError
            If epsilon is too small to be split.
        """
        chosen = validated(TreeParameters, parameters)
        check_classes(schema, target)
        return METHODS[chosen.method].plan(schema, target, epsilon, chosen)

    def run(
        self, table: PrivateTable, plan: RunPlan, randomness: RandomSource, progress: Progress
    ) -> TreeModel:
        """Spend the plan's budget on the table and return the released tree."""
        parameters: TreeParameters = plan.parameters
        progress("growing the tree", 0, 1)
        root = METHODS[parameters.method].run(table, plan, randomness, progress)
        blocks = (parameters.blocks or ()) if parameters.method == "lookahead" else ()
        model = freeze(root, plan.schema, plan.classes, plan.epsilon, blocks=blocks)
        progress("checking on people set aside", 0, 1)
        evaluation = self._evaluate(table, plan, model, randomness)
        progress("checking on people set aside", 1, 1)
        return model.model_copy(update={"evaluation": evaluation})

    def _evaluate(
        self, table: PrivateTable, plan: RunPlan, model: TreeModel, randomness: RandomSource
    ) -> Evaluation | None:
        if not plan.parallel:
            return None
        # Only where records stop is there anything to count, and noise worth having.
        stops = [model.nodes[position] for position in model.finals]
        group = np.zeros(len(model.nodes), dtype=np.int64)
        group[list(model.finals)] = np.arange(len(stops))
        reached = model.apply_codes(cell_codes(table, model.columns()), plan.schema.max_rows)
        return evaluate_groups(
            table,
            plan,
            group[reached],
            np.array([node.estimates for node in stops]),
            np.array([node.label for node in stops]),
            randomness,
        )
