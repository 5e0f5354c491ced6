"""The ledger: who spent how much of whose privacy. Durable, append-only, exact.

A run's life is a chain of entries: ``reserve``, then either ``refund`` or ``touch``, and after
``touch`` perhaps ``commit``. A reservation counts as spent from its first moment; only a refund
gives it back, and the database refuses a refund after a touch and a touch after a refund. So
whatever process dies at whatever moment, nothing that may have read a record is ever free.
A ``charge`` enters what was spent outside of this ledger. Nothing here depends on a clock.
Lines about single analysts and about readers of releases: :mod:`dpcore.workspace.grants`,
:mod:`dpcore.workspace.sharing`.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, RowMapping

from dpcore.errors import BudgetError, ConflictError, RequestError
from dpcore.privacy.budgets import exact_amount, largest_delta, parse_epsilon, parse_limit
from dpcore.privacy.filters import DELTA_STEP
from dpcore.privacy.losses import RHO_LIMIT, RHO_STEP, Loss, run_loss
from dpcore.released.release import Certificate, Release
from dpcore.workspace.database import (
    Hook,
    ledger_entries,
    read,
    releases,
    utc_now,
    write,
    write_once,
)
from dpcore.workspace.ledger_lines import (
    AMOUNTS,
    Means,
    Pot,
    ReservationState,
    append,
    append_like,
    balance_of,
    by_nonce,
    caps_of,
    check_learning,
    entry_of,
    filter_of,
    find_caps,
    frozen_of,
    means_of,
    over_of,
    pot_of,
    refusal_of,
    reservation_of,
    state_of,
)
from dpcore.workspace.populations import Kin, account_of, dataset_row, members
from dpcore.workspace.requests import Balance, LedgerEntry
from dpcore.workspace.store import parse_schema
from dpcore.workspace.users import canonical_name

_E = ledger_entries.c


@dataclass(frozen=True)
class Reservation:
    """A claim on a budget. ``created`` is false if the same nonce had made it before."""

    id: str
    created: bool


_TOO_LARGE = (
    "This delta is too large: with it somebody's record might be given away. Use at most {most} on this data set, "
    "or 0 to take runs without a delta only."
)
_ASIDE = "this delta is set aside, as categories are learned"
_TOO_LARGE_TO_JOIN = (
    "The delta of the budget that these people have is too large for so many rows: somebody's record might be given "
    "away. Lower it to at most {most} first, or lower 'max_rows'."
)
_BELOW_ASIDE = (
    "Categories of this data set were learned, for which {aside} of its delta is set aside: nothing bounds what was "
    "spent at a delta that is not above it. Choose a larger one."
)
_NOT_PURE = "Runs with a delta were made on this data set, so nothing bounds them at a delta of 0: choose one above it."


class Ledger:
    """Accounts of all populations in one database: data sets about the same people share one."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    def open_account(
        self,
        dataset_id: str,
        cap: Decimal,
        analyst_cap: Decimal | None = None,
        run_cap: Decimal | None = None,
        *,
        delta: Decimal = Decimal(0),
        aside: Decimal = Decimal(0),
        actor: str | None = None,
        within: Connection | None = None,
    ) -> None:
        """Give a stored data set its budget, in the caller's transaction if ``within`` is given.

        Parameters
        ----------
        delta : Decimal
            The delta at which all caps hold. With 0 only pure runs are taken.
        aside : Decimal
            The part of it that is set aside: see :class:`dpcore.privacy.filters.PrivacyFilter`.

        Raises
        ------
        BudgetError
            If a cap is not a usable epsilon, or delta is not well below one in the most rows.
        ConflictError
            If the data set has an account.
        """
        caps = _parse_caps(cap, delta, analyst_cap, run_cap)

        def work(connection: Connection) -> None:
            _check_delta(connection, dataset_id, delta)
            if find_caps(connection, dataset_id) is not None:
                raise ConflictError("This data set has a budget already.")
            note = _ASIDE if aside else ""
            append(connection, "open", dataset_id, note=note, actor=actor, **caps | {"delta": aside})

        if within is None:
            write(self._engine, work)
        else:
            work(within)

    def join_account(self, dataset_id: str, kin: Kin, *, note: str = "", actor: str | None, within: Connection) -> None:
        """Let a data set that was entered just now share the account of others about the same people.

        Who is replaced is retired in the same transaction.

        Raises
        ------
        BudgetError
            If the delta of the account is too large for so many rows.
        NotFoundError
            If there is no account.
        """
        _check_delta(within, dataset_id, filter_of(caps_of(within, dataset_id)).delta, _TOO_LARGE_TO_JOIN)
        other, row = dataset_row(within, kin.of), dataset_row(within, dataset_id)
        told = f"shares the budget of '{other['name']}' ({kin.of}). {note}"
        append(within, "join", dataset_id, note=told, actor=actor)
        if kin.replaces:
            told = f"replaced by version {row['version']} ({dataset_id})"
            append(within, "retire", kin.of, note=told, actor=actor)

    def pot(self, dataset_id: str) -> Pot:
        """What is spent on a data set, and under which cap. Raises ``NotFoundError``."""
        return read(self._engine, lambda connection: pot_of(connection, dataset_id))

    def charge_learning(self, dataset_id: str, loss: Loss, *, note: str, actor: str | None, within: Connection) -> None:
        """Charge the account of a data set, which was entered just now, for learning its schema.

        Raises
        ------
        BudgetError
            If it does not fit: then nothing of what was learned may be kept.
        """
        check_learning(pot_of(within, dataset_id), loss)
        append(within, "learn", dataset_id, note=note, actor=actor, **exact_amounts(loss))

    def raise_caps(
        self,
        dataset_id: str,
        *,
        cap: Decimal | None = None,
        delta: Decimal | None = None,
        analyst_cap: Decimal | None = None,
        run_cap: Decimal | None = None,
        note: str = "",
        actor: str | None = None,
    ) -> None:
        """Custodian: change the caps that are given; the others stay. The ledger keeps both.

        A cap may be lowered too: what was spent stays spent, and new runs are refused.

        Raises
        ------
        BudgetError
            If an amount is unusable, delta is 0 and a run had one, or it is no more than what is set aside.
        """
        parsed = _parse_caps(cap, delta, analyst_cap, run_cap)
        changes = {name: amount for name, amount in parsed.items() if amount is not None}

        def work(connection: Connection) -> None:
            present = caps_of(connection, dataset_id)
            after = {**present, **changes}
            if delta is not None:
                _check_delta(connection, dataset_id, delta)
            if delta == 0 and balance_of(connection, dataset_id).total.delta:
                raise BudgetError(_NOT_PURE)
            if delta and delta <= present["delta"]:
                raise BudgetError(_BELOW_ASIDE.format(aside=exact_amount(present["delta"])))
            append(connection, "caps", dataset_id, note=note, actor=actor, **after)

        write(self._engine, work)

    def charge(
        self,
        dataset_id: str,
        loss: Loss,
        *,
        note: str,
        actor: str | None = None,
    ) -> None:
        """Custodian: enter what was spent and is in no line of this ledger.

        After a database was restored from a copy, the runs since that copy are missing here,
        but their releases are out. No cap refuses a charge: it says what has happened.

        Raises
        ------
        BudgetError
            If the amount is unusable.
        RequestError
            If no note says what it was for.
        NotFoundError
            If the data set does not exist.
        """
        amounts = exact_amounts(loss)
        if not note.strip():
            raise RequestError("Say in the note what was spent, and where that is known from.")

        def work(connection: Connection) -> None:
            caps_of(connection, dataset_id)
            append(connection, "charge", dataset_id, note=note, actor=actor, **amounts)

        write(self._engine, work)

    def reserve(
        self,
        dataset_id: str,
        analyst: str,
        loss: Loss,
        nonce: str,
        request_hash: str,
        *,
        on_created: Hook | None = None,
    ) -> Reservation:
        """Claim a budget before anything private is touched; the claim's id is the run's id.

        ``on_created`` is called with the connection and the new id, in the same transaction.

        Raises
        ------
        BudgetError
            If the amount is unusable or exceeds a cap: what it would come to, and whom to ask.
        ConflictError
            If the nonce was used for another request.
        NotFoundError
            If the data set does not exist.
        """
        amounts = exact_amounts(loss)
        _check_labels(analyst, nonce)

        def find(connection: Connection) -> Reservation | None:
            earlier = by_nonce(connection, nonce)
            if earlier is not None:
                _check_same(earlier, dataset_id, analyst, request_hash)
                return Reservation(earlier["run_id"], created=False)
            refusal = refusal_of(means_of(connection, dataset_id, analyst), loss)
            if refusal is not None:
                raise BudgetError(refusal)
            return None

        def work(connection: Connection) -> Reservation:
            if (found := find(connection)) is not None:
                return found
            run_id = uuid.uuid4().hex
            append(
                connection,
                "reserve",
                dataset_id,
                run_id=run_id,
                analyst=analyst,
                actor=analyst,
                nonce=nonce,
                request_hash=request_hash,
                **amounts,
            )
            if on_created is not None:
                on_created(connection, run_id)
            return Reservation(run_id, created=True)

        # First without a writer's turn: what is refused need not queue, and nobody waits while
        # a process that has just begun compiles these questions. The turn decides.
        return read(self._engine, find) or write(self._engine, work)

    def touch(self, reservation_id: str) -> None:
        """Mark that records are about to be read: from here on the cost is spent for good.

        Raises
        ------
        ConflictError
            If the reservation was refunded, or touched before.
        BudgetError
            If the custodian has stopped this analyst since, or nothing more is run on the data set.
        """

        def work(connection: Connection) -> None:
            row = self._require(connection, reservation_id, "reserved")
            refusal = over_of(connection, row["dataset_id"])
            refusal = refusal or frozen_of(connection, row["dataset_id"], row["analyst"])
            if refusal is not None:
                raise BudgetError(refusal)
            append_like(connection, "touch", row)

        # Only the worker that claimed a run touches it, so a touch that is found was this one.
        write_once(self._engine, work, lambda c: state_of(c, reservation_id) == "touched")

    def commit(self, reservation_id: str, release: Release, *, on_committed: Hook | None = None) -> None:
        """Store a release together with the entry that charges it: both, or neither.

        Raises
        ------
        ConflictError
            If the reservation is not touched, or is committed already.
        RequestError
            If the release is not what was reserved: another epsilon, delta, data set or
            schema, or noise that is not private.
        """

        def work(connection: Connection) -> None:
            row = self._require(connection, reservation_id, "touched")
            _check_release(release, row, dataset_row(connection, row["dataset_id"]))
            connection.execute(
                releases.insert().values(
                    id=release.id,
                    run_id=reservation_id,
                    dataset_id=row["dataset_id"],
                    analyst=row["analyst"],
                    content=release.to_json(),
                    created=utc_now(),
                )
            )
            append_like(connection, "commit", row, release_id=release.id)
            if on_committed is not None:
                on_committed(connection, reservation_id)

        mine = sa.select(releases.c.id).where(releases.c.id == release.id)
        write_once(self._engine, work, lambda c: c.execute(mine).first() is not None)

    def refund(
        self,
        reservation_id: str,
        reason: str,
        *,
        actor: str | None = None,
        on_refunded: Hook | None = None,
    ) -> None:
        """Give a reservation back, which is allowed only while no record was touched.

        Raises
        ------
        ConflictError
            If records were touched, or the reservation has ended.
        """

        def work(connection: Connection) -> None:
            row = self._require(connection, reservation_id, "reserved")
            append_like(connection, "refund", row, note=reason, actor=actor)
            if on_refunded is not None:
                on_refunded(connection, reservation_id)

        write(self._engine, work)

    def state(self, reservation_id: str) -> ReservationState:
        """Where a reservation stands. Raises ``NotFoundError``."""
        return read(self._engine, lambda connection: state_of(connection, reservation_id))

    def balance(self, dataset_id: str, analyst: str | None = None) -> Balance:
        """Budget of a data set; of one analyst if analysts have caps of their own.

        ``left`` obeys every cap on the sum of runs, whichever is nearest.
        """
        if analyst is None:
            return read(
                self._engine, lambda connection: balance_of(connection, dataset_id), question=("balance", dataset_id)
            )
        return self.means(dataset_id, analyst).balance

    def means(self, dataset_id: str, analyst: str) -> Means:
        """What an analyst may spend, as it is at one moment. Raises ``NotFoundError``."""
        question = ("means", dataset_id, analyst)
        return read(self._engine, lambda connection: means_of(connection, dataset_id, analyst), question=question)

    def reserved(self, reservation_id: str) -> Loss:
        """What was reserved for a run. Raises ``NotFoundError``."""

        def work(connection: Connection) -> Loss:
            state_of(connection, reservation_id)
            row = reservation_of(connection, reservation_id)
            return run_loss(*(row[name] for name in AMOUNTS))

        return read(self._engine, work)

    def entries(self, dataset_id: str | None = None) -> list[LedgerEntry]:
        """Every line about the account of a data set, or about all, oldest first."""

        def work(connection: Connection) -> list[LedgerEntry]:
            chosen = sa.select(ledger_entries)
            if dataset_id is not None:
                dataset_row(connection, dataset_id)
                about = (_E.account == account_of(dataset_id)) | (_E.dataset_id == dataset_id)
                chosen = chosen.where(about)
            rows = connection.execute(chosen.order_by(ledger_entries.c.sequence)).mappings()
            return [entry_of(row) for row in rows]

        return read(self._engine, work)

    def _require(self, connection: Connection, reservation_id: str, state: ReservationState) -> RowMapping:
        """Reservation entry, if the reservation is in ``state``."""
        found = state_of(connection, reservation_id)
        if found != state:
            raise ConflictError(f"This run's budget is {found}; it would have to be {state}.")
        return reservation_of(connection, reservation_id)


def _parse_caps(
    cap: Decimal | None, delta: Decimal | None, analyst_cap: Decimal | None, run_cap: Decimal | None
) -> dict[str, Decimal | None]:
    return {
        "cap": None if cap is None else parse_epsilon(cap),
        "delta_cap": None if delta is None else exact_delta(delta),
        "analyst_cap": None if analyst_cap is None else parse_limit(analyst_cap),
        "run_cap": None if run_cap is None else parse_epsilon(run_cap),
    }


def _check_delta(connection: Connection, dataset_id: str, delta: Decimal, told: str = _TOO_LARGE) -> None:
    """See that a delta is well below one in the most rows of any data set of an account."""
    most = largest_delta(max(parse_schema(row["schema"]).max_rows for row in members(connection, dataset_id)))
    if delta > most:
        raise BudgetError(told.format(most=exact_amount(most)))


def exact_delta(delta: Decimal) -> Decimal:
    """A delta as the ledger keeps it. Raises ``BudgetError``."""
    if not isinstance(delta, Decimal) or not delta.is_finite() or not 0 <= delta < 1:
        raise BudgetError("Delta must be 0, or a number above 0 and below 1.")
    if delta % DELTA_STEP:
        raise BudgetError("Delta must have at most 15 decimal places.")
    return delta


def exact_amounts(loss: Loss) -> dict[str, Decimal]:
    """The loss of a run or charge as the ledger keeps it. Raises ``BudgetError``."""
    if not loss.rho.is_finite():
        raise BudgetError("Say what this costs in zero-concentrated differential privacy (rho): nothing bounds it.")
    if loss.rho > RHO_LIMIT:
        raise BudgetError(f"Rho must be at most {RHO_LIMIT}: a larger one promises nothing.")
    if loss.rho % RHO_STEP:
        raise BudgetError("Rho must have at most 12 decimal places.")
    return {"epsilon": parse_epsilon(loss.epsilon), "delta": exact_delta(loss.delta), "rho": loss.rho}


def _check_labels(analyst: str, nonce: str) -> None:
    if canonical_name(analyst) != analyst:
        raise RequestError("The name of an analyst is not in the form that the ledger keeps.")
    if not 1 <= len(nonce) <= 128:
        raise RequestError("The nonce of a run must have 1 to 128 characters.")


def _check_same(earlier: RowMapping, dataset_id: str, analyst: str, request_hash: str) -> None:
    names = ("dataset_id", "analyst", "request_hash")
    if tuple(earlier[name] for name in names) != (dataset_id, analyst, request_hash):
        raise ConflictError("This review was already used for a different run. Open a new review and spend there.")


def _check_release(release: Release, row: RowMapping, dataset: RowMapping) -> None:
    certificate: Certificate = release.certificate
    cost = (certificate.epsilon, certificate.delta) == (row["epsilon"], row["delta"])
    if not cost or certificate.rho is None or certificate.rho > row["rho"]:
        raise RequestError("The release did not cost what was reserved, so it is not stored.")
    if sum(certificate.budget_split.values(), Decimal(0)) != certificate.epsilon:
        raise RequestError("The release's budget split is not its cost, so it is not stored.")
    if any(part > certificate.epsilon for part in certificate.parallel_split.values()):
        raise RequestError("A parallel step spent more than was reserved, so it is not stored.")
    # Not the hash that was stored: origins of schemas are not as old as some data sets.
    stored = parse_schema(dataset["schema"]).hash
    expected = (row["dataset_id"], stored, stored)
    if (release.dataset_id, certificate.schema_hash, release.domain.hash) != expected:
        raise RequestError("The release is about another data set or schema; it is not stored.")
    if not certificate.private and not dataset["public"]:
        raise RequestError("The release of a private data set is not private, so it is not stored.")
