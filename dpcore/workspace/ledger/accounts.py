"""What is told of budgets, of who spends them, and of lines of the ledger: plain frozen values.

Nothing here holds a record or a database handle, so pages and the command line may keep these
objects as long as they like.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Literal

from dpcore.privacy.losses import Loss

BudgetRequestState = Literal["open", "granted", "declined"]
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
    "allow",
    "forbid",
    "remove",
    "accept",
)
#: Most characters of a reason: what a line of the ledger holds.
REASON_LIMIT = 500


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
        Its loss in zero-concentrated differential privacy; 0 if none is stated.
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
