"""What an analyst asks for, and what the service answers: plain frozen values.

Nothing here holds a record or a database handle, so pages and the command line may keep these
objects as long as they like.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Literal

from pydantic import Field, field_validator

from dpcore.domain.schema import Schema
from dpcore.frozen import FrozenModel
from dpcore.privacy.budgets import parse_epsilon
from dpcore.privacy.losses import Loss
from dpcore.released.plan import RunPlan
from dpcore.released.workload import Forecast

#: What may be in the way of a run.
Hindrance = Literal["over", "frozen", "one run", "budget"]
RunState = Literal["queued", "running", "done", "failed", "cancelled", "interrupted"]
BudgetRequestState = Literal["open", "granted", "declined"]
#: States in which a run may still change by itself.
ACTIVE_STATES: tuple[RunState, ...] = ("queued", "running")
#: Every kind of line of the ledger. The life of a budget, of a run, of an analyst's account, of
#: a release's readers, and what an operator did by hand.
ENTRY_KINDS = (
    "open",
    "join",
    "caps",
    "charge",
    "learn",
    "reserve",
    "touch",
    "commit",
    "refund",
    "ask",
    "grant",
    "decline",
    "freeze",
    "thaw",
    "share",
    "unshare",
    "end",
    "rename",
    "describe",
    "retire",
    "remove",
    "accept",
)
#: Most characters of the name of a release, and of a note on it.
NAME_LIMIT, NOTE_LIMIT = 100, 4000
#: Most characters of the name of a data set.
_NAME_WIDTH = 128
#: Most characters of a reason: what a line of the ledger holds.
REASON_LIMIT = 500


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
class Balance:
    """State of a budget. ``spent + reserved + left`` is ``cap`` unless another cap is nearer.

    Amounts are epsilons of everything together, at the ``delta`` of the cap: see
    :meth:`dpcore.privacy.filters.PrivacyFilter.spent`. Many small runs cost less than their sum.

    Attributes
    ----------
    cap : Decimal
        Total that may ever be spent.
    spent : Decimal
        Cost of runs that read, or may have read, records. It never comes back.
    reserved : Decimal
        What runs that have not read a record yet add to that. It counts as spent unless refunded.
    left : Decimal
        What the next runs may add, under every cap that applies.
    largest : Decimal
        Largest epsilon of a pure run that would be accepted now, whatever one run may cost.
    total : Loss
        Plain sums over all runs counted in ``spent`` and ``reserved``.
    delta : Decimal
        Delta of the cap; 0 if epsilons of pure runs are added.
    run_cap : Decimal or None
        Most that one run may cost.
    frozen : str or None
        Why the custodian has stopped this analyst, if so; then nothing is left.
    """

    cap: Decimal
    spent: Decimal
    reserved: Decimal
    left: Decimal
    largest: Decimal
    total: Loss
    delta: Decimal = Decimal(0)
    run_cap: Decimal | None = None
    frozen: str | None = None


@dataclass(frozen=True)
class Standing:
    """What the custodian of a data set has decided about one analyst.

    Attributes
    ----------
    limit : Decimal or None
        Most that this analyst may spend in all; ``None``: as much as the data set has.
    granted : bool
        Whether the limit was given to this analyst; else it is that of all analysts.
    frozen : str or None
        Why this analyst is stopped, if so.
    """

    limit: Decimal | None
    granted: bool
    frozen: str | None


@dataclass(frozen=True)
class Account:
    """One analyst's budget on a data set, for its custodian.

    Attributes
    ----------
    balance : Balance
        What this analyst alone spent and reserved; ``left`` obeys the data set's cap too.
    runs : int
        Runs that were charged.
    """

    analyst: str
    standing: Standing
    balance: Balance
    runs: int


@dataclass(frozen=True)
class BudgetRequest:
    """An analyst's request for more budget, and what became of it.

    Attributes
    ----------
    number : int
        Its line in the ledger.
    epsilon : Decimal
        How much more is asked for.
    state : {"open", "granted", "declined"}
    answer : str
        What the custodian wrote.
    granted : Decimal or None
        The limit that was given: what the analyst may spend in all.
    """

    number: int
    dataset_id: str
    analyst: str
    epsilon: Decimal
    reason: str
    time: datetime
    state: BudgetRequestState
    answer: str
    granted: Decimal | None = None


@dataclass(frozen=True)
class Sharing:
    """Who may read a release: its owner and the custodian, or everybody who sees the data set."""

    owner: str
    shared: bool


@dataclass(frozen=True)
class LedgerEntry:
    """One line of the ledger; lines are never changed or removed.

    Attributes
    ----------
    sequence : int
        Position in the ledger. Order comes from this, never from ``time``.
    kind : str
        One of :data:`ENTRY_KINDS`.
    analyst : str or None
        Whose budget, request or release the line is about.
    epsilon : Decimal
        Amount of a run or charge; of a request, how much more is asked for.
    rho : Decimal
        Its loss in zero-concentrated differential privacy.
    delta_cap : Decimal or None
        The delta at which ``cap`` holds.
    analyst_cap : Decimal or None
        Most per analyst; in a grant, the limit of its analyst.
    actor : str or None
        Who caused the line; ``None`` for workers, and in lines of early versions.
    answers : int or None
        Number of the request that the line answers.
    """

    sequence: int
    kind: str
    time: datetime
    dataset_id: str
    analyst: str | None
    run_id: str | None
    epsilon: Decimal
    delta: Decimal
    cap: Decimal | None
    analyst_cap: Decimal | None
    run_cap: Decimal | None
    release_id: str | None
    note: str
    actor: str | None = None
    answers: int | None = None
    rho: Decimal = Decimal(0)
    delta_cap: Decimal | None = None


@dataclass(frozen=True)
class DatasetInfo:
    """Public description of a stored data set.

    Attributes
    ----------
    public : bool
        Whether anybody may see the records (demonstration data).
    truth : str
        For demonstration data: what is known to be true of them, in Markdown.
    population : str
        Names the account; data sets about the same people have the same.
    version : int
        How many data sets came before it under its name, and one.
    replaces : str or None
        The version before it.
    retired : bool
        Whether nothing more may be run on it.
    shares_with : tuple of str
        Names of the other data sets about the same people.
    """

    id: str
    name: str
    description: str
    schema: Schema
    public: bool
    created: datetime
    truth: str = ""
    population: str = ""
    version: int = 1
    replaces: str | None = None
    retired: bool = False
    shares_with: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """Its name, with the number of its version if it is not the only one."""
        return self.name if self.version == 1 else numbered(self.name, self.version)

    @property
    def sharing(self) -> str:
        """With which data sets it shares its budget, in a sentence; empty if with none."""
        named = ", ".join(f"'{name}'" for name in self.shares_with)
        return f"Shares its budget with {named}: about the same people." if named else ""

    def check_private(self) -> None:
        """Raise ``SchemaError`` if the records are private and no result on them would be."""
        if not self.public:
            self.schema.check_private()


def numbered(name: str, version: int) -> str:
    """The name of one of several versions."""
    ending = f" (version {version})"
    return name if name.endswith(ending) else f"{name[: _NAME_WIDTH - len(ending)]}{ending}"


@dataclass(frozen=True)
class Stray:
    """Records without an entry in the database, or an entry without records.

    Attributes
    ----------
    name : str
        As its schema says; empty if that cannot be read.
    state : {"unknown", "arriving", "missing", "removed", "returned", "damaged"}
        A folder that the database does not know, and that nobody is writing; one that is being
        written; a data set whose folder is gone; one whose records were removed on purpose; one
        whose folder is there although they were; one whose files are not what was written.
    """

    id: str
    name: str
    state: Literal["unknown", "arriving", "missing", "removed", "returned", "damaged"]


@dataclass(frozen=True)
class ReleaseNote:
    """What somebody wrote beside a release; no part of the release, and free to change.

    Attributes
    ----------
    name : str
        One line; empty if the release has no name of its own.
    note : str
        Any text.
    author : str
        Who wrote it last.
    """

    release_id: str
    name: str
    note: str
    author: str
    time: datetime


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
        the analyst is ``frozen``, it costs more than ``one run`` may, or the ``budget``.
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
