"""Lines of the ledger: appending them, and what follows from those that are there.

Every function works inside a transaction of :mod:`dpcore.workspace.ledger`.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from dpcore.errors import NotFoundError, RequestError
from dpcore.privacy.budgets import format_epsilon
from dpcore.validation import storable
from dpcore.workspace.database import datasets, ledger_entries, utc_now
from dpcore.workspace.requests import REASON_LIMIT, Balance, LedgerEntry, Standing

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
_E = ledger_entries.c
_ZERO = Decimal(0)


def append(connection: Connection, kind: str, dataset_id: str, **values: Any) -> None:
    """Append one line; it is numbered by the database."""
    row = {"epsilon": _ZERO, "delta": _ZERO, "note": "", **values}
    row["note"] = kept_note(row["note"])
    connection.execute(ledger_entries.insert().values(kind=kind, time=utc_now(), dataset_id=dataset_id, **row))


def kept_note(note: str) -> str:
    """A note or reason as a line keeps it. Raises ``RequestError`` if it is too long."""
    kept = storable(note).strip()
    if len(kept) > REASON_LIMIT:
        raise RequestError(f"This is too long: use at most {REASON_LIMIT} characters.")
    return kept


def append_like(connection: Connection, kind: str, row: RowMapping, **more: Any) -> None:
    """Append the next link of a reservation's chain: same run, analyst and amounts."""
    same = {name: row[name] for name in ("run_id", "analyst", "epsilon", "delta")}
    append(connection, kind, row["dataset_id"], **same, **more)


def dataset_row(connection: Connection, dataset_id: str) -> RowMapping:
    """Row of a data set. Raises ``NotFoundError``."""
    chosen = sa.select(datasets).where(datasets.c.id == dataset_id)
    row = connection.execute(chosen).mappings().one_or_none()
    if row is None:
        raise NotFoundError("There is no such data set.")
    return row


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
    """Present caps of a data set, if it has an account."""
    chosen = sa.select(_E.cap, _E.analyst_cap, _E.run_cap).where(
        _E.dataset_id == dataset_id, _E.kind.in_(("open", "caps"))
    )
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
    """What the custodian has decided about one analyst, else what holds for all."""
    limit = _newest(connection, dataset_id, analyst, "grant")
    last = _newest(connection, dataset_id, analyst, "freeze", "thaw")
    frozen = last["note"] if last is not None and last["kind"] == "freeze" else None
    if limit is None:
        return Standing(caps_of(connection, dataset_id)["analyst_cap"], granted=False, frozen=frozen)
    return Standing(limit["analyst_cap"], granted=True, frozen=frozen)


def _newest(connection: Connection, dataset_id: str, analyst: str, *kinds: str) -> RowMapping | None:
    """Last line of some kinds about one analyst, if there is any."""
    chosen = sa.select(ledger_entries).where(_E.dataset_id == dataset_id, _E.analyst == analyst, _E.kind.in_(kinds))
    newest = chosen.order_by(_E.sequence.desc()).limit(1)
    return connection.execute(newest).mappings().one_or_none()


def balance_of(connection: Connection, dataset_id: str, analyst: str | None) -> Balance:
    """Budget of an analyst with a limit of their own, else of the data set."""
    caps = caps_of(connection, dataset_id)
    whole = _account(connection, dataset_id, None, caps["cap"], caps["run_cap"])
    if analyst is None:
        return whole
    standing = standing_of(connection, dataset_id, analyst)
    found = whole
    if standing.limit is not None:
        own = _account(connection, dataset_id, analyst, standing.limit, caps["run_cap"])
        found = replace(own, left=min(own.left, whole.left))
    if standing.frozen is not None:
        return replace(found, left=_ZERO, frozen=standing.frozen)
    return found


def own_balance_of(connection: Connection, dataset_id: str, analyst: str) -> Balance:
    """What one analyst spent, limit or not, and may still spend."""
    caps = caps_of(connection, dataset_id)
    standing = standing_of(connection, dataset_id, analyst)
    limit = caps["cap"] if standing.limit is None else standing.limit
    own = _account(connection, dataset_id, analyst, limit, caps["run_cap"])
    left = balance_of(connection, dataset_id, analyst).left
    return replace(own, left=left, frozen=standing.frozen)


def _account(
    connection: Connection,
    dataset_id: str,
    analyst: str | None,
    cap: Decimal,
    run_cap: Decimal | None,
) -> Balance:
    """Balance under one cap, from the sums per kind of entry."""
    chosen = sa.select(_E.kind, sa.func.sum(_E.epsilon), sa.func.sum(_E.delta)).where(_E.dataset_id == dataset_id)
    if analyst is not None:
        chosen = chosen.where(_E.analyst == analyst)
    sums = {kind: (eps, delta) for kind, eps, delta in connection.execute(chosen.group_by(_E.kind))}
    claimed, touched, refunded, outside = (
        sums.get(kind, (_ZERO, _ZERO)) for kind in ("reserve", "touch", "refund", "charge")
    )
    reserved = claimed[0] - refunded[0] - touched[0]
    spent = touched[0] + outside[0]
    left = max(_ZERO, cap - spent - reserved)
    return Balance(cap, spent, reserved, left, run_cap, claimed[1] - refunded[1] + outside[1])


def refusal_of(connection: Connection, dataset_id: str, analyst: str, epsilon: Decimal) -> str | None:
    """Why a run of this cost cannot be reserved: requested, left, short by, whom to ask."""
    if _removed(connection, dataset_id):
        return RECORDS_GONE
    frozen = frozen_of(connection, dataset_id, analyst)
    if frozen is not None:
        return frozen
    run_cap = caps_of(connection, dataset_id)["run_cap"]
    if run_cap is not None and epsilon > run_cap:
        return _refuse(epsilon, run_cap, "is allowed for one run on this data set")
    own = balance_of(connection, dataset_id, analyst)
    if epsilon <= own.left:
        return None
    whole = balance_of(connection, dataset_id, None)
    account = "in this data set's budget" if whole.left <= own.left else "in your own budget"
    return _refuse(epsilon, own.left, f"is left {account}")


def _removed(connection: Connection, dataset_id: str) -> bool:
    chosen = sa.select(_E.sequence).where(_E.dataset_id == dataset_id, _E.kind == "remove")
    return connection.execute(chosen.limit(1)).first() is not None


def frozen_of(connection: Connection, dataset_id: str, analyst: str) -> str | None:
    """A sentence, if the custodian has stopped this analyst."""
    reason = standing_of(connection, dataset_id, analyst).frozen
    if reason is None:
        return None
    return f"Your budget on this data set is frozen by the custodian. The reason given: {reason}"


def _refuse(epsilon: Decimal, limit: Decimal, where: str) -> str:
    def shown(amount: Decimal) -> str:
        return format_epsilon(amount, places=9)

    return (
        f"Not enough budget: this run asks for ε = {shown(epsilon)}, but {shown(limit)} {where}. "
        f"It is short by {shown(epsilon - limit)}. Choose a smaller epsilon, or ask the "
        "custodian of the data set for more."
    )


def entry_of(row: RowMapping) -> LedgerEntry:
    """One line as people read it."""
    hidden = ("nonce", "request_hash")
    return LedgerEntry(**{name: value for name, value in row.items() if name not in hidden})
