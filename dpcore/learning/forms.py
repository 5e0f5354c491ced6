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
    cap: PrivacyFilter, plan: Callable[[Decimal], RunPlan], delta: Decimal, *, pure: bool = False
) -> RunPlan:
    """The plan of a run in the form for which a cap has more room, seen from its beginning.

    Public: it depends on the cap and the request, not on what was spent.

    Parameters
    ----------
    plan : callable
        Plans the run, given the delta that it may spend; with 0 in its pure form.
    delta : Decimal
        Delta that a run may spend; 0 if the cap takes pure runs only.
    pure : bool
        Whether only a pure form will do.

    Raises
    ------
    BudgetError
        If the method has no pure form, and only that would do.
    """
    composed = plan(delta)
    if not composed.delta:
        return composed
    alone = plan(Decimal(0))
    if alone.delta:
        if pure or not delta:
            raise BudgetError(_NEEDS_DELTA)
        return composed
    roomier = cap.fitting(NOTHING, composed.loss) >= cap.fitting(NOTHING, alone.loss)
    return alone if pure or not roomier else composed
