"""How the budget of a first look is divided."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Final

import numpy as np

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError
from dpcore.learning.learner import PlanRequest
from dpcore.models.summaries.learning.division import (
    COLUMNS,
    FINER,
    FOUND,
    GROUPS,
    PAIRS,
    TREES,
    Division,
    division_of,
)
from dpcore.models.summaries.learning.summary_queries import COUNT_STEPS, distance_sensitivity, table_sensitivity
from dpcore.models.summaries.released.estimates import Axes, Estimates, Measured, Pair
from dpcore.models.summaries.released.summary_family import CHOICE, own_delta_words
from dpcore.privacy.bounded_range import Selections
from dpcore.privacy.budgets import (
    EPSILON_STEP,
    BudgetSplit,
    calibrate_fine_gaussian,
    gaussian_delta,
    gaussian_part,
)
from dpcore.privacy.filters import smallest_epsilon
from dpcore.privacy.losses import (
    RHO_STEP,
    gaussian_rho,
    pure_rho,
    selection_epsilon,
    selection_rho,
)
from dpcore.privacy.mechanisms import ExponentialMechanism, FineGaussian, GeometricMechanism
from dpcore.released.plan import Composed, CountNoise, RunPlan, composed_words

_CHOICE_SHARE: Final = Fraction(1, 10)
#: Beyond this the deviation is below 1e-130 records, and floats cannot hold the weight of such a count.
_HARDLY: Final = 300.0
_TOO_SMALL: Final = "This epsilon is too small for so many tables: use a larger one, or fewer columns or pairs."


@dataclass(frozen=True)
class Noise:
    """Noise of all tables of a run.

    Attributes
    ----------
    rows : int
        Most rows of a person.
    mu : float
        Gaussian-DP bound, per person, of all tables together; 0 if their noise is geometric.
    epsilon : Decimal
        Budget of all tables together, if it is.
    choice : Decimal
        Epsilon, per person, of the choice of one pair.
    """

    division: Division
    rows: int
    mu: float = 0.0
    epsilon: Decimal = Decimal(0)
    choice: Decimal = Decimal(0)

    @property
    def gaussian(self) -> bool:
        """Whether it is Gaussian."""
        return self.mu > 0

    @cached_property
    def parts(self) -> dict[Axes, int]:
        """Shares of the first tables."""
        return self.division.parts(gaussian=self.gaussian)

    def first(self, axes: Axes) -> GeometricMechanism | FineGaussian:
        """Of one of the tables that are asked for at first."""
        share = Fraction(self.parts[axes], sum(self.parts.values()))
        return self._mechanism((1 - self.division.found_share) * (1 - self.division.levels_share) * share)

    def level(self, axis: int, place: int) -> GeometricMechanism | FineGaussian:
        """Of the counts of one level above a column of codes; of finer cells, if ``place`` is -1."""
        parts = self.division.level_parts
        share = Fraction(parts[axis, place], sum(parts.values()))
        return self._mechanism((1 - self.division.found_share) * self.division.levels_share * share)

    def found(self, pairs: Sequence[Pair]) -> dict[Pair, GeometricMechanism | FineGaussian]:
        """Of the tables of pairs that were found: more cells, a larger share."""
        weights = {pair: max(1, round(self.division.cells(pair) ** (2 / 3))) for pair in pairs}
        total = sum(weights.values())
        return {
            pair: self._mechanism(self.division.found_share * Fraction(own, total)) for pair, own in weights.items()
        }

    def chooser(self, steps: int) -> ExponentialMechanism:
        """For the choice of one pair, by distances in so many steps per record."""
        sensitivity = distance_sensitivity(self.rows)
        return ExponentialMechanism(steps * sensitivity.value, self.choice, monotone=sensitivity.monotone)

    def deviation(self, mechanism: GeometricMechanism | FineGaussian) -> float:
        """Standard deviation of a mechanism's noise, in records."""
        if self.gaussian:
            return mechanism.scale / COUNT_STEPS
        return 1 / (math.sqrt(2) * math.sinh(min(1 / (2 * mechanism.scale), _HARDLY)))

    @cached_property
    def _known(self) -> dict[Fraction, GeometricMechanism | FineGaussian]:
        """Mechanisms by their shares."""
        return {}

    def _mechanism(self, share: Fraction) -> GeometricMechanism | FineGaussian:
        # Many tables have as many cells as others: fitting a scale takes far longer than looking one up.
        if share not in self._known:
            self._known[share] = self._fitted(share)
        return self._known[share]

    def _fitted(self, share: Fraction) -> GeometricMechanism | FineGaussian:
        sensitivity = table_sensitivity(self.rows).value
        if self.gaussian:
            return FineGaussian(sensitivity * COUNT_STEPS, gaussian_part(self.mu, share))
        own = (self.epsilon * share.numerator / share.denominator).quantize(EPSILON_STEP, rounding=ROUND_FLOOR)
        if own <= 0:
            raise BudgetError(_TOO_SMALL)
        return GeometricMechanism(sensitivity, own)


def plan_of(plan_request: PlanRequest) -> RunPlan:
    """Divide the budget of a run, in the form that it has: pure, of a delta of its own, or composed."""
    division, parameters = division_of(plan_request.schema, plan_request.parameters), plan_request.parameters
    if parameters.delta:
        plan = _own_delta(plan_request, division)
    elif plan_request.delta:
        plan = _composed(plan_request, division)
    else:
        split = BudgetSplit.by_weights(plan_request.epsilon, _weights(division, gaussian=False))
        plan = plan_request.plan(split, **_facts(plan_request))
    try:
        return _told(plan, noise_of(plan))
    except BudgetError:
        raise BudgetError(_TOO_SMALL) from None


def _facts(plan_request: PlanRequest) -> dict[str, object]:
    return {"sampler": plan_request.parameters.method, "estimates_step": COLUMNS, "parallel": {}}


def _weights(division: Division, *, gaussian: bool) -> dict[str, Decimal | int]:
    """Whole numbers in proportion to the shares of all steps."""
    parts, first = division.parts(gaussian=gaussian), 1 - division.found_share
    steps: Counter[str] = Counter()
    for axes, own in parts.items():
        steps[division.steps[axes]] += own
    left = 1 - (_CHOICE_SHARE if division.chooses else 0)
    tables = left * first * (1 - division.levels_share)
    shares = {step: tables * Fraction(own, sum(parts.values())) for step, own in steps.items()}
    levels = left * first * division.levels_share
    for (_, place), own in division.level_parts.items():
        step = FINER if place < 0 else TREES
        shares[step] = shares.get(step, Fraction(0)) + levels * Fraction(own, sum(division.level_parts.values()))
    if division.pairs:
        shares[FOUND] = left * division.found_share
    if division.chooses:
        shares = {CHOICE: _CHOICE_SHARE, **shares}
    common = math.lcm(*(share.denominator for share in shares.values()))
    return {step: int(share * common) for step, share in shares.items()}


def _own_delta(plan_request: PlanRequest, division: Division) -> RunPlan:
    """Epsilon and delta as asked, by the accounting of Gaussian DP."""
    split = BudgetSplit.by_weights(plan_request.epsilon, _weights(division, gaussian=True))
    mu, choice = _calibrated(plan_request.schema, plan_request.epsilon, plan_request.parameters.delta, division, split)
    rho = gaussian_rho(math.nextafter(mu, math.inf)) + division.pairs * selection_rho(choice)
    words = own_delta_words(mu, chooses=division.chooses)
    return plan_request.plan(
        split,
        delta=plan_request.parameters.delta,
        definition="approximate",
        composition=words,
        rho=rho,
        **_facts(plan_request),
    )


def _calibrated(
    schema: Schema, epsilon: Decimal, delta: Decimal, division: Division, split: BudgetSplit
) -> tuple[float, Decimal]:
    """Mu of all tables, and epsilon of one selection."""
    choice = _each_choice(split[CHOICE], division) if division.chooses else Decimal(0)
    tables = len(division.steps) + division.pairs + len(division.levels)
    draws = schema.privacy_unit.max_rows_per_person * tables
    return _mu(epsilon, delta, draws, choice, division.pairs), choice


@lru_cache(maxsize=256)
def _mu(epsilon: Decimal, delta: Decimal, draws: int, choice: Decimal, choices: int) -> float:
    profile = Selections(math.nextafter(float(choice), math.inf), choices).delta if choice else gaussian_delta
    return calibrate_fine_gaussian(epsilon, delta, draws, profile)


def _composed(plan_request: PlanRequest, division: Division) -> RunPlan:
    """At the rho that an account gives which adds them up, or else that of a pure run of this epsilon."""
    whole = plan_request.rho or pure_rho(plan_request.epsilon)
    weights = _weights(division, gaussian=True)
    total = sum(Decimal(own) for own in weights.values())
    rhos = {step: (whole * own / total).quantize(RHO_STEP, rounding=ROUND_FLOOR) for step, own in weights.items()}
    if not all(rhos.values()):
        raise BudgetError(_TOO_SMALL)
    largest = max((step for step in rhos if step != CHOICE), key=lambda step: rhos[step])
    rhos[largest] += whole - sum(rhos.values())  # So that the same rho gives the same plan again.
    selections = {}
    if division.chooses:
        each = selection_epsilon((rhos[CHOICE] / division.pairs).quantize(RHO_STEP, rounding=ROUND_FLOOR))
        if each <= 0:
            raise BudgetError(_TOO_SMALL)
        selections[CHOICE] = each * division.pairs
    counts = whole - rhos.get(CHOICE, Decimal(0))
    epsilon = smallest_epsilon(whole, plan_request.delta)
    return plan_request.plan(
        BudgetSplit.by_weights(epsilon, rhos),
        epsilon=epsilon,
        delta=plan_request.delta,
        definition="approximate",
        composition=composed_words(whole),
        rho=whole,
        composed=Composed(selections, counts, scales=True),
        asked=plan_request.epsilon,
        **_facts(plan_request),
    )


def noise_of(plan: RunPlan) -> Noise:
    """Noise of the tables of a plan."""
    division = division_of(plan.schema, plan.parameters)
    rows, pairs = plan.schema.privacy_unit.max_rows_per_person, max(1, division.pairs)
    if plan.composed is not None:
        mu = math.sqrt(2 * float(plan.composed.counts)) * (1 - 1e-12)
        return Noise(division, rows, mu=mu, choice=plan.composed.selections.get(CHOICE, Decimal(0)) / pairs)
    if plan.delta:
        mu, choice = _calibrated(plan.schema, plan.epsilon, plan.delta, division, plan.split)
        return Noise(division, rows, mu=mu, choice=choice)
    choice = plan.split.parts.get(CHOICE, Decimal(0))
    each = _each_choice(choice, division) if division.chooses else Decimal(0)
    return Noise(division, rows, epsilon=plan.epsilon - choice, choice=each)


def _each_choice(whole: Decimal, division: Division) -> Decimal:
    """Epsilon of the choice of one pair."""
    each = (whole / division.pairs).quantize(EPSILON_STEP, rounding=ROUND_FLOOR)
    if each <= 0:
        raise BudgetError(_TOO_SMALL)
    return each


def expected(noise: Noise) -> Estimates:
    """Estimates of nothing, with the deviations that those of a run will have from its first tables."""
    sizes = noise.division.sizes
    return Estimates(sizes, [_empty(noise, axes) for axes in noise.parts], gaussian=noise.gaussian)


def _empty(noise: Noise, axes: Axes) -> Measured:
    shape = [noise.division.sizes[axis] for axis in axes]
    return Measured(axes, np.zeros(shape), noise.deviation(noise.first(axes)))


def _told(plan: RunPlan, noise: Noise) -> RunPlan:
    """The plan with the noise of each kind of count: of the estimates, which all tables make together."""
    estimates = expected(noise)
    if noise.division.chooses:
        noise.chooser(1)
    if noise.division.pairs:
        noise.found(_most_uneven(noise.division))
    told = [_usual("a count of a column", estimates, [axes for axes in noise.division.steps if len(axes) == 1])]
    for step, what in ((GROUPS, "a count of a column in a group"), (PAIRS, "a count of a pair")):
        own = [axes for axes, purpose in noise.division.steps.items() if purpose == step]
        if own:
            told.append(_usual(what, estimates, own))
    for what, finer in (("a count of a group of codes", False), ("a count of a finer cell", True)):
        levels = [level for level in noise.division.levels if (level[1] < 0) == finer]
        if levels:
            deviations = sorted(noise.deviation(noise.level(*level)) for level in levels)
            told.append(CountNoise(what, deviation=deviations[len(deviations) // 2]))
    return replace(plan, noise=tuple(told))


def _most_uneven(division: Division) -> list[Pair]:
    """Pairs to be found of which one gets less than any other that may be: the smallest beside the largest."""
    smallest, *others = sorted(division.candidates, key=division.cells)
    return [smallest, *others[len(others) + 1 - division.pairs :]]


def _usual(what: str, estimates: Estimates, tables: Sequence[Axes]) -> CountNoise:
    """Of the table in the middle."""
    deviations = sorted(estimates.deviation(axes) for axes in tables)
    return CountNoise(what, deviation=deviations[len(deviations) // 2])
