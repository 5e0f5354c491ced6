"""What is told of budgets, of who spends them, and of lines of the ledger: plain frozen values.

Nothing here holds a record or a database handle, so pages and the command line may keep these
objects as long as they like.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from decimal import ROUND_FLOOR, Decimal
from functools import cached_property
from typing import Literal

from dpcore.privacy.budgets import EPSILON_STEP, at_delta, format_epsilon, percent
from dpcore.privacy.filters import SHARE_STEP, PrivacyFilter, largest_rho
from dpcore.privacy.losses import NOTHING, Loss, largest_epsilon, pure_loss, run_loss
from dpcore.released.plan import RunPlan

#: What may be in the way of a run: nothing can be run on the data set any more (``over``), the analyst is
#: ``frozen``, the guarantee is ``conditional`` and such runs are not allowed, it costs more than ``one run`` may,
#: or the ``budget``.
Hindrance = Literal["over", "frozen", "conditional", "one run", "budget"]
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
_WHOM = "Choose a smaller epsilon, or ask the custodian of the data set for more."
_FROZEN = "Your budget on this data set is frozen by the custodian. The reason given: {}"
_CONDITIONAL = (
    "The guarantee of this run is conditional: its Markov chain must have converged. Such runs are off on private "
    "data, and only the custodian of the data set can allow them. Choose another method or sampler."
)
_ZERO = Decimal(0)


@dataclass(frozen=True)
class CapState:
    """What is spent under one cap.

    Attributes
    ----------
    cap : PrivacyFilter
    spent, total : Loss
        Of runs that may have read records, and of these with all that are reserved.
    """

    cap: PrivacyFilter
    spent: Loss
    total: Loss

    def adds(self, loss: Loss) -> Decimal:
        """Share of the cap that one more run takes; never below 0, infinite if nothing bounds it, or what was spent."""
        before, after = self.cap.share(self.total), self.cap.share(self.total + loss)
        return max(_ZERO, after - before) if before.is_finite() else after

    def left(self, loss: Loss = NOTHING) -> Decimal:
        """Share that is left, after one more run of this loss; never below 0."""
        return max(_ZERO, 1 - self.cap.share(self.total + loss))

    def lacks(self, loss: Loss) -> Decimal:
        """By how much the epsilon of the cap would have to be larger for one more run of this loss; 0 if it fits.

        Looked for: under a larger cap the best order is another.
        """

        def fits(more: Decimal) -> Decimal:
            return Decimal(replace(self.cap, epsilon=self.cap.epsilon + more).accepts(self.total + loss))

        if self.accepts(loss):
            return _ZERO
        spent = self.cap.spent(self.total + loss)
        return largest_epsilon(fits, _ZERO) + EPSILON_STEP if spent.is_finite() else spent

    def accepts(self, loss: Loss) -> bool:
        """Whether there is room for one more run of this loss."""
        return self.cap.accepts(self.total + loss)


@dataclass(frozen=True)
class Balance:
    """What somebody may spend on a data set, at one moment. Every price follows from it.

    ``spent``, ``reserved`` and ``left`` are shares of the budget: they sum to 1, unless another cap is nearer.

    Attributes
    ----------
    cap_states : tuple of CapState
        All must have room for a run. The first is the one that is told, the last that of the data set.
    run_cap : Decimal or None
        Largest epsilon of one run.
    frozen : str or None
        Why the custodian has stopped this analyst, if so; then nothing is left.
    over : str or None
        A sentence, if nothing more can be run on the data set.
    conditional : bool
        Whether runs whose guarantee has a condition are taken.
    """

    cap_states: tuple[CapState, ...]
    run_cap: Decimal | None = None
    frozen: str | None = None
    over: str | None = None
    conditional: bool = False

    @property
    def _told(self) -> CapState:
        return self.cap_states[0]

    @property
    def cap(self) -> Decimal:
        """Epsilon of the whole budget."""
        return self._told.cap.epsilon

    @property
    def delta(self) -> Decimal:
        """Delta of the cap; 0 if epsilons of pure runs are added."""
        return self._told.cap.delta

    @property
    def run_delta(self) -> Decimal:
        """The one delta of all runs on the data set that compose; 0 if there is none."""
        return self.cap_states[-1].cap.run_delta

    @property
    def rho(self) -> Decimal:
        """Rho of the whole budget; 0 if it has no delta."""
        return self._told.cap.rho

    @property
    def total(self) -> Loss:
        """Plain sums over all runs counted in ``spent`` and ``reserved``."""
        return self._told.total

    @cached_property
    def spent(self) -> Decimal:
        """Share that went to runs that read, or may have read, records. It never comes back."""
        return self._told.cap.share(self._told.spent)

    @cached_property
    def reserved(self) -> Decimal:
        """What runs that have not read a record yet add to that. It counts as spent unless refunded."""
        return max(_ZERO, self._told.cap.share(self.total) - self.spent) if self.spent.is_finite() else _ZERO

    @cached_property
    def left(self) -> Decimal:
        """Share that is left."""
        return self.left_after(NOTHING) if self.frozen is None else _ZERO

    @cached_property
    def epsilon(self) -> Decimal:
        """Epsilon, at the delta of the cap, of all that is spent and reserved."""
        return self._told.cap.spent(self.total)

    def largest(self, *, pure: bool = False) -> Decimal:
        """Largest epsilon of a run that would be accepted now; of one that composes, unless it must be pure."""
        if self.frozen is not None or self.over is not None:
            return _ZERO
        fitting = min(cap_state.cap.largest(cap_state.total, pure=pure) for cap_state in self.cap_states)
        return fitting if self.run_cap is None else min(fitting, self.run_cap)

    def epsilon_of(self, share: Decimal) -> Decimal:
        """Epsilon of a run that takes a share of the whole budget, to five digits, rounded down; 0 if there is none."""
        return self._told.cap.epsilon_of(share)

    def charged(self, plan: RunPlan) -> Loss:
        """What a run of a plan is charged: a price, so that prices add up, or its loss if only that fits."""
        priced = self._told.cap.priced(plan.loss)
        return plan.loss if self.full(priced) and not self.full(plan.loss) else priced

    def adds(self, loss: Loss) -> Decimal:
        """Share that one more run of this loss takes."""
        return self._told.adds(loss)

    def left_after(self, loss: Loss) -> Decimal:
        """Share that would be left after one more run of this loss, under every cap that applies."""
        if not self.cap:
            return _ZERO
        return min(cap_state.left(loss) * self._size(cap_state) for cap_state in self.cap_states)

    def _size(self, cap_state: CapState) -> Decimal:
        """A whole cap as a share of the one that is told."""
        if cap_state is self._told:
            return Decimal(1)
        size = cap_state.cap.rho / self.rho if self.rho else cap_state.cap.epsilon / self.cap
        return size.quantize(SHARE_STEP, rounding=ROUND_FLOOR)

    def fitting(self, loss: Loss, after: Loss = NOTHING) -> int:
        """How many runs of this loss fit, one after the other, ``after`` another."""
        return min(cap_state.cap.fitting(cap_state.total + after, loss) for cap_state in self.cap_states)

    def full(self, loss: Loss) -> CapState | None:
        """The first cap without room for one more run of this loss, if there is one."""
        return next((cap_state for cap_state in self.cap_states if not cap_state.accepts(loss)), None)

    def stop(self, loss: Loss) -> tuple[Hindrance, str] | None:
        """What is in the way of a run of this loss whatever is left, with a sentence; ``None`` if nothing is."""
        if self.over is not None:
            return "over", self.over
        if self.frozen is not None:
            return "frozen", _FROZEN.format(self.frozen)
        if loss.without_rho and not self.conditional:
            return "conditional", _CONDITIONAL
        return None

    def hindrance(self, loss: Loss) -> Hindrance | None:
        """What is in the way of one more run of this loss, if anything is."""
        if stop := self.stop(loss):
            return stop[0]
        if self.run_cap is not None and loss.epsilon > self.run_cap:
            return "one run"
        return None if self.full(loss) is None else "budget"

    def short_by(self, loss: Loss) -> Decimal:
        """How much more epsilon the budget would have to have for one more run of this loss; 0 if it fits.

        What is left counts as nothing for whoever is frozen. Infinite if no larger budget would help.
        """
        hindrance = self.hindrance(loss)
        if hindrance == "frozen":
            return loss.epsilon
        cap_state = self.full(loss) if hindrance == "budget" else None
        return _ZERO if cap_state is None else cap_state.lacks(loss)

    def refusal(self, loss: Loss) -> str | None:
        """Why a run of this loss cannot be reserved: what it would take, what is left, and whom to ask."""
        if stop := self.stop(loss):
            return stop[1]
        if self.run_cap is not None and loss.epsilon > self.run_cap:
            return (
                f"Not enough budget: this run has ε = {_shown(loss.epsilon)}, but at most {_shown(self.run_cap)} is "
                f"allowed for one run on this data set. {_WHOM}"
            )
        cap_state = self.full(loss)
        return None if cap_state is None else self._too_much(cap_state, loss)

    def _too_much(self, cap_state: CapState, loss: Loss) -> str:
        """That there is no room in a cap, and what would help."""
        account = "this data set's budget" if cap_state is self.cap_states[-1] else "your own budget"
        if not cap_state.cap.epsilon:
            return f"Not enough budget: {account} is 0. Ask the custodian of the data set for more."
        takes = cap_state.adds(loss)
        if not cap_state.cap.share(cap_state.total).is_finite():
            at = at_delta(cap_state.cap.delta) or " without a delta"
            return f"Not enough budget: what was spent has no bound{at}. Ask the custodian to raise the delta first."
        if not takes.is_finite():
            return f"Not enough budget: what this run could tell has no bound without a delta. {_WHOM}"
        largest = self.largest(pure=not loss.delta)
        fits = f" A run of up to ε = {_shown(largest, up=False)} would fit." if largest > 0 else ""
        return (
            f"Not enough budget: this run would take {percent(takes)} of {account}, but "
            f"{percent(cap_state.left(), up=False)} is left.{fits} {_WHOM}"
        )


def left_of(limit: Decimal, used: Balance) -> Decimal:
    """Share of a limit that its analyst could still spend, whatever others do."""
    cap_state = used.cap_states[0]
    return replace(cap_state, cap=replace(cap_state.cap, epsilon=limit)).left()


def missing_for(limit: Decimal, used: Balance, whole: Balance) -> Decimal:
    """How much more epsilon the budget of a data set would need for its analyst to spend all of a limit.

    0 if it is enough, or no larger one would help.

    Parameters
    ----------
    used : Balance
        What the analyst has spent.
    whole : Balance
        Of the data set.
    """
    own, all_states = used.cap_states[0], whole.cap_states[-1]
    rest, delta = replace(own.cap, epsilon=limit).largest(own.total), all_states.cap.run_delta
    if not rest or not whole.epsilon.is_finite():
        return _ZERO
    return all_states.lacks(run_loss(rest, delta, largest_rho(rest, delta)) if delta else pure_loss(rest))


def _shown(amount: Decimal, *, up: bool = True) -> str:
    return format_epsilon(amount, places=9, up=up)


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
