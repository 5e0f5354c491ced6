"""Runs that an analyst asks for, what they would cost and where they stand: plain frozen values.

Nothing here holds a record or a database handle, so pages and the command line may keep these
objects as long as they like.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal
from functools import cached_property
from typing import Any, Literal

from pydantic import Field, field_validator

from dpcore.errors import BudgetError
from dpcore.frozen import FrozenModel
from dpcore.privacy.budgets import EPSILON_LIMIT, EPSILON_STEP, parse_epsilon
from dpcore.released.plan import RunPlan, form_sentence, guarantee_sentence, guaranteed_odds
from dpcore.released.run_form import Planner
from dpcore.released.workload import DurationForecast
from dpcore.workspace.ledger.accounts import Balance, Hindrance

RunState = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
#: States in which a run may still change by itself.
ACTIVE_STATES: tuple[RunState, ...] = ("queued", "running")
#: Amounts that are asked for are whole multiples of it, unless a smaller one is exact.
_STEP = Decimal("0.0001")


class RunRequest(FrozenModel):
    """One run of one algorithm, described by public choices only.

    Attributes
    ----------
    dataset_id : str
        Data set to be read.
    algorithm : str
        Name of the learner.
    target : str
        Column to be predicted; empty for a learner that predicts none.
    epsilon : Decimal
        What the run costs. Anything but a positive, finite number raises ``BudgetError``.
    parameters : dict
        Parameters of the learner; those left out have defaults.
    pure : bool
        Whether its guarantee must have no delta, where the data set's budget would allow one.
    """

    dataset_id: str = Field(min_length=1, max_length=64)
    algorithm: str = Field(default="rule_list", max_length=64)
    target: str = Field(default="", max_length=128)
    epsilon: Decimal
    parameters: dict[str, Any] = Field(default_factory=dict)
    pure: bool = False

    @field_validator("epsilon", mode="before")
    @classmethod
    def _usable(cls, value: object) -> Decimal:
        return parse_epsilon(value)


@dataclass(frozen=True)
class Quote:
    """What a run would cost and promise: all of it follows from its plan, and from what may be spent.

    Attributes
    ----------
    request : RunRequest
        Made exact: with the id of its data set, and nothing that another release has to be looked up for.
    balance : Balance
        What the analyst may spend now.
    planner : callable
        Plans the run in any form: it may have another one under a larger budget.
    plan : RunPlan
        Split of the budget; ``plan.count_margin()`` is the noise to expect on a count.
    forecaster : callable
        Tells what the run takes on this machine.
    allowance : str
        What the custodian has allowed on the data set, in a sentence; empty if nothing.
    """

    request: RunRequest
    balance: Balance
    planner: Planner = field(repr=False, compare=False)
    plan: RunPlan
    forecaster: Callable[[], DurationForecast] = field(repr=False, compare=False)
    allowance: str

    @cached_property
    def forecast(self) -> DurationForecast:
        """Seconds and memory that the run will take."""
        return self.forecaster()

    @property
    def cost(self) -> Decimal:
        """Epsilon that was asked for."""
        return self.plan.price

    @cached_property
    def adds(self) -> Decimal:
        """What the run adds to what is spent: less than ``cost`` beside other small runs."""
        return self.balance.adds(self.plan.loss)

    @cached_property
    def hindrance(self) -> Hindrance | None:
        """What is in the way of the run, if anything is."""
        return self.balance.hindrance(self.plan.loss)

    @property
    def affordable(self) -> bool:
        """Whether ``submit`` would accept the run now."""
        return self.hindrance is None

    @property
    def short(self) -> bool:
        """Whether more budget would help: the run exceeds what is left, and nothing else is in its way."""
        return self.hindrance == "budget"

    @property
    def left_after(self) -> Decimal:
        """What would be left; 0 if the run does not fit."""
        return self.balance.left_after(self.plan.loss) if self.affordable else Decimal(0)

    @property
    def runs_like_this_left(self) -> int:
        """Further runs of the same cost that would fit after this one: exactly so many."""
        return self.balance.fitting(self.plan.loss, after=self.plan.loss) if self.affordable else 0

    @cached_property
    def short_by(self) -> Decimal:
        """By how much the budget that is in the way would have to be larger, for the form that the run then has.

        All of its cost for whoever is frozen; infinite if no larger epsilon would help. A larger cap may change the
        form of a run, so what it lacks in its present form is only the first guess.
        """
        guess, cap_state = self.balance.short_by(self.plan.loss), self.balance.full(self.plan.loss)
        if not self.short or cap_state is None or not guess.is_finite():
            return guess

        def fits(more: Decimal) -> bool:
            larger = cap_state.raised(more)
            try:
                plan = self.balance.exchanged(cap_state, larger).planned(self.planner, pure=self.request.pure)
            except BudgetError:
                return False
            return larger.accepts(plan.loss)

        return _smallest_raise(fits, guess)

    @property
    def refusal(self) -> str:
        """Requested, left, short by, whom to ask; empty if affordable."""
        return self.balance.refusal(self.plan.loss, self.short_by) or ""

    @property
    def may_be_pure(self) -> bool:
        """Whether ``request.pure`` matters: the run has a delta unless it must not."""
        try:
            other = self.balance.planned(self.planner, pure=not self.request.pure)
        except BudgetError:
            return False
        return (self.plan.delta > 0) != (other.delta > 0)

    @property
    def form(self) -> str:
        """In which form the run is made, and why, in a sentence; empty if it has no delta."""
        return form_sentence(self.plan)

    @property
    def guarantee(self) -> str:
        """A sentence about the kind of guarantee."""
        return guarantee_sentence(self.plan)

    @property
    def odds(self) -> str:
        """A sentence that explains epsilon as odds."""
        return guaranteed_odds(self.plan.epsilon, self.plan.delta, self.plan.promised)


def _smallest_raise(fits: Callable[[Decimal], bool], guess: Decimal) -> Decimal:
    """About the smallest amount above 0 that fits: the guess, if less does not, else in steps of :data:`_STEP`.

    What is returned fits, unless nothing does up to the largest epsilon.
    """
    if fits(guess) and not fits(guess - EPSILON_STEP):
        return guess
    low, high = 0, int(guess / _STEP) + 1
    while not fits(high * _STEP):
        if high * _STEP > EPSILON_LIMIT:
            return guess
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if fits(middle * _STEP) else (middle, high)
    return high * _STEP


@dataclass(frozen=True)
class RunStatus:
    """Where a run stands.

    Attributes
    ----------
    state : str
        ``queued``, ``running``, ``done``, ``failed``, ``cancelled`` or ``interrupted``.
    step : str
        Name of the step in progress, empty before the first.
    done, total : int
        How much of the work of the whole run is done; fixed by public inputs.
    ready : datetime or None
        When the run should be done, as far as its last report of progress tells.
    ahead : int
        While it waits: runs of anybody that go on or come before it.
    release_id : str or None
        The result, once ``state`` is ``done``.
    message : str
        A sentence for people: what happened and whether the budget is spent.
    charged : bool
        Whether the run's epsilon counts against the budget.
    """

    id: str
    state: RunState
    step: str
    done: int
    total: int
    release_id: str | None
    message: str
    charged: bool
    request: RunRequest
    analyst: str
    created: datetime
    ready: datetime | None = None
    ahead: int = 0

    @property
    def active(self) -> bool:
        """Whether the run may still change by itself."""
        return self.state in ACTIVE_STATES

    @property
    def fraction(self) -> float:
        """Share of the run's work that is done, from 0 to 1."""
        return min(1.0, self.done / self.total) if self.total > 0 else 0.0
