"""How much a run of trees or forests has to do, from its plan. Figures as measured by ``benchmarks costs``."""

from __future__ import annotations

import math
from typing import Final

from dpcore.domain.conditions import split_conditions
from dpcore.domain.schemas.schema import Schema
from dpcore.learning.exact_draws.joint_counts import exact_words, joint_bytes
from dpcore.learning.workload import GROUPING, evaluation, table_bytes, words_of
from dpcore.models.trees.learning.greedy import smallest_step
from dpcore.models.trees.learning.path_form import path_budget
from dpcore.models.trees.released.tree_model import MAX_NODES
from dpcore.models.trees.released.tree_parameters import ForestSettings, TreeParameters
from dpcore.released.parameters import chosen_cuts
from dpcore.released.plan import RunPlan
from dpcore.released.workload import Work, Workload

GROWING: Final = "growing the tree"
GROWING_TREES: Final = "growing trees"
CHECKING: Final = "checking on people set aside"
#: Calls of visiting a node, for each of its counts and each column that it may be split on; and of freezing it.
_COUNT: Final = 0.002
_VISIT: Final = {"adiffp": (4.0, 0.1), "sulq_id3": (2.0, 0.15), "forest": (3.4, 0.03), "fixed": (2.2, 0.02)}
_FREEZE: Final = 1.8
#: Calls of a node that is drawn, and share of the most nodes that such a tree has, about.
_DRAWN_NODE, _DRAWN = 0.35, 0.7
#: Places for each row of counting all cells of a level of nodes.
_LEVEL: Final = 115.0
#: Levels of a tree that grows until its budget ends, about; share of nodes that are split.
_LEVELS, _SPLIT = 9, 0.25
#: Nodes that a path's steps pay for, about.
_NODES_PER_STEP: Final = 3.5


def tree_workload(plan: RunPlan) -> Workload:
    """All work of a tree."""
    parameters: TreeParameters = plan.parameters
    exact = parameters.method == "lookahead"
    growing, nodes = _exact(plan) if exact else _greedy(plan)
    steps = {GROWING: growing, CHECKING: evaluation(plan.schema, _FREEZE * nodes)}
    return Workload(steps, table_bytes(plan.schema) + (_exact_bytes(plan) if exact else 0))


def _literals(plan: RunPlan) -> int:
    """Splits to choose from, and the choice not to split."""
    cuts = chosen_cuts(plan.schema, plan.parameters)
    return len(split_conditions(plan.schema, plan.target, reserved=plan.parameters.reserved_splits, cuts=cuts)) + 1


def _exact(plan: RunPlan) -> tuple[Work, int]:
    blocks: tuple[int, ...] = plan.parameters.blocks
    leaves = 2 ** sum(blocks)
    words = exact_words(blocks, _literals(plan), len(plan.classes), words_of(plan.schema))
    return Work(words=words, calls=50 + leaves), 2 * leaves


def _exact_bytes(plan: RunPlan) -> float:
    size, classes = _literals(plan), len(plan.classes)
    counts = joint_bytes(size, classes, max(plan.parameters.blocks))
    return counts + 8 * words_of(plan.schema) * size + size**2 * (48 * classes + 64)


def _greedy(plan: RunPlan) -> tuple[Work, float]:
    parameters: TreeParameters = plan.parameters
    columns = len(plan.schema.columns) - 1
    adaptive = parameters.method == "adiffp"
    nodes = _adaptive_nodes(plan) if adaptive else _fixed_nodes(plan)
    levels = _LEVELS if adaptive else parameters.depth + 1
    calls, more = _VISIT.get(parameters.method, _VISIT["fixed"])
    draws = _SPLIT * nodes * _counts(plan)
    return Work(
        places=_level(plan.schema, levels),
        draws=draws if parameters.method == "sulq_id3" else 0.0,
        calls=nodes * (calls + more * columns + _counts(plan) * _COUNT),
    ), nodes


def _level(schema: Schema, levels: int) -> float:
    """Places of counting so many levels of nodes, and then the leaves."""
    return schema.max_rows * (levels * (_LEVEL + len(schema.columns)) + GROUPING)


def _counts(plan: RunPlan) -> int:
    """Counts of one node: per cell of every feature and class."""
    return len(plan.classes) * sum(len(column.cells) for column in plan.schema if column.name != plan.target)


def _adaptive_nodes(plan: RunPlan) -> float:
    """Nodes of a tree that grows until its budget ends: about so many for each step that it pays for."""
    form, budget = path_budget(plan)
    step = smallest_step(budget, len(plan.schema.columns) - 1, len(plan.classes), plan.schema.max_rows, form)
    return min(float(MAX_NODES), 1 + _NODES_PER_STEP * float(budget / step)) if step else 1.0


def _fixed_nodes(plan: RunPlan) -> float:
    """Nodes of a tree of fixed depth: no more than stop above the noise of a count."""
    depth: int = plan.parameters.depth
    columns = [column for column in plan.schema if column.name != plan.target]
    branches = sum(2 if column.ordered else len(column.classes) + 1 for column in columns) / max(1, len(columns))
    form, _ = path_budget(plan)
    whole = plan.composed.counts if plan.composed else plan.epsilon
    share = float(form.signal(whole)) / math.pow(2 * (depth + 1), 1 / form.norm)
    most = 1 + plan.schema.max_rows * share / (3 * len(plan.classes))
    return min(float(MAX_NODES), most, math.pow(branches, depth))


def forest_workload(plan: RunPlan) -> Workload:
    """All work of a forest."""
    parameters: ForestSettings = plan.parameters
    schema, trees = plan.schema, parameters.trees
    columns = len(schema.columns) - 1
    if parameters.method == "random_trees":
        nodes = min(_DRAWN * MAX_NODES, 4.0**parameters.depth)
        growing = Work(places=trees * schema.max_rows * GROUPING, calls=trees * nodes * _DRAWN_NODE)
    else:
        nodes = _adaptive_nodes(plan)
        calls, more = _VISIT["forest"]
        visit = calls + more * columns + _counts(plan) * _COUNT
        growing = Work(places=trees * _level(schema, _LEVELS), calls=trees * nodes * visit)
    voting = Work(places=schema.max_rows * GROUPING * (1 + trees / 5), calls=150 + trees * nodes * _FREEZE)
    return Workload({GROWING_TREES: growing, CHECKING: voting}, table_bytes(schema) + 8 * schema.max_rows * trees)
