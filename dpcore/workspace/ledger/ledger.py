"""The ledger: who spent how much of whose privacy. Durable, append-only, exact.

A run's life is a chain of entries: ``reserve``, then either ``refund`` or ``touch``, and after
``touch`` perhaps ``commit``. A reservation counts as spent from its first moment; only a refund
gives it back, and the database refuses a refund after a touch and a touch after a refund. So
whatever process dies at whatever moment, nothing that may have read a record is ever free.
A ``charge`` enters what was spent outside of this ledger. Nothing here depends on a clock.
Lines about single analysts and about readers of releases: :mod:`dpcore.workspace.ledger.grants`,
:mod:`dpcore.workspace.results.sharing`.
"""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from decimal import Decimal

import sqlalchemy as sa
from sqlalchemy.engine import Connection, Engine, RowMapping

from dpcore.errors import BudgetError, ConflictError, RequestError
from dpcore.privacy.losses import Loss
from dpcore.released.release import Release
from dpcore.workspace.database.database_tables import ledger_entries, releases, utc_now
from dpcore.workspace.database.transactions import Hook, read, write, write_once
from dpcore.workspace.files.populations import RelatedDataset, account_of, dataset_row, joined
from dpcore.workspace.ledger.accounts import Balance, CapState, LedgerEntry
from dpcore.workspace.ledger.learned_facts import LearningCharge, check_learning
from dpcore.workspace.ledger.ledger_checks import (
    TOO_LARGE_TO_JOIN,
    check_delta,
    check_labels,
    check_past_delta,
    check_release,
    check_same,
    exact_amounts,
    parse_caps,
)
from dpcore.workspace.ledger.ledger_lines import (
    ReservationState,
    append,
    append_like,
    balance_of,
    by_nonce,
    cap_state_of,
    caps_of,
    entry_of,
    filter_of,
    find_caps,
    kept_note,
    loss_of,
    reservation_of,
    state_of,
)

_E = ledger_entries.c
_ASIDE = "this delta is set aside, as categories are learned"


@dataclass(frozen=True)
class Reservation:
    """A claim on a budget. ``created`` is false if the same nonce had made it before."""

    id: str
    created: bool


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
        caps = parse_caps(cap, delta, analyst_cap, run_cap)

        def transaction(connection: Connection) -> None:
            check_delta(connection, dataset_id, delta)
            if find_caps(connection, dataset_id) is not None:
                raise ConflictError("This data set has a budget already.")
            note = _ASIDE if aside else ""
            append(connection, "open", dataset_id, note=note, actor=actor, **caps | {"delta": aside})

        if within is None:
            write(self._engine, transaction)
        else:
            transaction(within)

    def join_account(
        self, dataset_id: str, related: RelatedDataset, *, note: str = "", actor: str | None, within: Connection
    ) -> None:
        """Let a data set that was entered just now share the account of others about the same people.

        Who is replaced is retired in the same transaction.

        Raises
        ------
        LossError
            If the two define a person differently, and nobody has accepted that.
        BudgetError
            If the delta of the account is too large for so many rows.
        NotFoundError
            If there is no account.
        """
        check_delta(within, dataset_id, filter_of(caps_of(within, dataset_id)).delta, TOO_LARGE_TO_JOIN)
        told = kept_note(note, after=joined(within, dataset_id, related))
        append(within, "join", dataset_id, note=told, actor=actor)
        if related.replaces:
            told = f"replaced by version {dataset_row(within, dataset_id)['version']} ({dataset_id})"
            append(within, "retire", related.of, note=told, actor=actor)

    def cap_state(self, dataset_id: str) -> CapState:
        """What is spent on a data set, and under which cap. Raises ``NotFoundError``."""
        return read(self._engine, lambda connection: cap_state_of(connection, dataset_id))

    def charge_learning(
        self, dataset_id: str, charge: LearningCharge, *, actor: str | None, within: Connection
    ) -> None:
        """Charge the account of a data set, which was entered just now, for learning its schema.

        Raises
        ------
        BudgetError
            If it does not fit: then nothing of what was learned may be kept.
        """
        check_learning(cap_state_of(within, dataset_id), charge.loss)
        append(within, "learn", dataset_id, note=charge.note, actor=actor, **exact_amounts(charge.loss))

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
        parsed = parse_caps(cap, delta, analyst_cap, run_cap)
        changes = {name: amount for name, amount in parsed.items() if amount is not None}

        def transaction(connection: Connection) -> None:
            present = caps_of(connection, dataset_id)
            after = {**present, **changes}
            if delta is not None:
                check_delta(connection, dataset_id, delta)
                check_past_delta(connection, dataset_id, delta, present["delta"])
            append(connection, "caps", dataset_id, note=note, actor=actor, **after)

        write(self._engine, transaction)

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

        def transaction(connection: Connection) -> None:
            caps_of(connection, dataset_id)
            append(connection, "charge", dataset_id, note=note, actor=actor, **amounts)

        write(self._engine, transaction)

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
        check_labels(analyst, nonce)

        def find(connection: Connection) -> Reservation | None:
            earlier = by_nonce(connection, nonce)
            if earlier is not None:
                check_same(earlier, dataset_id, analyst, request_hash)
                return Reservation(earlier["run_id"], created=False)
            refusal = balance_of(connection, dataset_id, analyst).refusal(loss)
            if refusal is not None:
                raise BudgetError(refusal)
            return None

        def transaction(connection: Connection) -> Reservation:
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
        return read(self._engine, find) or write(self._engine, transaction)

    def touch(self, reservation_id: str) -> None:
        """Mark that records are about to be read: from here on the cost is spent for good.

        Raises
        ------
        ConflictError
            If the reservation was refunded, or touched before.
        BudgetError
            If the custodian has stopped this analyst since, or nothing more is run on the data set, or
            not a run whose guarantee has a condition.
        """

        def transaction(connection: Connection) -> None:
            row = self._require(connection, reservation_id, "reserved")
            stop = balance_of(connection, row["dataset_id"], row["analyst"]).stop(loss_of(row))
            if stop is not None:
                raise BudgetError(stop[1])
            append_like(connection, "touch", row)

        # Only the worker that claimed a run touches it, so a touch that is found was this one.
        write_once(self._engine, transaction, lambda c: state_of(c, reservation_id) == "touched")

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

        def transaction(connection: Connection) -> None:
            row = self._require(connection, reservation_id, "touched")
            check_release(release, row, dataset_row(connection, row["dataset_id"]))
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
        write_once(self._engine, transaction, lambda c: c.execute(mine).first() is not None)

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

        def transaction(connection: Connection) -> None:
            row = self._require(connection, reservation_id, "reserved")
            append_like(connection, "refund", row, note=reason, actor=actor)
            if on_refunded is not None:
                on_refunded(connection, reservation_id)

        write(self._engine, transaction)

    def state(self, reservation_id: str) -> ReservationState:
        """Where a reservation stands. Raises ``NotFoundError``."""
        return read(self._engine, lambda connection: state_of(connection, reservation_id))

    def balance(self, dataset_id: str, analyst: str | None = None) -> Balance:
        """What an analyst may spend, as it is at one moment; without one, all together. Raises ``NotFoundError``."""
        question = ("balance", dataset_id, analyst)
        return read(self._engine, lambda connection: balance_of(connection, dataset_id, analyst), question=question)

    def reserved(self, reservation_id: str) -> Loss:
        """What was reserved for a run. Raises ``NotFoundError``."""

        def transaction(connection: Connection) -> Loss:
            state_of(connection, reservation_id)
            return loss_of(reservation_of(connection, reservation_id))

        return read(self._engine, transaction)

    def entries(self, dataset_id: str | None = None) -> list[LedgerEntry]:
        """Every line about the account of a data set, or about all, oldest first."""

        def transaction(connection: Connection) -> list[LedgerEntry]:
            chosen = sa.select(ledger_entries)
            if dataset_id is not None:
                dataset_row(connection, dataset_id)
                about = (_E.account == account_of(dataset_id)) | (_E.dataset_id == dataset_id)
                chosen = chosen.where(about)
            rows = connection.execute(chosen.order_by(ledger_entries.c.sequence)).mappings()
            return [entry_of(row) for row in rows]

        return read(self._engine, transaction)

    def _require(self, connection: Connection, reservation_id: str, state: ReservationState) -> RowMapping:
        """Reservation entry, if the reservation is in ``state``."""
        found = state_of(connection, reservation_id)
        if found != state:
            raise ConflictError(f"This run's budget is {found}; it would have to be {state}.")
        return reservation_of(connection, reservation_id)
