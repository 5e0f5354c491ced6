"""Lines of the ledger: appending them, and what follows from those that are there.

Every function works inside a transaction of :mod:`dpcore.workspace.ledger.ledger`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from decimal import Decimal
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy.engine import Connection, RowMapping

from dpcore.errors import NotFoundError, RequestError
from dpcore.privacy.filters import PrivacyFilter
from dpcore.privacy.losses import NOT_STATED, NOTHING, Loss, run_loss
from dpcore.validation import storable
from dpcore.workspace.database.database_tables import ledger_entries, utc_now
from dpcore.workspace.files.populations import account_of, takes_conditional
from dpcore.workspace.ledger.accounts import REASON_LIMIT, Balance, CapState, LedgerEntry, Standing

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
#: What a line about a run or charge says of its loss. A pure run with a rho of 0 states none.
AMOUNTS = ("epsilon", "delta", "rho")
#: Limits that lines about a budget hold. Their ``delta`` is the part of ``delta_cap`` that is set aside.
LIMITS = ("cap", "delta_cap", "analyst_cap", "run_cap", "delta")
#: Kinds of lines that say what is spent.
_SPENDING = ("reserve", "touch", "refund", "charge", "learn")
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


def loss_of(row: RowMapping) -> Loss:
    """What the run or charge of a line may cost one person."""
    return run_loss(*(row[name] for name in AMOUNTS))


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
    grant = _newest(connection, dataset_id, analyst, "grant")
    last = _newest(connection, dataset_id, analyst, "freeze", "thaw")
    frozen = last["note"] if last is not None and last["kind"] == "freeze" else None
    limits = grant or caps_of(connection, dataset_id)
    return Standing(limits["analyst_cap"], granted=grant is not None, frozen=frozen)


def _newest(connection: Connection, dataset_id: str, analyst: str, *kinds: str) -> RowMapping | None:
    """Last line of some kinds about one analyst, if there is any."""
    about = (_E.account == account_of(dataset_id)) & (_E.analyst == analyst) & _E.kind.in_(kinds)
    chosen = sa.select(ledger_entries).where(about)
    newest = chosen.order_by(_E.sequence.desc()).limit(1)
    return connection.execute(newest).mappings().one_or_none()


def balance_of(connection: Connection, dataset_id: str, analyst: str | None = None) -> Balance:
    """What an analyst may spend; without one, all together. Raises ``NotFoundError``."""
    caps = caps_of(connection, dataset_id)
    cap, frozen = filter_of(caps), None
    cap_states = [_cap_state(connection, dataset_id, None, cap)]
    if analyst is not None:
        standing = standing_of(connection, dataset_id, analyst)
        frozen = standing.frozen
        if standing.limit is not None:
            cap_states.insert(0, _cap_state(connection, dataset_id, analyst, PrivacyFilter(standing.limit, cap.delta)))
    over, conditional = _over(connection, dataset_id), takes_conditional(connection, dataset_id)
    return Balance(tuple(cap_states), caps["run_cap"], frozen, over, conditional)


def own_balance_of(connection: Connection, dataset_id: str, analyst: str) -> Balance:
    """The same, told of what the analyst alone has spent, limited or not."""
    found = balance_of(connection, dataset_id, analyst)
    if len(found.cap_states) > 1:
        return found
    cap = replace(found.cap_states[0].cap, aside=_ZERO)
    return replace(found, cap_states=(_cap_state(connection, dataset_id, analyst, cap), *found.cap_states))


def filter_of(caps: Mapping[str, Any]) -> PrivacyFilter:
    """What the caps of a data set accept. A version without caps on delta took pure sums."""
    return PrivacyFilter(caps["cap"], caps["delta_cap"] or _ZERO, caps["delta"])


def _cap_state(connection: Connection, dataset_id: str, analyst: str | None, cap: PrivacyFilter) -> CapState:
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
    return CapState(cap, touched + outside + learned, claimed - refunded + outside + learned)


def cap_state_of(connection: Connection, dataset_id: str) -> CapState:
    """What is spent on a data set, all analysts together. Raises ``NotFoundError``."""
    return _cap_state(connection, dataset_id, None, filter_of(caps_of(connection, dataset_id)))


def _over(connection: Connection, dataset_id: str) -> str | None:
    """A sentence, if nothing more can be run on a data set."""
    chosen = sa.select(_E.kind).where(_E.dataset_id == dataset_id, _E.kind.in_(_OVER))
    kinds = set(connection.execute(chosen).scalars())
    return next((told for kind, told in _OVER.items() if kind in kinds), None)


def entry_of(row: RowMapping) -> LedgerEntry:
    """One line as people read it."""
    hidden = ("nonce", "request_hash", "account")
    said = {**row, "rho": row["rho"] or _ZERO}  # Commits of a version that knew none have none.
    return LedgerEntry(**{name: value for name, value in said.items() if name not in hidden})
