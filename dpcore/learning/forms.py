"""In which form a run is made: pure, or composed by the rho that its pure form would cost."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal

from dpcore.errors import BudgetError
from dpcore.learning.learner import Asked
from dpcore.privacy.budgets import BudgetSplit
from dpcore.privacy.filters import PrivacyFilter, smallest_epsilon
from dpcore.privacy.losses import (
    NOTHING,
    RHO_STEP,
    counting_rho,
    pure_rho,
    selection_epsilon,
)
from dpcore.released.plan import Composed, RunPlan, composed_words

_NEEDS_DELTA = (
    "This method needs a delta, and only pure runs are taken here: choose another method, or ask "
    "the custodian of the data set for a delta."
)


def plan_under(
    cap: PrivacyFilter, plan: Callable[..., RunPlan], *, pure: bool = False, most: Decimal | None = None
) -> RunPlan:
    """The plan of a run in the form for which a cap has more room, seen from its beginning.

    Public: it depends on the cap and the request, not on what was spent.

    Parameters
    ----------
    plan : callable
        Plans the run, given the delta that it may spend; with 0 in its pure form. One that can be
        made at any rho is given that too.
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
        return _pure(plan)
    composed = _composed(cap, plan)
    if not composed.delta:
        return composed
    alone = plan(Decimal(0))
    if alone.delta:
        if not cap.run_delta:
            raise BudgetError(_NEEDS_DELTA)
        return composed
    if composed.composed is not None and composed.composed.scales:
        return _scaled(cap, plan, alone, most)
    fitting = cap.fitting(NOTHING, composed.loss)
    roomier = fitting > 0 and fitting >= cap.fitting(NOTHING, alone.loss)
    allowed = most is None or composed.epsilon <= most
    return composed if roomier and allowed else alone


def _pure(plan: Callable[..., RunPlan]) -> RunPlan:
    alone = plan(Decimal(0))
    if alone.delta:
        raise BudgetError(_NEEDS_DELTA)
    return alone


def _composed(cap: PrivacyFilter, plan: Callable[..., RunPlan]) -> RunPlan:
    """The run with the delta that a cap gives it; pure, if its epsilon is enough only then."""
    try:
        return plan(cap.run_delta)
    except BudgetError:
        with suppress(BudgetError):
            return _pure(plan)
        raise


def _scaled(cap: PrivacyFilter, plan: Callable[..., RunPlan], alone: RunPlan, most: Decimal | None) -> RunPlan:
    """The run at the rho with which a cap holds as many of its kind as of pure ones; pure, if that has less noise."""
    count = cap.fitting(NOTHING, alone.loss)
    if not count:
        return alone
    # No more of rho than the pure run would take of epsilon, if epsilons were added.
    rho = min(cap.rho * alone.epsilon / cap.epsilon, cap.rho / count).quantize(RHO_STEP, rounding=ROUND_FLOOR)
    if rho <= 0:
        return alone
    try:
        made = plan(cap.run_delta, rho)
    except BudgetError:  # So little rho may be less than all its steps need.
        return alone
    fits = cap.fitting(NOTHING, made.loss) >= count and (most is None or made.epsilon <= most)
    return made if fits and made.count_margin() <= alone.count_margin() else alone


def _whole(_: str, rho: Decimal) -> Decimal:
    return selection_epsilon(rho)


def composed_form(asked: Asked, pure: RunPlan, select: Callable[[str, Decimal], Decimal] = _whole) -> RunPlan:
    """The run of a pure plan with less noise, at the rho of that plan and the delta asked for.

    Its counts get Gaussian noise, no wider than their geometric noise was. What this leaves of
    rho goes to the other steps, which select, in equal parts. Proof: ``docs/privacy/accounting.md``.

    Parameters
    ----------
    pure : RunPlan
        Steps that select, and counts that one row moves by one.
    select : callable
        Person-level epsilon of a step's selection for which a rho pays.

    Returns
    -------
    RunPlan
        The pure plan itself, if no delta was asked for or some selection would not gain.
    """
    counts = counting_rho(pure.split[pure.estimates_step], pure.schema.privacy_unit.max_rows_per_person)
    steps = [step for step, part in pure.split.parts.items() if part and step != pure.estimates_step]
    if not asked.delta or counts >= pure_rho(pure.split[pure.estimates_step]):
        return pure
    whole = pure_rho(pure.epsilon) if pure.rho is None else min(pure.rho, pure_rho(pure.epsilon))
    share = ((whole - counts) / len(steps)).quantize(RHO_STEP, rounding=ROUND_FLOOR)
    selections = {step: select(step, share) for step in steps if share > 0}
    if not selections or any(selections[step] <= pure.split[step] for step in steps):
        return pure
    rhos = {**dict.fromkeys(steps, share), pure.estimates_step: counts}
    rho = sum(rhos.values(), Decimal(0))
    aside = asked.set_aside(rho)
    epsilon = max(smallest_epsilon(rho, asked.delta), aside)  # Less than that only for a delta near 1.
    made = replace(
        pure,
        epsilon=epsilon,
        split=BudgetSplit.by_weights(epsilon, rhos),
        definition="approximate",
        delta=asked.delta,
        parallel=dict.fromkeys(pure.parallel, aside),
        composition=composed_words(rho),
        rho=rho,
        composed=Composed(selections, counts),
        asked=asked.epsilon,
    )
    return replace(made, noise=tuple(made.noise_on(own.what) for own in pure.noise))
