"""A run before it touches a record: what it costs, how it splits, what noise to expect.

A plan is made from public inputs only. A learner receives the plan and the table, nothing else.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, Literal

from dpcore.domain.schemas.schema import Schema
from dpcore.errors import BudgetError, RequestError
from dpcore.numerals import small
from dpcore.privacy.budgets import (
    BudgetSplit,
    Definition,
    exact_amount,
    float_below,
    gaussian_tail,
    geometric_tail,
    odds_sentence,
    plain_epsilon,
    row_epsilon,
)
from dpcore.privacy.losses import NOT_STATED, Loss, pure_loss, pure_rho, run_loss, strength_of

if TYPE_CHECKING:
    from dpcore.domain.schemas.schema import Part

#: The step on people who are set aside for it.
EVALUATION: Final = "evaluation"
#: Most classes of a target.
_MOST_CLASSES = 50
#: "none" is never planned: it is what is left where noise or schema are not private.
Guarantee = Literal["unconditional", "conditional on convergence", "none"]
UNCONDITIONAL: Final = "unconditional"


@dataclass(frozen=True)
class CountNoise:
    """Noise to expect on one kind of printed count: two-sided geometric, or Gaussian.

    Attributes
    ----------
    what : str
        Plain words for the kind of count.
    epsilon : Decimal or None
        Row-level budget of such a count, if its noise is two-sided geometric.
    deviation : float or None
        Standard deviation, in records, if it is Gaussian.
    """

    what: str
    epsilon: Decimal | None = None
    deviation: float | None = None

    def __post_init__(self) -> None:
        if (self.epsilon is None) == (self.deviation is None):
            raise ValueError("the noise on a count has either an epsilon or a deviation")

    @property
    def gaussian(self) -> bool:
        """Whether it is Gaussian."""
        return self.deviation is not None

    @property
    def scale(self) -> float:
        """Scale of two-sided geometric noise, or standard deviation of Gaussian noise."""
        if self.deviation is not None:
            return self.deviation
        assert self.epsilon is not None
        return 1.0 / float(self.epsilon)

    def margin(self, confidence: float = 0.95) -> int:
        """Noise stays within plus or minus this, with ``confidence``."""
        if self.deviation is None:
            return geometric_tail(self.scale, confidence)
        return gaussian_tail(self.deviation, confidence)


@dataclass(frozen=True)
class Composed:
    """How the steps of a run are made that adds up their rho, not their epsilons.

    Attributes
    ----------
    selections : Mapping[str, Decimal]
        Person-level epsilon of the exponential mechanism of each step that selects.
    counts : Decimal
        Person-level rho of the Gaussian noise on all counts of the remaining step together.
    """

    selections: Mapping[str, Decimal]
    counts: Decimal


@dataclass(frozen=True)
class RunPlan:
    """Everything public about one run of one learner.

    Attributes
    ----------
    schema : Schema
        Public domain of the data set.
    target : str
        Column to be predicted; empty if the learner predicts none.
    epsilon : Decimal
        Person-level cost of the run; the sum of ``split``.
    split : BudgetSplit
        Person-level budget of each step. For Gaussian noise its share of mu squared, and of a
        ``composed`` run its share of rho, written as a share of epsilon: see ``composition``.
    parameters : BaseModel
        Parameters of the learner, validated.
    guarantee : str
        Whether the sampler keeps the stated epsilon without further assumption.
    sampler : str
        Name of the sampler, for the certificate.
    estimates_step : str
        Step of ``split`` whose counts are printed, for the expected noise.
    noise : tuple of CountNoise
        Kinds of printed counts, the one that matters most first. Empty: the counts of
        ``estimates_step`` are the only kind.
    parallel : Mapping[str, Decimal]
        Steps on people who are in no other step, such as the hold-out part. They compose in
        parallel: each may cost up to ``epsilon`` without adding to it.
    composition : str
        How the parts of ``split`` compose, in words; empty if they simply add up.
    rho : Decimal or None
        Zero-concentrated loss of a person in the steps of ``split``, if it is known to be less
        than that of any run of this epsilon. Never of a run whose guarantee has a condition.
    composed : Composed or None
        What the steps of ``split`` really spend, if the run composes them by rho.
    """

    schema: Schema
    target: str
    epsilon: Decimal
    split: BudgetSplit
    parameters: Any
    guarantee: Guarantee
    sampler: str
    estimates_step: str
    definition: Definition = "pure"
    delta: Decimal = Decimal(0)
    parallel: Mapping[str, Decimal] = field(default_factory=dict)
    noise: tuple[CountNoise, ...] = ()
    composition: str = ""
    rho: Decimal | None = None
    composed: Composed | None = None

    def __post_init__(self) -> None:
        if self.split.total != self.epsilon:
            raise BudgetError("The steps of a run must spend exactly its epsilon.")
        if not all(0 < part <= self.epsilon for part in self.parallel.values()):
            raise BudgetError("A parallel step must spend something, and no more than the run.")
        if (self.definition == "pure") != (self.delta == 0):
            raise BudgetError("A pure guarantee has delta 0, and an approximate one does not.")
        if self.guarantee == "none":
            raise ValueError("no run is planned that promises nothing")
        if self.guarantee != UNCONDITIONAL and (self.delta or self.rho is not None):
            raise ValueError("a run whose guarantee has a condition is pure, and states no rho")
        self._check_rows()

    def _check_rows(self) -> None:
        """See that a step's share is worth something for each row, before a record is touched.

        Shares of mu squared are not epsilons: whoever plans with Gaussian noise checks them.
        """
        steps = self._epsilons if self.definition == "pure" or self.composed else self.parallel
        for step in (name for name, share in steps.items() if share):
            self.row_epsilon(step)

    @property
    def _epsilons(self) -> Mapping[str, Decimal]:
        """Person-level epsilon of each step; no Gaussian noise of a composed run is among them."""
        steps = self.composed.selections if self.composed else self.split.parts
        return {**steps, **self.parallel}

    @property
    def strength(self) -> Decimal:
        """Epsilon by which house rules decide: see :func:`~dpcore.privacy.losses.strength_of`."""
        return self.epsilon if self.composed is None else strength_of(self.loss.rho)

    @cached_property
    def loss(self) -> Loss:
        """What the run may cost one person: in its steps, or set aside, whichever is more.

        A person is in one part only, by a coin tossed when the records were taken in. Where the guarantee has a
        condition no rho is stated, and epsilon is added.
        """
        if self.guarantee != UNCONDITIONAL:
            return run_loss(self.epsilon, self.delta, NOT_STATED)
        known = [] if self.rho is None else [self.rho]
        steps = min([*known, pure_loss(self.epsilon, self.delta).rho])
        aside = [pure_rho(share) for share in self.parallel.values()]
        return run_loss(self.epsilon, self.delta, max([steps, *aside]))

    @property
    def promised(self) -> Guarantee:
        """Kind of guarantee of the run with secure noise: none if the schema breaks it."""
        return "none" if self.schema.problem else self.guarantee

    @property
    def evaluated(self) -> bool:
        """Whether people are set aside, on whom the result is evaluated."""
        return EVALUATION in self.parallel

    @property
    def part(self) -> Part:
        """Part of the records to learn from: those that are in no parallel step."""
        return "train" if self.parallel else "all"

    @property
    def classes(self) -> tuple[str, ...]:
        """Labels of the target, in order; none without a target."""
        return tuple(self.schema.column(self.target).classes) if self.target else ()

    def row_epsilon(self, step: str) -> Decimal:
        """Budget of one step at the level of rows (see ``row_epsilon``)."""
        return row_epsilon(self._epsilons[step], self.schema.privacy_unit.max_rows_per_person)

    @property
    def row_rho(self) -> float | None:
        """Rho of the Gaussian noise on counts, for one row, if the run is composed.

        A person's rows may all be in one count, so that they cost their square times as much.
        """
        rows = self.schema.privacy_unit.max_rows_per_person
        return float_below(Fraction(self.composed.counts) / rows**2) if self.composed else None

    def noise_on(self, what: str) -> CountNoise:
        """Noise on the counts of ``estimates_step``, each of which one row moves by one."""
        if self.row_rho is None:
            return CountNoise(what, self.row_epsilon(self.estimates_step))
        return CountNoise(what, deviation=1 / math.sqrt(2 * self.row_rho))

    @property
    def count_noise(self) -> tuple[CountNoise, ...]:
        """Kinds of printed counts, the one that matters most first."""
        return self.noise or (self.noise_on("a count"),)

    def count_margin(self, confidence: float = 0.95) -> int:
        """Noise on the count that matters most stays within plus or minus this."""
        return self.count_noise[0].margin(confidence)


def composed_words(rho: Decimal) -> str:
    """How the parts of a run compose that adds up their rho."""
    return f"zero-concentrated DP: the parts are shares of rho = {exact_amount(rho)}"


def gaussian_words(mu: float | str, unit: str) -> str:
    """The same of a run that divides mu squared, of one row or person."""
    told = mu if isinstance(mu, str) else f"{mu:.4g}"
    return f"Gaussian DP: the parts are shares of mu squared, mu = {told} per {unit}"


def protected_unit(schema: Schema) -> str:
    """Who or what is protected, in words."""
    if schema.children:
        return f"{schema.entity}, with all rows in every table"
    return "person" if schema.privacy_unit.column else f"row (each row is one {schema.entity})"


def guarantee_sentence(plan: RunPlan) -> str:
    """Say what kind of guarantee a run gives, and on what it rests."""
    delta = f" and δ = {small(plan.delta)}" if plan.delta else ""
    promise = (
        f"Differential privacy with ε = {plain_epsilon(plan.epsilon)}{delta} for each {protected_unit(plan.schema)}"
    )
    if plan.promised == "none":
        return f"No guarantee. {plan.schema.problem}"
    if plan.guarantee == UNCONDITIONAL:
        return (
            f"{promise}. The guarantee is exact. It takes for granted only that bounds and "
            "categories were not read off the records."
        )
    return (
        f"{promise}, provided that the sampler has converged. Nobody can check that without "
        "looking at the records: choose a method or sampler without a random walk for a "
        "guarantee without a condition."
    )


def guaranteed_odds(epsilon: Decimal, delta: Decimal, guarantee: Guarantee) -> str:
    """Say what a promise means as odds, with the condition that it rests on."""
    if guarantee == "none":
        return "Not private: whatever someone sees in this result may tell them anything about a person in the data."
    odds = odds_sentence(epsilon, delta)
    if guarantee == UNCONDITIONAL:
        return odds
    return f"If the chain has converged: {odds[0].lower()}{odds[1:]}"


def target_column(schema: Schema, target: str) -> Any:
    """Column that a learner should predict: the one place where a missing target is refused.

    Raises
    ------
    RequestError
        If no column is named.
    SchemaError
        If there is no such column.
    """
    if not target:
        raise RequestError("Choose a column to predict.")
    return schema.column(target)


def check_classes(schema: Schema, target: str) -> None:
    """Refuse a target that no classifier of this engine predicts.

    Raises
    ------
    RequestError
        If there is none, or if it has fewer than 2 or more than 50 classes.
    """
    classes = len(target_column(schema, target).classes)
    if classes < 2:
        raise RequestError(f"The target '{target}' has a single class: choose one with at least 2.")
    if classes > _MOST_CLASSES:
        raise RequestError(f"The target '{target}' has more than {_MOST_CLASSES} classes: choose another.")
