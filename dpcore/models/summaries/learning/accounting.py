"""What a first look asks for, and how its budget is divided."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_FLOOR, Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import combinations
from typing import Final

import numpy as np

from dpcore.domain.schema import Schema
from dpcore.errors import BudgetError, RequestError
from dpcore.learning.learner import Asked
from dpcore.models.summaries.learning.design import asked as asked_for
from dpcore.models.summaries.learning.design import shares_of
from dpcore.models.summaries.learning.queries import COUNT_STEPS, distance_sensitivity, table_sensitivity
from dpcore.models.summaries.released.axes import Axis, axes_of
from dpcore.models.summaries.released.estimates import Axes, Estimates, Measured, Pair
from dpcore.models.summaries.released.parameters import BETWEEN, SummaryParameters
from dpcore.privacy.bounded_range import Selections
from dpcore.privacy.budgets import (
    EPSILON_STEP,
    BudgetSplit,
    calibrate_fine_gaussian,
    exact_amount,
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
from dpcore.released.plan import Composed, CountNoise, RunPlan

COLUMNS, GROUPS, PAIRS = "columns", "columns by groups", "pairs"
CHOICE, FOUND = "choice of pairs", "pairs found"
#: How important an error in a cell is, of a column being 1.
_IMPORTANCE: Final[Mapping[str, float]] = {COLUMNS: 1.0, GROUPS: 0.5, PAIRS: 0.25, FOUND: 0.25}
_CHOICE_SHARE: Final = Fraction(1, 10)
#: Least and largest share of the pairs that are to be found, of what is left beside their choice.
_FEWEST, _MOST = Fraction(1, 10), Fraction(6, 10)
_TOO_SMALL: Final = "This epsilon is too small for so many tables: use a larger one, or fewer columns or pairs."
#: Most cells of a pair that may be found, of all tables together, and places that a run may visit.
_PAIR_CELLS, _CELLS, _PLACES = 10_000, 4_000_000, 2_000_000_000_000


@dataclass(frozen=True)
class Division:
    """What is asked for: public, from the schema and the parameters alone.

    Attributes
    ----------
    axes : tuple of Axis
    sizes : tuple of int
        Cells of each.
    by : int or None
        Place of the axis whose groups are compared.
    crosstabs : tuple of (int, int)
    candidates : tuple of (int, int)
        Pairs that may be found.
    pairs : int
        How many of them.
    steps : mapping of axes to str
        The tables that are wanted at first, with what each is for.
    """

    axes: tuple[Axis, ...]
    sizes: tuple[int, ...]
    by: int | None
    crosstabs: tuple[Pair, ...]
    candidates: tuple[Pair, ...]
    pairs: int
    steps: Mapping[Axes, str]
    weighted: bool

    @property
    def chooses(self) -> bool:
        """Whether pairs are chosen, rather than all taken that there are."""
        return 0 < self.pairs < len(self.candidates)

    @cached_property
    def found_share(self) -> Fraction:
        """Share of the pairs that are to be found, of what is left beside their choice."""
        if not self.pairs:
            return Fraction(0)
        usual = sum(map(self.cells, self.candidates)) / len(self.candidates)
        wanted = self.pairs * (_IMPORTANCE[FOUND] * usual) ** (2 / 3)
        first = sum((_IMPORTANCE[step] * self.cells(axes)) ** (2 / 3) for axes, step in self.steps.items())
        return min(max(Fraction(round(100 * wanted / (wanted + first)), 100), _FEWEST), _MOST)

    def cells(self, axes: Axes) -> int:
        """Cells of a table."""
        return math.prod(self.sizes[axis] for axis in axes)

    def parts(self, *, gaussian: bool) -> dict[Axes, int]:
        """Shares of the tables that are asked for at first, as whole numbers."""
        if not self.weighted:
            return dict.fromkeys(self.steps, 1)
        wanted = tuple((axes, _IMPORTANCE[step]) for axes, step in self.steps.items())
        shares = shares_of(self.sizes, wanted, gaussian=gaussian)
        return {axes: shares[axes] for axes in asked_for(shares)}


def division_of(schema: Schema, parameters: SummaryParameters) -> Division:
    """What a run is asked for.

    Raises
    ------
    RequestError
        If a column or pair is not in the schema, or there is too much to count.
    """
    _check_known(schema, [*(parameters.columns or ()), *([parameters.by] if parameters.by else [])])
    axes = axes_of(schema, parameters.columns)
    names = {axis.name: place for place, axis in enumerate(axes) if not axis.rows}
    by = _place(names, parameters.by) if parameters.by else None
    steps: dict[Axes, str] = {(place,): COLUMNS for place in range(len(axes))}
    if by is not None:
        steps |= {tuple(sorted((by, own))): GROUPS for own in range(len(axes)) if own != by}
    crosstabs = tuple(_pair(names, text) for text in parameters.crosstabs)
    if len(set(crosstabs)) < len(crosstabs):
        raise RequestError("A pair of columns is named twice.")
    steps |= {pair: PAIRS for pair in crosstabs if pair not in steps}
    sizes = tuple(axis.size(schema) for axis in axes)
    candidates = tuple(
        pair
        for pair in combinations(range(len(axes)), 2)
        if pair not in steps and sizes[pair[0]] * sizes[pair[1]] <= _PAIR_CELLS
    )
    if parameters.pairs > len(candidates):
        left = f"There are {len(candidates)} pairs of these columns left to be found"
        raise RequestError(f"{left}: choose so many at most.")
    candidates = candidates if parameters.pairs else ()
    made = Division(axes, sizes, by, crosstabs, candidates, parameters.pairs, steps, parameters.method == "weighted")
    _check_effort(schema, made)
    return made


def _check_known(schema: Schema, names: Sequence[str]) -> None:
    for name in names:
        schema.column(name)


def _place(names: Mapping[str, int], name: str) -> int:
    if name not in names:
        raise RequestError(f"'{name}' is not among the columns that are looked at.")
    return names[name]


def _pair(names: Mapping[str, int], text: str) -> Pair:
    """The two columns of a crosstab: names may hold the word between them too."""
    words = text.split(BETWEEN)
    for cut in range(1, len(words)):
        one, other = BETWEEN.join(words[:cut]).strip(), BETWEEN.join(words[cut:]).strip()
        if one in names and other in names and one != other:
            first, second = sorted((names[one], names[other]))
            return first, second
    raise RequestError(f"'{text}' does not name a pair: write two different columns as 'sex by died'.")


def _check_effort(schema: Schema, division: Division) -> None:
    """Refuse, from public inputs, what this engine could not finish: it would cost its budget."""
    cells = sum(map(division.cells, division.steps)) + division.pairs * _PAIR_CELLS * bool(division.pairs)
    if sum(map(division.cells, division.steps)) > _CELLS or cells > 2 * _CELLS:
        raise RequestError(f"These tables have more than {_CELLS} cells: choose fewer columns or pairs.")
    if (len(division.steps) + len(division.candidates)) * schema.max_rows > _PLACES:
        raise RequestError("So many tables of so many rows would take hours: choose fewer columns.")


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
        return self._mechanism((1 - self.division.found_share) * share)

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
        return 1 / (math.sqrt(2) * math.sinh(1 / (2 * mechanism.scale)))

    def _mechanism(self, share: Fraction) -> GeometricMechanism | FineGaussian:
        sensitivity = table_sensitivity(self.rows).value
        if self.gaussian:
            return FineGaussian(sensitivity * COUNT_STEPS, gaussian_part(self.mu, share))
        own = (self.epsilon * share.numerator / share.denominator).quantize(EPSILON_STEP, rounding=ROUND_FLOOR)
        if own <= 0:
            raise BudgetError(_TOO_SMALL)
        return GeometricMechanism(sensitivity, own)


def plan_of(asked: Asked) -> RunPlan:
    """Divide the budget of a run, in the form that it has: pure, of a delta of its own, or composed."""
    division, parameters = division_of(asked.schema, asked.parameters), asked.parameters
    if parameters.delta:
        plan = _own_delta(asked, division)
    elif asked.delta:
        plan = _composed(asked, division)
    else:
        split = BudgetSplit.by_weights(asked.epsilon, _weights(division, gaussian=False))
        plan = asked.plan(split, **_facts(asked))
    try:
        return _told(plan, noise_of(plan))
    except BudgetError:
        raise BudgetError(_TOO_SMALL) from None


def _facts(asked: Asked) -> dict[str, object]:
    return {"sampler": asked.parameters.method, "estimates_step": COLUMNS, "parallel": {}}


def _weights(division: Division, *, gaussian: bool) -> dict[str, Decimal | int]:
    """Whole numbers in proportion to the shares of all steps."""
    parts, first = division.parts(gaussian=gaussian), 1 - division.found_share
    steps: Counter[str] = Counter()
    for axes, own in parts.items():
        steps[division.steps[axes]] += own
    left = 1 - (_CHOICE_SHARE if division.chooses else 0)
    shares = {step: left * first * Fraction(own, sum(parts.values())) for step, own in steps.items()}
    if division.pairs:
        shares[FOUND] = left * division.found_share
    if division.chooses:
        shares = {CHOICE: _CHOICE_SHARE, **shares}
    common = math.lcm(*(share.denominator for share in shares.values()))
    return {step: int(share * common) for step, share in shares.items()}


def _own_delta(asked: Asked, division: Division) -> RunPlan:
    """Epsilon and delta as asked, by the accounting of Gaussian DP."""
    split = BudgetSplit.by_weights(asked.epsilon, _weights(division, gaussian=True))
    mu, choice = _calibrated(asked.schema, asked.epsilon, asked.parameters.delta, division, split)
    rho = gaussian_rho(math.nextafter(mu, math.inf)) + division.pairs * selection_rho(choice)
    words = f"Gaussian DP: the parts are shares of mu squared, mu = {mu:.4g} per person"
    if division.chooses:
        words = f"'{CHOICE}' is the sum of the epsilons of its selections (exponential mechanism); the rest is {words}"
    return asked.plan(
        split,
        delta=asked.parameters.delta,
        definition="approximate",
        composition=words,
        rho=rho,
        **_facts(asked),
    )


def _calibrated(
    schema: Schema, epsilon: Decimal, delta: Decimal, division: Division, split: BudgetSplit
) -> tuple[float, Decimal]:
    """Mu of all tables, and epsilon of one selection."""
    choice = _each_choice(split[CHOICE], division) if division.chooses else Decimal(0)
    draws = schema.privacy_unit.max_rows_per_person * (len(division.steps) + division.pairs)
    return _mu(epsilon, delta, draws, choice, division.pairs), choice


@lru_cache(maxsize=256)
def _mu(epsilon: Decimal, delta: Decimal, draws: int, choice: Decimal, choices: int) -> float:
    profile = Selections(math.nextafter(float(choice), math.inf), choices).delta if choice else gaussian_delta
    return calibrate_fine_gaussian(epsilon, delta, draws, profile)


def _composed(asked: Asked, division: Division) -> RunPlan:
    """At the rho that an account gives which adds them up, or else that of a pure run of this epsilon."""
    whole = asked.rho or pure_rho(asked.epsilon)
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
    epsilon = smallest_epsilon(whole, asked.delta)
    return asked.plan(
        BudgetSplit.by_weights(epsilon, rhos),
        epsilon=epsilon,
        delta=asked.delta,
        definition="approximate",
        composition=f"zero-concentrated DP: the parts are shares of rho = {exact_amount(whole)}",
        rho=whole,
        composed=Composed(selections, counts, scales=True),
        asked=asked.epsilon,
        **_facts(asked),
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
        noise.found(noise.division.candidates[: noise.division.pairs])
    told = [_usual("a count of a column", estimates, [axes for axes in noise.division.steps if len(axes) == 1])]
    for step, what in ((GROUPS, "a count of a column in a group"), (PAIRS, "a count of a pair")):
        own = [axes for axes, purpose in noise.division.steps.items() if purpose == step]
        if own:
            told.append(_usual(what, estimates, own))
    return replace(plan, noise=tuple(told))


def _usual(what: str, estimates: Estimates, tables: Sequence[Axes]) -> CountNoise:
    """Of the table in the middle."""
    deviations = sorted(estimates.deviation(axes) for axes in tables)
    return CountNoise(what, deviation=deviations[len(deviations) // 2])
