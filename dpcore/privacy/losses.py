"""What a run may cost one person, in the measures in which runs are added up.

Every conversion is proved in ``docs/privacy/accounting.md`` and rounded against the analyst.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal, InvalidOperation
from functools import lru_cache
from operator import add, sub

from dpcore.errors import BudgetError
from dpcore.privacy.budgets import EPSILON_STEP, calibrate_gaussian

#: The smallest step of a rho. Totals are whole multiples of it, so they add up exactly.
RHO_STEP = Decimal("0.000000000001")
#: No line of a ledger has a rho above this; no run whose epsilon is a budget comes near it.
RHO_LIMIT = Decimal(10_000)
#: A rho that nothing bounds: of a release that was not made by a mechanism of this engine.
UNBOUNDED = Decimal("Infinity")
#: Stands for the rho of a pure run of which none is stated, such as a Markov chain's; any other is above 0.
NOT_STATED = Decimal(0)
#: Relative error of the few floating-point operations of a conversion, many times over.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Loss:
    """Bounds on what one person may lose, by a run or by several; each holds by itself."""

    epsilon: Decimal
    delta: Decimal
    """``epsilon``, ``delta``: the run alone is (epsilon, delta)-DP; pure if delta is 0. Of several, the sums."""
    rho: Decimal
    """It is rho-zero-concentrated DP: its Renyi divergence of every order alpha is at most alpha * rho (Bun, Steinke
    2016). A whole multiple of :data:`RHO_STEP`, or unbounded. Runs of which none is stated are not in it."""
    pure: Decimal
    """The epsilon of a run that is pure, and 0 of any other. Of several, the sum."""
    rest: Decimal
    """The rho of a run that is not pure, and 0 of one that is. Of several, the sum."""
    without_rho: Decimal
    """The epsilon of a pure run of which no rho is stated, and 0 of any other. Of several, the sum: they are added, in
    every account."""

    def __post_init__(self) -> None:
        if any(part.is_nan() or part < 0 for part in vars(self).values()):
            raise BudgetError("A loss cannot be negative.")

    def __add__(self, other: Loss) -> Loss:
        """Both, one after the other; exactly."""
        return Loss(*map(add, vars(self).values(), vars(other).values()))

    def __sub__(self, other: Loss) -> Loss:
        """What remains if the other, which is part of it, is given back."""
        return Loss(*map(sub, vars(self).values(), vars(other).values()))


#: The loss of doing nothing.
NOTHING = Loss(*[Decimal(0)] * 6)


def parse_rho(value: object) -> Decimal:
    """A rho as an exact number. Raises ``BudgetError`` if it is not one, or negative."""
    try:
        rho = Decimal(str(value))
    except InvalidOperation:
        raise BudgetError("Rho must be a number, for example 0.005.") from None
    if not (rho.is_finite() and rho >= 0):
        raise BudgetError("Rho must be a number of at least 0.")
    return rho


def total_loss(losses: Iterable[Loss]) -> Loss:
    """Everything, one after the other."""
    return sum(losses, NOTHING)


def run_loss(epsilon: Decimal, delta: Decimal, rho: Decimal) -> Loss:
    """Loss of one run; a pure one may have a rho :data:`NOT_STATED`. Raises ``BudgetError`` if delta is 1 or more."""
    zero = Decimal(0)
    pure, rest = (zero, rho) if delta else (epsilon, zero)
    loss = Loss(epsilon, delta, rho, pure, rest, zero if delta or rho != NOT_STATED else epsilon)
    if delta >= 1:
        raise BudgetError("The delta of a run must be below 1.")
    return loss


def pure_loss(epsilon: Decimal, delta: Decimal = Decimal(0)) -> Loss:
    """Loss of which nothing else is known than epsilon; with a delta no rho bounds it."""
    return run_loss(epsilon, delta, UNBOUNDED if delta else pure_rho(epsilon))


def engine_loss(epsilon: Decimal, delta: Decimal, *, aside: bool = True) -> Loss:
    """Loss of a run of this engine of which no more than epsilon and delta is known.

    With a delta it is Gaussian noise, selections by the exponential mechanism of at most a tenth
    of epsilon, and perhaps a pure evaluation on people set aside; or known by its rho alone, which
    the same noise exceeds.
    """
    if not delta:
        return pure_loss(epsilon)
    mu = calibrate_gaussian(math.nextafter(float(epsilon), math.inf), math.nextafter(float(delta), 1.0))
    steps = gaussian_rho(math.nextafter(mu, math.inf)) + selection_rho(epsilon / 10)
    return run_loss(epsilon, delta, max(steps, pure_rho(epsilon)) if aside else steps)


def pure_rho(epsilon: Decimal) -> Decimal:
    """Rho of whatever is epsilon-DP: epsilon tanh(epsilon / 2), and no less in general.

    That of two-sided geometric noise on a count that moves by one is the same: its loss takes
    the two values epsilon and -epsilon only.
    """
    number = float(epsilon)
    return rho_above(number * math.tanh(number / 2))


def strength_of(rho: Decimal) -> Decimal:
    """Epsilon of pure runs of a few steps that cost about as much: 5 sqrt(rho). For rules, not for promises."""
    return (5 * rho.sqrt()).quantize(EPSILON_STEP, rounding=ROUND_FLOOR)


@lru_cache(maxsize=1024)
def pure_epsilon(rho: Decimal) -> Decimal:
    """Largest epsilon, in whole steps, of which :func:`pure_rho` is at most ``rho``."""
    return largest_epsilon(pure_rho, rho)


def selection_rho(epsilon: Decimal) -> Decimal:
    """Rho of one draw of the exponential mechanism, calibrated to epsilon: epsilon^2 / 8.

    The logarithms of its probability ratios lie in a range of length epsilon (Durfee, Rogers
    2019; Cesar, Rogers 2021). Not so permute-and-flip.
    """
    return rho_above(float(epsilon) ** 2 / 8)


@lru_cache(maxsize=1024)
def selection_epsilon(rho: Decimal) -> Decimal:
    """Largest epsilon, in whole steps, of which :func:`selection_rho` is at most ``rho``."""
    return largest_epsilon(selection_rho, rho)


def largest_epsilon(cost: Callable[[Decimal], Decimal], rho: Decimal) -> Decimal:
    """Largest epsilon, in whole steps, whose cost, which rises with it, is at most ``rho``."""
    low, high = 0, 1
    while cost(high * EPSILON_STEP) <= rho:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if cost(middle * EPSILON_STEP) <= rho else (low, middle)
    return low * EPSILON_STEP


def gaussian_rho(mu: float) -> Decimal:
    """Rho of discrete or continuous Gaussian noise with sensitivity / scale at most mu."""
    return rho_above(mu * mu / 2)


def rho_above(rho: float) -> Decimal:
    """A computed rho as a whole multiple of :data:`RHO_STEP`, rounded up."""
    exact = Decimal(rho * (1 + _ROUNDING))
    return exact.quantize(RHO_STEP, rounding=ROUND_CEILING)
