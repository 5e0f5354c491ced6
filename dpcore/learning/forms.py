"""In which form a run is made: pure, or composed by the rho that its pure form would cost."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from dpcore.errors import BudgetError
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import NOTHING
from dpcore.released.plan import RunPlan

_NEEDS_DELTA = (
    "This method needs a delta, and only pure runs are taken here: choose another method, or ask "
    "the custodian of the data set for a delta."
)


def plan_under(
    cap: PrivacyFilter, plan: Callable[[Decimal], RunPlan], *, pure: bool = False, most: Decimal | None = None
) -> RunPlan:
    """The plan of a run in the form for which a cap has more room, seen from its beginning.

    Public: it depends on the cap and the request, not on what was spent.

    Parameters
    ----------
    plan : callable
        Plans the run, given the delta that it may spend; with 0 in its pure form.
    pure : bool
        Whether only a pure form will do.
    most : Decimal, optional
        Most that one run may cost.

    Raises
    ------
    BudgetError
        If the method has no pure form, and only that would do.
    """
    composed = plan(cap.run_delta)
    if not composed.delta:
        return composed
    alone = plan(Decimal(0))
    if alone.delta:
        if pure or not cap.run_delta:
            raise BudgetError(_NEEDS_DELTA)
        return composed
    roomier = cap.fitting(NOTHING, composed.loss) >= cap.fitting(NOTHING, alone.loss)
    allowed = most is None or composed.epsilon <= most
    return composed if roomier and allowed and not pure else alone
