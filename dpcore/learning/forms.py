"""Runs made in the form that composes: the rho of the pure one, with less noise."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_FLOOR, Decimal

from dpcore.learning.learner import Asked
from dpcore.privacy.budgets import BudgetSplit
from dpcore.privacy.filters import smallest_epsilon
from dpcore.privacy.losses import RHO_STEP, counting_rho, pure_rho, selection_epsilon
from dpcore.released.plan import Composed, RunPlan, composed_words


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
