"""Runs that an analyst asks for, what they would cost and where they stand: plain frozen values.

Nothing here holds a record or a database handle, so pages and the command line may keep these
objects as long as they like.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from pydantic import Field, field_validator

from dpcore.frozen import FrozenModel
from dpcore.privacy.budgets import parse_epsilon
from dpcore.released.plan import RunPlan
from dpcore.released.workload import Forecast
from dpcore.workspace.ledger.accounts import Balance

#: What may be in the way of a run.
Hindrance = Literal["over", "frozen", "conditional", "one run", "budget"]
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
    """What a run would cost and promise; made from public values and the ledger.

    Attributes
    ----------
    plan : RunPlan
        Split of the budget; ``plan.count_margin()`` is the noise to expect on a count.
    forecast : Forecast
        Seconds and memory that the run will take on this machine.
    cost : Decimal
        Epsilon that was asked for.
    adds : Decimal
        What the run adds to what is spent: less than ``cost`` beside other small runs.
    form : str
        In which form the run is made, and why, in a sentence; empty if it has no delta.
    may_be_pure : bool
        Whether ``request.pure`` matters: the run has a delta unless it must not.
    balance_before : Balance
        Budget of the analyst now.
    left_after : Decimal
        What would be left; 0 if the run does not fit.
    hindrance : str or None
        What is in the way of the run, if anything: nothing can be run on the data set any more (``over``),
        the analyst is ``frozen``, the guarantee is ``conditional`` and such runs are not allowed, it costs more
        than ``one run`` may, or the ``budget``.
    short_by : Decimal
        By how much the budget that is in the way of the run would have to be larger, for the form that the run then
        has; all of its cost for whoever is frozen. Infinite if no larger epsilon would help.
    runs_like_this_left : int
        Further runs of the same cost that would fit after this one: exactly so many.
    refusal : str
        Requested, left, short by, whom to ask; empty if affordable.
    guarantee : str
        A sentence about the kind of guarantee.
    odds : str
        A sentence that explains epsilon as odds.
    allowance : str
        What the custodian has allowed on the data set, in a sentence; empty if nothing.
    """

    plan: RunPlan
    forecast: Forecast
    cost: Decimal
    adds: Decimal
    form: str
    may_be_pure: bool
    balance_before: Balance
    left_after: Decimal
    hindrance: Hindrance | None
    short_by: Decimal
    runs_like_this_left: int
    refusal: str
    guarantee: str
    odds: str
    allowance: str

    @property
    def affordable(self) -> bool:
        """Whether ``submit`` would accept the run now."""
        return self.hindrance is None

    @property
    def short(self) -> bool:
        """Whether more budget would help: the run exceeds what is left, and nothing else is in its way."""
        return self.hindrance == "budget"


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
