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

from dpcore.frozen import FrozenModel
from dpcore.privacy.budgets import parse_epsilon
from dpcore.privacy.losses import Loss
from dpcore.released.plan import RunPlan, guarantee_sentence, guaranteed_odds
from dpcore.released.workload import DurationForecast
from dpcore.workspace.ledger.accounts import Balance, Hindrance

RunState = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
#: States in which a run may still change by itself.
ACTIVE_STATES: tuple[RunState, ...] = ("queued", "running")


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
        What the run promises. Anything but a positive, finite number raises ``BudgetError``.
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
    """What a run would take of the budget and promise: all of it follows from its plan, and from what may be spent.

    Attributes
    ----------
    request : RunRequest
        Made exact: with the id of its data set, and nothing that another release has to be looked up for.
    balance : Balance
        What the analyst may spend now.
    plan : RunPlan
        Split of the budget; ``plan.count_margin()`` is the noise to expect on a count.
    forecaster : callable
        Tells what the run takes on this machine.
    allowance : str
        What the custodian has allowed on the data set, in a sentence; empty if nothing.
    """

    request: RunRequest
    balance: Balance
    plan: RunPlan
    forecaster: Callable[[], DurationForecast] = field(repr=False, compare=False)
    allowance: str

    @cached_property
    def forecast(self) -> DurationForecast:
        """Seconds and memory that the run will take."""
        return self.forecaster()

    @property
    def epsilon(self) -> Decimal:
        """What the run promises."""
        return self.plan.epsilon

    @cached_property
    def loss(self) -> Loss:
        """What the ledger is charged."""
        return self.balance.charged(self.plan)

    @cached_property
    def share(self) -> Decimal:
        """Share of the budget that the run takes."""
        return self.balance.adds(self.loss)

    @cached_property
    def hindrance(self) -> Hindrance | None:
        """What is in the way of the run, if anything is."""
        return self.balance.hindrance(self.loss)

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
        """Share that would be left; 0 if the run does not fit."""
        return self.balance.left_after(self.loss) if self.affordable else Decimal(0)

    @property
    def runs_like_this_left(self) -> int:
        """Runs of the same epsilon that fit at this price, this one included."""
        return self.balance.fitting(self.loss) if self.affordable else 0

    @property
    def short_by(self) -> Decimal:
        """How much larger the epsilon of the budget would have to be; infinite if none would help."""
        return self.balance.short_by(self.plan.loss)

    @property
    def refusal(self) -> str:
        """What it takes, what is left, whom to ask; empty if affordable."""
        return self.balance.refusal(self.loss) or ""

    @property
    def guarantee(self) -> str:
        """A sentence about the kind of guarantee."""
        return guarantee_sentence(self.plan)

    @property
    def odds(self) -> str:
        """A sentence that explains epsilon as odds."""
        return guaranteed_odds(self.plan.epsilon, self.plan.delta, self.plan.promised)


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
