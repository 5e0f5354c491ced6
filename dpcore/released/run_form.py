"""In which form a run is made: pure, or composed by the rho that its pure form would cost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from decimal import ROUND_FLOOR, Decimal

from dpcore.errors import BudgetError
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import NOTHING, RHO_STEP
from dpcore.released.plan import RunPlan

#: Plans a run, given the delta that it may spend, with 0 in its pure form; one that can be made at any rho is given
#: that too.
Planner = Callable[..., RunPlan]

_NEEDS_DELTA = (
    "This method needs a delta, and only pure runs are taken here: choose another method, or ask "
    "the custodian of the data set for a delta."
)


def plan_under(cap: PrivacyFilter, planner: Planner, *, pure: bool = False, most: Decimal | None = None) -> RunPlan:
    """The plan of a run in the form for which a cap has more room, seen from its beginning.

    Public: it depends on the cap and the request, not on what was spent.

    Parameters
    ----------
    planner : callable
        See :data:`Planner`.
    pure : bool
        Whether only a pure form will do.
    most : Decimal, optional
        Most that one run may cost.

    Raises
    ------
    BudgetError
        If epsilon is too small in either form, or the method has no pure form and only that would do.
    """
    if pure:
        return _pure(planner)
    composed = _composed(cap, planner)
    if not composed.delta:
        return composed
    alone = planner(Decimal(0))
    if alone.delta:
        if not cap.run_delta:
            raise BudgetError(_NEEDS_DELTA)
        return composed
    if composed.composed is not None and composed.composed.scales:
        return _scaled(cap, planner, alone, most)
    fitting = cap.fitting(NOTHING, composed.loss)
    roomier = fitting > 0 and fitting >= cap.fitting(NOTHING, alone.loss)
    allowed = most is None or composed.epsilon <= most
    return composed if roomier and allowed else alone


def _pure(planner: Planner) -> RunPlan:
    alone = planner(Decimal(0))
    if alone.delta:
        raise BudgetError(_NEEDS_DELTA)
    return alone


def _composed(cap: PrivacyFilter, planner: Planner) -> RunPlan:
    """The run with the delta that a cap gives it; pure, if its epsilon is enough only then."""
    try:
        return planner(cap.run_delta)
    except BudgetError:
        with suppress(BudgetError):
            return _pure(planner)
        raise


def _scaled(cap: PrivacyFilter, planner: Planner, alone: RunPlan, most: Decimal | None) -> RunPlan:
    """The run at the rho with which a cap holds as many of its kind as of pure ones; pure, if that has less noise."""
    count = cap.fitting(NOTHING, alone.loss)
    if not count:
        return alone
    # No more of rho than the pure run would take of epsilon, if epsilons were added.
    rho = min(cap.rho * alone.epsilon / cap.epsilon, cap.rho / count).quantize(RHO_STEP, rounding=ROUND_FLOOR)
    if rho <= 0:
        return alone
    try:
        made = planner(cap.run_delta, rho)
    except BudgetError:  # So little rho may be less than all its steps need.
        return alone
    fits = cap.fitting(NOTHING, made.loss) >= count and (most is None or made.epsilon <= most)
    return made if fits and made.count_margin() <= alone.count_margin() else alone
