"""Lines of the ledger: appending them, and what follows from those that are there.

Every function works inside a transaction of :mod:`dpcore.workspace.ledger.ledger`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from dpcore.errors import NotFoundError, RequestError
from dpcore.privacy.budgets import at_delta, format_epsilon
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import NOT_STATED, NOTHING, Loss, run_loss, total_loss
from dpcore.validation import storable
from dpcore.workspace.database.database_tables import ledger_entries, utc_now
from dpcore.workspace.files.populations import account_of, takes_conditional
from dpcore.workspace.ledger.accounts import REASON_LIMIT, Balance, LedgerEntry, Standing
from dpcore.workspace.ledger.requests import Hindrance

ReservationState = Literal["reserved", "touched", "committed", "refunded"]
_STATES: dict[str, ReservationState] = {
    "reserve": "reserved",
    "touch": "touched",
    "commit": "committed",
    "refund": "refunded",
}
#: Why nothing can be run on a data set without records.
RECORDS_GONE = (
    "The records of this data set are no longer here: nothing can be run on it. Its results can still be read."
)
#: Lines after which nothing can be run on a data set, and why.
_OVER = {
    "remove": RECORDS_GONE,
    "retire": "This data set is retired: nothing can be run on it. Its results can still be read. Choose its newest "
    "version, or another data set about the same people.",
}
_CONDITIONAL = (
    "The guarantee of this run is conditional: its Markov chain must have converged. Such runs are off on private "
    "data, and only the custodian of the data set can allow them. Choose another method or sampler."
)
#: What a line about a run or charge says of its loss. A pure run with a rho of 0 states none.
AMOUNTS = ("epsilon", "delta", "rho")
#: Limits that lines about a budget hold. Their ``delta`` is the part of ``delta_cap`` that is set aside.
LIMITS = ("cap", "delta_cap", "analyst_cap", "run_cap", "delta")
#: Kinds of lines that say what is spent.
_SPENDING = ("reserve", "touch", "refund", "charge", "learn")
_WHOM = "Choose a smaller epsilon, or ask the custodian of the data set for more."
_E = ledger_entries.c
_ZERO = Decimal(0)


def append(connection: Connection, kind: str, dataset_id: str, **values: Any) -> None:
    """Append one line about a data set and its account; it is numbered by the database."""
    row = {"epsilon": _ZERO, "delta": _ZERO, "rho": _ZERO, "note": "", "account": account_of(dataset_id), **values}
    row["note"] = kept_note(row["note"])
    connection.execute(ledger_entries.insert().values(kind=kind, time=utc_now(), dataset_id=dataset_id, **row))


def kept_note(note: str, *, after: str = "") -> str:
    """A note or reason as a line keeps it, ``after`` words of the program. Raises ``RequestError`` if too long."""
    kept, before = storable(note).strip(), f"{after} " if after else ""
    room = REASON_LIMIT - len(before)
    if len(kept) > room:
        raise RequestError(f"This is too long: use at most {room} characters.")
    return before + kept


def append_like(connection: Connection, kind: str, row: RowMapping, **more: Any) -> None:
    """Append the next link of a reservation's chain: same run, analyst and amounts."""
    same = {name: row[name] for name in ("run_id", "analyst", *AMOUNTS)}
    append(connection, kind, row["dataset_id"], **same, **more)


def by_nonce(connection: Connection, nonce: str) -> RowMapping | None:
    """Reservation made under a nonce, if there is one."""
    chosen = sa.select(ledger_entries).where(_E.nonce == nonce, _E.kind == "reserve")
    return connection.execute(chosen).mappings().one_or_none()


def state_of(connection: Connection, run_id: str) -> ReservationState:
    """Where a run's budget stands. Raises ``NotFoundError``."""
    chosen = sa.select(_E.kind).where(_E.run_id == run_id, _E.kind.in_(_STATES))
    newest = chosen.order_by(_E.sequence.desc()).limit(1)
    kind = connection.execute(newest).scalar_one_or_none()
    if kind is None:
        raise NotFoundError("There is no such run.")
    return _STATES[kind]


def reservation_of(connection: Connection, run_id: str) -> RowMapping:
    """The line that reserved the cost of a run."""
    chosen = sa.select(ledger_entries).where(_E.run_id == run_id, _E.kind == "reserve")
    return connection.execute(chosen).mappings().one()


def find_caps(connection: Connection, dataset_id: str) -> dict[str, Any] | None:
    """Present caps of the account of a data set, if it has one."""
    about = (_E.account == account_of(dataset_id)) & _E.kind.in_(("open", "caps"))
    chosen = sa.select(*(_E[name] for name in LIMITS)).where(about)
    newest = chosen.order_by(_E.sequence.desc()).limit(1)
    row = connection.execute(newest).mappings().one_or_none()
    return None if row is None else dict(row)


def caps_of(connection: Connection, dataset_id: str) -> dict[str, Any]:
    """Present caps of a data set. Raises ``NotFoundError``."""
    caps = find_caps(connection, dataset_id)
    if caps is None:
        raise NotFoundError("There is no such data set, or it has no budget.")
    return caps


def standing_of(connection: Connection, dataset_id: str, analyst: str) -> Standing:
    """What the custodian has decided about one analyst, else what holds for all. Raises ``NotFoundError``."""
    return _standing(connection, dataset_id, analyst, caps_of(connection, dataset_id))


def _standing(connection: Connection, dataset_id: str, analyst: str, caps: Mapping[str, Any]) -> Standing:
    limit = _newest(connection, dataset_id, analyst, "grant")
    last = _newest(connection, dataset_id, analyst, "freeze", "thaw")
    frozen = last["note"] if last is not None and last["kind"] == "freeze" else None
    if limit is None:
        return Standing(caps["analyst_cap"], granted=False, frozen=frozen)
    return Standing(limit["analyst_cap"], granted=True, frozen=frozen)


def _newest(connection: Connection, dataset_id: str, analyst: str, *kinds: str) -> RowMapping | None:
    """Last line of some kinds about one analyst, if there is any."""
    about = (_E.account == account_of(dataset_id)) & (_E.analyst == analyst) & _E.kind.in_(kinds)
    chosen = sa.select(ledger_entries).where(about)
    newest = chosen.order_by(_E.sequence.desc()).limit(1)
    return connection.execute(newest).mappings().one_or_none()


@dataclass(frozen=True)
class Pot:
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
        """What one more run adds to what is spent and reserved; exact, and never below 0.

        Infinite if nothing bounds it, or what was spent before.
        """
        before, after = self.cap.spent(self.total), self.cap.spent(self.total + loss)
        return max(_ZERO, after - before) if before.is_finite() else after

    def left(self, loss: Loss = NOTHING) -> Decimal:
        """What is left, after one more run of this loss; never below 0."""
        return max(_ZERO, self.cap.epsilon - self.cap.spent(self.total + loss))

    def lacks(self, loss: Loss) -> Decimal:
        """By how much one more run of this loss would exceed the cap, with what exceeds it already; never below 0."""
        return max(_ZERO, self.cap.spent(self.total + loss) - self.cap.epsilon)

    def raised(self, more: Decimal) -> Pot:
        """The same with a higher cap on epsilon."""
        return replace(self, cap=replace(self.cap, epsilon=self.cap.epsilon + more))

    def balance(self, run_cap: Decimal | None) -> Balance:
        """The same, as people read it."""
        spent, claimed = self.cap.spent(self.spent), self.cap.spent(self.total)
        return Balance(
            cap=self.cap.epsilon,
            spent=spent,
            reserved=max(_ZERO, claimed - spent) if spent.is_finite() else _ZERO,
            left=self.left(),
            largest=self.cap.left(self.total),
            total=self.total,
            delta=self.cap.delta,
            run_cap=run_cap,
        )


@dataclass(frozen=True)
class Means:
    """What an analyst may spend on a data set: from its own pot, and one of their own if limited.

    Attributes
    ----------
    whole : Pot
        Of the data set.
    own : Pot
        Of the analyst: all that is spent by them, under their limit or that of the data set.
    standing : Standing
    run_cap : Decimal or None
    over : str or None
        A sentence, if nothing more can be run on the data set.
    conditional : bool
        Whether runs whose guarantee has a condition are taken.
    """

    whole: Pot
    own: Pot
    standing: Standing
    run_cap: Decimal | None
    over: str | None
    conditional: bool

    @property
    def pots(self) -> tuple[Pot, ...]:
        """Pots that must both have room for a run, the nearest first."""
        return (self.whole,) if self.standing.limit is None else (self.own, self.whole)

    @property
    def nearest(self) -> PrivacyFilter:
        """The nearer cap, whatever is spent: it says in which form a run is made."""
        return min((pot.cap for pot in self.pots), key=lambda cap: cap.epsilon)

    @property
    def balance(self) -> Balance:
        """Budget that counts for the analyst."""
        return self._limited(self.pots[0])

    @property
    def own_balance(self) -> Balance:
        """What the analyst spent, limit or not, and may still spend."""
        return self._limited(self.own)

    def full(self, loss: Loss) -> Pot | None:
        """The nearest pot without room for one more run of this loss, if there is one."""
        return next((pot for pot in self.pots if not pot.cap.accepts(pot.total + loss)), None)

    def raised(self, pot: Pot, more: Decimal) -> Means:
        """The same with a higher cap of one of the pots."""
        return replace(self, whole=pot.raised(more)) if pot is self.whole else replace(self, own=pot.raised(more))

    def left(self, loss: Loss) -> Decimal:
        """What would be left after one more run of this loss."""
        return min(pot.left(loss) for pot in self.pots)

    def hindrance(self, loss: Loss) -> Hindrance | None:
        """What is in the way of one more run of this loss, if anything is."""
        if self.over is not None:
            return "over"
        if self.standing.frozen is not None:
            return "frozen"
        if loss.without_rho and not self.conditional:
            return "conditional"
        if self.run_cap is not None and loss.epsilon > self.run_cap:
            return "one run"
        return None if self.full(loss) is None else "budget"

    def short_by(self, loss: Loss) -> Decimal:
        """By how much one more run of this loss exceeds what is left, if it does; all of it for whoever is frozen.

        A larger cap may change the form of a run, and with it the loss.
        """
        hindrance = self.hindrance(loss)
        if hindrance == "frozen":
            return self.pots[0].adds(loss)
        if hindrance != "budget" or (pot := self.full(loss)) is None:
            return _ZERO
        return pot.lacks(loss)

    def fitting(self, *losses: Loss) -> int:
        """How many runs like the last fit after the others."""
        *before, each = losses
        return min(pot.cap.fitting(total_loss([pot.total, *before]), each) for pot in self.pots)

    def _limited(self, pot: Pot) -> Balance:
        found = pot.balance(self.run_cap)
        if self.standing.frozen is not None:
            return replace(found, left=_ZERO, largest=_ZERO, frozen=self.standing.frozen)
        others = [other.balance(None) for other in self.pots]
        return replace(
            found,
            left=min(found.left, *(other.left for other in others)),
            largest=min(found.largest, *(other.largest for other in others)),
        )


def means_of(connection: Connection, dataset_id: str, analyst: str) -> Means:
    """What an analyst may spend. Raises ``NotFoundError``."""
    caps = caps_of(connection, dataset_id)
    standing = _standing(connection, dataset_id, analyst, caps)
    limit = caps["cap"] if standing.limit is None else standing.limit
    whole = _pot(connection, dataset_id, None, filter_of(caps))
    own = _pot(connection, dataset_id, analyst, PrivacyFilter(limit, filter_of(caps).delta))
    over, conditional = over_of(connection, dataset_id), takes_conditional(connection, dataset_id)
    return Means(whole, own, standing, caps["run_cap"], over, conditional)


def balance_of(connection: Connection, dataset_id: str) -> Balance:
    """Budget of a data set, all analysts together. Raises ``NotFoundError``."""
    caps = caps_of(connection, dataset_id)
    return _pot(connection, dataset_id, None, filter_of(caps)).balance(caps["run_cap"])


def filter_of(caps: Mapping[str, Any]) -> PrivacyFilter:
    """What the caps of a data set accept. A version without caps on delta took pure sums."""
    return PrivacyFilter(caps["cap"], caps["delta_cap"] or _ZERO, caps["delta"])


def _pot(connection: Connection, dataset_id: str, analyst: str | None, cap: PrivacyFilter) -> Pot:
    """What is spent of one cap, from exact sums over each kind of line."""
    pure = _E.delta == _ZERO
    parts = (
        *(sa.func.sum(_E[name]) for name in AMOUNTS),
        sa.type_coerce(sa.func.sum(sa.case((pure, _E.epsilon), else_=_ZERO)), _E.epsilon.type),
        sa.type_coerce(sa.func.sum(sa.case((pure, _ZERO), else_=_E.rho)), _E.rho.type),
        sa.type_coerce(sa.func.sum(sa.case((pure & (_E.rho == NOT_STATED), _E.epsilon), else_=_ZERO)), _E.epsilon.type),
    )
    about = (_E.account == account_of(dataset_id)) & _E.kind.in_(_SPENDING)
    chosen = sa.select(_E.kind, *parts).where(about)
    if analyst is not None:
        chosen = chosen.where(_E.analyst == analyst)
    sums = {kind: Loss(*amounts) for kind, *amounts in connection.execute(chosen.group_by(_E.kind))}
    claimed, touched, refunded, outside, learned = (sums.get(kind, NOTHING) for kind in _SPENDING)
    return Pot(cap, touched + outside + learned, claimed - refunded + outside + learned)


def refusal_of(means: Means, loss: Loss, short_by: Decimal | None = None) -> str | None:
    """Why a run of this cost cannot be reserved: what it would come to, and whom to ask.

    Parameters
    ----------
    short_by : Decimal, optional
        How much more it takes. By default what the run lacks in its present form, which is about as much.
    """
    hindrance, full = means.hindrance(loss), means.full(loss)
    if hindrance == "over":
        return means.over
    if hindrance == "frozen":
        return _frozen(means.standing.frozen or "")
    if hindrance == "conditional":
        return _CONDITIONAL
    if hindrance == "one run":
        most = means.run_cap or _ZERO
        return (
            f"Not enough budget: this run asks for ε = {_shown(loss.epsilon)}, but {_shown(most)} is allowed "
            f"for one run on this data set. It is short by {_shown(loss.epsilon - most)}. {_WHOM}"
        )
    return None if full is None else _refuse(means, full, loss, short_by)


def pot_of(connection: Connection, dataset_id: str) -> Pot:
    """What is spent on a data set, all analysts together. Raises ``NotFoundError``."""
    return _pot(connection, dataset_id, None, filter_of(caps_of(connection, dataset_id)))


def over_of(connection: Connection, dataset_id: str) -> str | None:
    """A sentence, if nothing more can be run on a data set."""
    chosen = sa.select(_E.kind).where(_E.dataset_id == dataset_id, _E.kind.in_(_OVER))
    kinds = set(connection.execute(chosen).scalars())
    return next((told for kind, told in _OVER.items() if kind in kinds), None)


def conditional_refusal(connection: Connection, reservation: RowMapping) -> str | None:
    """A sentence, if a reserved run has a guarantee with a condition and is not taken any more."""
    loss = run_loss(*(reservation[name] for name in AMOUNTS))
    refused = loss.without_rho and not takes_conditional(connection, reservation["dataset_id"])
    return _CONDITIONAL if refused else None


def frozen_of(connection: Connection, dataset_id: str, analyst: str) -> str | None:
    """A sentence, if the custodian has stopped this analyst."""
    reason = standing_of(connection, dataset_id, analyst).frozen
    return None if reason is None else _frozen(reason)


def _frozen(reason: str) -> str:
    return f"Your budget on this data set is frozen by the custodian. The reason given: {reason}"


def _refuse(means: Means, pot: Pot, loss: Loss, short_by: Decimal | None) -> str:
    adds, left, largest = pot.adds(loss), pot.left(), means.balance.largest
    if not pot.cap.spent(pot.total).is_finite():
        at = at_delta(pot.cap.delta) or " without a delta"
        return f"Not enough budget: what was spent here has no bound{at}. Ask the custodian to raise the delta first."
    if not pot.cap.spent(pot.total + loss).is_finite():
        return f"Not enough budget: what this run could tell has no bound without a delta. {_WHOM}"
    account = "in this data set's budget" if pot is means.whole else "in your own budget"
    at = at_delta(pot.cap.delta)
    tells = largest > 0 and (largest < left or loss.delta > 0)
    pure = f" A run without a delta of up to ε = {_shown(largest, up=False)} would fit." if tells else ""
    # Without a delta there is one form only, and costs are added up.
    about = "about " if short_by is None and pot.cap.delta else ""
    short = f"{about}{_shown(pot.lacks(loss) if short_by is None else short_by)}"
    return (
        f"Not enough budget: this run would add ε = {_shown(adds)}{at}, but {_shown(left, up=False)} is left "
        f"{account}. It is short by {short}.{pure} {_WHOM}"
    )


def _shown(amount: Decimal, *, up: bool = True) -> str:
    return format_epsilon(amount, places=9, up=up)


def entry_of(row: RowMapping) -> LedgerEntry:
    """One line as people read it."""
    hidden = ("nonce", "request_hash", "account")
    said = {**row, "rho": row["rho"] or _ZERO}  # Commits of a version that knew none have none.
    return LedgerEntry(**{name: value for name, value in said.items() if name not in hidden})
