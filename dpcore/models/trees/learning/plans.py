"""What the plans of all trees and forests share."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

from dpcore.domain.schema import Schema
from dpcore.learning.holdout import STEP
from dpcore.privacy.budgets import BudgetSplit
from dpcore.released.plan import RunPlan, training_part


def base_plan(
    schema: Schema,
    target: str,
    epsilon: Decimal,
    parameters: Any,
    split: BudgetSplit,
    sampler: str,
    **more: Any,
) -> RunPlan:
    """A plan with what all methods share: no condition, and a free evaluation."""
    held_out = training_part(schema, evaluated=parameters.evaluate) == "train"
    return RunPlan(
        schema=schema,
        target=target,
        epsilon=epsilon,
        split=split,
        parameters=parameters,
        guarantee="unconditional",
        sampler=sampler,
        parallel={STEP: epsilon} if held_out else {},
        **more,
    )
