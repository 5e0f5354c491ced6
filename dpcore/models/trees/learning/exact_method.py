"""The exact lookahead tree as a method: its plan, its limits, its run.

Which blocks to stack and what to keep for the leaves is a rule in public inputs only. It was chosen on Mushroom,
Nursery, Adult and Titanic with ``python -m benchmarks trees``, and never looks at the records at hand.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal
from typing import Final

from dpcore.data.packing import word_count
from dpcore.domain.conditions import split_conditions
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import RequestError
from dpcore.learning.exact_draws.balance import block_rho, divided, draw_of, undivided
from dpcore.learning.exact_draws.joint_counts import (
    WORK_LIMIT,
    block_work,
    exact_words,
    fits_memory,
    tree_work,
    triple_count,
)
from dpcore.learning.exact_draws.lookahead import ExactWeight
from dpcore.learning.exact_draws.pair_values import LeafUtility
from dpcore.learning.learner import PlanRequest, Run, composed_form
from dpcore.models.trees.learning.exact_tree import BlockPlan, ExactTree
from dpcore.models.trees.learning.growth import Grown, fold_alike
from dpcore.models.trees.learning.tree_workload import GROWING
from dpcore.models.trees.released.tree_derived import COUNTS, EXACT
from dpcore.models.trees.released.tree_parameters import TreeParameters
from dpcore.privacy.budgets import EPSILON_STEP, BudgetSplit, row_epsilon
from dpcore.privacy.losses import pure_rho, selection_epsilon
from dpcore.released.parameters import chosen_cuts
from dpcore.released.plan import CountNoise, RunPlan

#: Words that one block may visit where the rule decides: some seconds.
_QUICK = 2 * 10**10
#: Sums of exponentials that a second level of blocks may take where the rule decides, one for each triple of
#: splits, class and block: some seconds.
_SUMS = 2 * 10**7
#: Least signal per split for a block of depth 3, and for a second block below it.
_DEEP, _STACKED = 0.4, 25.0


def choose_blocks(epsilon: Decimal, max_rows: int, splits: int, classes: int) -> tuple[int, ...]:
    """Depths of the blocks, from the root down.

    The signal, epsilon times the row limit, is the number of records that one budget can tell
    from none, and the splits are what it must choose among.

    Parameters
    ----------
    epsilon : Decimal
        Row-level budget of the run.
    """
    signal = float(epsilon) * max_rows / max(1, splits)
    literals, words = splits + 1, word_count(max_rows)  # With the choice not to split.
    quick = block_work(literals, classes, words, depth=3) <= _QUICK
    deep = quick and signal >= _DEEP and fits_memory(literals, classes, depth=3)
    depth = 3 if deep else 2
    below = 2 if 2**depth * triple_count(literals) * classes > _SUMS else depth
    wanted = [(depth,)] if signal < _STACKED else [(depth, below), (depth,)]
    for blocks in wanted:
        work = tree_work(blocks, literals, classes, words)
        if work <= WORK_LIMIT and fits_memory(literals, classes, depth):
            return blocks
    return (1,)


def choose_leaf_share(epsilon: Decimal, max_rows: int, splits: int) -> float:
    """Share of the budget for the noisy counts of the leaves, which are for reading."""
    return 0.1 if float(epsilon) * max_rows >= _STACKED * splits else 0.2


#: Parts of the work in which a level of blocks is reported: the lower ones are more work.
_PARTS: Final = 1000


class LookaheadSettings(TreeParameters):
    """What the analyst asked of the method, with what the house rule makes of the rest."""

    blocks: tuple[int, ...]
    leaf_share: float


def plan_exact(plan_request: PlanRequest) -> RunPlan:
    """Plan an exact lookahead tree; what the house rule decides is filled in."""
    asked, plan_request = plan_request, plan_request.pure()
    schema, parameters, classes = plan_request.schema, plan_request.parameters, plan_request.classes
    cuts = chosen_cuts(schema, parameters)
    splits = len(split_conditions(schema, plan_request.target, reserved=parameters.reserved_splits, cuts=cuts))
    row_level = plan_request.row_epsilon
    blocks = parameters.blocks or choose_blocks(row_level, schema.max_rows, splits, classes)
    share = parameters.leaf_share or choose_leaf_share(row_level, schema.max_rows, splits)
    rule = {"blocks": blocks, "leaf_share": share}
    chosen = LookaheadSettings(**(parameters.model_dump() | rule))
    _check_effort(schema, blocks, splits, classes)
    for_leaves = Decimal(repr(share))
    weights = {_step(level): (1 - for_leaves) / len(blocks) for level in range(len(blocks))}
    split = BudgetSplit.by_weights(plan_request.epsilon, {**weights, COUNTS: for_leaves})
    leaf = row_epsilon(split[COUNTS], schema.privacy_unit.max_rows_per_person)
    noise = (CountNoise("a count of a group (more where parts are folded into it)", leaf),)
    plan = plan_request.plan(split, parameters=chosen, sampler=EXACT, estimates_step=COUNTS, noise=noise)
    literals = splits + 1  # The choice not to split is one more.
    plans = _block_plans(plan)
    for block in plans:
        block.weight(schema.max_rows, literals, classes)  # Refuses an epsilon that is too small.
    return _in_its_form(asked, plan, dict(zip(weights, plans, strict=True)), literals, classes)


def _in_its_form(
    plan_request: PlanRequest, plan: RunPlan, blocks: Mapping[str, BlockPlan], literals: int, classes: int
) -> RunPlan:
    """A pure plan with its rho, or the one that composes; ``blocks`` are its steps."""
    schema = plan.schema

    def weight(step: str, draw: Decimal) -> ExactWeight:
        """Of a draw that costs a person so much."""
        each = row_epsilon(draw, schema.privacy_unit.max_rows_per_person)
        return replace(blocks[step], epsilon=each).weight(schema.max_rows, literals, classes)

    def select(step: str, rho: Decimal) -> Decimal:
        """Epsilon of a level for which rho pays. A smaller draw has no larger slack."""
        balanced = blocks[step].counts is not None
        whole = draw_of(rho) if balanced else selection_epsilon(rho)
        draw = whole - 2 * Decimal(weight(step, whole).slack)
        return (undivided(draw) if balanced else draw).quantize(EPSILON_STEP, rounding=ROUND_FLOOR)

    def cost(step: str) -> Decimal:
        """Rho of a level."""
        whole = plan.split.parts[step]
        if blocks[step].counts is None:
            return weight(step, whole).rho(whole)
        return block_rho(whole, Decimal(weight(step, divided(whole)[1]).slack))

    pure = replace(plan, rho=sum(map(cost, blocks), pure_rho(plan.split[COUNTS])))
    made = composed_form(plan_request, pure, select)
    if made.composed:  # Refuses what would leave a step nothing to state for one row.
        _block_plans(made)
        _row_share(made, COUNTS)
    return made


def _step(level: int) -> str:
    return f"block {level + 1}"


def _block_plans(plan: RunPlan) -> list[BlockPlan]:
    """The last block also draws the labels, unless purity is what counts. Counts come out of a block's budget."""
    chosen: LookaheadSettings = plan.parameters
    last = len(chosen.blocks) - 1
    plans = []
    for level, depth in enumerate(chosen.blocks):
        utility: LeafUtility = "purity" if chosen.criterion == "gini" else "labelled" if level == last else "correct"
        draw, share = plan.row_epsilon(_step(level)), _row_share(plan, _step(level))
        counts, draw = divided(draw) if chosen.criterion == "balanced" else (None, draw)
        plans.append(BlockPlan(depth, utility, draw, share, counts))
    return plans


def _row_share(plan: RunPlan, step: str) -> Decimal:
    return row_epsilon(plan.split.parts[step], plan.schema.privacy_unit.max_rows_per_person)


def _check_effort(schema: Schema, blocks: tuple[int, ...], splits: int, classes: int) -> None:
    """Refuse, from public inputs, what this engine could not finish: it would cost its budget."""
    if splits == 0:
        raise RequestError("There is nothing to split on: the schema needs another column.")
    deepest = max(blocks)
    if not fits_memory(splits + 1, classes, deepest):
        raise RequestError(
            f"A block of depth {deepest} over {splits} splits needs more memory than a run may "
            f"use: choose blocks of depth {deepest - 1}."
        )
    if tree_work(blocks, splits + 1, classes, word_count(schema.max_rows)) > WORK_LIMIT:
        raise RequestError(
            f"These blocks over {splits} splits and up to {schema.max_rows} rows would take "
            "hours: choose fewer or shallower blocks."
        )


def run_exact(run: Run) -> Grown:
    """Draw the tree of a plan."""
    blocks, chosen = _block_plans(run.plan), run.plan.parameters
    cuts = chosen_cuts(run.schema, chosen)
    questions = split_conditions(run.schema, run.target, reserved=chosen.reserved_splits, cuts=cuts)
    shape = len(questions) + 1, len(run.plan.classes), word_count(run.schema.max_rows)
    work = [exact_words(chosen.blocks[:level], *shape) for level in range(len(blocks) + 1)]

    def drawn(level: int) -> None:
        run.progress(GROWING, round(_PARTS * work[level] / work[-1]), _PARTS)

    root = ExactTree(run, questions, blocks, _row_share(run.plan, COUNTS), drawn).grow()
    if chosen.prunes:
        fold_alike(root)
    return root
