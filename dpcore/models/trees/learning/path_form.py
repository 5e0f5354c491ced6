"""How the paths of a tree are paid for: with epsilon for geometric noise, or with rho for Gaussian noise.

Whatever is asked at a node is paid for by the paths through it, of a budget that they divide. In a run that
composes this budget is a rho. Proofs: ``docs/privacy/trees.md``, "The form that composes".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_FLOOR, Decimal
from functools import lru_cache
from typing import Final

import numpy as np

from dpcore.arrays import Ints
from dpcore.errors import BudgetError
from dpcore.learning.count_budget import CountBudget
from dpcore.learning.learner import PlanRequest
from dpcore.privacy.budgets import EPSILON_STEP, BudgetSplit, float_below
from dpcore.privacy.losses import RHO_STEP, selection_epsilon
from dpcore.privacy.mechanisms import ExponentialMechanism, GaussianMechanism, GeometricMechanism
from dpcore.privacy.randomness import RandomSource
from dpcore.released.plan import CountNoise, RunPlan


@dataclass(frozen=True)
class PathForm:
    """What an amount of a path's budget buys, for one row."""

    composed: bool
    """Whether amounts are of rho; else of epsilon."""

    @property
    def norm(self) -> int:
        """Of sensitivities: so many counts that a row moves by one have one of ``count ** (1 / norm)`` together."""
        return 2 if self.composed else 1

    @property
    def step(self) -> Decimal:
        """Amounts are whole multiples of it."""
        return RHO_STEP if self.composed else EPSILON_STEP

    def part(self, amount: Decimal, parts: int) -> Decimal:
        """One of so many equal parts, rounded down to a step.

        Raises
        ------
        BudgetError
            If nothing is left of it.
        """
        share = (amount / parts).quantize(self.step, rounding=ROUND_FLOOR)
        if share <= 0:
            raise BudgetError("This epsilon is too small to be split over the steps of a run.")
        return share

    def signal(self, amount: Decimal) -> Decimal:
        """Epsilon of geometric noise with the standard deviation of what an amount buys, about: of 1 / sqrt(2 rho)."""
        return 2 * amount.sqrt() if self.composed else amount

    def noise(self, amount: Decimal, sensitivity: int = 1) -> GeometricMechanism | GaussianMechanism:
        """Noise on counts of which a row moves one, by ``sensitivity`` at most: its L1 and its L2 sensitivity."""
        return _noise(self.composed, amount, sensitivity)

    def noisy(self, tables: Sequence[Ints], amount: Decimal, randomness: RandomSource) -> list[Ints]:
        """Noise on several tables together, in each of which a row moves one count by one.

        Their L1 sensitivity is their number. Each is as noisy as the root of that, their L2 sensitivity, has it if
        each has an equal part of a rho.
        """
        if self.composed:
            mechanism = self.noise(self.part(amount, len(tables)))
            return [mechanism.release(table, randomness) for table in tables]
        whole = self.noise(amount, len(tables)).release(np.concatenate(tables), randomness)
        return np.split(whole, np.cumsum([len(table) for table in tables])[:-1])

    def selection(self, amount: Decimal, sensitivity: int) -> ExponentialMechanism:
        """A choice by monotone scores, each of which a row moves by ``sensitivity`` at most."""
        return _selection(self.composed, amount, sensitivity)

    def count_noise(self, what: str, amount: Decimal) -> CountNoise:
        """Noise to expect on counts that cost an amount."""
        return CountBudget(amount, self.composed).noise(what)


PURE: Final = PathForm(composed=False)
COMPOSED: Final = PathForm(composed=True)


@lru_cache(maxsize=1024)
def _noise(composed: bool, amount: Decimal, sensitivity: int) -> GeometricMechanism | GaussianMechanism:
    if composed:
        return GaussianMechanism(sensitivity, float_below(amount))
    return GeometricMechanism(sensitivity, amount)


@lru_cache(maxsize=256)
def _selection(composed: bool, amount: Decimal, sensitivity: int) -> ExponentialMechanism:
    return ExponentialMechanism(sensitivity, selection_epsilon(amount) if composed else amount, monotone=True)


def plan_paths(plan_request: PlanRequest, step: str) -> RunPlan:
    """Plan a run of one step, whose budget paths divide."""
    asked = plan_request.epsilon
    facts = {"sampler": plan_request.parameters.method, "estimates_step": step}
    plan = plan_request.pure(composes=False).plan(BudgetSplit(asked, {step: asked}), **facts)
    return plan_request.composed(plan, {step: Decimal(1)}) if plan_request.delta else plan


def path_budget(plan: RunPlan) -> tuple[PathForm, Decimal]:
    """Form of a plan, and what each path may cost a row.

    Raises
    ------
    BudgetError
        If that is less than a step.
    """
    if plan.row_rho is None:
        return PURE, plan.row_epsilon(plan.estimates_step)
    amount = Decimal(plan.row_rho).quantize(RHO_STEP, rounding=ROUND_FLOOR)
    if not amount:
        raise BudgetError("This epsilon is too small for the rows that a person may have.")
    return COMPOSED, amount


def epsilon_of_unit(plan: RunPlan) -> Decimal:
    """Row-level share of the plan's epsilon that a unit of its paths' budget stands for."""
    form, amount = path_budget(plan)
    if not form.composed:
        return Decimal(1)
    rows = plan.schema.privacy_unit.max_rows_per_person
    return (plan.epsilon / (rows * amount)).quantize(EPSILON_STEP, rounding=ROUND_FLOOR)
