"""Whether one more run keeps everything released about the same people within a cap.

A filter sees what each run may cost before it is made, and accepts it or not; runs may be chosen
by what earlier ones released. Proof that the cap then holds: ``docs/privacy/accounting.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, Decimal
from functools import cached_property, lru_cache
from typing import Final

from dpcore.errors import BudgetError
from dpcore.privacy.budgets import EPSILON_STEP, float_below
from dpcore.privacy.losses import NOTHING, RHO_STEP, Loss, pure_epsilon, run_loss

#: Shares of delta: for runs that are composed, for small ones beside pure ones, and for deltas
#: that are added. Whichever condition accepts, its share pays; so all together cost the whole.
RHO_SHARE, MIXED_SHARE, ADDED_SHARE = Decimal("0.8"), Decimal("0.1"), Decimal("0.1")
#: Share of delta that is set aside where categories are learned.
THRESHOLD_SHARE = Decimal("0.005")
#: Prices are whole numbers of this share of a cap, so that they add up as they are shown.
SHARE_STEP = Decimal("0.000001")
_DIGITS: Final = 4
#: Digits of an epsilon that follows from a price: enough to come to it.
_EPSILON_DIGITS: Final = 5
#: Smallest step of the delta of a run.
DELTA_STEP = Decimal("1e-15")
#: Share of the cap that runs with a delta are expected to use beside large pure ones.
_SMALL_SHARE = Decimal("0.1")
#: More runs than anybody counts.
_MANY = 10**9
#: Far more than the rounding errors of a conversion, relative to rho and to log(delta).
_SLACK = 1e-11


@dataclass(frozen=True)
class PrivacyFilter:
    """A cap on what everybody together may learn about one person, and what fits into it.

    Parameters
    ----------
    epsilon : Decimal
        Cap on epsilon; with 0 nothing is accepted.
    delta : Decimal
        Cap on delta; with 0 only runs that are pure are accepted, and their epsilons added.
    aside : Decimal
        Part of it that was set aside when the account was opened, for events after which a rho does
        not hold: ``docs/privacy/learned.md``.
    """

    epsilon: Decimal
    delta: Decimal
    aside: Decimal = Decimal(0)

    def __post_init__(self) -> None:
        if not (self.epsilon >= 0 and self.aside >= 0 and 0 <= self.delta < 1):
            raise BudgetError("A cap needs an epsilon of at least 0 and a delta from 0 to below 1.")

    @property
    def _free(self) -> Decimal:
        """Delta of all runs; 0 if the cap was lowered below what is set aside."""
        return max(Decimal(0), self.delta - self.aside)

    @property
    def run_delta(self) -> Decimal:
        """The one delta of all runs that compose, rounded down; 0 if pure runs only are accepted."""
        return self._rho_delta.quantize(DELTA_STEP, rounding=ROUND_FLOOR)

    @property
    def threshold_delta(self) -> Decimal:
        """Delta to be set aside where categories are learned, rounded down; 0 if pure runs only are accepted."""
        return (self.delta * THRESHOLD_SHARE).quantize(DELTA_STEP, rounding=ROUND_FLOOR)

    @cached_property
    def rho(self) -> Decimal:
        """Largest sum of rho that is accepted; 0 if there is no delta, or nothing to spend."""
        return largest_rho(self.epsilon, self._rho_delta) if self.epsilon else Decimal(0)

    @cached_property
    def _order(self) -> Decimal:
        """Renyi order at which :attr:`rho` is the largest: runs without a rho of their own are added there."""
        return largest_rho_order(self.epsilon, self._rho_delta)

    @property
    def _rho_delta(self) -> Decimal:
        return self._free * RHO_SHARE

    @property
    def _added_delta(self) -> Decimal:
        return self._free * ADDED_SHARE

    @cached_property
    def _mixed(self) -> tuple[int, Decimal] | None:
        """Renyi order at which pure runs and others are added, and what remains of epsilon for them.

        The order for which a small part of :attr:`rho` would cost least. ``None`` if no order
        leaves anything.
        """
        if not self.rho:
            return None
        order = best_order(self.rho * _SMALL_SHARE, self._free * MIXED_SHARE)
        room = self.epsilon - order_excess(order, self._free * MIXED_SHARE)
        return (order, room) if room > 0 else None

    def accepts(self, total: Loss) -> bool:
        """Whether the sum of all runs, the new one included, may stand."""
        return self._adds(total) or self._mixes(total) or self._composes(total)

    def _composes(self, total: Loss) -> bool:
        if not total.without_rho:
            return total.rho <= self.rho
        return self.rho > 0 and total.without_rho + self._order * total.rho <= self._order * self.rho

    def _adds(self, total: Loss) -> bool:
        return total.epsilon <= self.epsilon and total.delta <= self._added_delta

    def _mixes(self, total: Loss) -> bool:
        return self._mixed_left(total) >= 0

    def _mixed_left(self, total: Loss) -> Decimal:
        """Epsilon that is left at the order of :attr:`_mixed`; below 0 if there is none, infinitely so if unbounded."""
        if self._mixed is None:
            return Decimal("-Infinity")
        order, room = self._mixed
        return room - total.pure - order * total.rest

    def ways(self, total: Loss) -> Iterator[Decimal]:
        """Part of the cap that a sum of runs takes in each way of counting that applies; exact, and not rounded."""
        if total.delta <= self._added_delta:
            yield total.epsilon / self.epsilon
        if self.rho and total.rho.is_finite():
            yield (total.rho + (total.without_rho / self._order if total.without_rho else 0)) / self.rho
        if (mixed := self._mixed_left(total)).is_finite():
            yield (self.epsilon - mixed) / self.epsilon

    def share(self, total: Loss) -> Decimal:
        """Part of the cap that a sum of runs takes: the least of all ways to count, and at most 1 if they fit.

        In whole steps of :data:`SHARE_STEP`, rounded up; 0 of nothing, 1 of an empty cap, infinite if unbounded.
        """
        if total == NOTHING:
            return Decimal(0)
        if not self.epsilon:
            return Decimal(1)
        least = min(self.ways(total), default=Decimal("Infinity"))
        shown = least.quantize(SHARE_STEP, rounding=ROUND_CEILING) if least.is_finite() else least
        return min(shown, Decimal(1)) if self.accepts(total) else shown

    def priced(self, loss: Loss) -> Loss:
        """What a run is charged: its loss, with a rho that is a price of four digits at most, in shares of the cap.

        Never less than the loss, nor a thousandth more, but for a step. So equal runs have equal prices, which add up.
        """
        if not (self.rho and loss.delta and loss.rho and loss.rho.is_finite()):
            return loss
        exact = loss.rho / self.rho
        step = max(SHARE_STEP, Decimal(1).scaleb(exact.adjusted() + 1 - _DIGITS))
        price = (exact / step).to_integral_value(ROUND_CEILING) * step
        rho = (price * self.rho).quantize(RHO_STEP, rounding=ROUND_FLOOR)
        return run_loss(loss.epsilon, loss.delta, max(rho, loss.rho))

    def spent(self, total: Loss) -> Decimal:
        """Epsilon, at this delta, that the runs cost together: at most the cap if they fit.

        In whole steps of :data:`~dpcore.privacy.budgets.EPSILON_STEP`, rounded up; infinite if
        nothing bounds it.
        """
        ways = [self.composed(total)]
        if total.delta <= self._added_delta:
            ways.append(total.epsilon)
        if (mixed := self._mixed_left(total)).is_finite():
            ways.append(self.epsilon - mixed)
        least = min(ways)
        shown = least.quantize(EPSILON_STEP, rounding=ROUND_CEILING) if least.is_finite() else least
        return min(shown, self.epsilon) if self.accepts(total) else shown

    def composed(self, total: Loss) -> Decimal:
        """Epsilon, at this delta, that follows from the sum of rho, and of epsilon where none is stated.

        Infinite if nothing bounds it.
        """
        if not (float_below(self._rho_delta) > 0 and total.rho.is_finite()):
            return Decimal("Infinity")
        if not total.without_rho:
            return smallest_epsilon(total.rho, self._rho_delta)
        if not self.rho:
            return Decimal("Infinity")
        return total.without_rho + self._order * (total.rho - self.rho) + self.epsilon

    def fitting(self, total: Loss, loss: Loss) -> int:
        """How many runs of the same loss, one after the other, would still be accepted."""
        epsilons = _times(self.epsilon - total.epsilon, loss.epsilon)
        deltas = _times(self._added_delta - total.delta, loss.delta)
        ways = [min(epsilons, deltas)]
        if not (total + loss).without_rho:
            ways.append(_times(self.rho - total.rho, loss.rho))
        elif self.rho:
            room = self._order * (self.rho - total.rho) - total.without_rho
            ways.append(_times(room, loss.without_rho + self._order * loss.rho))
        if self._mixed is not None:
            ways.append(_times(self._mixed_left(total), loss.pure + self._mixed[0] * loss.rest))
        return max(ways)

    def largest(self, total: Loss, *, pure: bool = False) -> Decimal:
        """Largest epsilon, in whole steps, of one more run that would be accepted; may be 0.

        Parameters
        ----------
        pure : bool
            Whether of a pure run; else of one that composes, if the cap has a delta.
        """
        if self.run_delta and not pure:
            return self._largest_composed(total)
        ways = [Decimal(0), self._mixed_left(total)]
        if total.delta <= self._added_delta:
            ways.append(self.epsilon - total.epsilon)
        if self._composes(total):
            ways.append(pure_epsilon(self._rho_left(total)))
        return max(ways).quantize(EPSILON_STEP, rounding=ROUND_FLOOR)

    def epsilon_of(self, share: Decimal) -> Decimal:
        """Epsilon of a run that takes a share of the cap, rounded down to :data:`_EPSILON_DIGITS` digits.

        Of a run that composes, or else of a pure one; 0 if there is none.
        """
        if self.run_delta:
            exact = _epsilon_within((share * self.rho).quantize(RHO_STEP, rounding=ROUND_FLOOR), self.run_delta)
        else:
            exact = share * self.epsilon
        if not exact:
            return exact
        step = max(EPSILON_STEP, Decimal(1).scaleb(exact.adjusted() + 1 - _EPSILON_DIGITS))
        return exact.quantize(step, rounding=ROUND_FLOOR)

    def _rho_left(self, total: Loss) -> Decimal:
        used = total.without_rho / self._order if total.without_rho else Decimal(0)
        return self.rho - total.rho - used

    def _largest_composed(self, total: Loss) -> Decimal:
        ways = [self._rho_left(total)] if self._composes(total) else []
        if self._mixed is not None:
            ways.append(self._mixed_left(total) / self._mixed[0])
        return _epsilon_within(max(ways, default=Decimal(0)), self.run_delta)


def _epsilon_within(rho: Decimal, delta: Decimal) -> Decimal:
    """Largest epsilon, in whole steps, for which :func:`largest_rho` is at most ``rho``; 0 if none is."""
    if rho < RHO_STEP:
        return Decimal(0)
    found = smallest_epsilon(rho, delta)
    while found and largest_rho(found, delta) > rho:
        found -= EPSILON_STEP
    return found


@lru_cache(maxsize=1024)
def largest_rho(epsilon: Decimal, delta: Decimal) -> Decimal:
    """Largest rho, in whole steps, whose zero-concentrated DP implies (epsilon, delta)-DP.

    Canonne, Kamath, Steinke (2020), Corollary 13: rho-zCDP implies it if for some order
    alpha > 1, (alpha - 1)(alpha rho - epsilon) + c(alpha) <= log(delta). Every order gives a
    rho that is sound; a search finds the best. Rounded down.
    """
    if float_below(delta) <= 0:
        return Decimal(0)
    at = _rho_by_order(epsilon, delta)
    best = at(_minimum(lambda order: -at(order))) * (1 - _SLACK)
    return Decimal(max(0.0, best)).quantize(RHO_STEP, rounding=ROUND_FLOOR)


@lru_cache(maxsize=1024)
def largest_rho_order(epsilon: Decimal, delta: Decimal) -> Decimal:
    """Renyi order alpha that :func:`largest_rho` has found: alpha times that rho implies (epsilon, delta)-DP."""
    at = _rho_by_order(epsilon, delta)
    return Decimal(1 + math.exp(_minimum(lambda order: -at(order))))


def _rho_by_order(epsilon: Decimal, delta: Decimal) -> Callable[[float], float]:
    """Rho that implies (epsilon, delta)-DP by the order alpha = 1 + exp(order)."""
    target, log_delta = float_below(epsilon), math.log(float_below(delta)) - _SLACK

    def at(order: float) -> float:
        above = math.exp(order)
        return (target + (log_delta - _excess(order)) / above) / (1 + above)

    return at


@lru_cache(maxsize=4096)
def smallest_epsilon(rho: Decimal, delta: Decimal) -> Decimal:
    """Smallest epsilon, in whole steps, for which :func:`largest_rho` is not below ``rho``."""
    at = _epsilon_by_order(rho, delta)
    best = max(0.0, at(_minimum(at)))
    epsilon = Decimal(best).quantize(EPSILON_STEP, rounding=ROUND_CEILING)
    while largest_rho(epsilon, delta) < rho:
        epsilon += EPSILON_STEP
    return epsilon


def best_order(rho: Decimal, delta: Decimal) -> int:
    """Whole Renyi order above 1 at which ``rho`` comes to about the smallest epsilon at ``delta``."""
    return max(2, math.ceil(1 + math.exp(_minimum(_epsilon_by_order(rho, delta)))))


def order_excess(order: int, delta: Decimal) -> Decimal:
    """By how much the epsilon at ``delta`` exceeds the Renyi divergence of an order; rounded up.

    Canonne, Kamath, Steinke (2020), Corollary 13.
    """
    above = order - 1
    excess = _excess(math.log(above)) - (math.log(float_below(delta)) - _SLACK)
    return Decimal(max(0.0, excess / above) * (1 + _SLACK)).quantize(EPSILON_STEP, rounding=ROUND_CEILING)


def _times(room: Decimal, each: Decimal) -> int:
    """How many times an amount fits."""
    if room < 0 or not each.is_finite():
        return 0
    return min(_MANY, int(room // each)) if each else _MANY


def _epsilon_by_order(rho: Decimal, delta: Decimal) -> Callable[[float], float]:
    """Epsilon at ``delta`` by the order alpha = 1 + exp(order)."""
    log_delta = math.log(float_below(delta)) - _SLACK

    def at(order: float) -> float:
        above = math.exp(order)
        return (1 + above) * float(rho) + (_excess(order) - log_delta) / above

    return at


def _excess(order: float) -> float:
    """c(alpha) = alpha log(1 - 1/alpha) - log(alpha - 1), for alpha = 1 + exp(order)."""
    return -(1 + math.exp(order)) * math.log1p(math.exp(-order)) - order


def _minimum(function: Callable[[float], float]) -> float:
    """Where a function of an order is least, if it has a single valley."""
    low, high = -12.0, 40.0
    while high - low > 1e-9:
        first, second = low + (high - low) / 3, high - (high - low) / 3
        if function(first) <= function(second):
            high = second
        else:
            low = first
    return low
