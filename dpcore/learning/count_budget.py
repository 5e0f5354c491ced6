"""What noisy counts may spend: epsilon in a pure run, and rho in one that composes, which tells the kind of noise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_DOWN, Context, Decimal
from fractions import Fraction

from dpcore.errors import BudgetError
from dpcore.privacy.budgets import EPSILON_STEP, first_share, float_below
from dpcore.privacy.mechanisms import GaussianMechanism, GeometricMechanism
from dpcore.privacy.sensitivity import Sensitivity
from dpcore.released.plan import CountNoise, RunPlan

#: Parts of a rho are rounded down, shares of what is left so far that differences are exact.
_DOWN, _COARSE = Context(prec=28, rounding=ROUND_DOWN), Context(prec=16, rounding=ROUND_DOWN)


@dataclass(frozen=True)
class CountBudget:
    """What some counts together may cost a row.

    Attributes
    ----------
    amount : Decimal
        Epsilon of two-sided geometric noise, or rho of Gaussian noise.
    gaussian : bool
        Which of both.
    """

    amount: Decimal
    gaussian: bool = False

    @classmethod
    def of(cls, plan: RunPlan, step: str) -> CountBudget:
        """That of a step of a plan. All steps that count share the rho of counts in proportion to their parts.

        The rows of a person may all be in one count: they cost their square times as much rho as one.
        """
        if plan.composed is None:
            return cls(plan.row_epsilon(step))
        counting = {name: part for name, part in plan.split.parts.items() if name not in plan.composed.selections}
        whole = Fraction(plan.composed.counts) / plan.schema.privacy_unit.max_rows_per_person**2
        own = whole * Fraction(counting[step]) / Fraction(sum(counting.values()))
        return cls(_DOWN.divide(Decimal(own.numerator), Decimal(own.denominator)), gaussian=True)

    def one_of(self, calls: int) -> CountBudget:
        """That of one of so many calls, which share it evenly; rounded down.

        Raises
        ------
        BudgetError
            If it would be zero.
        """
        own = _DOWN.divide(self.amount, Decimal(calls))
        if not self.gaussian:
            own = own.quantize(EPSILON_STEP, rounding=ROUND_DOWN)
        if own <= 0:
            raise BudgetError("This epsilon is too small for so many counts: use a larger one, or ask for fewer.")
        return replace(self, amount=own)

    def first(self, weights: Sequence[float]) -> Decimal:
        """What the first of some steps gets of it, by their weights, rounded down; a step that is the last takes all.

        Raises
        ------
        BudgetError
            If epsilon has not one step for each.
        """
        if not self.gaussian:
            return first_share(self.amount, weights)
        if len(weights) == 1:
            return self.amount
        part = Fraction(weights[0]) / Fraction(math.fsum(weights))
        return _COARSE.divide(_COARSE.multiply(self.amount, Decimal(part.numerator)), Decimal(part.denominator))

    def mechanism(self, sensitivity: Sensitivity) -> GeometricMechanism | GaussianMechanism:
        """Noise on all counts of a query.

        Parameters
        ----------
        sensitivity : Sensitivity
            In L1. As a row moves each count by one at most, it is the square of that in L2 too.
        """
        if self.gaussian:
            return GaussianMechanism(1, float_below(self.amount), sensitivity.value)
        return GeometricMechanism(sensitivity.value, self.amount)

    def noise(self, what: str) -> CountNoise:
        """Noise on one kind of counts, of which a row moves a single one."""
        if self.gaussian:
            return CountNoise(what, deviation=1 / math.sqrt(2 * float_below(self.amount)))
        return CountNoise(what, self.amount)
