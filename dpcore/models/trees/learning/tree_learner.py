"""The tree learner: one plan and one released form for every way to grow a tree."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpcore.arrays import Ints
from dpcore.data.partition import Partition
from dpcore.learning.holdout import evaluate_groups, with_evaluation
from dpcore.learning.learner import Asked, Learner, Run
from dpcore.models.trees.learning.contingency import stopped_at
from dpcore.models.trees.learning.growth import freeze
from dpcore.models.trees.learning.methods import METHODS
from dpcore.models.trees.learning.tree_workload import GROWING, tree_workload
from dpcore.models.trees.released.tree_family import TREE
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.released.evaluation import Evaluation
from dpcore.released.plan import RunPlan
from dpcore.released.workload import Workload


class TreeLearner(Learner):
    """Differentially private decision trees.

    Guarantee: pure epsilon-DP per person, one person added or removed, unconditional for every
    method. Sensitivities and proofs: ``docs/privacy/trees.md``. The hold-out evaluation
    composes in parallel.
    """

    family = TREE

    def _plan(self, asked: Asked) -> RunPlan:
        return METHODS[asked.parameters.method].plan(asked)

    def workload(self, plan: RunPlan) -> Workload:
        """How much a run of a plan has to do."""
        return tree_workload(plan)

    def run(self, run: Run) -> TreeModel:
        """Spend the plan's budget on the table and return the released tree."""
        plan, parameters = run.plan, run.plan.parameters
        run.progress(GROWING, 0, 1)
        root = METHODS[parameters.method].run(run)
        blocks = (parameters.blocks or ()) if parameters.method == "lookahead" else ()
        model = freeze(root, plan.schema, plan.classes, plan.epsilon, blocks=blocks)
        return with_evaluation(run, model, _evaluate)


def _evaluate(run: Run, model: TreeModel) -> Evaluation:
    # Only where records stop is there anything to count, and noise worth having.
    stops = [model.nodes[position] for position in model.finals]
    estimates, labels = np.array([node.estimates for node in stops]), np.array([node.label for node in stops])
    return evaluate_groups(run, partial(_places_of_finals, model), estimates, labels)


def _places_of_finals(model: TreeModel, partition: Partition) -> Ints:
    """Place, among the nodes where records stop, of the one where each does."""
    return stopped_at(model, np.searchsorted(model.finals, np.arange(len(model.nodes))), partition)
