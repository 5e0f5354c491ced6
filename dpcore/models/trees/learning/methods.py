"""Every way to grow a tree: what it costs, and how to run it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal

from dpcore.data.table import PrivateTable
from dpcore.domain.schema import Schema
from dpcore.learning.learner import Progress
from dpcore.models.trees.learning.contingency import NodeData
from dpcore.models.trees.learning.driver import share_of
from dpcore.models.trees.learning.exact_method import plan_exact, run_exact
from dpcore.models.trees.learning.greedy import (
    BOOST,
    UNTESTED,
    grow_adaptive,
    grow_fixed,
    smallest_step,
)
from dpcore.models.trees.learning.growth import Grown
from dpcore.models.trees.learning.plans import base_plan
from dpcore.models.trees.learning.pruning import prune
from dpcore.models.trees.learning.sulq import grow_sulq
from dpcore.models.trees.released.parameters import TreeParameters
from dpcore.privacy.budgets import BudgetSplit, row_epsilon
from dpcore.privacy.randomness import RandomSource
from dpcore.released.plan import CountNoise, RunPlan, training_part

#: The one step of a method whose paths divide the budget among themselves.
TREE = "tree"


@dataclass(frozen=True)
class TreeGrower:
    """One way to grow a tree.

    Attributes
    ----------
    plan : callable
        (schema, target, epsilon, parameters) -> RunPlan; sees no record.
    run : callable
        (table, plan, randomness, progress) -> Grown; spends the plan's budget.
    """

    plan: Callable[[Schema, str, Decimal, TreeParameters], RunPlan]
    run: Callable[[PrivateTable, RunPlan, RandomSource, Progress], Grown]


def adaptive_noise(
    row_level: Decimal, schema: Schema, classes: int, *, spend_rest: bool
) -> tuple[CountNoise, ...]:
    """Noise to expect in an adaptive tree with this row-level budget."""
    step = smallest_step(row_level, len(schema.columns) - 1, classes, schema.max_rows)
    if step == 0 or UNTESTED * step > row_level:  # The root cannot pay for a split.
        whole = row_level if step == 0 or spend_rest else min(row_level, BOOST * step)
        return (CountNoise("a class count of the only group", whole),)
    return (
        CountNoise("a class count of a group, at worst", step),
        CountNoise("a node's own count, where the best splits look alike", step),
        CountNoise("a node's own count, where one split stands out", BOOST * step),
    )


def _plan_adaptive(
    schema: Schema, target: str, epsilon: Decimal, parameters: TreeParameters
) -> RunPlan:
    row_level = row_epsilon(epsilon, schema.privacy_unit.max_rows_per_person)
    classes = len(schema.column(target).classes)
    noise = adaptive_noise(row_level, schema, classes, spend_rest=parameters.spend_rest)
    return _plan_tree(schema, target, epsilon, parameters, noise)


def _plan_fixed(
    schema: Schema, target: str, epsilon: Decimal, parameters: TreeParameters
) -> RunPlan:
    row_level = row_epsilon(epsilon, schema.privacy_unit.max_rows_per_person)
    share = share_of(row_level, 2 * (parameters.depth + 1))
    noise = (
        # A leaf takes the last level's share whole, and more if it is higher up.
        CountNoise("a class count of a group, at worst", 2 * share),
        CountNoise("a node's own count", share),
    )
    return _plan_tree(schema, target, epsilon, parameters, noise)


def _plan_tree(
    schema: Schema,
    target: str,
    epsilon: Decimal,
    parameters: TreeParameters,
    noise: tuple[CountNoise, ...],
) -> RunPlan:
    split = BudgetSplit(epsilon, {TREE: epsilon})
    return base_plan(
        schema, target, epsilon, parameters, split, parameters.method, noise=noise,
        estimates_step=TREE,
    )  # fmt: skip


def _run_adaptive(
    table: PrivateTable, plan: RunPlan, randomness: RandomSource, progress: Progress
) -> Grown:
    root = grow_adaptive(_data(table, plan), plan.row_epsilon(TREE), plan.parameters, randomness)
    return _finished(root, plan, progress)


def _run_fixed(
    table: PrivateTable, plan: RunPlan, randomness: RandomSource, progress: Progress
) -> Grown:
    chosen: TreeParameters = plan.parameters
    grow = grow_sulq if chosen.method == "sulq_id3" else grow_fixed
    budget = plan.row_epsilon(TREE)
    root = grow(_data(table, plan), budget, chosen.criterion, chosen.depth, randomness)
    return _finished(root, plan, progress)


def _data(table: PrivateTable, plan: RunPlan) -> NodeData:
    part = training_part(plan.schema, evaluated=plan.parameters.evaluate)
    return NodeData.of_table(table, plan.target, part)


def _finished(root: Grown, plan: RunPlan, progress: Progress) -> Grown:
    if plan.parameters.prunes:
        prune(root)
    progress("growing the tree", 1, 1)
    return root


_FIXED = TreeGrower(_plan_fixed, _run_fixed)
METHODS: dict[str, TreeGrower] = {
    "lookahead": TreeGrower(plan_exact, run_exact),
    "adiffp": TreeGrower(_plan_adaptive, _run_adaptive),
    "diffp_id3": _FIXED,
    "diffp_c45": _FIXED,
    "sulq_id3": _FIXED,
}
