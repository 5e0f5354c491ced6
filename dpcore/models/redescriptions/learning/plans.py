"""What a redescription run costs and does, worked out from public inputs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, ROUND_FLOOR, Decimal
from functools import partial
from typing import Final

from dpcore.data.packing import word_count
from dpcore.domain.columns import View
from dpcore.domain.conditions import Condition
from dpcore.domain.counted import counted
from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, RequestError
from dpcore.learning.count_budget import CountBudget
from dpcore.learning.exact_draws.joint_counts import MEMORY_LIMIT, WORK_LIMIT, tree_work
from dpcore.learning.exact_draws.lookahead import ExactWeight
from dpcore.learning.learner import PlanRequest
from dpcore.models.redescriptions.learning.exact_pairs import candidate_counts, pair_weight
from dpcore.models.redescriptions.learning.growing import exact_blocks
from dpcore.models.redescriptions.learning.redescription_queries import LEAF_COUNTS, LEVERAGE, PAIR_COUNTS
from dpcore.models.redescriptions.learning.starts import class_count
from dpcore.models.redescriptions.released.redescription_family import LEAVES, PAIRS, sampler_words, view_conditions
from dpcore.models.redescriptions.released.redescription_parameters import (
    PUBLISHED_DEPTH,
    PUBLISHED_STARTS,
    RedescriptionParameters,
)
from dpcore.privacy.budgets import EPSILON_STEP, BudgetSplit, row_epsilon
from dpcore.privacy.losses import RHO_STEP, selection_epsilon
from dpcore.privacy.mechanisms import ExponentialMechanism
from dpcore.released.plan import CountNoise, RunPlan

START: Final = "starting points"
TREES: Final = "trees"
#: Share of the budget that chooses trees; of ``lookahead``, one part of it finds where to start,
#: and one grows each tree.
_HOUSE_SHARES: Final = {"exact_pairs": Decimal("0.4"), "lookahead": Decimal("0.5")}
#: Most pairs of literals among which a start is chosen, and pairs of leaves that are counted.
_MOST_PAIRS = 4_000_000
#: Least epsilon x max_rows for so many searches (house rule).
_STARTS: Final = ((8000, 6), (3000, 4), (600, 2), (0, 1))


class RedescriptionSettings(RedescriptionParameters):
    """What the analyst asked for, with what the house rule makes of the rest."""

    left: tuple[str, ...]
    right: tuple[str, ...]
    depth: int
    starts: int
    margins: bool

    @property
    def trees(self) -> int:
        """Trees of all searches, or pairs of trees that are drawn together."""
        return self.starts * (1 if self.together else self.rounds + 1)

    @property
    def draws_blocks(self) -> bool:
        """Whether trees are drawn block by block."""
        return self.method in {"lookahead", "alt_expm"}


def resolved(plan_request: PlanRequest) -> RedescriptionSettings:
    """Fill in what was left to the engine.

    Raises
    ------
    RequestError
        If a view has no column, or a column is in both or in none.
    """
    schema, parameters = plan_request.schema, plan_request.parameters
    left = _view_columns(schema, "left", parameters.left)
    right = _view_columns(schema, "right", parameters.right)
    both = [name for name in left if name in right]
    if both:
        raise RequestError(f"The column '{both[0]}' cannot be in both views: take it out of one.")
    house = parameters.house
    rule = {
        "depth": 2 if house else PUBLISHED_DEPTH,
        "starts": _house_starts(plan_request.row_epsilon, schema.max_rows) if house else PUBLISHED_STARTS,
        "margins": not house,
    }
    given = parameters.model_dump(exclude_none=True)
    return RedescriptionSettings(**(rule | given | {"left": left, "right": right}))


def _view_columns(schema: Schema, side: View, named: tuple[str, ...] | None) -> tuple[str, ...]:
    if named is not None:
        for name in named:
            schema.column(name)
        return tuple(column.name for column in schema if column.name in named)
    columns = schema.view(side)
    if not columns:
        raise RequestError(f"The schema puts no column on the {side} side: choose the columns of that side.")
    return columns


def _house_starts(epsilon: Decimal, max_rows: int) -> int:
    """As many searches as the noise on their counts allows."""
    size = float(epsilon) * max_rows
    return next(starts for least, starts in _STARTS if size >= least)


def plan_run(plan_request: PlanRequest) -> RunPlan:
    """Plan a run.

    Raises
    ------
    RequestError
        If the views cannot be used, or the run would take hours or too much memory.
    BudgetError
        If epsilon is too small to be divided.
    """
    schema, chosen = plan_request.schema, resolved(plan_request)
    _check_effort(schema, chosen)
    weights = _weights(chosen)
    plan = plan_request.plan(
        BudgetSplit.by_weights(plan_request.epsilon, weights),
        parameters=chosen,
        guarantee="conditional on convergence" if chosen.uses_chain else "unconditional",
        sampler=sampler_words(chosen),
        estimates_step=PAIRS,
    )
    if plan_request.delta and not chosen.uses_chain:
        plan = plan_request.composed(plan, weights, {START, TREES}, partial(_drawing, schema, chosen))
    calls = CallBudgets.of(plan)
    _check_budget(plan, calls)
    return replace(plan, noise=_noise(calls, counted(schema).several))


def _weights(chosen: RedescriptionSettings) -> dict[str, Decimal]:
    """Part of each step in the budget; each is divided evenly among the calls of all searches."""
    trees = 2 if chosen.together else chosen.rounds + 1
    if chosen.tree_share is not None:
        share = Decimal(repr(chosen.tree_share))
    elif chosen.house:
        share = _HOUSE_SHARES[chosen.method]
    elif chosen.method == "mcmc_tree_pair":
        share = Decimal("0.1")
    else:
        share = Decimal(trees) / (2 * chosen.rounds + 1)
    weights: dict[str, Decimal] = {}
    if chosen.method == "lookahead":
        weights[START] = share / (trees + 1)
    weights[TREES] = share - weights.get(START, Decimal(0))
    counted = 1 - share
    if chosen.margins:
        weights[LEAVES] = counted / 2
    weights[PAIRS] = counted - weights.get(LEAVES, Decimal(0))
    return weights


def _drawing(schema: Schema, chosen: RedescriptionSettings, step: str, rho: Decimal) -> Decimal:
    """Epsilon of all draws of a step, in equal parts, for which a rho pays."""
    levels = len(tree_blocks(schema, chosen)) if chosen.draws_blocks else 1
    draws = chosen.starts if step == START else chosen.trees * levels
    whole = selection_epsilon((rho / draws).quantize(RHO_STEP, rounding=ROUND_FLOOR))
    if step == START or not whole:
        return draws * whole
    # A smaller draw has no larger slack.
    return draws * (whole - 2 * Decimal(_slack(schema, chosen, whole))).quantize(EPSILON_STEP, rounding=ROUND_FLOOR)


def _slack(schema: Schema, chosen: RedescriptionSettings, epsilon: Decimal) -> float:
    """What rounding may add to the log-ratios of one draw that costs a person so much."""
    each = row_epsilon(epsilon, schema.privacy_unit.max_rows_per_person)
    return max((weight.slack for weight in _draw_weights(schema, chosen, each)), default=0.0)


@dataclass(frozen=True)
class CallBudgets:
    """Row-level budget of every single call; those of a step add up to no more than it has.

    Attributes
    ----------
    start : Decimal or None
        Choosing where one search begins.
    tree : Decimal
        Growing one tree, or one pair of trees together.
    pairs : CountBudget
        Counting the pairs of leaves of one pair of trees.
    leaves : CountBudget or None
        Counting the leaves of its left tree once more.
    """

    start: Decimal | None
    tree: Decimal
    pairs: CountBudget
    leaves: CountBudget | None

    @classmethod
    def of(cls, plan: RunPlan) -> CallBudgets:
        """Calls of a plan.

        Raises
        ------
        BudgetError
            If the budget of a call would be zero.
        """
        chosen: RedescriptionSettings = plan.parameters
        counts = chosen.starts * chosen.rounds
        return cls(
            start=_per_call(plan, START, chosen.starts) if START in plan.split.parts else None,
            tree=_per_call(plan, TREES, chosen.trees),
            pairs=CountBudget.of(plan, PAIRS).one_of(counts),
            leaves=CountBudget.of(plan, LEAVES).one_of(counts) if LEAVES in plan.split.parts else None,
        )


def _per_call(plan: RunPlan, step: str, calls: int) -> Decimal:
    share = (plan.row_epsilon(step) / calls).quantize(EPSILON_STEP, rounding=ROUND_DOWN)
    if share <= 0:
        raise BudgetError("This epsilon is too small for so many searches: use a larger one, or fewer searches.")
    return share


def tree_blocks(schema: Schema, chosen: RedescriptionSettings) -> tuple[int, ...]:
    """Depths of the stacked blocks of every tree of an alternating method."""
    if chosen.method == "alt_expm":
        return (1,) * chosen.depth
    splits = max(len(items) for items in _literals(schema, chosen))
    return exact_blocks(chosen.depth, splits, most_classes(schema, chosen))


def most_classes(schema: Schema, chosen: RedescriptionSettings) -> int:
    """Most classes that a tree is grown for."""
    house = chosen.method == "lookahead"
    first = 2 if house else class_count(schema, chosen.left + chosen.right)
    leaves: int = 2**chosen.depth
    return max(leaves, first)


def literals_of(schema: Schema, columns: tuple[str, ...], chosen: RedescriptionParameters) -> tuple[Condition, ...]:
    """Splits over the columns of a view."""
    return view_conditions(
        schema,
        columns,
        reserved=chosen.reserved_splits,
        either_way=chosen.method == "exact_pairs",
    )


def _literals(schema: Schema, chosen: RedescriptionSettings) -> list[tuple[Condition, ...]]:
    return [literals_of(schema, columns, chosen) for columns in (chosen.left, chosen.right)]


def _check_effort(schema: Schema, chosen: RedescriptionSettings) -> None:
    """Refuse, from public inputs, what this engine could not finish: it would cost its budget."""
    sizes = [len(items) for items in _literals(schema, chosen)]
    for side, size in zip(("left", "right"), sizes, strict=True):
        if size == 0:
            raise RequestError(f"There is nothing to split on the {side} side: add a column with two or more values.")
    if chosen.house and sizes[0] * sizes[1] > _MOST_PAIRS:
        raise RequestError("These sides have too many conditions to pair: choose fewer columns.")
    # Every two conditions of a side are listed, and those of the right one counted.
    if chosen.method == "exact_pairs" and max(sizes) ** 2 * 64 > MEMORY_LIMIT:
        raise RequestError("These sides have too many conditions to pair: choose fewer columns.")
    words, classes = word_count(schema.max_rows), most_classes(schema, chosen)
    if sum(sizes) * words * 8 > MEMORY_LIMIT:
        raise RequestError("The conditions of these sides need more memory than a run may use: choose fewer columns.")
    leaves = 2**chosen.depth
    if chosen.method == "exact_pairs":
        # Single conditions with each other; beyond them it takes what time allows.
        work = float(sizes[0] * sizes[1] * words + sizes[1] ** 2 * words)
    elif chosen.draws_blocks:
        blocks = tree_blocks(schema, chosen)
        work = sum(tree_work(blocks, size, classes, words) for size in sizes)
        work *= chosen.starts * (chosen.rounds + 1) / 2
        if chosen.method == "lookahead":
            work += chosen.starts * sizes[0] * sizes[1] * words
    else:
        pool = chosen.method == "mcmc_tree_pair" and chosen.sampler == "pool"
        tries = chosen.pool_size if pool else chosen.steps
        work = chosen.starts * (chosen.rounds + 1) * tries * words * leaves * (classes + leaves)
    if work > WORK_LIMIT:
        raise RequestError("This run would take hours: choose fewer starts, rounds or steps, or smaller trees.")


def _check_budget(plan: RunPlan, calls: CallBudgets) -> None:
    """Build what the run will build, so that it cannot fail after records were read."""
    chosen, schema = plan.parameters, plan.schema
    calls.pairs.mechanism(PAIR_COUNTS)
    if calls.leaves is not None:
        calls.leaves.mechanism(LEAF_COUNTS)
    if calls.start is not None:
        ExponentialMechanism(LEVERAGE.value, calls.start, LEVERAGE.monotone)
    share = per_block(calls.tree, tree_blocks(schema, chosen)) if chosen.draws_blocks else calls.tree
    _draw_weights(schema, chosen, share)


def _draw_weights(schema: Schema, chosen: RedescriptionSettings, epsilon: Decimal) -> list[ExactWeight]:
    """Weights of all kinds of exact draws that cost a row so much each; none if there are no such draws."""
    if chosen.method == "exact_pairs":
        return [pair_weight(epsilon, schema.max_rows, candidate_limits(schema, chosen)[1])]
    if not chosen.draws_blocks:
        return []
    classes = most_classes(schema, chosen)
    return [
        ExactWeight.fit("purity", depth, epsilon, schema.max_rows, len(items), classes)
        for items in _literals(schema, chosen)
        for depth in tree_blocks(schema, chosen)
    ]


def candidate_limits(schema: Schema, chosen: RedescriptionSettings) -> tuple[int, int]:
    """Number of candidates of ``exact_pairs`` on either side."""
    left, right = (len(items) for items in _literals(schema, chosen))
    return candidate_counts(left, right, word_count(schema.max_rows))


def per_block(epsilon: Decimal, blocks: tuple[int, ...]) -> Decimal:
    """Budget of one level of blocks of a tree.

    Raises
    ------
    BudgetError
        If it would be zero.
    """
    share = (epsilon / len(blocks)).quantize(EPSILON_STEP, rounding=ROUND_DOWN)
    if share <= 0:
        raise BudgetError("This epsilon is too small for trees of this depth.")
    return share


def _noise(calls: CallBudgets, people: str) -> tuple[CountNoise, ...]:
    one = calls.pairs.noise(f"a count of {people} in a pair of groups")
    if calls.leaves is None:
        return (one,)
    return (one, calls.leaves.noise(f"a count of {people} in a group on the left"))
