"""The tree learner: every way to grow a tree, with one plan and one released form."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial

import numpy as np

from dpcore.arrays import Ints
from dpcore.data.partition import Partition
from dpcore.learning.holdout import evaluate_groups
from dpcore.learning.learner import Learner, PlanRequest, Run, with_evaluation
from dpcore.models.trees.learning.contingency import NodeData, stopped_at
from dpcore.models.trees.learning.exact_method import plan_exact, run_exact
from dpcore.models.trees.learning.greedy import BOOST, UNTESTED, grow_adaptive, grow_fixed, smallest_step
from dpcore.models.trees.learning.growth import Grown, freeze, prune
from dpcore.models.trees.learning.path_form import PathForm, epsilon_of_unit, path_budget, plan_paths
from dpcore.models.trees.learning.sulq import grow_sulq
from dpcore.models.trees.learning.tree_workload import GROWING, tree_workload
from dpcore.models.trees.released.tree_family import TREE
from dpcore.models.trees.released.tree_model import TreeModel
from dpcore.models.trees.released.tree_parameters import TreeParameters
from dpcore.released.evaluation import Evaluation
from dpcore.released.parameters import chosen_cuts
from dpcore.released.plan import CountNoise, RunPlan
from dpcore.released.workload import Workload

#: The one step of a method whose paths divide the budget among themselves.
_STEP = "tree"


@dataclass(frozen=True)
class TreeGrower:
    """One way to grow a tree: its plan, which sees no record, and its run, which spends it."""

    plan: Callable[[PlanRequest], RunPlan]
    run: Callable[[Run], Grown]


def adaptive_noise(plan_request: PlanRequest, form: PathForm, row_level: Decimal) -> tuple[CountNoise, ...]:
    """Noise to expect in an adaptive tree with this row-level budget."""
    columns, rows = len(plan_request.schema.columns) - 1, plan_request.schema.max_rows
    step = smallest_step(row_level, columns, plan_request.classes, rows, form)
    if step == 0 or UNTESTED * step > row_level:  # The root cannot pay for a split.
        spend_rest = plan_request.parameters.spend_rest
        whole = row_level if step == 0 or spend_rest else min(row_level, BOOST * step)
        return (form.count_noise("a class count of the only group", whole),)
    return (
        form.count_noise("a class count of a group, at worst", step),
        form.count_noise("a node's own count, where the best splits look alike", step),
        form.count_noise("a node's own count, where one split stands out", BOOST * step),
    )


def _plan_adaptive(plan_request: PlanRequest) -> RunPlan:
    plan = plan_paths(plan_request, _STEP)
    return replace(plan, noise=adaptive_noise(plan_request, *path_budget(plan)))


def _plan_fixed(plan_request: PlanRequest) -> RunPlan:
    plan = plan_paths(plan_request, _STEP)
    form, row_level = path_budget(plan)
    share = form.part(row_level, 2 * (plan_request.parameters.depth + 1))
    noise = (
        # A leaf takes the last level's share whole, and more if it is higher up.
        form.count_noise("a class count of a group, at worst", 2 * share),
        form.count_noise("a node's own count", share),
    )
    return replace(plan, noise=noise)


def _run_adaptive(run: Run) -> Grown:
    root = grow_adaptive(*_data_and_budget(run), run.plan.parameters, run.randomness)
    return _finished(run, root)


def _run_fixed(run: Run) -> Grown:
    chosen: TreeParameters = run.plan.parameters
    grow = grow_sulq if chosen.method == "sulq_id3" else grow_fixed
    assert chosen.criterion != "balanced"  # Which exact trees alone know.
    root = grow(*_data_and_budget(run), chosen.criterion, chosen.depth, run.randomness)
    return _finished(run, root)


def _data_and_budget(run: Run) -> tuple[NodeData, Decimal]:
    form, budget = path_budget(run.plan)
    cuts = chosen_cuts(run.schema, run.plan.parameters)
    return NodeData(run.table, run.target, run.part, cuts=cuts, form=form), budget


def _finished(run: Run, root: Grown) -> Grown:
    if run.plan.parameters.prunes:
        prune(root)
    root.scale_spending(epsilon_of_unit(run.plan))
    run.progress(GROWING, 1, 1)
    return root


_FIXED = TreeGrower(_plan_fixed, _run_fixed)
METHODS: dict[str, TreeGrower] = {
    "lookahead": TreeGrower(plan_exact, run_exact),
    "adiffp": TreeGrower(_plan_adaptive, _run_adaptive),
    "diffp_id3": _FIXED,
    "diffp_c45": _FIXED,
    "sulq_id3": _FIXED,
}


class TreeLearner(Learner):
    """Differentially private decision trees.

    Guarantee: pure epsilon-DP per person, or made to be composed (epsilon, delta)-DP by rho; one person
    added or removed, unconditional for every method. Sensitivities and proofs: ``docs/privacy/trees.md``.
    The hold-out evaluation composes in parallel.
    """

    family = TREE

    def _plan(self, plan_request: PlanRequest) -> RunPlan:
        return METHODS[plan_request.parameters.method].plan(plan_request)

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
